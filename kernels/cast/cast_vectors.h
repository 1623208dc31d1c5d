/* Casts over vectors. An includer has included a vector vocabulary. */
#ifndef QFK_CAST_VECTORS_H
#define QFK_CAST_VECTORS_H

#include "kernels/common/fours.h"

/* How elements of `from` bytes are loaded and results of `to` bytes are stored: past the caches or
 * not. */
typedef struct qfk_cast_ways {
    qfk_load_floats *load;
    qfk_store_floats *store;
    qfk_store4_floats *store4;
    size_t from, to;
    bool past;
} qfk_cast_ways;

/* Columns at … at + QFK_FOUR - 1 of a row. */
QFK_INLINE void qfk_cast_four(const char *a, char *x, size_t at, qfk_cast_ways by)
{
    const char *from = a + at * by.from;
    const size_t step = QFK_LANES * by.from;

    if (by.past)
        qfk_ask_past(from, 4 * step);
    by.store4(x + at * by.to, by.load(from, QFK_LANES), by.load(from + step, QFK_LANES),
              by.load(from + 2 * step, QFK_LANES), by.load(from + 3 * step, QFK_LANES), by.past);
}

/* Rows of elements that move along the row. */
QFK_INLINE void qfk_cast_rows(size_t m, size_t n, const qfk_in *in, qfk_out out, qfk_cast_ways by)
{
    const size_t unit = QFK_UNIT(by.to);
    const size_t side = by.past && by.to < by.from ? qfk_part(n, by.from) : 0;

    for (size_t i = 0; i < m; i++) {
        const char *a = qfk_in_row(in, i);
        char *x = qfk_out_row(&out, i);
        size_t done;
        QFK_UNITS(done, n, unit, side, {
            for (size_t j = at; j < at + unit; j += QFK_FOUR)
                qfk_cast_four(a, x, j, by);
        });
        QFK_REST(done, n, QFK_LANES, by.store(x + j * by.to, by.load(a + j * by.from, left), left));
    }
}

/* Defines the kernel `name` from key A to key X, elements of `from` and of `to` bytes. A row of one
 * repeated value is the scalar row's, `scalar`. */
#define QFK_CAST(name, scalar, from, to, load, store, store4)                        \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p) \
    {                                                                                \
        const qfk_cast_ways by = { load, store, store4, from, to, false },           \
                            past = { load, store, store4, from, to, true };          \
        if (!in->col)                                                                \
            scalar(m, n, in, out, p);                                                \
        else if (qfk_goes_past(p, out))                                              \
            qfk_cast_rows(m, n, in, out, past);                                      \
        else                                                                         \
            qfk_cast_rows(m, n, in, out, by);                                        \
    }

/* From a short float A to f32, and back. */
#define QFK_WIDEN(name, A)                                                           \
    QFK_CAST(name, qfk_to_f32_##A##_scalar, sizeof(qfk_##A), 4, qfk_vf_load_##A,     \
             qfk_vf_store, qfk_vf_store4_f32)

#define QFK_NARROW(name, X)                                                          \
    QFK_CAST(name, qfk_to_##X##_f32_scalar, 4, sizeof(qfk_##X), qfk_vf_load,         \
             qfk_vf_store_##X, qfk_vf_store4_##X)

/* From an integer A of at most 32 bits to f32, and back to one of `bits` bits. */
#define QFK_FLOAT(name, A)                                                           \
    QFK_INLINE qfk_vf name##_load(const void *p, size_t n)                           \
    {                                                                                \
        return qfk_vf_from_i32(qfk_vi_load_##A(p, n));                               \
    }                                                                                \
    QFK_CAST(name, qfk_to_f32_##A##_scalar, sizeof(qfk_##A), 4, name##_load,         \
             qfk_vf_store, qfk_vf_store4_f32)

#define QFK_TRUNCATE(name, X, bits)                                                  \
    QFK_CAST(name, qfk_to_##X##_f32_scalar, 4, sizeof(qfk_##X), qfk_vf_load,         \
             qfk_store_truncated_x##bits, qfk_store4_truncated_x##bits)

#define QFK_STORE_TRUNCATED(bits)                                                              \
    QFK_INLINE void qfk_store_truncated_x##bits(void *x, qfk_vf v, size_t n)                   \
    {                                                                                          \
        qfk_vi_store_x##bits(x, qfk_vi_from_f32(v), n);                                        \
    }                                                                                          \
    QFK_INLINE void qfk_store4_truncated_x##bits(void *x, qfk_vf a, qfk_vf b, qfk_vf c,        \
                                                 qfk_vf d, bool past)                          \
    {                                                                                          \
        qfk_vi_store4_x##bits(x, qfk_vi_from_f32(a), qfk_vi_from_f32(b), qfk_vi_from_f32(c),   \
                              qfk_vi_from_f32(d), past);                                       \
    }

QFK_STORE_TRUNCATED(8)
QFK_STORE_TRUNCATED(16)
QFK_STORE_TRUNCATED(32)

#endif
