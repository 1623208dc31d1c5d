/* Low-rank updates over vectors: blocks of QFK_UPDATE_ROWS rows and two vectors, whose sums stay in
 * registers until they are scaled, added to c and stored. An includer has included a vector
 * vocabulary and words of it (words_avx2.h). */
#ifndef QFK_UPDATE_VECTORS_H
#define QFK_UPDATE_VECTORS_H

#include "kernels/gemm/update.h"

#define WIDTH ((size_t)2 * QFK_LANES)
#define LINE 64
#define AHEAD 128 /* bytes from c to what is fetched: what follows it in its rows comes next */

/* Blocks at hand, side by side: the first elements of the next, how many panels are left, and how
 * many rows there are. Rows that a block lacks are the last one, computed and stored again. */
typedef struct block {
    const char *a, *b, *c;
    char *x;
    size_t panels, rows;
} block;

QFK_INLINE size_t row_at(const block *w, size_t i, bool whole)
{
    return whole || i < w->rows ? i : w->rows - 1;
}

QFK_INLINE const char *c_row(const qfk_update *u, const block *w, size_t i, bool whole)
{
    return w->c + (ptrdiff_t)row_at(w, i, whole) * u->c.row;
}

QFK_INLINE char *x_row(const qfk_update *u, const block *w, size_t i, bool whole)
{
    return w->x + (ptrdiff_t)row_at(w, i, whole) * u->x.row;
}

QFK_INLINE void ask_ahead(const qfk_update *u, const block *w, bool whole)
{
#pragma GCC unroll 14
    for (size_t i = 0; i < QFK_UPDATE_ROWS; i++)
        __builtin_prefetch(c_row(u, w, i, whole) + AHEAD, 1);
}

/* The sums of `rows` rows, a number known to the compiler. */
QFK_INLINE void multiply(const qfk_update *u, const block *w, qfk_vf (*s)[2], size_t rows,
                         bool whole)
{
    const char *a = w->a, *b = w->b;

#pragma GCC unroll 14
    for (size_t i = 0; i < rows; i++)
        s[i][0] = s[i][1] = qfk_vf_set(0);
#pragma GCC unroll 4
    for (size_t t = u->k; t; t--, a += u->a_step, b += u->b_step) {
        const qfk_vf lo = qfk_vf_load(b, QFK_LANES), hi = qfk_vf_load(b + WIDTH * 2, QFK_LANES);
#pragma GCC unroll 14
        for (size_t i = 0; i < rows; i++) {
            const qfk_vf v = qfk_vf_all(a + (ptrdiff_t)row_at(w, i, whole) * u->a_row);
            s[i][0] = qfk_vf_fma(v, lo, s[i][0]);
            s[i][1] = qfk_vf_fma(v, hi, s[i][1]);
        }
    }
}

/* One row of n columns, element by element: edges, and blocks that vectors do not round right.
 * pairs: the even columns of a panel come first. */
#define ROW(name, T, pairs)                                                                    \
    static void name(const qfk_update *u, const char *a, const char *b, const char *c, char *x, \
                     size_t n)                                                                 \
    {                                                                                          \
        qfk_vf lo = qfk_vf_set(0), hi = lo;                                                    \
        float s[WIDTH];                                                                        \
        for (size_t t = u->k; t; t--, a += u->a_step, b += u->b_step) {                          \
            lo = qfk_vf_fma(qfk_vf_all(a), qfk_vf_load(b, QFK_LANES), lo);                     \
            hi = qfk_vf_fma(qfk_vf_all(a), qfk_vf_load(b + WIDTH * 2, QFK_LANES), hi);         \
        }                                                                                      \
        qfk_vf_store(s, lo, QFK_LANES);                                                        \
        qfk_vf_store(s + QFK_LANES, hi, QFK_LANES);                                            \
        for (size_t j = 0; j < n; j++, c += u->c.col, x += sizeof(qfk_##T)) {                  \
            const float p = s[pairs ? j % 2 * QFK_LANES + j / 2 : j];                          \
            *(qfk_##T##_mem *)(void *)x = qfk_update_##T(                                      \
                p, u->scale, *(const qfk_##T##_mem *)(const void *)c, u->manner);              \
        }                                                                                      \
    }

ROW(row_f32, f32, false)
ROW(row_bf16, bf16, true)
ROW(row_f16, f16, false)

/* To the next panel; elements of `size` bytes. */
QFK_INLINE void go_on(const qfk_update *u, block *w, size_t size)
{
    w->panels--;
    w->b += u->panel;
    w->c += (ptrdiff_t)WIDTH * u->c.col;
    w->x += WIDTH * size;
}

/* The blocks of a key of `size` bytes. whole, part: those of whole panels, with all rows and with
 * fewer; row: the others. extra: what whole and part take besides. */
typedef void update_blocks(const qfk_update *u, block *w, const void *extra);
typedef struct blocks {
    update_blocks *whole, *part;
    void (*row)(const qfk_update *u, const char *a, const char *b, const char *c, char *x,
                size_t n);
    size_t size;
} blocks;

/* Rows from i on, of which there are `left`, and n columns. */
static block block_at(const qfk_update *u, size_t i, size_t left, size_t n)
{
    return (block){ .a = u->a + (ptrdiff_t)i * u->a_row,
                    .b = u->b,
                    .c = qfk_in_row(&u->c, i),
                    .x = qfk_out_row(&u->x, i),
                    .panels = u->c.col ? n / WIDTH : 0,
                    .rows = left < QFK_UPDATE_ROWS ? left : QFK_UPDATE_ROWS };
}

static void walk(const qfk_update *u, size_t m, size_t n, const blocks *k, const void *extra)
{
    for (size_t i = 0; i < m; i += QFK_UPDATE_ROWS) {
        block w = block_at(u, i, m - i, n);
        size_t left = n - w.panels * WIDTH;
        (w.rows == QFK_UPDATE_ROWS ? k->whole : k->part)(u, &w, extra);
        for (; left; left -= left < WIDTH ? left : WIDTH, go_on(u, &w, k->size))
            for (size_t r = 0; r < w.rows; r++)
                k->row(u, w.a + (ptrdiff_t)r * u->a_row, w.b, c_row(u, &w, r, true),
                       x_row(u, &w, r, true),
                       left < WIDTH ? left : WIDTH);
    }
}

/* Defines `name` of key T: `make` makes the next block; it lacks no row where `whole` says so. */
#define LOOP(name, T, is_whole, make)                                            \
    static void name(const qfk_update *u, block *w, const void *extra)           \
    {                                                                            \
        const bool whole = is_whole;                                             \
        (void)extra;                                                             \
        for (; w->panels; go_on(u, w, sizeof(qfk_##T)))                          \
            make;                                                                \
    }

/* Defines whole_name and part_name. */
#define BLOCKS(name, T, make)                                                    \
    LOOP(whole_##name, T, true, make)                                            \
    LOOP(part_##name, T, false, make)

/* Defines the kernel `name` of key T. */
#define UPDATE(name, scalar, T)                                                    \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out x, const qfk_param *p) \
    {                                                                              \
        const qfk_update u = qfk_update_of(in, x, p);                              \
        const blocks k = { whole_##T, part_##T, row_##T, sizeof(qfk_##T) };        \
        if (u.width == WIDTH)                                                      \
            walk(&u, m, n, &k, NULL);                                              \
        else                                                                       \
            scalar(m, n, in, x, p);                                                \
    }

/* f32: all of c is read before a row is stored, since rows of one page offset would wait for each
 * other. */
QFK_INLINE void finish_f32(const qfk_update *u, const block *w, qfk_vf (*s)[2], bool whole)
{
    const qfk_vf scale = qfk_vf_set(u->scale);

#pragma GCC unroll 14
    for (size_t i = 0; i < QFK_UPDATE_ROWS; i++) {
        const char *c = c_row(u, w, i, whole);
        const qfk_vf lo = qfk_vf_load(c, QFK_LANES), hi = qfk_vf_load(c + WIDTH * 2, QFK_LANES);
        const bool fused = u->manner & QFK_UPDATE_FUSED;
        s[i][0] = fused ? qfk_vf_fma(s[i][0], scale, lo)
                        : qfk_vf_add(lo, qfk_vf_mul(s[i][0], scale));
        s[i][1] = fused ? qfk_vf_fma(s[i][1], scale, hi)
                        : qfk_vf_add(hi, qfk_vf_mul(s[i][1], scale));
    }
#pragma GCC unroll 14
    for (size_t i = 0; i < QFK_UPDATE_ROWS; i++) {
        char *x = x_row(u, w, i, whole);
        qfk_vf_store(x, s[i][0], QFK_LANES);
        qfk_vf_store(x + WIDTH * 2, s[i][1], QFK_LANES);
    }
}

QFK_INLINE void block_f32(const qfk_update *u, const block *w, bool whole)
{
    qfk_vf s[QFK_UPDATE_ROWS][2];

    ask_ahead(u, w, whole);
    multiply(u, w, s, QFK_UPDATE_ROWS, whole);
    finish_f32(u, w, s, whole);
}

BLOCKS(f32, f32, block_f32(u, w, whole))

/* f16: a conversion to halves and back rounds. */
QFK_INLINE qfk_vf finish_f16(const qfk_update *u, qfk_vf p, qfk_vf c)
{
    const qfk_vf scale = qfk_vf_set(u->scale);

    if (u->manner & QFK_UPDATE_ROUNDED)
        p = qfk_vf_as_f16(p);
    if (u->manner & QFK_UPDATE_FUSED)
        return qfk_vf_fma(p, scale, c);
    p = qfk_vf_mul(p, scale);
    return qfk_vf_add(c, u->manner & QFK_UPDATE_ROUNDED ? qfk_vf_as_f16(p) : p);
}

QFK_INLINE void block_f16(const qfk_update *u, const block *w, bool whole)
{
    qfk_vf s[QFK_UPDATE_ROWS][2];

    ask_ahead(u, w, whole);
    multiply(u, w, s, QFK_UPDATE_ROWS, whole);
#pragma GCC unroll 14
    for (size_t i = 0; i < QFK_UPDATE_ROWS; i++)
        for (size_t h = 0; h < 2; h++)
            s[i][h] = finish_f16(
                u, s[i][h], qfk_vf_load_f16(c_row(u, w, i, whole) + h * WIDTH, QFK_LANES));
#pragma GCC unroll 14
    for (size_t i = 0; i < QFK_UPDATE_ROWS; i++)
        for (size_t h = 0; h < 2; h++)
            qfk_vf_store_f16(x_row(u, w, i, whole) + h * WIDTH, s[i][h], QFK_LANES);
}

BLOCKS(f16, f16, block_f16(u, w, whole))

#endif
