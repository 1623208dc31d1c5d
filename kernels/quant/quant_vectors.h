/* Quantisation over vectors. An includer has included a vector vocabulary. */
#ifndef QFK_QUANT_VECTORS_H
#define QFK_QUANT_VECTORS_H

#include "kernels/common/fours.h"

/* One row of an f32 operand, and its first value for all where the operand stays along the row. */
typedef struct qfk_operand {
    const qfk_f32_mem *p;
    qfk_vf same;
} qfk_operand;

QFK_INLINE qfk_operand qfk_operand_row(const qfk_in *in, size_t i)
{
    const qfk_f32_mem *p = qfk_in_row(in, i);
    return (qfk_operand){ p, qfk_vf_set(*p) };
}

QFK_INLINE qfk_vf qfk_take(const qfk_operand *a, bool moves, size_t at, size_t n)
{
    return moves ? qfk_vf_load(a->p + at, n) : a->same;
}

/* Which operands move along the row: what is (un)quantised, scales or factors, zero points. */
typedef struct qfk_moves {
    bool a, b, c;
} qfk_moves;

typedef qfk_vi qfk_load_vector(const void *q, size_t n);
typedef void qfk_store_vector(void *x, qfk_vi v, size_t n);
typedef void qfk_store_vectors(void *x, qfk_vi a, qfk_vi b, qfk_vi c, qfk_vi d, bool past);

/* How quantised elements of `bits` bits are loaded, and results of `size` bytes are stored: past
 * the caches or not. */
typedef struct qfk_ways {
    qfk_load_vector *load;
    qfk_store_floats *store;
    qfk_store4_floats *store4;
    size_t bits, size;
    bool past;
} qfk_ways;

/* One row: its elements, which move along it, their scales and zero points. */
typedef struct qfk_quantised {
    const char *q;
    qfk_operand b, c;
} qfk_quantised;

/* n elements q of columns from `at` on. */
QFK_INLINE qfk_vf qfk_scaled(qfk_vi q, const qfk_quantised *row, qfk_moves moves, size_t at,
                             size_t n)
{
    return qfk_vf_mul(qfk_vf_sub(qfk_vf_from_i32(q), qfk_take(&row->c, moves.c, at, n)),
                      qfk_take(&row->b, moves.b, at, n));
}

QFK_INLINE qfk_vf qfk_dequantized(const qfk_quantised *row, qfk_ways by, qfk_moves moves, size_t at,
                                  size_t n)
{
    return qfk_scaled(by.load(row->q + at * by.bits / 8, n), row, moves, at, n);
}

/* Columns at … at + QFK_FOUR - 1 of a row. */
QFK_INLINE void qfk_dequantize_four(const qfk_quantised *row, char *x, size_t at, qfk_ways by,
                                    qfk_moves moves)
{
    if (by.past)
        qfk_ask_past(row->q + at * by.bits / 8, QFK_FOUR * by.bits / 8);
    by.store4(x + at * by.size, qfk_dequantized(row, by, moves, at, QFK_LANES),
              qfk_dequantized(row, by, moves, at + QFK_LANES, QFK_LANES),
              qfk_dequantized(row, by, moves, at + 2 * QFK_LANES, QFK_LANES),
              qfk_dequantized(row, by, moves, at + 3 * QFK_LANES, QFK_LANES), by.past);
}

QFK_INLINE void qfk_dequantize_rows(size_t m, size_t n, const qfk_in *in, qfk_out out, qfk_ways by,
                                    qfk_moves moves)
{
    const size_t unit = QFK_UNIT(by.size);

    for (size_t i = 0; n && i < m; i++) {
        const qfk_quantised row = { qfk_in_row(&in[0], i), qfk_operand_row(&in[1], i),
                                    qfk_operand_row(&in[2], i) };
        char *x = qfk_out_row(&out, i);
        size_t done;
        QFK_UNITS(done, n, unit, 0, {
            for (size_t j = at; j < at + unit; j += QFK_FOUR)
                qfk_dequantize_four(&row, x, j, by, moves);
        });
        QFK_REST(done, n, QFK_LANES, {
            const qfk_vf v = qfk_dequantized(&row, by, moves, j, left);
            by.store(x + j * by.size, v, left);
        });
    }
}

/* The loop for the operands at hand: scales and zero points that move or stay. */
QFK_INLINE void qfk_dequantize(size_t m, size_t n, const qfk_in *in, qfk_out out, qfk_ways by)
{
    if (!in[1].col && !in[2].col)
        qfk_dequantize_rows(m, n, in, out, by, (qfk_moves){ true, false, false });
    else if (in[1].col && in[2].col)
        qfk_dequantize_rows(m, n, in, out, by, (qfk_moves){ true, true, true });
    else
        qfk_dequantize_rows(m, n, in, out, by,
 (qfk_moves){ true, in[1].col != 0, in[2].col != 0 });
}

/* Defines the kernel `name`: dequantize from key A to elements of `bytes` bytes. A row of one
 * repeated value is the scalar row's, `scalar`. */
#define QFK_BYTES(name, scalar, A, put, put4, bytes)                                   \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)       \
    {                                                                                      \
        const size_t bits = 8 * sizeof(qfk_##A);                                           \
        const qfk_ways by = { qfk_vi_load_##A, put, put4, bits, bytes, false },            \
                       past = { qfk_vi_load_##A, put, put4, bits, bytes, true };           \
        if (!in[0].col)                                                                    \
            scalar(m, n, in, out, p);                                                      \
        else if (qfk_goes_past(p, out))                                                    \
            qfk_dequantize(m, n, in, out, past);                                           \
        else                                                                               \
            qfk_dequantize(m, n, in, out, by);                                             \
    }

/* A tile of nibbles without its first `odd` columns, 0 or 1, so that its rows start with bytes. */
static inline void qfk_skip_odd(const qfk_in *in, const qfk_param *p, size_t odd, qfk_in *rest)
{
    rest[0] = (qfk_in){ (const char *)in[0].p + (p->i[0] + 1) / 2, p->i[1] / 2, 0 };
    for (int k = 1; k < 3; k++) {
        rest[k] = in[k];
        rest[k].p = (const char *)in[k].p + (ptrdiff_t)odd * in[k].col;
    }
}

/* The same from nibbles. A column that does not start with a byte is the scalar row's, and so are
 * steps over nibbles. */
#define QFK_NIBBLES(name, scalar, A, put, put4, bytes)                                     \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)       \
    {                                                                                      \
        const qfk_ways by = { qfk_vi_load_##A, put, put4, 4, bytes, false },               \
                       past = { qfk_vi_load_##A, put, put4, 4, bytes, true };              \
        const bool apart = p->i[2] != 1 || (m > 1 && p->i[1] % 2);                         \
        const size_t odd = n && p->i[0] % 2;                                               \
        const qfk_out after = { (char *)out.p + odd * (bytes), out.row };                  \
        qfk_in rest[3];                                                                    \
        qfk_skip_odd(in, p, odd, rest);                                                    \
        scalar(m, apart ? n : odd, in, out, p);                                            \
        if (!apart && qfk_goes_past(p, after))                                             \
            qfk_dequantize(m, n - odd, rest, after, past);                                 \
        else if (!apart)                                                                   \
            qfk_dequantize(m, n - odd, rest, after, by);                                   \
    }

/* Zero points of 64 bits as floats. Returns whether they are small enough for them and their
 * differences to elements of 16 bits to be exact. */
#define QFK_EXACT_ZERO ((int64_t)1 << 23)
#define QFK_ZEROS 256

QFK_INLINE bool qfk_zeros(const qfk_i64_mem *zero, size_t n, float *x)
{
    bool exact = true;
    for (size_t j = 0; j < n; j++) {
        exact &= zero[j] >= -QFK_EXACT_ZERO && zero[j] <= QFK_EXACT_ZERO;
        x[j] = (float)zero[j];
    }
    return exact;
}

QFK_INLINE qfk_in qfk_in_at(const qfk_in *in, size_t i, size_t j)
{
    return (qfk_in){ (const char *)qfk_in_row(in, i) + (ptrdiff_t)j * in->col, in->row, in->col };
}

/* By as many rows as share their zero points, and as many columns as have room for them. */
QFK_INLINE void qfk_dequantize_wide(size_t m, size_t n, const qfk_in *in, qfk_out out, qfk_ways by,
                                    qfk_tile *scalar)
{
    float zero[QFK_ZEROS];
    const size_t rows = in[2].row ? 1 : m;

    for (size_t i = 0; i < m; i += rows)
        for (size_t j = 0, k; j < n; j += k) {
            k = n - j < QFK_ZEROS ? n - j : QFK_ZEROS;
            const qfk_in z = qfk_in_at(&in[2], i, j);
            const qfk_out x = { (char *)qfk_out_row(&out, i) + j * by.size, out.row };
            qfk_in part[] = { qfk_in_at(&in[0], i, j), qfk_in_at(&in[1], i, j),
                              { zero, 0, z.col ? (ptrdiff_t)sizeof *zero : 0 } };
            if (qfk_zeros(z.p, z.col ? k : 1, zero)) {
                qfk_dequantize(rows, k, part, x, by);
                continue;
            }
            part[2] = z;
            scalar(rows, k, part, x, NULL);
        }
}

/* Defines the kernel `name`: dequantize_i64 from key A. */
#define QFK_DEQUANTIZE_I64(name, A)                                                        \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)       \
    {                                                                                      \
        const size_t bits = 8 * sizeof(qfk_##A);                                           \
        const qfk_ways by = { qfk_vi_load_##A, qfk_vf_store, qfk_vf_store4_f32, bits, 4, false }, \
                       past = { by.load, by.store, by.store4, bits, 4, true };             \
        if (!in[0].col)                                                                    \
            qfk_dequantize_i64_##A##_scalar(m, n, in, out, p);                             \
        else if (qfk_goes_past(p, out))                                                    \
            qfk_dequantize_wide(m, n, in, out, past, qfk_dequantize_i64_##A##_scalar);     \
        else                                                                               \
            qfk_dequantize_wide(m, n, in, out, by, qfk_dequantize_i64_##A##_scalar);       \
    }

/* Their definitions for each type of the result. */
#define QFK_DEQUANTIZE_F32(name, how, A) \
    how(name, qfk_dequantize_##A##_scalar, A, qfk_vf_store, qfk_vf_store4_f32, 4)
#define QFK_DEQUANTIZE_F16(name, how, A) \
    how(name, qfk_dequantize_f16_##A##_scalar, A, qfk_vf_store_f16, qfk_vf_store4_f16, 2)
#define QFK_DEQUANTIZE_BF16(name, how, A) \
    how(name, qfk_dequantize_bf16_##A##_scalar, A, qfk_vf_store_bf16, qfk_vf_store4_bf16, 2)

/* How integers between two bounds are stored as elements of `size` bytes. */
typedef struct qfk_integers {
    qfk_store_vector *store;
    qfk_store_vectors *store4;
    size_t size;
    bool past;
} qfk_integers;

/* Elements, factors and zero points of a row. */
typedef struct qfk_unquantised {
    qfk_operand a, b, c;
    const qfk_vf *bound;
} qfk_unquantised;

/* NaN gives 0. Both bounds let it through, and it becomes the least integer, whose low 8 or 16 bits
 * are zeros; 32 bits are cleared. */
QFK_INLINE qfk_vi qfk_quantized(const qfk_unquantised *row, qfk_integers by, qfk_moves moves,
                                size_t at, size_t n)
{
    const qfk_vf product =
        qfk_vf_mul(qfk_take(&row->a, moves.a, at, n), qfk_take(&row->b, moves.b, at, n));
    const qfk_vf r = qfk_vf_add(qfk_vf_round(product), qfk_take(&row->c, moves.c, at, n));
    const qfk_vf clamped = qfk_vf_min(row->bound[1], qfk_vf_max(row->bound[0], r));
    return by.size < sizeof(float) ? qfk_vi_from_f32(clamped) : qfk_vf_truncated(clamped, r);
}

QFK_INLINE void qfk_quantize_four(const qfk_unquantised *row, char *x, size_t at, qfk_integers by,
                                  qfk_moves moves)
{
    if (by.past && moves.a)
        qfk_ask_past(row->a.p + at, QFK_FOUR * sizeof(float));
    by.store4(x + at * by.size, qfk_quantized(row, by, moves, at, QFK_LANES),
              qfk_quantized(row, by, moves, at + QFK_LANES, QFK_LANES),
              qfk_quantized(row, by, moves, at + 2 * QFK_LANES, QFK_LANES),
              qfk_quantized(row, by, moves, at + 3 * QFK_LANES, QFK_LANES), by.past);
}

/* Rows that are too short for parts go past the caches four side by side. */
QFK_INLINE void qfk_quantize_rows(size_t m, size_t n, const qfk_in *in, qfk_out out,
                                  const qfk_vf *bound, qfk_integers by, qfk_moves moves)
{
    const size_t unit = QFK_UNIT(by.size);
    const size_t side = by.past && by.size < sizeof(float) ? qfk_part(n, sizeof(float)) : 0;

    for (size_t i = 0, rows; n && i < m; i += rows) {
        qfk_unquantised row[4];
        char *x = qfk_out_row(&out, i);
        size_t done;
        rows = by.past && !side && m - i >= 4 ? 4 : 1;
        for (size_t k = 0; k < rows; k++)
            row[k] = (qfk_unquantised){ qfk_operand_row(&in[0], i + k),
                                        qfk_operand_row(&in[1], i + k),
                                        qfk_operand_row(&in[2], i + k), bound };
        QFK_UNITS(done, n, unit, side, {
            for (size_t k = 0; k < rows; k++)
                for (size_t j = at; j < at + unit; j += QFK_FOUR)
                    qfk_quantize_four(&row[k], x + (ptrdiff_t)k * out.row, j, by, moves);
        });
        for (size_t k = 0; k < rows; k++)
            QFK_REST(done, n, QFK_LANES,
                     by.store(x + (ptrdiff_t)k * out.row + j * by.size,
                              qfk_quantized(&row[k], by, moves, j, left), left));
    }
}

/* The loop for the usual operands, a factor and a zero point that both stay or both move; or any.
 */
QFK_INLINE void qfk_quantize(size_t m, size_t n, const qfk_in *in, qfk_out out,
                             const qfk_vf *bound, qfk_integers by)
{
    const qfk_moves moves = { in[0].col != 0, in[1].col != 0, in[2].col != 0 };

    if (moves.a && !moves.b && !moves.c)
        qfk_quantize_rows(m, n, in, out, bound, by, (qfk_moves){ true, false, false });
    else if (moves.a && moves.b && moves.c)
        qfk_quantize_rows(m, n, in, out, bound, by, (qfk_moves){ true, true, true });
    else
        qfk_quantize_rows(m, n, in, out, bound, by, moves);
}

/* Defines the kernel `name`: quantize to key X of `bits` bits, whose values are min to max. */
#define QFK_QUANTIZE(name, X, bits, min, max)                                                    \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)             \
    {                                                                                            \
        const qfk_vf bound[] = { qfk_vf_max(qfk_vf_set((float)p->f[0]), qfk_vf_set(min)),        \
                                 qfk_vf_min(qfk_vf_set((float)p->f[1]), qfk_vf_set(max)) };      \
        const qfk_integers by = { qfk_vi_store_x##bits, qfk_vi_store4_x##bits, (bits) / 8,       \
                                  false },                                                       \
                           past = { by.store, by.store4, by.size, true };                        \
        if (qfk_goes_past(p, out))                                                               \
            qfk_quantize(m, n, in, out, bound, past);                                            \
        else                                                                                     \
            qfk_quantize(m, n, in, out, bound, by);                                              \
    }

#endif
