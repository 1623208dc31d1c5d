/* Rows of sums over vectors: whole blocks of 16 columns, one for every partial, in registers. The
 * columns before the first multiple of 16 and after the last one, and rows of one repeated value,
 * go through the scalar row, which adds in the same order. */
#ifndef QFK_REDUCE_ROWS_H
#define QFK_REDUCE_ROWS_H

#include "kernels/common/element.h"

/* state[j] += the j-th element, or its square, of each block of 16 at a. */
typedef void qfk_block_sum(const void *a, size_t blocks, double *state);

/* Rows of elements of `size` bytes: head by `edge`, whole blocks by `blocks`, tail by `edge`. */
static inline void qfk_reduce_rows(size_t m, size_t n, const qfk_in *in, qfk_out out,
                                   const qfk_param *p, qfk_tile *edge, qfk_block_sum *blocks,
                                   size_t size)
{
    const size_t first = (size_t)p->i[0], to_block = (16 - first % 16) % 16;
    const size_t head = !in[0].col || to_block > n ? n : to_block;
    const size_t body = (n - head) / 16 * 16;

    for (size_t i = 0; i < m; i++) {
        const char *a = qfk_in_row(&in[0], i);
        const qfk_out x = { qfk_out_row(&out, i), out.row };
        const qfk_in start = { a, 0, in[0].col };
        const qfk_in rest = { a + (head + body) * size, 0, in[0].col };
        qfk_param at_rest = *p;
        at_rest.i[0] += (int64_t)(head + body);
        at_rest.i[1] = 0;
        edge(1, head, &start, x, p);
        blocks(a + head * size, body / 16, x.p);
        edge(1, n - head - body, &rest, x, &at_rest);
    }
}

/* Defines the kernel `name` of qfk_reduce_rows. */
#define QFK_REDUCE(name, edge, blocks, size)                                         \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p) \
    {                                                                                \
        qfk_reduce_rows(m, n, in, out, p, edge, blocks, size);                       \
    }

#endif
