/* Transposing block by block: what the transpose kernels of all instruction sets share. The input
 * runs down the rows, so a column of a block is one load, and an includer's `turn` turns the block
 * in registers. Blocks go down their W columns to the end before they go on to the right: a few
 * runs of memory are read from end to end, line by line, and lines two ahead are asked for
 * meanwhile. (On a Zen 3, 4096 x 4096 words: 20 GB/s are read along 8 or 16 runs, 6 to 12 along 32
 * and more, which fall into one set of the first cache when their pitch is a power of two.) */
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

/* It may lie outside the input: asking does not fault. */
QFK_INLINE void ask_ahead(const qfk_block *b)
{
    for (size_t k = 0; k < b->w; k++)
        __builtin_prefetch(b->a + (ptrdiff_t)k * b->col + 128);
}

/* Defines the kernel `name` on blocks of H x W elements of SIZE bytes. In the call for whole blocks
 * h and w are constant, so nothing in it is cut. */
#define QFK_TRANSPOSE(name, SIZE, H, W, turn)                                                  \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)           \
    {                                                                                          \
        (void)p;                                                                               \
        for (size_t j = 0; j < n; j += W)                                                      \
            for (size_t i = 0; i < m; i += H) {                                                \
                qfk_block b = { (const char *)qfk_in_row(in, i) + (ptrdiff_t)j * in->col,      \
                                (char *)qfk_out_row(&out, i) + j * SIZE, in->col, out.row, H,  \
                                W };                                                           \
                if (m - i >= H && n - j >= W) {                                                \
                    if (i * SIZE % 64 == 0)                                                    \
                        ask_ahead(&b);                                                         \
                    turn(&b);                                                                  \
                    continue;                                                                  \
                }                                                                              \
                b.h = m - i < H ? m - i : H;                                                   \
                b.w = n - j < W ? n - j : W;                                                   \
                turn(&b);                                                                      \
            }                                                                                  \
    }

#endif
