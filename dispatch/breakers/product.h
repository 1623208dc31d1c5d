/* Packed operands of a matrix product: panels of MR rows or NR columns, each `k` steps deep, as
 * qfk_gemm takes them. */
#ifndef QFOLD_DISPATCH_PRODUCT_H
#define QFOLD_DISPATCH_PRODUCT_H

#include "dispatch/breakers/breaker.h"

/* Kernels of a product, by its own numbering; FINAL has room for two. SMALL may be missing. */
enum { QFI_PRODUCT_GEMM, QFI_PRODUCT_PANEL, QFI_PRODUCT_FINAL, QFI_PRODUCT_SMALL = 4 };

/* One operand: its elements [batch][k][x], x a row of the first or a column of the second. at:
 * where they are, if that is memory and their type is that of accumulation, else the segment makes
 * them.  width: of a panel.  k_at, x_at: dims of the segment, -1 if it has none. */
typedef struct qfi_factor {
    const qfi_segment *segment;
    qfi_standing at;
    int64_t width, size;
    int n_batch, k_at, x_at;
    const qfk_row *panel;
} qfi_factor;

/* Operand `i`, of which the box [lo, lo + n) of its segment's dims is needed. */
qfi_factor qfi_factor_make(const qfi_run *run, const qfi_breaker *x, int i, const int64_t *lo,
                           const int64_t *n);

/* The box of operand `i` that a box of the result needs: its batch dims, all of k, its rows or
 * columns. Returns its bytes. */
uint64_t qfi_factor_box(const qfi_breaker *x, int i, const int64_t *lo, const int64_t *n,
                        int64_t *from, int64_t *count);

/* Its element [0][0] for these batch coordinates of the result, n_batch of them; it is memory. */
const char *qfi_factor_at(const qfi_factor *f, const int64_t *batch, int n_batch);

/* Which part of it: batch coordinates of the result, counted from its last batch dim. */
typedef struct qfi_factor_part {
    const int64_t *batch;
    int n_batch;
    int64_t k0, kc, x0, n;
} qfi_factor_part;

/* Elements of a packed part; bytes that qfi_factor_pack needs for elements that have to be made. */
int64_t qfi_factor_packed(const qfi_factor *f, int64_t kc, int64_t n);
uint64_t qfi_factor_room(const qfi_factor *f, int64_t kc, int64_t n);

/* How many x one task packs: about so many bytes of them. */
#define QFI_GROUP_BYTES 512
int64_t qfi_factor_group(const qfi_factor *f);

/* Pack a part: panel j of it at to + j * width * kc elements, the last one filled up with zeros.
 * raw: qfi_factor_room bytes. */
qf_status qfi_factor_pack(qfi_run *run, const qfi_factor *f, const qfi_factor_part *part, char *to,
                          char *raw);

/* The box [lo, lo + n) of the result, as qfi_breaker_run makes it. */
qf_status qfi_product_run(qfi_run *run, const qfi_breaker *x, const int64_t *lo, const int64_t *n,
                          char *dst, const int64_t *stride);

/* Working memory of a worker that many small products use at most; 0: a product is not small. */
uint64_t qfi_product_enough(const qfi_breaker *x);

/* How a product is made tile by tile, in its type of accumulation. */
extern const qfi_breaker_tiles qfi_product_tiles;

#endif
