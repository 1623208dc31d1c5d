/* Dequantising bytes that run down the rows, over vectors: they stand in the staging of the panels
 * (transpose_panels.h) turned, but as bytes, and become floats on their way to the destination. So
 * the staging is small, and a part of it waits in the second cache as bytes.
 *
 * Zen 3, 4096 x 14336, of the plain dequantize, before on tiles that a transpose left in a staging:
 * to f32 0.85, before 0.60; to bf16 0.70, before 0.60; to f16 0.53, where turning alone takes as
 * long as all of the plain one. Of parts, 512 rows of 512 bytes; 256 rows 0.73 (f32) and 0.56
 * (bf16), 1024 of 256 bytes 0.69 and 0.55, 256 of 1024 bytes 0.63 and 0.51. */
#ifndef QFK_TURNED_VECTORS_H
#define QFK_TURNED_VECTORS_H

#include "kernels/copy/transpose_panels.h"
#include "kernels/quant/quant_vectors.h"

#define QFK_TURNED_ROWS ((size_t)512)   /* of a part */
#define QFK_TURNED_WIDTH ((size_t)512)  /* bytes of a row of a panel */
#define QFK_TURNED_W ((size_t)16)       /* runs of a strip */

QFK_INLINE void qfk_store_turned(char *x, const char *a, ptrdiff_t pitch, size_t n,
                                 const qfk_quantised *row, qfk_ways by, qfk_moves moves)
{
    for (size_t j = 0; j < n; j += QFK_FOUR, a += (ptrdiff_t)(QFK_FOUR / QFK_TURNED_W) * pitch) {
        qfk_vf v[4];
        _Pragma("GCC unroll 4") for (size_t k = 0; k < 4; k++) {
            const size_t at = k * QFK_LANES, strip = at / QFK_TURNED_W;
            v[k] = qfk_scaled(by.load(a + (ptrdiff_t)strip * pitch + at % QFK_TURNED_W, QFK_LANES),
                              row, moves, j + at, QFK_LANES);
        }
        by.store4(x + j * by.size, v[0], v[1], v[2], v[3], true);
    }
}

/* Columns from j on of row i, past the caches. */
QFK_INLINE void qfk_store_turned_row(char *x, const char *a, ptrdiff_t pitch, size_t n,
                                     const qfk_in *beside, size_t i, size_t j, qfk_ways by)
{
    const qfk_in b = qfk_in_at(&beside[0], i, j), c = qfk_in_at(&beside[1], i, j);
    const qfk_quantised row = { NULL, qfk_operand_row(&b, 0), qfk_operand_row(&c, 0) };

    if (!b.col && !c.col)
        qfk_store_turned(x, a, pitch, n, &row, by, (qfk_moves){ true, false, false });
    else if (b.col && c.col)
        qfk_store_turned(x, a, pitch, n, &row, by, (qfk_moves){ true, true, true });
    else
        qfk_store_turned(x, a, pitch, n, &row, by, (qfk_moves){ true, b.col != 0, c.col != 0 });
}

/* What panels leave, or all, by two kernels: QFK_LINE rows of some columns are turned, then
 * dequantised. */
static inline void qfk_turned_tile(const qfk_turning *t, size_t to, qfk_tile *transpose,
                                   qfk_tile *dequantize)
{
    char bytes[QFK_LINE * QFK_TURNED_W];

    for (size_t j = 0; j < t->n; j += QFK_TURNED_W)
        for (size_t i = 0; i < t->m; i += QFK_LINE) {
            const size_t m = t->m - i < QFK_LINE ? t->m - i : QFK_LINE,
                         n = t->n - j < QFK_TURNED_W ? t->n - j : QFK_TURNED_W;
            const qfk_in q = qfk_in_at(&t->in, i, j),
                         in[] = { { bytes, QFK_TURNED_W, 1 },
                                  qfk_in_at(&t->beside[0], t->i + i, t->j + j),
                                  qfk_in_at(&t->beside[1], t->i + i, t->j + j) };
            transpose(m, n, &q, (qfk_out){ bytes, QFK_TURNED_W }, NULL);
            dequantize(m, n, in, (qfk_out){ (char *)qfk_out_row(&t->out, i) + j * to, t->out.row },
                       NULL);
        }
}

/* Past the caches in panels where that is asked for and possible; else, and the rest, by `turn`. */
QFK_INLINE void qfk_turn_by(const qfk_panel_code *c, const qfk_turning *t, const qfk_param *p,
                            void (*turn)(const qfk_turning *))
{
    if (qfk_goes_past(p, t->out) && p->staging)
        qfk_turn_past(c, t, p->staging, turn);
    else
        turn(t);
}

/* Defines the kernel `name`: from key A to elements of `bytes` bytes; transpose, dequantize: the
 * kernels that do half of it. */
#define QFK_TURNED(name, A, transpose, dequantize, put, put4, bytes)                           \
    QFK_INLINE void name##_store(char *x, const char *a, ptrdiff_t pitch, size_t n,            \
                                 const qfk_in *beside, size_t i, size_t j)                     \
    {                                                                                          \
        const qfk_ways by = { qfk_vi_load_##A, put, put4, 8, bytes, true };                    \
        qfk_store_turned_row(x, a, pitch, n, beside, i, j, by);                                \
    }                                                                                          \
    static void name##_tile(const qfk_turning *t)                                              \
    {                                                                                          \
        qfk_turned_tile(t, bytes, transpose, dequantize);                                      \
    }                                                                                          \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)           \
    {                                                                                          \
        const qfk_panel_code code = { 1, bytes, QFK_TURNED_W, QFK_TURNED_WIDTH / (bytes),      \
                                      QFK_FOUR, QFK_TURNED_ROWS, qfk_unit_x8, name##_store };  \
        qfk_turning t = qfk_turning_of(m, n, in, out, 1, QFK_LINE, QFK_TURNED_W);              \
        t.beside = &in[1];                                                                     \
        qfk_turn_by(&code, &t, p, name##_tile);                                                \
    }

#endif
