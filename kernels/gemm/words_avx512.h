/* Words of the vector vocabulary that updates need besides, with AVX-512; words_avx2.h says what
 * they mean. */
#ifndef QFK_WORDS_AVX512_H
#define QFK_WORDS_AVX512_H

#include "kernels/common/simd_avx512.h"

static inline qfk_vf qfk_vf_fma(qfk_vf a, qfk_vf b, qfk_vf c) { return _mm512_fmadd_ps(a, b, c); }
static inline qfk_vf qfk_vf_all(const void *p)
{
    return _mm512_set1_ps(*(const qfk_f32_mem *)p);
}

static inline qfk_vf qfk_vf_as_f16(qfk_vf a)
{
    return _mm512_cvtph_ps(_mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT));
}

static inline bool qfk_vf_any_nan(qfk_vf a)
{
    return _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q) != 0;
}

static inline qfk_vi qfk_vf_bits(qfk_vf a) { return _mm512_castps_si512(a); }
static inline qfk_vf qfk_vi_floats(qfk_vi a) { return _mm512_castsi512_ps(a); }

static inline qfk_vi qfk_vi_load(const void *p) { return _mm512_loadu_si512(p); }
static inline void qfk_vi_store(void *p, qfk_vi a) { _mm512_storeu_si512(p, a); }
static inline qfk_vi qfk_vi_set(uint32_t v) { return _mm512_set1_epi32((int)v); }
static inline qfk_vi qfk_vi_set16(uint16_t v) { return _mm512_set1_epi16((short)v); }

static inline qfk_vi qfk_vi_and(qfk_vi a, qfk_vi b) { return _mm512_and_si512(a, b); }
static inline qfk_vi qfk_vi_andnot(qfk_vi a, qfk_vi b) { return _mm512_andnot_si512(a, b); }
static inline qfk_vi qfk_vi_or(qfk_vi a, qfk_vi b) { return _mm512_or_si512(a, b); }
static inline bool qfk_vi_any(qfk_vi a) { return _mm512_test_epi32_mask(a, a) != 0; }

static inline qfk_vi qfk_vi_add(qfk_vi a, qfk_vi b) { return _mm512_add_epi32(a, b); }
static inline qfk_vi qfk_vi_srl16(qfk_vi a) { return _mm512_srli_epi32(a, 16); }
static inline qfk_vi qfk_vi_sll16(qfk_vi a) { return _mm512_slli_epi32(a, 16); }

static inline qfk_vi qfk_vi_subs_u16(qfk_vi a, qfk_vi b) { return _mm512_subs_epu16(a, b); }
static inline qfk_vi qfk_vi_sub16(qfk_vi a, qfk_vi b) { return _mm512_sub_epi16(a, b); }
static inline qfk_vi qfk_vi_signs16(qfk_vi a) { return _mm512_srai_epi16(a, 15); }
static inline qfk_vi qfk_vi_odd_words(qfk_vi a, qfk_vi b)
{
    return _mm512_mask_blend_epi16(0xaaaaaaaau, a, b);
}

#endif
