/* Sums with NEON: the 16 partials of a row in eight registers of f64. */
#include "kernels/common/simd_neon.h"
#include "kernels/reduce/reduce_rows.h"

/* Two doubles from two elements at a. */
static inline float64x2_t two_f32(const char *a)
{
    return vcvt_f64_f32(vreinterpret_f32_u8(qfk_load_bytes8(a, 8)));
}

static inline float64x2_t two_f64(const char *a) { return qfk_vd_load(a, 2); }

/* Defines a qfk_block_sum of elements of `size` bytes, two of which `two` reads; of their squares,
 * if square is set. */
#define BLOCK_SUM(name, two, size, square)                                     \
    static void name(const void *from, size_t blocks, double *state)           \
    {                                                                          \
        const char *a = from;                                                  \
        float64x2_t s[8];                                                      \
        for (size_t q = 0; q < 8; q++)                                         \
            s[q] = qfk_vd_load(state + 2 * q, 2);                              \
        for (; blocks; blocks--, a += 16 * (size))                             \
            for (size_t q = 0; q < 8; q++) {                                   \
                const float64x2_t v = two(a + 2 * (size) * q);                 \
                s[q] = vaddq_f64(s[q], (square) ? vmulq_f64(v, v) : v);        \
            }                                                                  \
        for (size_t q = 0; q < 8; q++)                                         \
            qfk_vd_store(state + 2 * q, s[q], 2);                              \
    }

BLOCK_SUM(sum_f32, two_f32, 4, false)
BLOCK_SUM(sum_f64, two_f64, 8, false)
BLOCK_SUM(sumsq_f32, two_f32, 4, true)
BLOCK_SUM(sumsq_f64, two_f64, 8, true)

QFK_REDUCE(qfk_sum_f32_neon, qfk_sum_f32_scalar, sum_f32, sizeof(float))
QFK_REDUCE(qfk_sum_f64_neon, qfk_sum_f64_scalar, sum_f64, sizeof(double))
QFK_REDUCE(qfk_sumsq_f32_neon, qfk_sumsq_f32_scalar, sumsq_f32, sizeof(float))
QFK_REDUCE(qfk_sumsq_f64_neon, qfk_sumsq_f64_scalar, sumsq_f64, sizeof(double))
