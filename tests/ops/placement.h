/* Tensors in memory in every layout that a view can have, and back. */
#ifndef QF_TESTS_OPS_LAYOUT_H
#define QF_TESTS_OPS_LAYOUT_H

#include "ref.h"

typedef enum layout { DENSE, PERMUTED, PADDED, REVERSED, STRIDED, BROADCAST, LAYOUTS } layout;

extern const char *const layout_names[LAYOUTS];

/* A view of `t` in a new storage. read: the bytes come through a reader. BROADCAST repeats element
 * 0 of the first dim that is not 1, and needs t to be so (layout_repeat). */
qf_tensor layout_make(const ref_tensor *t, layout how, bool read);
void layout_free(qf_tensor *view);

/* Make t constant along the dim that BROADCAST repeats. */
void layout_repeat(ref_tensor *t);

/* Elements of a view as row-major. */
void layout_read(const qf_tensor *view, ref_tensor *t);

/* A writable view of a type, filled with a pattern; whether all bytes outside the view still hold
 * it. */
qf_tensor layout_out(const qf_type *type, layout how);
bool layout_intact(const qf_tensor *view);

/* Dense bytes of a tensor whose dims lie in `order` (NULL: natural). */
void layout_from_bytes(const void *bytes, const uint8_t *order, ref_tensor *t);

/* A sink for qf_pipe_stream: room for `size` bytes at p, of which n have come; more fail. */
typedef struct layout_bytes {
    unsigned char *p;
    size_t n, size;
} layout_bytes;

qf_status layout_collect(void *user, const void *data, size_t n, const qf_digest *note,
                         qf_diag *diag);

#endif
