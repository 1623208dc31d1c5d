/* Sums with AVX2: the 16 partials of a row in four registers of f64. */
#include "kernels/reduce/reduce_rows.h"

#include <immintrin.h>

/* state[j] += the j-th element, or its square, of each block of 16. */
static inline void add_blocks_f32(const float *a, size_t blocks, double *state, bool square)
{
    __m256d s[4];
    for (size_t q = 0; q < 4; q++)
        s[q] = _mm256_loadu_pd(state + 4 * q);
    for (; blocks; blocks--, a += 16)
        for (size_t q = 0; q < 4; q++) {
            const __m256d v = _mm256_cvtps_pd(_mm_loadu_ps(a + 4 * q));
            s[q] = _mm256_add_pd(s[q], square ? _mm256_mul_pd(v, v) : v);
        }
    for (size_t q = 0; q < 4; q++)
        _mm256_storeu_pd(state + 4 * q, s[q]);
}

static inline void add_blocks_f64(const double *a, size_t blocks, double *state, bool square)
{
    __m256d s[4];
    for (size_t q = 0; q < 4; q++)
        s[q] = _mm256_loadu_pd(state + 4 * q);
    for (; blocks; blocks--, a += 16)
        for (size_t q = 0; q < 4; q++) {
            const __m256d v = _mm256_loadu_pd(a + 4 * q);
            s[q] = _mm256_add_pd(s[q], square ? _mm256_mul_pd(v, v) : v);
        }
    for (size_t q = 0; q < 4; q++)
        _mm256_storeu_pd(state + 4 * q, s[q]);
}

static void sum_f32(const void *a, size_t blocks, double *state)
{
    add_blocks_f32(a, blocks, state, false);
}

static void sumsq_f32(const void *a, size_t blocks, double *state)
{
    add_blocks_f32(a, blocks, state, true);
}

static void sum_f64(const void *a, size_t blocks, double *state)
{
    add_blocks_f64(a, blocks, state, false);
}

static void sumsq_f64(const void *a, size_t blocks, double *state)
{
    add_blocks_f64(a, blocks, state, true);
}

QFK_REDUCE(qfk_sum_f32_avx2, qfk_sum_f32_scalar, sum_f32, sizeof(float))
QFK_REDUCE(qfk_sum_f64_avx2, qfk_sum_f64_scalar, sum_f64, sizeof(double))
QFK_REDUCE(qfk_sumsq_f32_avx2, qfk_sumsq_f32_scalar, sumsq_f32, sizeof(float))
QFK_REDUCE(qfk_sumsq_f64_avx2, qfk_sumsq_f64_scalar, sumsq_f64, sizeof(double))
