/* Words of the vector vocabulary that updates need besides, with AVX2; words_avx512.h has the same
 * for its vectors. */
#ifndef QFK_WORDS_AVX2_H
#define QFK_WORDS_AVX2_H

#include "kernels/common/simd_avx2.h"

/* a b + c, rounded once; one float in all lanes; a rounded to halves. */
static inline qfk_vf qfk_vf_fma(qfk_vf a, qfk_vf b, qfk_vf c) { return _mm256_fmadd_ps(a, b, c); }
static inline qfk_vf qfk_vf_all(const void *p) { return _mm256_broadcast_ss(p); }
static inline qfk_vf qfk_vf_as_f16(qfk_vf a)
{
    return _mm256_cvtph_ps(_mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT));
}

static inline bool qfk_vf_any_nan(qfk_vf a)
{
    return _mm256_movemask_ps(_mm256_cmp_ps(a, a, _CMP_UNORD_Q)) != 0;
}

/* Floats as their bits, and back. */
static inline qfk_vi qfk_vf_bits(qfk_vf a) { return _mm256_castps_si256(a); }
static inline qfk_vf qfk_vi_floats(qfk_vi a) { return _mm256_castsi256_ps(a); }

/* Whole vectors of bits; one word of 32, of 16 bits in all lanes. */
static inline qfk_vi qfk_vi_load(const void *p) { return _mm256_loadu_si256(p); }
static inline void qfk_vi_store(void *p, qfk_vi a) { _mm256_storeu_si256(p, a); }
static inline qfk_vi qfk_vi_set(uint32_t v) { return _mm256_set1_epi32((int)v); }
static inline qfk_vi qfk_vi_set16(uint16_t v) { return _mm256_set1_epi16((short)v); }

static inline qfk_vi qfk_vi_and(qfk_vi a, qfk_vi b) { return _mm256_and_si256(a, b); }
static inline qfk_vi qfk_vi_andnot(qfk_vi a, qfk_vi b) { return _mm256_andnot_si256(a, b); }
static inline qfk_vi qfk_vi_or(qfk_vi a, qfk_vi b) { return _mm256_or_si256(a, b); }
static inline bool qfk_vi_any(qfk_vi a) { return !_mm256_testz_si256(a, a); }

/* Lanes of 32 bits: sums, shifts by 16 bits. */
static inline qfk_vi qfk_vi_add(qfk_vi a, qfk_vi b) { return _mm256_add_epi32(a, b); }
static inline qfk_vi qfk_vi_srl16(qfk_vi a) { return _mm256_srli_epi32(a, 16); }
static inline qfk_vi qfk_vi_sll16(qfk_vi a) { return _mm256_slli_epi32(a, 16); }

/* Lanes of 16 bits: differences that end at 0 or wrap, the sign everywhere, the odd ones
 * of b between the even ones of a. */
static inline qfk_vi qfk_vi_subs_u16(qfk_vi a, qfk_vi b) { return _mm256_subs_epu16(a, b); }
static inline qfk_vi qfk_vi_sub16(qfk_vi a, qfk_vi b) { return _mm256_sub_epi16(a, b); }
static inline qfk_vi qfk_vi_signs16(qfk_vi a) { return _mm256_srai_epi16(a, 15); }
static inline qfk_vi qfk_vi_odd_words(qfk_vi a, qfk_vi b)
{
    return _mm256_blend_epi16(a, b, 0xaa);
}

#endif
