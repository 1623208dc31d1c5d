/* Units of bytes for panels (transpose_panels.h), which what dequantises them shares. */
#ifndef QFK_UNIT_AVX2_H
#define QFK_UNIT_AVX2_H

#include <immintrin.h>

#include "kernels/common/unroll.h"

/* Loops over the vectors of a block are written out, or the vectors stand in memory. */
#define QFK_ALL _Pragma("GCC unroll 16")

/* Sixteen bytes of a run, and of the run k further on above them. */
QFK_INLINE __m256i qfk_load_runs(const char *a, ptrdiff_t k)
{
    const __m128i low = _mm_loadu_si128((const void *)a);

    return _mm256_inserti128_si256(_mm256_castsi128_si256(low),
                                   _mm_loadu_si128((const void *)(a + k)), 1);
}

/* 64 rows of 16 bytes. After three rounds a vector has two rows: first halves, then second ones. */
QFK_INLINE void qfk_unit_x8(char *x, const char *a, ptrdiff_t col)
{
    QFK_ALL for (size_t i = 0; i < 64; i += 16) {
        __m256i v[8], t[8];
        QFK_ALL for (size_t k = 0; k < 8; k++)
            v[k] = qfk_load_runs(a + i + (ptrdiff_t)k * col, 8 * col);
        QFK_ALL for (unsigned round = 0; round < 3; round++) {
            QFK_ALL for (size_t k = 0; k < 4; k++) {
                t[2 * k] = _mm256_unpacklo_epi8(v[k], v[k + 4]);
                t[2 * k + 1] = _mm256_unpackhi_epi8(v[k], v[k + 4]);
            }
            QFK_ALL for (size_t k = 0; k < 8; k++)
                v[k] = t[k];
        }
        QFK_ALL for (size_t k = 0; k < 8; k++)
            _mm256_storeu_si256((void *)(x + 16 * i + 32 * k),
                                _mm256_permute4x64_epi64(v[k], 0xd8));
    }
}

#endif
