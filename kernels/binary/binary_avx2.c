/* AVX2 rows of the binary family. The hot ones load and store under masks at the end of a row; the
 * others are the scalar loops, which the compiler vectorises with this file's flags. */
#include "kernels/common/element.h"
#include "kernels/common/masks.h"

#include <math.h>

/* Defines the kernel `name` for f32: x = op(a, b) on vectors of 8. */
#define FLOATS(name, op)                                                                \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)    \
    {                                                                                   \
        const bool ca = in[0].col != 0, cb = in[1].col != 0;                            \
        (void)p;                                                                        \
        for (size_t i = 0; n && i < m; i++) {                                           \
            const float *pa = qfk_in_row(&in[0], i), *pb = qfk_in_row(&in[1], i);       \
            const __m256 a0 = _mm256_broadcast_ss(pa), b0 = _mm256_broadcast_ss(pb);    \
            float *x = qfk_out_row(&out, i);                                            \
            size_t j = 0;                                                               \
            for (; n - j >= 8; j += 8)                                                  \
                _mm256_storeu_ps(x + j, op(ca ? _mm256_loadu_ps(pa + j) : a0,           \
                                           cb ? _mm256_loadu_ps(pb + j) : b0));         \
            if (j == n)                                                                 \
                continue;                                                               \
            const __m256i k = qfk_mask32(n - j);                                        \
            _mm256_maskstore_ps(x + j, k, op(ca ? _mm256_maskload_ps(pa + j, k) : a0,   \
                                             cb ? _mm256_maskload_ps(pb + j, k) : b0)); \
        }                                                                               \
    }

FLOATS(qfk_add_f32_avx2, _mm256_add_ps)
FLOATS(qfk_sub_f32_avx2, _mm256_sub_ps)
FLOATS(qfk_mul_f32_avx2, _mm256_mul_ps)
FLOATS(qfk_div_f32_avx2, _mm256_div_ps)

/* Defines the kernel `name` for f64: x = op(a, b) on vectors of 4. */
#define DOUBLES(name, op)                                                               \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)    \
    {                                                                                   \
        const bool ca = in[0].col != 0, cb = in[1].col != 0;                            \
        (void)p;                                                                        \
        for (size_t i = 0; n && i < m; i++) {                                           \
            const double *pa = qfk_in_row(&in[0], i), *pb = qfk_in_row(&in[1], i);      \
            const __m256d a0 = _mm256_broadcast_sd(pa), b0 = _mm256_broadcast_sd(pb);   \
            double *x = qfk_out_row(&out, i);                                           \
            size_t j = 0;                                                               \
            for (; n - j >= 4; j += 4)                                                  \
                _mm256_storeu_pd(x + j, op(ca ? _mm256_loadu_pd(pa + j) : a0,           \
                                           cb ? _mm256_loadu_pd(pb + j) : b0));         \
            if (j == n)                                                                 \
                continue;                                                               \
            const __m256i k = qfk_mask64(n - j);                                        \
            _mm256_maskstore_pd(x + j, k, op(ca ? _mm256_maskload_pd(pa + j, k) : a0,   \
                                             cb ? _mm256_maskload_pd(pb + j, k) : b0)); \
        }                                                                               \
    }

DOUBLES(qfk_add_f64_avx2, _mm256_add_pd)
DOUBLES(qfk_sub_f64_avx2, _mm256_sub_pd)
DOUBLES(qfk_mul_f64_avx2, _mm256_mul_pd)
DOUBLES(qfk_div_f64_avx2, _mm256_div_pd)

QFK_MAP2(qfk_add_x8_avx2, x8, x8, a + b)
QFK_MAP2(qfk_add_x16_avx2, x16, x16, a + b)
QFK_MAP2(qfk_add_x32_avx2, x32, x32, a + b)
QFK_MAP2(qfk_add_x64_avx2, x64, x64, a + b)
QFK_MAP2(qfk_sub_x8_avx2, x8, x8, a - b)
QFK_MAP2(qfk_sub_x16_avx2, x16, x16, a - b)
QFK_MAP2(qfk_sub_x32_avx2, x32, x32, a - b)
QFK_MAP2(qfk_sub_x64_avx2, x64, x64, a - b)
QFK_MAP2(qfk_mul_x8_avx2, x8, x8, a * b)
QFK_MAP2(qfk_mul_x32_avx2, x32, x32, a * b)
QFK_MAP2(qfk_minimum_f32_avx2, f32, f32, a <= b || a != a ? a : b)
QFK_MAP2(qfk_minimum_f64_avx2, f64, f64, a <= b || a != a ? a : b)
QFK_MAP2(qfk_maximum_f32_avx2, f32, f32, a >= b || a != a ? a : b)
QFK_MAP2(qfk_maximum_f64_avx2, f64, f64, a >= b || a != a ? a : b)

/* With this file's flags fma is an instruction. */
QFK_MAP3(qfk_fma_f32_avx2, f32, f32, f32, fmaf(a, b, c))
QFK_MAP3(qfk_fma_f64_avx2, f64, f64, f64, fma(a, b, c))
