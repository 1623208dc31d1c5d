/* Casts over vectors. An includer has included a vector vocabulary. */
#ifndef QFK_CAST_VECTORS_H
#define QFK_CAST_VECTORS_H

#include "kernels/common/unroll.h"

/* Defines the kernel `name` from key A to key X. value(a, n) is a vector of n elements from a,
 * store(x, v, n) writes it, store4(x, v, v, v, v, past) four whole ones. A row of one repeated value
 * is the scalar row's, `scalar`. */
#define QFK_CAST(name, scalar, A, X, value, store, store4)                                         \
    QFK_INLINE void name##_rows(size_t m, size_t n, const qfk_in *in, qfk_out out, bool past)      \
    {                                                                                              \
        for (size_t i = 0; i < m; i++) {                                                           \
            const qfk_##A##_mem *a = qfk_in_row(in, i);                                            \
            qfk_##X##_mem *x = qfk_out_row(&out, i);                                               \
            size_t at = 0;                                                                         \
            for (; n - at >= QFK_FOUR; at += QFK_FOUR) {                                           \
                if (past)                                                                          \
                    qfk_ask_past(a + at, QFK_FOUR * sizeof *a);                                   \
                store4(x + at, value(a + at, QFK_LANES), value(a + at + QFK_LANES, QFK_LANES),     \
                       value(a + at + 2 * QFK_LANES, QFK_LANES),                                   \
                       value(a + at + 3 * QFK_LANES, QFK_LANES), past);                            \
            }                                                                                      \
            QFK_REST(at, n, QFK_LANES, store(x + j, value(a + j, left), left));            \
        }                                                                                          \
    }                                                                                              \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)               \
    {                                                                                              \
        if (!in->col)                                                                              \
            scalar(m, n, in, out, p);                                                              \
        else if (qfk_goes_past(p, out))                                                            \
            name##_rows(m, n, in, out, true);                                                      \
        else                                                                                       \
            name##_rows(m, n, in, out, false);                                                     \
    }

/* From a short float A to f32, and back. */
#define QFK_WIDEN(name, A)                                                                         \
    QFK_CAST(name, qfk_to_f32_##A##_scalar, A, f32, qfk_vf_load_##A, qfk_vf_store,                 \
             qfk_vf_store4_f32)

#define QFK_NARROW(name, X)                                                                        \
    QFK_CAST(name, qfk_to_##X##_f32_scalar, f32, X, qfk_vf_load, qfk_vf_store_##X,                 \
             qfk_vf_store4_##X)

/* From an integer A of at most 32 bits to f32, and back to one of `bits` bits. */
#define QFK_FLOAT(name, A)                                                                         \
    QFK_INLINE qfk_vf name##_of(const void *p, size_t n)                                           \
    {                                                                                              \
        return qfk_vf_from_i32(qfk_vi_load_##A(p, n));                                             \
    }                                                                                              \
    QFK_CAST(name, qfk_to_f32_##A##_scalar, A, f32, name##_of, qfk_vf_store, qfk_vf_store4_f32)

QFK_INLINE qfk_vi qfk_load_truncated(const void *p, size_t n)
{
    return qfk_vi_from_f32(qfk_vf_load(p, n));
}

#define QFK_TRUNCATE(name, X, bits)                                                                \
    QFK_CAST(name, qfk_to_##X##_f32_scalar, f32, X, qfk_load_truncated, qfk_vi_store_x##bits,      \
             qfk_vi_store4_x##bits)

#endif
