/* AVX-512 rows of the binary family. The hot ones load and store under masks at the end of a row;
 * the others are the scalar loops, which the compiler vectorises with this file's flags. */
#include "kernels/common/element.h"
#include "kernels/common/masks.h"

#include <math.h>

/* Defines the kernel `name` for f32: x = op(a, b) on vectors of 16. */
#define FLOATS(name, op)                                                                     \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)         \
    {                                                                                        \
        const bool ca = in[0].col != 0, cb = in[1].col != 0;                                 \
        (void)p;                                                                             \
        for (size_t i = 0; n && i < m; i++) {                                                \
            const qfk_f32_mem *pa = qfk_in_row(&in[0], i), *pb = qfk_in_row(&in[1], i);      \
            const __m512 a0 = _mm512_set1_ps(*pa), b0 = _mm512_set1_ps(*pb);                 \
            qfk_f32_mem *x = qfk_out_row(&out, i);                                           \
            size_t j = 0;                                                                    \
            for (; n - j >= 16; j += 16)                                                     \
                _mm512_storeu_ps(x + j, op(ca ? _mm512_loadu_ps(pa + j) : a0,                \
                                           cb ? _mm512_loadu_ps(pb + j) : b0));              \
            const __mmask16 k = qfk_first16(n - j);                                          \
            _mm512_mask_storeu_ps(x + j, k, op(ca ? _mm512_maskz_loadu_ps(k, pa + j) : a0,   \
                                               cb ? _mm512_maskz_loadu_ps(k, pb + j) : b0)); \
        }                                                                                    \
    }

FLOATS(qfk_add_f32_avx512, _mm512_add_ps)
FLOATS(qfk_sub_f32_avx512, _mm512_sub_ps)
FLOATS(qfk_mul_f32_avx512, _mm512_mul_ps)
FLOATS(qfk_div_f32_avx512, _mm512_div_ps)

/* Defines the kernel `name` for f64: x = op(a, b) on vectors of 8. */
#define DOUBLES(name, op)                                                                    \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)         \
    {                                                                                        \
        const bool ca = in[0].col != 0, cb = in[1].col != 0;                                 \
        (void)p;                                                                             \
        for (size_t i = 0; n && i < m; i++) {                                                \
            const qfk_f64_mem *pa = qfk_in_row(&in[0], i), *pb = qfk_in_row(&in[1], i);      \
            const __m512d a0 = _mm512_set1_pd(*pa), b0 = _mm512_set1_pd(*pb);                \
            qfk_f64_mem *x = qfk_out_row(&out, i);                                           \
            size_t j = 0;                                                                    \
            for (; n - j >= 8; j += 8)                                                       \
                _mm512_storeu_pd(x + j, op(ca ? _mm512_loadu_pd(pa + j) : a0,                \
                                           cb ? _mm512_loadu_pd(pb + j) : b0));              \
            const __mmask8 k = qfk_first8(n - j);                                            \
            _mm512_mask_storeu_pd(x + j, k, op(ca ? _mm512_maskz_loadu_pd(k, pa + j) : a0,   \
                                               cb ? _mm512_maskz_loadu_pd(k, pb + j) : b0)); \
        }                                                                                    \
    }

DOUBLES(qfk_add_f64_avx512, _mm512_add_pd)
DOUBLES(qfk_sub_f64_avx512, _mm512_sub_pd)
DOUBLES(qfk_mul_f64_avx512, _mm512_mul_pd)
DOUBLES(qfk_div_f64_avx512, _mm512_div_pd)

QFK_MAP2(qfk_add_x8_avx512, x8, x8, a + b)
QFK_MAP2(qfk_add_x16_avx512, x16, x16, a + b)
QFK_MAP2(qfk_add_x32_avx512, x32, x32, a + b)
QFK_MAP2(qfk_add_x64_avx512, x64, x64, a + b)
QFK_MAP2(qfk_sub_x8_avx512, x8, x8, a - b)
QFK_MAP2(qfk_sub_x16_avx512, x16, x16, a - b)
QFK_MAP2(qfk_sub_x32_avx512, x32, x32, a - b)
QFK_MAP2(qfk_sub_x64_avx512, x64, x64, a - b)
QFK_MAP2(qfk_mul_x8_avx512, x8, x8, a * b)
QFK_MAP2(qfk_mul_x32_avx512, x32, x32, a * b)
QFK_MAP2(qfk_minimum_f32_avx512, f32, f32, a <= b || a != a ? a : b)
QFK_MAP2(qfk_minimum_f64_avx512, f64, f64, a <= b || a != a ? a : b)
QFK_MAP2(qfk_maximum_f32_avx512, f32, f32, a >= b || a != a ? a : b)
QFK_MAP2(qfk_maximum_f64_avx512, f64, f64, a >= b || a != a ? a : b)

/* With this file's flags fma is an instruction. */
QFK_MAP3(qfk_fma_f32_avx512, f32, f32, f32, fmaf(a, b, c))
QFK_MAP3(qfk_fma_f64_avx512, f64, f64, f64, fma(a, b, c))
