/* Small products over vectors: the sums of updates alone, in blocks of QFK_UPDATE_ROWS rows, or of
 * QFK_UPDATE_FEW where that leaves no part of a block. */
#ifndef QFK_MULTIPLY_VECTORS_H
#define QFK_MULTIPLY_VECTORS_H

#include "kernels/gemm/update_vectors.h"

/* The product that is made next: lines of its operands are asked for, some with every block. a, x:
 * bytes to its own; b: its steps of these rows; lines, steps: how many of a row of a, of b. */
typedef struct following {
    ptrdiff_t a, x;
    const char *b;
    size_t lines, steps;
} following;

QFK_INLINE void ask_following(const qfk_update *u, const block *w, const following *f, size_t rows,
                              bool whole)
{
    const ptrdiff_t across = w->b - u->b, step = LINE / 4 * u->a_step;
    const char *a = w->a + f->a + across / LINE * (ptrdiff_t)f->lines * step, *b = f->b + across;

    for (size_t l = 0; l < f->lines * WIDTH * 4; l += LINE, a += step)
        for (size_t i = 0; i < rows; i++)
            __builtin_prefetch(a + (ptrdiff_t)row_at(w, i, whole) * u->a_row);
    for (size_t t = 0; t < f->steps; t++, b += u->b_step)
        for (size_t l = 0; l < WIDTH * 4; l += LINE)
            __builtin_prefetch(b + l);
    for (size_t i = 0; i < rows; i++)
        for (size_t l = 0; l < WIDTH * 4; l += LINE)
            __builtin_prefetch(x_row(u, w, i, whole) + f->x + l, 1);
}

QFK_INLINE void block_product(const qfk_update *u, const block *w, const following *f, size_t rows,
                              bool whole)
{
    qfk_vf s[QFK_UPDATE_ROWS][2];

    ask_following(u, w, f, rows, whole);
    multiply(u, w, s, rows, whole);
#pragma GCC unroll 14
    for (size_t i = 0; i < rows; i++) {
        char *x = x_row(u, w, i, whole);
        qfk_vf_store(x, s[i][0], QFK_LANES);
        qfk_vf_store(x + WIDTH * 2, s[i][1], QFK_LANES);
    }
}

/* c is what is stored, which is all that is fetched of it. */
static qfk_update product_of(const qfk_in *in, qfk_out x, const qfk_param *p)
{
    return (qfk_update){ .a = in[0].p,
                         .a_step = in[0].col,
                         .a_row = in[0].row,
                         .b = in[1].p,
                         .b_step = in[1].row,
                         .panel = (ptrdiff_t)WIDTH * 4,
                         .k = (size_t)p->i[0],
                         .c = { x.p, x.row, sizeof(float) },
                         .x = x };
}

BLOCKS(product, f32, block_product(u, w, extra, QFK_UPDATE_ROWS, whole))
LOOP(few_product, f32, true, block_product(u, w, extra, QFK_UPDATE_FEW, whole))

static size_t parts(size_t n, size_t most)
{
    return (n + most - 1) / (most ? most : 1);
}

/* How many of m rows go into blocks of few, so that the others are whole blocks; 0: that cannot be.
 */
static size_t rows_of_few(size_t m)
{
    for (size_t few = QFK_UPDATE_FEW; few <= m && few < QFK_UPDATE_FEW * QFK_UPDATE_ROWS;
         few += QFK_UPDATE_FEW)
        if ((m - few) % QFK_UPDATE_ROWS == 0)
            return few;
    return 0;
}

/* b is used as it stands, so its last columns, if they are no whole panel, are the scalar row's. */
static void multiply_tile(size_t m, size_t n, const qfk_in *in, qfk_out x, const qfk_param *p)
{
    const size_t whole = n / WIDTH * WIDTH, first_few = m - rows_of_few(m);
    const qfk_update u = product_of(in, x, p);
    const qfk_in rest[] = { in[0], { u.b + 4 * whole, in[1].row, in[1].col } };
    following f = { .a = (ptrdiff_t)p->i[1],
                    .b = u.b + p->i[2],
                    .x = (ptrdiff_t)p->i[3],
                    .lines = parts(u.k, n),
                    .steps = parts(u.k * QFK_UPDATE_ROWS, m) };

    for (size_t i = 0; i < m; f.b += (ptrdiff_t)f.steps * u.b_step) {
        block w = block_at(&u, i, m - i, whole);
        if (i >= first_few)
            w.rows = QFK_UPDATE_FEW;
        i += w.rows;
        (w.rows == QFK_UPDATE_ROWS  ? whole_product
         : w.rows == QFK_UPDATE_FEW ? few_product
                                    : part_product)(&u, &w, &f);
    }
    qfk_multiply_f32_scalar(m, n - whole, rest, (qfk_out){ (char *)x.p + 4 * whole, x.row }, p);
}

#endif
