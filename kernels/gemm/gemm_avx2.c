/* Matrix product steps with AVX2: 6 rows of two vectors, 12 sums in 12 of the 16 registers. */
#include "kernels/common/element.h"

#include <immintrin.h>

/* The loops over i are unrolled so that the sums stay in registers. */
enum { MR = 6 };

void qfk_gemm_f32_avx2(size_t k, const void *a0, const void *b0, void *c0, ptrdiff_t c_row,
                       bool add)
{
    const float *a = a0, *b = b0;
    __m256 s[MR][2];

#pragma GCC unroll 6
    for (ptrdiff_t i = 0; i < MR; i++) {
        const float *c = (const void *)((const char *)c0 + i * c_row);
        s[i][0] = add ? _mm256_loadu_ps(c) : _mm256_setzero_ps();
        s[i][1] = add ? _mm256_loadu_ps(c + 8) : _mm256_setzero_ps();
    }
#pragma GCC unroll 4
    for (; k; k--, a += MR, b += 16) {
        const __m256 lo = _mm256_loadu_ps(b), hi = _mm256_loadu_ps(b + 8);
#pragma GCC unroll 6
        for (size_t i = 0; i < MR; i++) {
            const __m256 v = _mm256_broadcast_ss(a + i);
            s[i][0] = _mm256_fmadd_ps(v, lo, s[i][0]);
            s[i][1] = _mm256_fmadd_ps(v, hi, s[i][1]);
        }
    }
#pragma GCC unroll 6
    for (ptrdiff_t i = 0; i < MR; i++) {
        float *c = (void *)((char *)c0 + i * c_row);
        _mm256_storeu_ps(c, s[i][0]);
        _mm256_storeu_ps(c + 8, s[i][1]);
    }
}

void qfk_gemm_f64_avx2(size_t k, const void *a0, const void *b0, void *c0, ptrdiff_t c_row,
                       bool add)
{
    const double *a = a0, *b = b0;
    __m256d s[MR][2];

#pragma GCC unroll 6
    for (ptrdiff_t i = 0; i < MR; i++) {
        const double *c = (const void *)((const char *)c0 + i * c_row);
        s[i][0] = add ? _mm256_loadu_pd(c) : _mm256_setzero_pd();
        s[i][1] = add ? _mm256_loadu_pd(c + 4) : _mm256_setzero_pd();
    }
#pragma GCC unroll 4
    for (; k; k--, a += MR, b += 8) {
        const __m256d lo = _mm256_loadu_pd(b), hi = _mm256_loadu_pd(b + 4);
#pragma GCC unroll 6
        for (size_t i = 0; i < MR; i++) {
            const __m256d v = _mm256_broadcast_sd(a + i);
            s[i][0] = _mm256_fmadd_pd(v, lo, s[i][0]);
            s[i][1] = _mm256_fmadd_pd(v, hi, s[i][1]);
        }
    }
#pragma GCC unroll 6
    for (ptrdiff_t i = 0; i < MR; i++) {
        double *c = (void *)((char *)c0 + i * c_row);
        _mm256_storeu_pd(c, s[i][0]);
        _mm256_storeu_pd(c + 4, s[i][1]);
    }
}
