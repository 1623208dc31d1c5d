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

#define QFK_PART_BYTES ((size_t)163840) /* of a part; strips of it may have a line after them */
#define QFK_PART_AHEAD ((size_t)(4 * QFK_LINE))

/* What makes the code of a kernel, all constant. size: of an element.  w: runs of a strip.  run:
 * bytes of a row of a panel.  unit: turns a line of w runs, `col` bytes apart, to rows that follow
 * each other.  line: stores a line of the destination, from pieces `pitch` bytes apart. */
typedef struct qfk_panel_code {
    size_t size, w, run;
    void (*unit)(char *x, const char *a, ptrdiff_t col);
    void (*line)(char *x, const char *a, ptrdiff_t pitch);
} qfk_panel_code;

/* Rows of a part that stand in the staging; lines: of a row. */
typedef struct qfk_waiting {
    const char *a;
    char *x;
    size_t rows, lines;
    ptrdiff_t row;
} qfk_waiting;

QFK_INLINE ptrdiff_t qfk_strip_pitch(const qfk_panel_code *c)
{
    return (ptrdiff_t)(QFK_PART_BYTES / c->run * c->w * c->size + QFK_LINE);
}

QFK_INLINE void qfk_store_waiting(const qfk_panel_code *c, qfk_waiting *w)
{
    const ptrdiff_t pitch = qfk_strip_pitch(c),
                    line = QFK_LINE / (ptrdiff_t)(c->w * c->size) * pitch;

    if (w->lines == c->run / QFK_LINE) {
        _Pragma("GCC unroll 8") for (size_t k = 0; k < c->run / QFK_LINE; k++)
            c->line(w->x + k * QFK_LINE, w->a + (ptrdiff_t)k * line, pitch);
    } else {
        for (size_t k = 0; k < w->lines; k++)
            c->line(w->x + k * QFK_LINE, w->a + (ptrdiff_t)k * line, pitch);
    }
    w->a += c->w * c->size;
    w->x += w->row;
    w->rows--;
}

/* Turns a part, and stores a row that waits whenever as many lines were read. Beyond the end of a
 * run, those of the next strip are asked for: they may lie outside, asking does not fault. */
QFK_INLINE void qfk_turn_part(const qfk_panel_code *c, const qfk_turning *t, char *staging,
                              qfk_waiting *waiting)
{
    const ptrdiff_t col = t->in.col, strip = (ptrdiff_t)c->w * col;
    const size_t run = t->m * c->size;
    const char *a = t->in.p;
    qfk_waiting w = *waiting;
    size_t due = 0;

    for (size_t j = 0; j < t->n; j += c->w, a += strip, staging += qfk_strip_pitch(c))
        for (size_t at = 0; at < run; at += QFK_LINE) {
            const size_t next = at + QFK_PART_AHEAD;
            const char *ahead = next < run ? a + next : a + strip + (next - run);
            _Pragma("GCC unroll 16") for (size_t k = 0; k < c->w; k++)
                __builtin_prefetch(ahead + (ptrdiff_t)k * col);
            c->unit(staging + at * c->w, a + at, col);
            due += c->w;
            while (due >= w.lines && w.rows) {
                qfk_store_waiting(c, &w);
                due -= w.lines;
            }
        }
    *waiting = w;
}

/* Rows i … i + m - 1 and columns j … j + n - 1 of a tile. */
QFK_INLINE qfk_turning qfk_turning_part(const qfk_turning *t, size_t i, size_t j, size_t m,
                                        size_t n)
{
    const qfk_block b = qfk_whole_block(t, i, j);

    return (qfk_turning){ .in = { b.a, t->in.row, t->in.col },
                          .out = { b.x, t->out.row },
                          .m = m,
                          .n = n,
                          .size = t->size,
                          .h = t->h,
                          .w = t->w };
}

/* Parts of one panel after the other; `free` is the half of the staging that nothing waits in. */
typedef struct qfk_panels {
    qfk_waiting w;
    char *free, *other;
} qfk_panels;

/* A panel of whole lines, in parts of about equal size. */
QFK_INLINE void qfk_turn_panel(const qfk_panel_code *c, const qfk_turning *t, qfk_panels *s)
{
    const size_t unit = QFK_LINE / c->size, most = QFK_PART_BYTES / c->run,
                 parts = (t->m + most - 1) / most,
                 rows = ((t->m + parts - 1) / parts + unit - 1) / unit * unit;

    for (size_t i = 0; i < t->m; i += rows) {
        const size_t m = t->m - i < rows ? t->m - i : rows;
        const qfk_turning part = qfk_turning_part(t, i, 0, m, t->n);
        char *filled = s->free;
        qfk_turn_part(c, &part, filled, &s->w);
        while (s->w.rows)
            qfk_store_waiting(c, &s->w);
        s->w = (qfk_waiting){ filled, part.out.p, m, t->n * c->size / QFK_LINE, t->out.row };
        s->free = s->other;
        s->other = filled;
    }
}

/* Whole lines of whole units go in panels; what is left to the right and below, `turn` stores. */
QFK_INLINE void qfk_turn_past(const qfk_panel_code *c, const qfk_turning *t, char *staging,
                              void (*turn)(const qfk_turning *))
{
    const size_t unit = QFK_LINE / c->size, m = t->m / unit * unit, n = t->n / unit * unit,
                 run = c->run / c->size;
    const qfk_turning right = qfk_turning_part(t, 0, n, t->m, t->n - n),
                      below = qfk_turning_part(t, m, 0, t->m - m, n);
    qfk_panels s = { .free = staging, .other = staging + QFK_STAGING / 2 };

    for (size_t j = 0; m && j < n; j += run) {
        const qfk_turning panel = qfk_turning_part(t, 0, j, m, n - j < run ? n - j : run);
        qfk_turn_panel(c, &panel, &s);
    }
    while (s.w.rows)
        qfk_store_waiting(c, &s.w);
    if (right.n)
        turn(&right);
    if (below.m && n)
        turn(&below);
}

/* Defines the kernel `name` on blocks of H x W elements of SIZE bytes, and past the caches in
 * panels of RUN bytes and strips of RUNS. */
#define QFK_TRANSPOSE_PAST(name, SIZE, H, W, block, RUNS, unit, line, RUN)                       \
    static void name##_tile(const qfk_turning *t)                                                \
    {                                                                                            \
        qfk_turn_tile(t, block);                                                                 \
    }                                                                                            \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)             \
    {                                                                                            \
        const qfk_turning t = qfk_turning_of(m, n, in, out, SIZE, H, W);                         \
        const qfk_panel_code code = { SIZE, RUNS, RUN, unit, line };                             \
        if (qfk_goes_past(p, out) && p->staging)                                                 \
            qfk_turn_past(&code, &t, p->staging, name##_tile);                                   \
        else                                                                                     \
            qfk_turn_tile(&t, block);                                                            \
    }

#endif
