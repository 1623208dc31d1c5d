/* Matrix product steps in plain C, 4 x 4. fma() is exact everywhere. */
#include "kernels/common/element.h"

#include <math.h>

/* Defines the step `name` of key T: `next` is the sum after `s` has met `a` and `b`. */
#define GEMM(name, T, next)                                                                        \
    void name(size_t k, const void *a0, const void *b0, void *c0, ptrdiff_t c_row, bool add)       \
    {                                                                                              \
        const qfk_##T##_mem *pa = a0, *pb = b0;                                                    \
        qfk_##T acc[4][4] = { { 0 } };                                                             \
        for (size_t i = 0; add && i < 4; i++)                                                      \
            memcpy(acc[i], (const char *)c0 + (ptrdiff_t)i * c_row, sizeof acc[i]);                \
        for (size_t step = 0; step < k; step++, pa += 4, pb += 4)                                  \
            for (size_t i = 0; i < 4; i++)                                                         \
                for (size_t j = 0; j < 4; j++) {                                                   \
                    const qfk_##T a = pa[i], b = pb[j], s = acc[i][j];                             \
                    acc[i][j] = (qfk_##T)(next);                                                   \
                }                                                                                  \
        for (size_t i = 0; i < 4; i++)                                                             \
            memcpy((char *)c0 + (ptrdiff_t)i * c_row, acc[i], sizeof acc[i]);                      \
    }

GEMM(qfk_gemm_f32_scalar, f32, fmaf(a, b, s))
GEMM(qfk_gemm_f64_scalar, f64, fma(a, b, s))
GEMM(qfk_gemm_i64_scalar, i64, (uint64_t)s + (uint64_t)a * (uint64_t)b)
