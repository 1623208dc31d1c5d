/* Matrix product steps with AVX-512: 14 rows of two vectors, 28 sums in 28 of the 32 registers. */
#include "kernels/common/element.h"

#include <immintrin.h>

/* The loops over i are unrolled so that the sums stay in registers. */
enum { MR = 14 };

void qfk_gemm_f32_avx512(size_t k, const void *a0, const void *b0, void *c0, ptrdiff_t c_row,
                         bool add)
{
    const float *a = a0, *b = b0;
    __m512 s[MR][2];

#pragma GCC unroll 14
    for (ptrdiff_t i = 0; i < MR; i++) {
        const float *c = (const void *)((const char *)c0 + i * c_row);
        s[i][0] = add ? _mm512_loadu_ps(c) : _mm512_setzero_ps();
        s[i][1] = add ? _mm512_loadu_ps(c + 16) : _mm512_setzero_ps();
    }
#pragma GCC unroll 4
    for (; k; k--, a += MR, b += 32) {
        const __m512 lo = _mm512_loadu_ps(b), hi = _mm512_loadu_ps(b + 16);
#pragma GCC unroll 14
        for (size_t i = 0; i < MR; i++) {
            const __m512 v = _mm512_set1_ps(a[i]);
            s[i][0] = _mm512_fmadd_ps(v, lo, s[i][0]);
            s[i][1] = _mm512_fmadd_ps(v, hi, s[i][1]);
        }
    }
#pragma GCC unroll 14
    for (ptrdiff_t i = 0; i < MR; i++) {
        float *c = (void *)((char *)c0 + i * c_row);
        _mm512_storeu_ps(c, s[i][0]);
        _mm512_storeu_ps(c + 16, s[i][1]);
    }
}

void qfk_gemm_f64_avx512(size_t k, const void *a0, const void *b0, void *c0, ptrdiff_t c_row,
                         bool add)
{
    const double *a = a0, *b = b0;
    __m512d s[MR][2];

#pragma GCC unroll 14
    for (ptrdiff_t i = 0; i < MR; i++) {
        const double *c = (const void *)((const char *)c0 + i * c_row);
        s[i][0] = add ? _mm512_loadu_pd(c) : _mm512_setzero_pd();
        s[i][1] = add ? _mm512_loadu_pd(c + 8) : _mm512_setzero_pd();
    }
#pragma GCC unroll 4
    for (; k; k--, a += MR, b += 16) {
        const __m512d lo = _mm512_loadu_pd(b), hi = _mm512_loadu_pd(b + 8);
#pragma GCC unroll 14
        for (size_t i = 0; i < MR; i++) {
            const __m512d v = _mm512_set1_pd(a[i]);
            s[i][0] = _mm512_fmadd_pd(v, lo, s[i][0]);
            s[i][1] = _mm512_fmadd_pd(v, hi, s[i][1]);
        }
    }
#pragma GCC unroll 14
    for (ptrdiff_t i = 0; i < MR; i++) {
        double *c = (void *)((char *)c0 + i * c_row);
        _mm512_storeu_pd(c, s[i][0]);
        _mm512_storeu_pd(c + 8, s[i][1]);
    }
}
