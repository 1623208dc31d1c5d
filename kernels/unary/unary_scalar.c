/* Unary rows in plain C. */
#include "kernels/common/arc64.h"
#include "kernels/common/element.h"
#include "kernels/common/hyperbolic64.h"
#include "kernels/common/rounding.h"

#include <math.h>

QFK_MAP1(qfk_neg_x8_scalar, x8, x8, 0u - a)
QFK_MAP1(qfk_neg_x16_scalar, x16, x16, 0u - a)
QFK_MAP1(qfk_neg_x32_scalar, x32, x32, 0u - a)
QFK_MAP1(qfk_neg_x64_scalar, x64, x64, 0u - a)
QFK_MAP1(qfk_neg_f32_scalar, f32, f32, -a)
QFK_MAP1(qfk_neg_f64_scalar, f64, f64, -a)

/* In unsigned arithmetic, where the least value is its own negative. */
QFK_MAP1(qfk_abs_i8_scalar, i8, i8, a < 0 ? 0u - (qfk_u8)a : (qfk_u8)a)
QFK_MAP1(qfk_abs_i16_scalar, i16, i16, a < 0 ? 0u - (qfk_u16)a : (qfk_u16)a)
QFK_MAP1(qfk_abs_i32_scalar, i32, i32, a < 0 ? 0u - (qfk_u32)a : (qfk_u32)a)
QFK_MAP1(qfk_abs_i64_scalar, i64, i64, a < 0 ? 0u - (qfk_u64)a : (qfk_u64)a)
QFK_MAP1(qfk_abs_f32_scalar, f32, f32, fabsf(a))
QFK_MAP1(qfk_abs_f64_scalar, f64, f64, fabs(a))

QFK_MAP1(qfk_sign_i8_scalar, i8, i8, (a > 0) - (a < 0))
QFK_MAP1(qfk_sign_i16_scalar, i16, i16, (a > 0) - (a < 0))
QFK_MAP1(qfk_sign_i32_scalar, i32, i32, (a > 0) - (a < 0))
QFK_MAP1(qfk_sign_i64_scalar, i64, i64, (a > 0) - (a < 0))
QFK_MAP1(qfk_sign_f32_scalar, f32, f32, (a > 0) - (a < 0))
QFK_MAP1(qfk_sign_f64_scalar, f64, f64, (a > 0) - (a < 0))

QFK_MAP1(qfk_bit_not_x8_scalar, x8, x8, ~a)
QFK_MAP1(qfk_bit_not_x16_scalar, x16, x16, ~a)
QFK_MAP1(qfk_bit_not_x32_scalar, x32, x32, ~a)
QFK_MAP1(qfk_bit_not_x64_scalar, x64, x64, ~a)
QFK_MAP1(qfk_logical_not_b8_scalar, b8, b8, a == 0)

QFK_MAP1(qfk_floor_f32_scalar, f32, f32, qfk_floor_f32(a))
QFK_MAP1(qfk_floor_f64_scalar, f64, f64, qfk_floor_f64(a))
QFK_MAP1(qfk_ceil_f32_scalar, f32, f32, qfk_ceil_f32(a))
QFK_MAP1(qfk_ceil_f64_scalar, f64, f64, qfk_ceil_f64(a))
QFK_MAP1(qfk_trunc_f32_scalar, f32, f32, qfk_trunc_f32(a))
QFK_MAP1(qfk_trunc_f64_scalar, f64, f64, qfk_trunc_f64(a))
QFK_MAP1(qfk_round_f32_scalar, f32, f32, qfk_round_f32(a))
QFK_MAP1(qfk_round_f64_scalar, f64, f64, qfk_round_f64(a))

QFK_MAP1(qfk_reciprocal_f32_scalar, f32, f32, 1.0f / a)
QFK_MAP1(qfk_reciprocal_f64_scalar, f64, f64, 1.0 / a)
QFK_MAP1(qfk_sqrt_f32_scalar, f32, f32, sqrtf(a))
QFK_MAP1(qfk_sqrt_f64_scalar, f64, f64, sqrt(a))
QFK_MAP1(qfk_rsqrt_f32_scalar, f32, f32, 1.0f / sqrtf(a))
QFK_MAP1(qfk_rsqrt_f64_scalar, f64, f64, 1.0 / sqrt(a))

/* Defines the kernel `name` of key K through a function in double. No QFK_EACH: these loops do not
 * vectorise. */
#define BY_DOUBLE(name, K, function)                                                               \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)               \
    {                                                                                              \
        const size_t sa = in[0].col != 0;                                                          \
        (void)p;                                                                                   \
        for (size_t i = 0; i < m; i++) {                                                           \
            const qfk_##K##_mem *pa = qfk_in_row(&in[0], i);                                       \
            qfk_##K##_mem *x = qfk_out_row(&out, i);                                               \
            for (size_t j = 0; j < n; j++)                                                         \
                x[j] = (sa || j == 0) ? (qfk_##K)function(pa[j]) : x[0];                           \
        }                                                                                          \
    }

static double exp2_of(double a)
{
    return qfk_pow64(2, a);
}

BY_DOUBLE(qfk_sin_f32_scalar, f32, qfk_sin64)
BY_DOUBLE(qfk_sin_f64_scalar, f64, qfk_sin64)
BY_DOUBLE(qfk_cos_f32_scalar, f32, qfk_cos64)
BY_DOUBLE(qfk_cos_f64_scalar, f64, qfk_cos64)
BY_DOUBLE(qfk_exp_f32_scalar, f32, qfk_exp64)
BY_DOUBLE(qfk_exp_f64_scalar, f64, qfk_exp64)
BY_DOUBLE(qfk_exp2_f32_scalar, f32, exp2_of)
BY_DOUBLE(qfk_exp2_f64_scalar, f64, exp2_of)
BY_DOUBLE(qfk_log_f32_scalar, f32, qfk_log64)
BY_DOUBLE(qfk_log_f64_scalar, f64, qfk_log64)
BY_DOUBLE(qfk_tanh_f32_scalar, f32, qfk_tanh64)
BY_DOUBLE(qfk_tanh_f64_scalar, f64, qfk_tanh64)
BY_DOUBLE(qfk_erf_f32_scalar, f32, qfk_erf64)
BY_DOUBLE(qfk_erf_f64_scalar, f64, qfk_erf64)
BY_DOUBLE(qfk_erfc_f32_scalar, f32, qfk_erfc64)
BY_DOUBLE(qfk_erfc_f64_scalar, f64, qfk_erfc64)
BY_DOUBLE(qfk_sigmoid_f32_scalar, f32, qfk_sigmoid64)
BY_DOUBLE(qfk_sigmoid_f64_scalar, f64, qfk_sigmoid64)
BY_DOUBLE(qfk_expm1_f32_scalar, f32, qfk_expm164)
BY_DOUBLE(qfk_expm1_f64_scalar, f64, qfk_expm164)
BY_DOUBLE(qfk_log1p_f32_scalar, f32, qfk_log1p64)
BY_DOUBLE(qfk_log1p_f64_scalar, f64, qfk_log1p64)
BY_DOUBLE(qfk_log2_f32_scalar, f32, qfk_log2_64)
BY_DOUBLE(qfk_log2_f64_scalar, f64, qfk_log2_64)
BY_DOUBLE(qfk_log10_f32_scalar, f32, qfk_log10_64)
BY_DOUBLE(qfk_log10_f64_scalar, f64, qfk_log10_64)
BY_DOUBLE(qfk_sinh_f32_scalar, f32, qfk_sinh64)
BY_DOUBLE(qfk_sinh_f64_scalar, f64, qfk_sinh64)
BY_DOUBLE(qfk_cosh_f32_scalar, f32, qfk_cosh64)
BY_DOUBLE(qfk_cosh_f64_scalar, f64, qfk_cosh64)
BY_DOUBLE(qfk_tan_f32_scalar, f32, qfk_tan64)
BY_DOUBLE(qfk_tan_f64_scalar, f64, qfk_tan64)
BY_DOUBLE(qfk_asin_f32_scalar, f32, qfk_asin64)
BY_DOUBLE(qfk_asin_f64_scalar, f64, qfk_asin64)
BY_DOUBLE(qfk_acos_f32_scalar, f32, qfk_acos64)
BY_DOUBLE(qfk_acos_f64_scalar, f64, qfk_acos64)
BY_DOUBLE(qfk_atan_f32_scalar, f32, qfk_atan64)
BY_DOUBLE(qfk_atan_f64_scalar, f64, qfk_atan64)
BY_DOUBLE(qfk_asinh_f32_scalar, f32, qfk_asinh64)
BY_DOUBLE(qfk_asinh_f64_scalar, f64, qfk_asinh64)
BY_DOUBLE(qfk_acosh_f32_scalar, f32, qfk_acosh64)
BY_DOUBLE(qfk_acosh_f64_scalar, f64, qfk_acosh64)
BY_DOUBLE(qfk_atanh_f32_scalar, f32, qfk_atanh64)
BY_DOUBLE(qfk_atanh_f64_scalar, f64, qfk_atanh64)
