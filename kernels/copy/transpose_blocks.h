/* Transposing block by block: what the transpose kernels of all instruction sets share. The input
 * runs down the rows, so a column of a block is one load, and an includer's `turn` turns the block
 * in registers. Blocks go down a strip, one cache line of every column, before they go on to the
 * right: each line is read whole, and rows of the output grow from left to right. */
#ifndef QFK_TRANSPOSE_BLOCKS_H
#define QFK_TRANSPOSE_BLOCKS_H

#include "kernels/common/element.h"

/* Without it, whole blocks would share the code that cuts. */
#define QFK_INLINE static inline __attribute__((always_inline))

/* A block at an edge has h < height rows or w < width columns: loads and stores are cut there, and
 * absent columns are zero. */
typedef struct qfk_block {
    const char *a; /* element [0][0] of the input */
    char *x;       /* and of the output */
    ptrdiff_t col, row;
    size_t h, w;
} qfk_block;

/* Defines the kernel `name` on blocks of H x W elements of SIZE bytes. In the call for whole blocks
 * h and w are constant, so nothing in it is cut. */
#define QFK_TRANSPOSE(name, SIZE, H, W, turn)                                                  \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)           \
    {                                                                                          \
        (void)p;                                                                               \
        for (size_t strip = 0; strip < m; strip += 64 / SIZE)                                  \
            for (size_t j = 0; j < n; j += W)                                                  \
                for (size_t i = strip; i < m && i < strip + 64 / SIZE; i += H) {               \
                    qfk_block b = { (const char *)qfk_in_row(in, i) + (ptrdiff_t)j * in->col,  \
                                    (char *)qfk_out_row(&out, i) + j * SIZE, in->col, out.row, \
                                    H, W };                                                    \
                    if (m - i >= H && n - j >= W) {                                            \
                        turn(&b);                                                              \
                        continue;                                                              \
                    }                                                                          \
                    b.h = m - i < H ? m - i : H;                                               \
                    b.w = n - j < W ? n - j : W;                                               \
                    turn(&b);                                                                  \
                }                                                                              \
    }

#endif
