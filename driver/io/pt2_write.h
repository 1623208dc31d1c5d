/* The .pt2 writer: edits -> texts and members. */
#ifndef QFI_PT2_WRITE_H
#define QFI_PT2_WRITE_H

#include "../graph/edit.h"
#include "layout.h"
#include "pt2.h"

/* Our member, below the root. */
#define QFI_PT2_STAMP "extra/qfold.json"

/* qfi_format.layout of .pt2. */
QF_NODISCARD qf_status qfi_pt2_layout(const qf_graph *graph, const qfi_prog *prog,
                                      const qfi_edits *edits, qfi_layout *out, qf_diag *diag);

/* ---- A text with cuts and insertions (pt2_splice.c) ---- */

/* One change: bytes [begin, end) become `text`. */
typedef struct qfi_splice {
    size_t begin, end;
    qf_str text;
    uint32_t order; /* changes at the same place keep the order in which they were made */
} qfi_splice;

typedef struct qfi_splices {
    qfi_pool *pool;
    qf_str source;
    qfi_splice *splice;
    size_t n, cap;
    bool failed; /* sticky: out of memory */
} qfi_splices;

/* Spans may not overlap. */
void qfi_splice_add(qfi_splices *s, size_t begin, size_t end, qf_str text);

/* Removes entries of a container with their commas, and inserts `text` (entries with commas between
 * them, n == 0: none) in front of entry `at` (at == n: behind the last one). whole: the container
 * with its brackets. */
void qfi_splice_list(qfi_splices *s, qfi_pt2_span whole, const qfi_pt2_span *entry,
                     const bool *drop, uint32_t n, uint32_t at, qf_str text);

/* The changed text, in parts that stand in the source and in what was inserted; no part array if
 * nothing changed. False when out of memory. */
bool qfi_splice_parts(qfi_splices *s, qfi_parts *out);

/* The entries of a container: arrays give their values, objects key and value. key (may be NULL):
 * their names. At most UINT32_MAX entries. */
typedef struct qfi_pt2_entries {
    qfi_pt2_span *entry;
    qf_str *key;
    uint32_t n;
} qfi_pt2_entries;

QF_NODISCARD qf_status qfi_pt2_entries_of(qf_str text, qfi_pt2_span whole, qfi_pool *pool,
                                          qfi_pt2_entries *out, qf_diag *diag);

/* ---- What the writer knows (pt2_write.c) ---- */

/* A stored tensor that the output gains. name: of its placeholder at top level; local: in the part
 * where it is read; fqn: in its config. same_as: number of an earlier constant of a body with the
 * same bytes and layout, which is handed in its place; QFI_NONE: none, it stands for itself. */
typedef struct qfi_pt2_new {
    const qfi_constant *constant;
    uint32_t same_as;
    qf_str name, local, fqn;
    const char *path;
    uint8_t config;
} qfi_pt2_new;

/* A placeholder that a part gains: constant number `gain`. in_place: it takes the place of a value
 * of that name. */
typedef struct qfi_pt2_handed {
    uint32_t gain;
    qf_str name;
    bool in_place;
} qfi_pt2_handed;

/* One part of the whole while it is written. written: nothing around it is dropped.  drop_input:
 * captures that no body of the holder reads any more. */
typedef struct qfi_pt2_part_writing {
    const qfi_part *part;
    bool written;
    bool *drop_input;
    qfi_pt2_handed *handed;
    uint32_t n_handed;
    size_t cap_handed;
    qfi_names given; /* names that only the output has */
} qfi_pt2_part_writing;

typedef struct qfi_pt2_writing {
    const qf_graph *graph;
    const qfi_edits *edits;
    qfi_pt2 *pt2;
    qfi_pool *pool;
    qf_diag *diag;
    qfi_pt2_part_writing *part; /* per part of the whole */
    const qfi_pt2_span *metas;  /* per value: its TensorMeta */
    qfi_pt2_new *gain;          /* per edits->constant */
    qf_str *member;             /* per edits->new_payload: the member that holds it */
    qfi_id *replaced_by;   /* per value: index of the constant that takes its place, or QFI_NONE */
    qfi_id *patch_of;      /* per node: index of its first patch, or QFI_NONE */
    qf_str *renamed;       /* per value: the placeholder that stands for it where it is used */
    bool *is_result;       /* per value: a patched node yields it now */
    bool *keep_payload;    /* per payload of the input */
    bool *drop_entry[2];   /* per entry of the two configs */
    uint64_t first_number; /* number of the first new tensor_N */
    qf_str meta, device;   /* the TensorMeta that was looked at last, and its device */
} qfi_pt2_writing;

/* Fills keep_payload and drop_entry. */
QF_NODISCARD qf_status qfi_pt2_mark_kept(qfi_pt2_writing *w);

/* The changed program and configs. */
QF_NODISCARD qf_status qfi_pt2_write_model(qfi_pt2_writing *w, qfi_parts *out);
QF_NODISCARD qf_status qfi_pt2_write_config(qfi_pt2_writing *w, uint8_t which, qfi_parts *out);

/* TensorMeta of a new constant; device and layout as recorded for `like`. */
void qfi_pt2_write_meta(qfi_pt2_writing *w, qfi_text *t, const qfi_constant *c);

/* Cuts in a node that stays: numbers for scalars that became literals, new operands
 * (pt2_write_node.c). Further nodes that stand in its place come behind it. node: of the part's
 * graph. */
QF_NODISCARD qf_status qfi_pt2_write_node(qfi_pt2_writing *w, qfi_splices *s, const qfi_part *part,
                                          qfi_id node);

/* The same for an array of Arguments, or of specs, in the text of a part. */
QF_NODISCARD qf_status qfi_pt2_write_arguments(qfi_pt2_writing *w, qfi_splices *s,
                                               const qfi_part *part, qfi_pt2_span whole,
                                               bool are_specs);

/* ---- What bodies are handed (pt2_write_body.c) ---- */

/* A name that nothing in a part has: base + suffix, with a number behind it if that is taken. */
QF_NODISCARD qf_status qfi_pt2_new_name(qfi_pt2_writing *w, qfi_pt2_part_writing *part, qf_str base,
                                        const char *suffix, qf_str *out);

/* Fills w->part, once the constants have their names at top level. */
QF_NODISCARD qf_status qfi_pt2_hand_down(qfi_pt2_writing *w);

/* The inputs of a body, and what its holder hands it. inputs: the holder's array of arguments. */
QF_NODISCARD qf_status qfi_pt2_write_body_inputs(qfi_pt2_writing *w, qfi_splices *s,
                                                 const qfi_pt2_part_writing *body);
QF_NODISCARD qf_status qfi_pt2_write_captures(qfi_pt2_writing *w, qfi_splices *s,
                                              const qfi_pt2_part_writing *body,
                                              qfi_pt2_span inputs);

#endif
