/* Reductions in plain C, and the joining of partials, which is the same for all. */
#include "kernels/reduce/reduce_loops.h"

QFK_SUM(qfk_sum_f32_scalar, f32)
QFK_SUM(qfk_sum_f64_scalar, f64)
QFK_SUM_WRAPS(qfk_sum_i64_scalar, i64)
QFK_SUMSQ(qfk_sumsq_f32_scalar, f32)
QFK_SUMSQ(qfk_sumsq_f64_scalar, f64)

QFK_AMAX(qfk_amax_i8_scalar, i8, INT8_MIN)
QFK_AMAX(qfk_amax_i16_scalar, i16, INT16_MIN)
QFK_AMAX(qfk_amax_i32_scalar, i32, INT32_MIN)
QFK_AMAX(qfk_amax_i64_scalar, i64, INT64_MIN)
QFK_AMAX(qfk_amax_u8_scalar, u8, 0)
QFK_AMAX(qfk_amax_u16_scalar, u16, 0)
QFK_AMAX(qfk_amax_u32_scalar, u32, 0)
QFK_AMAX(qfk_amax_u64_scalar, u64, 0)
QFK_AMAX_FLOAT(qfk_amax_f32_scalar, f32)
QFK_AMAX_FLOAT(qfk_amax_f64_scalar, f64)

QFK_AMIN(qfk_amin_i8_scalar, i8, INT8_MAX)
QFK_AMIN(qfk_amin_i16_scalar, i16, INT16_MAX)
QFK_AMIN(qfk_amin_i32_scalar, i32, INT32_MAX)
QFK_AMIN(qfk_amin_i64_scalar, i64, INT64_MAX)
QFK_AMIN(qfk_amin_u8_scalar, u8, UINT8_MAX)
QFK_AMIN(qfk_amin_u16_scalar, u16, UINT16_MAX)
QFK_AMIN(qfk_amin_u32_scalar, u32, UINT32_MAX)
QFK_AMIN(qfk_amin_u64_scalar, u64, UINT64_MAX)
QFK_AMIN_FLOAT(qfk_amin_f32_scalar, f32)
QFK_AMIN_FLOAT(qfk_amin_f64_scalar, f64)

QFK_ANY(qfk_any_b8_scalar, b8)

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

REDUCE_END(qfk_sum_end_f64_scalar, f64, a + b)
REDUCE_END(qfk_sum_end_i64_scalar, i64, (uint64_t)a + (uint64_t)b)
REDUCE_END(qfk_sumsq_end_f64_scalar, f64, a + b)
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
REDUCE_END(qfk_any_end_b8_scalar, b8, a | b)
