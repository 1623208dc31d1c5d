/* AVX2 rows of unpack and pack. A byte as a word has room for its two nibbles as bytes. */
#include "kernels/common/nibble.h"

#include <immintrin.h>

#define SPREAD 32

static inline void spread(void *x, const void *bytes, uint8_t sign)
{
    const __m256i w = _mm256_cvtepu8_epi16(_mm_loadu_si128(bytes)),
                  s = _mm256_set1_epi8((char)sign);
    const __m256i low = _mm256_and_si256(w, _mm256_set1_epi16(0x0f)),
                  high = _mm256_and_si256(_mm256_slli_epi16(w, 4), _mm256_set1_epi16(0xf00));
    const __m256i v = _mm256_or_si256(low, high);
    _mm256_storeu_si256(x, _mm256_sub_epi8(_mm256_xor_si256(v, s), s));
}

static inline void gather(void *bytes, const void *a)
{
    const __m256i w = _mm256_loadu_si256(a);
    const __m256i low = _mm256_and_si256(w, _mm256_set1_epi16(0x0f)),
                  high = _mm256_and_si256(_mm256_srli_epi16(w, 4), _mm256_set1_epi16(0xf0));
    const __m256i v = _mm256_or_si256(low, high);
    _mm_storeu_si128(bytes, _mm_packus_epi16(_mm256_castsi256_si128(v),
                                             _mm256_extracti128_si256(v, 1)));
}

#include "kernels/copy/nibble_vectors.h"

QFK_UNPACK(qfk_unpack_u4_avx2, u4, 0)
QFK_UNPACK(qfk_unpack_i4_avx2, i4, 8)
QFK_PACK(qfk_pack_x4_avx2)
