/* Edits made by hand, for tests of the .pt2 writer. */
#ifndef PT2_SUPPORT_H
#define PT2_SUPPORT_H

#include "graph/edit.h"
#include "io/format.h"
#include "io/pt2.h"

/* Path of a fixture; valid until the 16th call after it. */
const char *fixture(const char *name);
const char *malformed(const char *name);

/* The fixture, opened; the test fails if that fails. */
qf_graph *open_fixture(const char *name);

/* The node or value of that name; the test fails if there is none. */
qfi_id node_named(const qf_graph *g, const char *name);
qfi_id value_named(const qf_graph *g, const char *name);

/* An edit in the making, with the bytes of its new payloads. */
typedef struct hand_edits {
    const qf_graph *graph;
    qfi_edits edits;
    const void *bytes[8];
} hand_edits;

hand_edits edits_begin(const qf_graph *g);
void edits_end(hand_edits *e);
/* The named nodes, resp. stored values, are not written; the list ends with NULL. */
void edits_drop_nodes(hand_edits *e, const char *const *names);
void edits_drop_values(hand_edits *e, const char *const *names);
/* A new payload; its number for a constant. */
uint32_t edits_payload(hand_edits *e, const void *bytes, uint64_t size);
/* value NULL: a new operand named after `like`. The type is that of value, or of like with its two
 * dims swapped if turned.
 */
uint32_t edits_constant(hand_edits *e, const char *value, const char *like, uint32_t payload,
                        const int64_t *stride, int64_t offset);
void edits_literal(hand_edits *e, const char *value, qf_scalar v);

/* Writes the edited model; NULL edits: as it is. */
void write_edited(const qf_graph *g, hand_edits *e, const char *target);

#endif
