/* Transposing block by block: what the transpose kernels of all instruction sets share. The input
 * runs down the rows, so a column of a block is one load, and an includer's `turn` turns the block
 * in registers. Blocks go down their W columns to the end before they go on to the right: a few
 * runs of memory are read from end to end, line by line, and lines two ahead are asked for
 * meanwhile. (On a Zen 3, 4096 x 4096 words: 20 GB/s are read along 8 or 16 runs, 6 to 12 along 32
 * and more, which fall into one set of the first cache when their pitch is a power of two.) */
#ifndef QFK_TRANSPOSE_BLOCKS_H
#define QFK_TRANSPOSE_BLOCKS_H

#include "kernels/common/element.h"
#include "kernels/common/unroll.h"

#define QFK_LINE 64
#define QFK_AHEAD (2 * QFK_LINE) /* bytes of a run between what is read and what is asked for */

/* h x w elements of a block are there, the others are absent: columns beyond w are zero.
 * read: bytes that may be read of a column; write: bytes that may be written of a row. They reach
 * beyond h and w where what follows belongs to the tile, too, and is written after this row. */
typedef struct qfk_block {
    const char *a; /* element [0][0] of the input */
    char *x;       /* and of the output */
    ptrdiff_t col, row;
    size_t h, w, read, write;
} qfk_block;

/* A tile, the size of an element, a whole block. short_columns, short_rows: those of the input, of
 * the output, follow each other without a gap; rows are short, too.  i, j: where the tile begins in
 * that of the kernel; beside: other operands of the kernel, if it has some. */
typedef struct qfk_turning {
    qfk_in in;
    qfk_out out;
    size_t m, n, size, h, w;
    bool short_columns, short_rows;
    size_t i, j;
    const qfk_in *beside;
} qfk_turning;

QFK_INLINE qfk_block qfk_whole_block(const qfk_turning *t, size_t i, size_t j)
{
    return (qfk_block){ .a = (const char *)qfk_in_row(&t->in, i) + (ptrdiff_t)j * t->in.col,
                        .x = (char *)qfk_out_row(&t->out, i) + j * t->size,
                        .col = t->in.col,
                        .row = t->out.row,
                        .h = t->h,
                        .w = t->w,
                        .read = t->h * t->size,
                        .write = t->w * t->size };
}

/* Blocks at the edges may still move whole vectors, where those stay in the tile. Cases differ in
 * what is constant: whole blocks do not share the code that cuts. */
QFK_INLINE void qfk_turn_at(const qfk_turning *t, size_t i, size_t j,
                            void (*turn)(const qfk_block *))
{
    const size_t h = t->m - i < t->h ? t->m - i : t->h, w = t->n - j < t->w ? t->n - j : t->w,
                 end = t->m * t->n * t->size;
    qfk_block b = qfk_whole_block(t, i, j);

    if (h == t->h && w == t->w) {
        turn(&b);
        return;
    }
    const bool deep = h == t->h || (t->short_columns &&
                                    ((j + w - 1) * t->m + i) * t->size + b.read <= end),
               wide = w == t->w || (t->short_rows &&
                                     ((i + h - 1) * t->n + j) * t->size + b.write <= end);
    b.h = h;
    if (deep && w == t->w) {
        turn(&b);
        return;
    }
    b.w = w;
    if (deep && wide) {
        turn(&b);
        return;
    }
    if (!deep)
        b.read = h * t->size;
    if (!wide)
        b.write = w * t->size;
    turn(&b);
}

/* Lines of a run `ahead` bytes on; beyond its end, of the runs that are read next. They may lie
 * outside the input: asking does not fault. */
QFK_INLINE void qfk_ask_ahead(const qfk_turning *t, size_t i, size_t j, size_t ahead)
{
    const size_t run = t->m * t->size, at = i * t->size + ahead;
    const bool inside = at < run;
    const char *a = (const char *)t->in.p + (ptrdiff_t)(inside ? j : j + t->w) * t->in.col +
                    (inside ? at : at - run);

    for (size_t k = 0; k < t->w; k++)
        __builtin_prefetch(a + (ptrdiff_t)k * t->in.col);
}

/* `turn` is a constant, so that it is part of the loop. Blocks of short rows go from right to left
 * and then down: what a store writes beyond the end of a row is overwritten by the next row. */
QFK_INLINE void qfk_turn_tile(const qfk_turning *t, void (*turn)(const qfk_block *))
{
    const size_t right = (t->n - 1) / t->w * t->w;

    if (t->short_rows) {
        for (size_t i = 0; i < t->m; i += t->h)
            for (size_t j = right + t->w; j > 0; j -= t->w)
                qfk_turn_at(t, i, j - t->w, turn);
        return;
    }
    for (size_t j = 0; j < t->n; j += t->w)
        for (size_t i = 0; i < t->m; i += t->h) {
            if (i * t->size % QFK_LINE == 0 && t->m * t->size > QFK_AHEAD)
                qfk_ask_ahead(t, i, j, QFK_AHEAD);
            qfk_turn_at(t, i, j, turn);
        }
}

QFK_INLINE qfk_turning qfk_turning_of(size_t m, size_t n, const qfk_in *in, qfk_out out,
                                      size_t size, size_t h, size_t w)
{
    const bool short_columns = in->col == (ptrdiff_t)(m * size),
               short_rows = n > 1 && n <= 4 * w && out.row == (ptrdiff_t)(n * size);

    return (qfk_turning){ .in = *in,
                          .out = out,
                          .m = m,
                          .n = n,
                          .size = size,
                          .h = h,
                          .w = w,
                          .short_columns = short_columns,
                          .short_rows = short_rows };
}

/* Defines the kernel `name` on blocks of H x W elements of SIZE bytes. */
#define QFK_TRANSPOSE(name, SIZE, H, W, turn)                                                    \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)             \
    {                                                                                            \
        const qfk_turning t = qfk_turning_of(m, n, in, out, SIZE, H, W);                         \
        (void)p;                                                                                 \
        qfk_turn_tile(&t, turn);                                                                 \
    }

#endif
