/* Units of bytes for panels (transpose_panels.h), which what dequantises them shares. */
#ifndef QFK_UNIT_AVX512_H
#define QFK_UNIT_AVX512_H

#include <immintrin.h>

#include "kernels/common/unroll.h"

/* 64 rows of 16 columns, each vector a column before, four rows after: k, k + 16 … in its quarters.
 * Interleaving vector k with vector k + 8 rotates the index (column, row) of every byte in its
 * 16 x 16 quarter by one bit; after four rounds column and row have changed places. */
QFK_INLINE void qfk_turn_x8(__m512i *v)
{
    __m512i t[16];

    for (unsigned round = 0; round < 4; round++) {
        for (size_t k = 0; k < 8; k++) {
            t[2 * k] = _mm512_unpacklo_epi8(v[k], v[k + 8]);
            t[2 * k + 1] = _mm512_unpackhi_epi8(v[k], v[k + 8]);
        }
        for (size_t k = 0; k < 16; k++)
            v[k] = t[k];
    }
}

/* 64 rows of 16 bytes. */
QFK_INLINE void qfk_unit_x8(char *x, const char *a, ptrdiff_t col)
{
    __m512i v[16];

    for (size_t k = 0; k < 16; k++)
        v[k] = _mm512_loadu_si512((const void *)(a + (ptrdiff_t)k * col));
    qfk_turn_x8(v);
    for (size_t k = 0; k < 16; k++) {
        _mm_storeu_si128((void *)(x + 16 * k), _mm512_extracti32x4_epi32(v[k], 0));
        _mm_storeu_si128((void *)(x + 16 * k + 256), _mm512_extracti32x4_epi32(v[k], 1));
        _mm_storeu_si128((void *)(x + 16 * k + 512), _mm512_extracti32x4_epi32(v[k], 2));
        _mm_storeu_si128((void *)(x + 16 * k + 768), _mm512_extracti32x4_epi32(v[k], 3));
    }
}

#endif
