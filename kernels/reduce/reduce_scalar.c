/* Reductions in plain C. */
#include "kernels/common/element.h"

#include <math.h>

/* Defines the kernel `name`: `next` is the partial after `s` (key S) has met `a` (key A). */
#define REDUCE(name, A, S, start, next)                                                            \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)               \
    {                                                                                              \
        const size_t sa = in[0].col != 0, first = (size_t)p->i[0];                                 \
        for (size_t i = 0; i < m; i++) {                                                           \
            const qfk_##A##_mem *pa = qfk_in_row(&in[0], i);                                       \
            qfk_##S##_mem *x = qfk_out_row(&out, i);                                               \
            for (size_t j = 0; p->i[1] && j < 16; j++)                                             \
                x[j] = (start);                                                                    \
            for (size_t j = 0; j < n; j++) {                                                       \
                const qfk_##A a = pa[sa * j];                                                      \
                const qfk_##S s = x[(first + j) % 16];                                             \
                x[(first + j) % 16] = (qfk_##S)(next);                                             \
            }                                                                                      \
        }                                                                                          \
    }

/* Defines the kernel `name`: `joined` is the partial of `a` and `b` (key S). */
#define REDUCE_END(name, S, joined)                                                                \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)               \
    {                                                                                              \
        (void)n, (void)p;                                                                          \
        for (size_t i = 0; i < m; i++) {                                                           \
            qfk_##S##_mem *x = qfk_out_row(&out, i);                                               \
            qfk_##S t[16];                                                                         \
            memcpy(t, qfk_in_row(&in[0], i), sizeof t);                                            \
            for (size_t half = 8; half; half /= 2)                                                 \
                for (size_t j = 0; j < half; j++) {                                                \
                    const qfk_##S a = t[j], b = t[j + half];                                       \
                    t[j] = (qfk_##S)(joined);                                                      \
                }                                                                                  \
            *x = *t;                                                                               \
        }                                                                                          \
    }

REDUCE(qfk_sum_f32_scalar, f32, f64, 0, s + a)
REDUCE(qfk_sum_f64_scalar, f64, f64, 0, s + a)
REDUCE(qfk_sum_i64_scalar, i64, i64, 0, (uint64_t)s + (uint64_t)a)
REDUCE_END(qfk_sum_end_f64_scalar, f64, a + b)
REDUCE_END(qfk_sum_end_i64_scalar, i64, (uint64_t)a + (uint64_t)b)

REDUCE(qfk_sumsq_f32_scalar, f32, f64, 0, s + (double)a * a)
REDUCE(qfk_sumsq_f64_scalar, f64, f64, 0, s + a * a)
REDUCE_END(qfk_sumsq_end_f64_scalar, f64, a + b)

/* Of equal values, +0 and -0 among them, the first stays. A NaN compares false and stays. */
REDUCE(qfk_amax_i8_scalar, i8, i8, INT8_MIN, a > s ? a : s)
REDUCE(qfk_amax_i16_scalar, i16, i16, INT16_MIN, a > s ? a : s)
REDUCE(qfk_amax_i32_scalar, i32, i32, INT32_MIN, a > s ? a : s)
REDUCE(qfk_amax_i64_scalar, i64, i64, INT64_MIN, a > s ? a : s)
REDUCE(qfk_amax_u8_scalar, u8, u8, 0, a > s ? a : s)
REDUCE(qfk_amax_u16_scalar, u16, u16, 0, a > s ? a : s)
REDUCE(qfk_amax_u32_scalar, u32, u32, 0, a > s ? a : s)
REDUCE(qfk_amax_u64_scalar, u64, u64, 0, a > s ? a : s)
REDUCE(qfk_amax_f32_scalar, f32, f32, -INFINITY, a > s || a != a ? a : s)
REDUCE(qfk_amax_f64_scalar, f64, f64, -INFINITY, a > s || a != a ? a : s)
REDUCE_END(qfk_amax_end_i8_scalar, i8, b > a ? b : a)
REDUCE_END(qfk_amax_end_i16_scalar, i16, b > a ? b : a)
REDUCE_END(qfk_amax_end_i32_scalar, i32, b > a ? b : a)
REDUCE_END(qfk_amax_end_i64_scalar, i64, b > a ? b : a)
REDUCE_END(qfk_amax_end_u8_scalar, u8, b > a ? b : a)
REDUCE_END(qfk_amax_end_u16_scalar, u16, b > a ? b : a)
REDUCE_END(qfk_amax_end_u32_scalar, u32, b > a ? b : a)
REDUCE_END(qfk_amax_end_u64_scalar, u64, b > a ? b : a)
REDUCE_END(qfk_amax_end_f32_scalar, f32, b > a || b != b ? b : a)
REDUCE_END(qfk_amax_end_f64_scalar, f64, b > a || b != b ? b : a)

REDUCE(qfk_amin_i8_scalar, i8, i8, INT8_MAX, a < s ? a : s)
REDUCE(qfk_amin_i16_scalar, i16, i16, INT16_MAX, a < s ? a : s)
REDUCE(qfk_amin_i32_scalar, i32, i32, INT32_MAX, a < s ? a : s)
REDUCE(qfk_amin_i64_scalar, i64, i64, INT64_MAX, a < s ? a : s)
REDUCE(qfk_amin_u8_scalar, u8, u8, UINT8_MAX, a < s ? a : s)
REDUCE(qfk_amin_u16_scalar, u16, u16, UINT16_MAX, a < s ? a : s)
REDUCE(qfk_amin_u32_scalar, u32, u32, UINT32_MAX, a < s ? a : s)
REDUCE(qfk_amin_u64_scalar, u64, u64, UINT64_MAX, a < s ? a : s)
REDUCE(qfk_amin_f32_scalar, f32, f32, INFINITY, a < s || a != a ? a : s)
REDUCE(qfk_amin_f64_scalar, f64, f64, INFINITY, a < s || a != a ? a : s)
REDUCE_END(qfk_amin_end_i8_scalar, i8, b < a ? b : a)
REDUCE_END(qfk_amin_end_i16_scalar, i16, b < a ? b : a)
REDUCE_END(qfk_amin_end_i32_scalar, i32, b < a ? b : a)
REDUCE_END(qfk_amin_end_i64_scalar, i64, b < a ? b : a)
REDUCE_END(qfk_amin_end_u8_scalar, u8, b < a ? b : a)
REDUCE_END(qfk_amin_end_u16_scalar, u16, b < a ? b : a)
REDUCE_END(qfk_amin_end_u32_scalar, u32, b < a ? b : a)
REDUCE_END(qfk_amin_end_u64_scalar, u64, b < a ? b : a)
REDUCE_END(qfk_amin_end_f32_scalar, f32, b < a || b != b ? b : a)
REDUCE_END(qfk_amin_end_f64_scalar, f64, b < a || b != b ? b : a)

REDUCE(qfk_any_b8_scalar, b8, b8, 0, s | (a != 0))
REDUCE_END(qfk_any_end_b8_scalar, b8, a | b)
