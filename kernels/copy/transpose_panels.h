/* Transposing past the caches: panel by panel of the destination, in registers from the operand to
 * a staging in the second cache, from there in whole lines to the destination.
 *
 *   operand: runs, w a strip      staging: strips          destination
 *   run 0  |-- rows of a part ->  strip 0: row 0, row 1 ..  row 0: strip 0, strip 1 ..
 *   run 1  |------------------->  strip 1: row 0, row 1 ..  row 1: strip 0, strip 1 ..
 *
 * A panel goes down its rows in parts, then comes the panel to the right. While one half of the
 * staging takes a part unit by unit (one line of each run of a strip), the part before it leaves
 * the other half row by row, so that memory reads and writes at once; and what is written to the
 * staging is adjacent, so that its lines come to the first cache once.
 *
 * Zen 3, 4096 x 14336 words, of the best copy: 0.49 if a tile is turned, then stored; 0.62 in two
 * halves, but strip by strip; 0.69 to 0.73 unit by unit. Parts of 320 or 384 rows of 512 bytes; 256
 * or 512 rows, or rows of 256 bytes, lose 0.02 to 0.08. Bytes: rows of 256, or runs get too short.
 * Stores past the caches straight from the registers reach 0.4, since those to rows whose pitch is
 * a power of two are no longer combined to lines when loads come between. */
#ifndef QFK_TRANSPOSE_PANELS_H
#define QFK_TRANSPOSE_PANELS_H

#include "kernels/common/unroll.h"
#include "kernels/copy/transpose_blocks.h"

#define QFK_PART_BYTES ((size_t)163840) /* of a part; strips have a line after them */
#define QFK_PART_AHEAD ((size_t)(4 * QFK_LINE))

/* Makes n columns of one row of the destination, whole lines, from strips `pitch` bytes apart; they
 * begin with row i and column j of the tile, where `beside` has what else is needed. */
typedef void qfk_store_row(char *x, const char *a, ptrdiff_t pitch, size_t n, const qfk_in *beside,
                           size_t i, size_t j);

/* What makes the code of a kernel, all constant. size, to: of an element of the operand, of the
 * destination.  w: runs of a strip.  columns: of a panel, and each: `store` takes multiples of it.
 * rows: of a part.  unit: turns a line of w runs, `col` bytes apart, to rows that follow each
 * other. */
typedef struct qfk_panel_code {
    size_t size, to, w, columns, each, rows;
    void (*unit)(char *x, const char *a, ptrdiff_t col);
    qfk_store_row *store;
} qfk_panel_code;

/* Rows of a part that stand in the staging. n: columns.  i, j: place of the first in the tile. */
typedef struct qfk_waiting {
    const char *a;
    char *x;
    size_t rows, n, i, j;
    ptrdiff_t row;
} qfk_waiting;

QFK_INLINE ptrdiff_t qfk_strip_pitch(const qfk_panel_code *c)
{
    return (ptrdiff_t)(c->rows * c->w * c->size + QFK_LINE);
}

QFK_INLINE void qfk_store_waiting(const qfk_panel_code *c, qfk_waiting *w, const qfk_in *beside)
{
    c->store(w->x, w->a, qfk_strip_pitch(c), w->n, beside, w->i, w->j);
    w->a += c->w * c->size;
    w->x += w->row;
    w->i++;
    w->rows--;
}

/* Asks for the lines at `ahead` of `count` more runs of a strip. */
QFK_INLINE size_t qfk_ask_runs(const qfk_panel_code *c, const char *ahead, ptrdiff_t col,
                               size_t asked, size_t count)
{
    for (size_t k = 0; k < count && asked < c->w; k++, asked++)
        __builtin_prefetch(ahead + (ptrdiff_t)asked * col);
    return asked;
}

/* Turns a part, and stores a row that waits whenever as many elements were read. After each row, as
 * many lines are asked for: 16 at once keep the stores waiting (dequantize_turned_bf16: 17.5 ms
 * instead of 16.2). Beyond the end of a run, those of the next strip are asked for: they may lie
 * outside, asking does not fault. */
QFK_INLINE void qfk_turn_part(const qfk_panel_code *c, const qfk_turning *t, char *staging,
                              qfk_waiting *waiting)
{
    const ptrdiff_t col = t->in.col, strip = (ptrdiff_t)c->w * col;
    const size_t run = t->m * c->size, row = waiting->n * c->size;
    const char *a = t->in.p;
    qfk_waiting w = *waiting;
    size_t due = 0;

    for (size_t j = 0; j < t->n; j += c->w, a += strip, staging += qfk_strip_pitch(c))
        for (size_t at = 0; at < run; at += QFK_LINE) {
            const size_t next = at + QFK_PART_AHEAD;
            const char *ahead = next < run ? a + next : a + strip + (next - run);
            size_t asked = 0;
            c->unit(staging + at * c->w, a + at, col);
            due += c->w * QFK_LINE;
            while (due >= row && w.rows) {
                qfk_store_waiting(c, &w, t->beside);
                due -= row;
                asked = qfk_ask_runs(c, ahead, col, asked, c->columns * c->size / QFK_LINE);
            }
            qfk_ask_runs(c, ahead, col, asked, c->w);
        }
    *waiting = w;
}

/* Rows i … i + m - 1 and columns j … j + n - 1 of a tile, whose results have `to` bytes. */
QFK_INLINE qfk_turning qfk_turning_part(const qfk_turning *t, size_t to, size_t i, size_t j,
                                        size_t m, size_t n)
{
    qfk_turning part = *t;

    part.in.p = (const char *)qfk_in_row(&t->in, i) + (ptrdiff_t)j * t->in.col;
    part.out.p = (char *)qfk_out_row(&t->out, i) + j * to;
    part.m = m;
    part.n = n;
    part.i += i;
    part.j += j;
    part.short_columns = part.short_rows = false;
    return part;
}

/* Parts of one panel after the other; `free` is the half of the staging that nothing waits in. */
typedef struct qfk_panels {
    qfk_waiting w;
    char *free, *other;
} qfk_panels;

/* A panel of whole lines, in parts of about equal size. */
QFK_INLINE void qfk_turn_panel(const qfk_panel_code *c, const qfk_turning *t, qfk_panels *s)
{
    const size_t unit = QFK_LINE / c->size, parts = (t->m + c->rows - 1) / c->rows,
                 rows = ((t->m + parts - 1) / parts + unit - 1) / unit * unit;

    for (size_t i = 0; i < t->m; i += rows) {
        const size_t m = t->m - i < rows ? t->m - i : rows;
        const qfk_turning part = qfk_turning_part(t, c->to, i, 0, m, t->n);
        char *filled = s->free;
        qfk_turn_part(c, &part, filled, &s->w);
        while (s->w.rows)
            qfk_store_waiting(c, &s->w, t->beside);
        s->w = (qfk_waiting){ filled, part.out.p, m, t->n, part.i, part.j, t->out.row };
        s->free = s->other;
        s->other = filled;
    }
}

/* Whole lines of whole units go in panels; what is left to the right and below, `turn` stores. */
QFK_INLINE void qfk_turn_past(const qfk_panel_code *c, const qfk_turning *t, char *staging,
                              void (*turn)(const qfk_turning *))
{
    const size_t unit = QFK_LINE / c->size, m = t->m / unit * unit, n = t->n / c->each * c->each;
    const qfk_turning right = qfk_turning_part(t, c->to, 0, n, t->m, t->n - n),
                      below = qfk_turning_part(t, c->to, m, 0, t->m - m, n);
    qfk_panels s = { .free = staging, .other = staging + QFK_STAGING / 2 };

    for (size_t j = 0; m && j < n; j += c->columns) {
        const size_t width = n - j < c->columns ? n - j : c->columns;
        const qfk_turning panel = qfk_turning_part(t, c->to, 0, j, m, width);
        qfk_turn_panel(c, &panel, &s);
    }
    while (s.w.rows)
        qfk_store_waiting(c, &s.w, t->beside);
    if (right.n)
        turn(&right);
    if (below.m && n)
        turn(&below);
}

/* Defines `name`, which stores rows of elements of SIZE bytes line by line, those of panels of RUN
 * bytes without a loop. line: stores one from `parts` strips. */
#define QFK_STORE_LINES(name, SIZE, RUN, line, parts)                                            \
    QFK_INLINE void name(char *x, const char *a, ptrdiff_t pitch, size_t n, const qfk_in *beside, \
                         size_t i, size_t j)                                                     \
    {                                                                                            \
        (void)beside, (void)i, (void)j;                                                          \
        if (n == (RUN) / (SIZE)) {                                                               \
            _Pragma("GCC unroll 8") for (size_t k = 0; k < (RUN) / QFK_LINE; k++)                \
                line(x + k * QFK_LINE, a + (ptrdiff_t)k * parts * pitch, pitch);                 \
        } else {                                                                                 \
            for (size_t k = 0; k < n * (SIZE) / QFK_LINE; k++)                                   \
                line(x + k * QFK_LINE, a + (ptrdiff_t)k * parts * pitch, pitch);                 \
        }                                                                                        \
    }

/* The same tile, where the compiler knows the sizes. */
QFK_INLINE qfk_turning qfk_turning_known(const qfk_turning *t, size_t size, size_t h, size_t w)
{
    qfk_turning tile = *t;

    tile.size = size;
    tile.h = h;
    tile.w = w;
    return tile;
}

/* Defines the kernel `name` on blocks of H x W elements of SIZE bytes, and past the caches in
 * panels of RUN bytes and strips of RUNS; an includer has few_words.h. There is one copy of the
 * loop over blocks, with its constants, since blocks are long. */
#define QFK_TRANSPOSE_PAST(name, SIZE, H, W, block, RUNS, unit, store, RUN)                       \
    static void name##_tile(const qfk_turning *t)                                                \
    {                                                                                            \
        const qfk_turning tile = qfk_turning_known(t, SIZE, H, W);                               \
        qfk_turn_tile(&tile, block);                                                             \
    }                                                                                            \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)             \
    {                                                                                            \
        const qfk_turning t = qfk_turning_of(m, n, in, out, SIZE, H, W);                         \
        const qfk_panel_code code = { SIZE, SIZE, RUNS, (RUN) / (SIZE), QFK_LINE / (SIZE),       \
                                      QFK_PART_BYTES / (RUN), unit, store };                     \
        if (qfk_turn_few(&t, p, name##_tile))                                                    \
            return;                                                                              \
        if (qfk_goes_past(p, out) && p->staging)                                                 \
            qfk_turn_past(&code, &t, p->staging, name##_tile);                                   \
        else                                                                                     \
            name##_tile(&t);                                                                     \
    }

#endif
