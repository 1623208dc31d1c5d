/* A box of a product at hand: which part of the result, how it is cut, and the ways to make it. */
#ifndef QFOLD_DISPATCH_PRODUCT_BOX_H
#define QFOLD_DISPATCH_PRODUCT_BOX_H

#include "dispatch/breakers/product.h"
#include "dispatch/providers/providers.h"

/* dst: where element [0][0] of the first product goes.  row, col: dims of the result; -1: an
 * operand of one dim has none.  m0, m, n0, cols: rows and columns of the result; items: products.
 * direct: sums stand in the destination.  sm, sn, kc, mc, nc: of a part, a panel, a block.  pack_a,
 * pack_b, sum: bytes of packed parts and sums; raw, edge, fetch: of each worker, for what is made,
 * the tile of an edge, reads.  call: what a panel by OpenBLAS starts from. */
typedef struct qfi_product {
    qfi_run *run;
    const qfi_breaker *x;
    const int64_t *lo, *n, *stride;
    char *dst;
    int n_batch, row, col;
    int64_t m0, m, n0, cols, k, items;
    qfi_factor a, b;
    int64_t size, out_size, mr, nr;
    bool direct;
    int64_t sm, sn, kc, mc, nc;
    uint64_t pack_a, pack_b, sum, raw, edge, fetch;
    qfi_blas_product call;
} qfi_product;

/* Bytes that all workers share, and that each needs. */
static inline uint64_t qfi_product_shared(const qfi_product *p)
{
    return p->pack_a + p->pack_b + p->sum;
}

static inline uint64_t qfi_product_own(const qfi_product *p)
{
    return p->raw + p->edge + p->fetch;
}

/* Bytes from one row or column of the destination to the next. */
static inline int64_t qfi_product_row_step(const qfi_product *p)
{
    return p->row < 0 ? 0 : p->stride[p->row] * p->out_size;
}

static inline int64_t qfi_product_col_step(const qfi_product *p)
{
    return p->col < 0 ? p->out_size : p->stride[p->col] * p->out_size;
}

/* Where product number `item` of the batch goes, and its batch coordinates. */
char *qfi_product_place(const qfi_product *p, int64_t item, int64_t *batch);

/* Cut until the packed parts and what `workers` need fit into `room`; false: nothing fits. */
bool qfi_product_cut(qfi_product *p, uint64_t room, uint64_t workers);

/* Product number `item` of the batch, part by part, in memory from `at` on. */
qf_status qfi_product_parts(const qfi_product *p, const qfi_run *run, char *at, int64_t item);

/* Many small products, one or several to a task. */
qf_status qfi_product_batch(const qfi_product *p, uint64_t workers);

/* Whether OpenBLAS may take the box, and can; the box by it, whose sums are in an order of its own.
 */
bool qfi_product_goes_to_blas(qfi_product *p);
qf_status qfi_product_blas(qfi_product *p);

#endif
