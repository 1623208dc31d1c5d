/* Sums with AVX2: the 16 partials of a row in four registers of f64. Columns before the first
 * multiple of 16 and after the last one, and splat rows, go through the scalar rows, which add in
 * the same order. */
#include "kernels/common/element.h"

#include <immintrin.h>

typedef void block_sum(const void *a, size_t blocks, double *state);

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

/* Rows of elements of `size` bytes: head by `edge`, whole blocks by `blocks`, tail by `edge`. */
static void reduce_rows(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p,
                        qfk_tile *edge, block_sum *blocks, size_t size)
{
    const size_t first = (size_t)p->i[0], to_block = (16 - first % 16) % 16;
    const size_t head = !in[0].col || to_block > n ? n : to_block;
    const size_t body = (n - head) / 16 * 16;

    for (size_t i = 0; i < m; i++) {
        const char *a = qfk_in_row(&in[0], i);
        const qfk_out x = { qfk_out_row(&out, i), out.row };
        const qfk_in start = { a, 0, in[0].col };
        const qfk_in rest = { a + (head + body) * size, 0, in[0].col };
        qfk_param at_rest = *p;
        at_rest.i[0] += (int64_t)(head + body);
        at_rest.i[1] = 0;
        edge(1, head, &start, x, p);
        blocks(a + head * size, body / 16, x.p);
        edge(1, n - head - body, &rest, x, &at_rest);
    }
}

void qfk_sum_f32_avx2(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)
{
    reduce_rows(m, n, in, out, p, qfk_sum_f32_scalar, sum_f32, sizeof(float));
}

void qfk_sum_f64_avx2(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)
{
    reduce_rows(m, n, in, out, p, qfk_sum_f64_scalar, sum_f64, sizeof(double));
}

void qfk_sumsq_f32_avx2(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)
{
    reduce_rows(m, n, in, out, p, qfk_sumsq_f32_scalar, sumsq_f32, sizeof(float));
}

void qfk_sumsq_f64_avx2(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)
{
    reduce_rows(m, n, in, out, p, qfk_sumsq_f64_scalar, sumsq_f64, sizeof(double));
}
