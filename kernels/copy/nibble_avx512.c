/* AVX-512 rows of unpack and pack. A byte as a word has room for its two nibbles as bytes. */
#include "kernels/common/nibble.h"

#include <immintrin.h>

#define SPREAD 64

static inline void spread(void *x, const void *bytes, uint8_t sign)
{
    const __m512i w = _mm512_cvtepu8_epi16(_mm256_loadu_si256(bytes)),
                  s = _mm512_set1_epi8((char)sign);
    const __m512i low = _mm512_and_si512(w, _mm512_set1_epi16(0x0f)),
                  high = _mm512_and_si512(_mm512_slli_epi16(w, 4), _mm512_set1_epi16(0xf00));
    const __m512i v = _mm512_or_si512(low, high);
    _mm512_storeu_si512(x, _mm512_sub_epi8(_mm512_xor_si512(v, s), s));
}

static inline void gather(void *bytes, const void *a)
{
    const __m512i w = _mm512_loadu_si512(a);
    const __m512i low = _mm512_and_si512(w, _mm512_set1_epi16(0x0f)),
                  high = _mm512_and_si512(_mm512_srli_epi16(w, 4), _mm512_set1_epi16(0xf0));
    _mm256_storeu_si256(bytes, _mm512_cvtepi16_epi8(_mm512_or_si512(low, high)));
}

#include "kernels/copy/nibble_vectors.h"

QFK_UNPACK(qfk_unpack_u4_avx512, u4, 0)
QFK_UNPACK(qfk_unpack_i4_avx512, i4, 8)
QFK_PACK(qfk_pack_x4_avx512)
