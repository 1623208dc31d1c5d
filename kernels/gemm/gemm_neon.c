/* Matrix product steps with NEON: 8 rows of three vectors, 24 sums in 24 of the 32 registers. The
 * elements of a are lanes of vectors, which the multiplication picks. */
#include "kernels/common/element.h"

#include <arm_neon.h>

enum { MR = 8 };

/* Row i of the sums meets a lane of `a`; the lane is a constant of the instruction `fma`. */
#define ROW(fma, i, a, lane)                 \
    do {                                     \
        s[i][0] = fma(s[i][0], b0, a, lane); \
        s[i][1] = fma(s[i][1], b1, a, lane); \
        s[i][2] = fma(s[i][2], b2, a, lane); \
    } while (0)

/* A statement for every sum s[i][q], whose elements in C, of type T, are at c.  lanes: of it. */
#define EACH_SUM(T, lanes, statement)                                    \
    _Pragma("GCC unroll 8") for (ptrdiff_t i = 0; i < MR; i++)           \
    {                                                                    \
        _Pragma("GCC unroll 3") for (size_t q = 0; q < 3; q++)           \
        {                                                                \
            T *c = (T *)(void *)((char *)c0 + i * c_row) + (lanes) * q;  \
            statement;                                                   \
        }                                                                \
    }

void qfk_gemm_f32_neon(size_t k, const void *a0, const void *b_panel, void *c0, ptrdiff_t c_row,
                       bool add)
{
    const float *a = a0, *b = b_panel;
    float32x4_t s[MR][3];

    EACH_SUM(float, 4, s[i][q] = add ? vld1q_f32(c) : vdupq_n_f32(0))
    for (; k; k--, a += MR, b += 12) {
        const float32x4_t b0 = vld1q_f32(b), b1 = vld1q_f32(b + 4), b2 = vld1q_f32(b + 8);
        const float32x4_t lo = vld1q_f32(a), hi = vld1q_f32(a + 4);
        ROW(vfmaq_laneq_f32, 0, lo, 0);
        ROW(vfmaq_laneq_f32, 1, lo, 1);
        ROW(vfmaq_laneq_f32, 2, lo, 2);
        ROW(vfmaq_laneq_f32, 3, lo, 3);
        ROW(vfmaq_laneq_f32, 4, hi, 0);
        ROW(vfmaq_laneq_f32, 5, hi, 1);
        ROW(vfmaq_laneq_f32, 6, hi, 2);
        ROW(vfmaq_laneq_f32, 7, hi, 3);
    }
    EACH_SUM(float, 4, vst1q_f32(c, s[i][q]))
}

void qfk_gemm_f64_neon(size_t k, const void *a0, const void *b_panel, void *c0, ptrdiff_t c_row,
                       bool add)
{
    const double *a = a0, *b = b_panel;
    float64x2_t s[MR][3];

    EACH_SUM(double, 2, s[i][q] = add ? vld1q_f64(c) : vdupq_n_f64(0))
    for (; k; k--, a += MR, b += 6) {
        const float64x2_t b0 = vld1q_f64(b), b1 = vld1q_f64(b + 2), b2 = vld1q_f64(b + 4);
        const float64x2_t p = vld1q_f64(a), q = vld1q_f64(a + 2);
        const float64x2_t r = vld1q_f64(a + 4), t = vld1q_f64(a + 6);
        ROW(vfmaq_laneq_f64, 0, p, 0);
        ROW(vfmaq_laneq_f64, 1, p, 1);
        ROW(vfmaq_laneq_f64, 2, q, 0);
        ROW(vfmaq_laneq_f64, 3, q, 1);
        ROW(vfmaq_laneq_f64, 4, r, 0);
        ROW(vfmaq_laneq_f64, 5, r, 1);
        ROW(vfmaq_laneq_f64, 6, t, 0);
        ROW(vfmaq_laneq_f64, 7, t, 1);
    }
    EACH_SUM(double, 2, vst1q_f64(c, s[i][q]))
}
