/* The vector vocabulary with AVX-512; simd_avx2.h says what the names mean. */
#ifndef QFK_SIMD_AVX512_H
#define QFK_SIMD_AVX512_H

#include "kernels/common/element.h"
#include "kernels/common/masks.h"
#include "kernels/common/unroll.h"

#define QFK_LANES 16
#define QFK_DOUBLES 8

typedef __m512 qfk_vf;
typedef __m512i qfk_vi;
typedef __m512d qfk_vd;

static inline __m128i qfk_load_bytes(const void *p, size_t n)
{
    return n == 16 ? _mm_loadu_si128(p) : _mm_maskz_loadu_epi8(qfk_first16(n), p);
}

static inline __m256i qfk_load_words(const void *p, size_t n)
{
    return n == 16 ? _mm256_loadu_si256(p) : _mm256_maskz_loadu_epi16(qfk_first16(n), p);
}

static inline void qfk_store_words(void *p, __m256i words, size_t n)
{
    if (n == QFK_LANES)
        _mm256_storeu_si256(p, words);
    else
        _mm256_mask_storeu_epi16(p, qfk_first16(n), words);
}

/* Floats. */
static inline qfk_vf qfk_vf_load(const void *p, size_t n)
{
    return n == QFK_LANES ? _mm512_loadu_ps(p) : _mm512_maskz_loadu_ps(qfk_first16(n), p);
}

static inline void qfk_vf_store(void *p, qfk_vf v, size_t n)
{
    if (n == QFK_LANES)
        _mm512_storeu_ps(p, v);
    else
        _mm512_mask_storeu_ps(p, qfk_first16(n), v);
}

static inline void qfk_vf_store_past(void *p, qfk_vf v, size_t n)
{
    if (n == QFK_LANES)
        _mm512_stream_ps(p, v);
    else
        qfk_vf_store(p, v, n);
}

static inline void qfk_vf_put_f32(void *p, qfk_vf v, bool past)
{
    if (past)
        _mm512_stream_ps(p, v);
    else
        _mm512_storeu_ps(p, v);
}

QFK_STORE4(qfk_vf_store4_f32, qfk_vf, qfk_vf_put_f32, 4)

static inline qfk_vf qfk_vf_set(float f) { return _mm512_set1_ps(f); }
static inline qfk_vf qfk_vf_add(qfk_vf a, qfk_vf b) { return _mm512_add_ps(a, b); }
static inline qfk_vf qfk_vf_sub(qfk_vf a, qfk_vf b) { return _mm512_sub_ps(a, b); }
static inline qfk_vf qfk_vf_mul(qfk_vf a, qfk_vf b) { return _mm512_mul_ps(a, b); }
static inline qfk_vf qfk_vf_div(qfk_vf a, qfk_vf b) { return _mm512_div_ps(a, b); }
static inline qfk_vf qfk_vf_min(qfk_vf a, qfk_vf b) { return _mm512_min_ps(a, b); }
static inline qfk_vf qfk_vf_max(qfk_vf a, qfk_vf b) { return _mm512_max_ps(a, b); }

/* Without optimisation this intrinsic is a macro, in gcc one that warns of its own mask. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
static inline qfk_vf qfk_vf_round(qfk_vf a)
{
    return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
#pragma GCC diagnostic pop

static inline qfk_vf qfk_vf_from_i32(qfk_vi v) { return _mm512_cvtepi32_ps(v); }

static inline qfk_vi qfk_vi_from_f32(qfk_vf a)
{
    return _mm512_maskz_cvttps_epi32(0xffff, a);
}

static inline qfk_vi qfk_vf_truncated(qfk_vf a, qfk_vf b)
{
    return _mm512_maskz_cvttps_epi32(_mm512_cmp_ps_mask(b, b, _CMP_ORD_Q), a);
}

/* Doubles. */
static inline qfk_vd qfk_vd_load(const void *p, size_t n)
{
    return n == QFK_DOUBLES ? _mm512_loadu_pd(p) : _mm512_maskz_loadu_pd(qfk_first8(n), p);
}

static inline void qfk_vd_store(void *p, qfk_vd v, size_t n)
{
    if (n == QFK_DOUBLES)
        _mm512_storeu_pd(p, v);
    else
        _mm512_mask_storeu_pd(p, qfk_first8(n), v);
}

static inline void qfk_vd_store_past(void *p, qfk_vd v, size_t n)
{
    if (n == QFK_DOUBLES)
        _mm512_stream_pd(p, v);
    else
        qfk_vd_store(p, v, n);
}

static inline qfk_vd qfk_vd_set(double f) { return _mm512_set1_pd(f); }
static inline qfk_vd qfk_vd_add(qfk_vd a, qfk_vd b) { return _mm512_add_pd(a, b); }
static inline qfk_vd qfk_vd_sub(qfk_vd a, qfk_vd b) { return _mm512_sub_pd(a, b); }
static inline qfk_vd qfk_vd_mul(qfk_vd a, qfk_vd b) { return _mm512_mul_pd(a, b); }
static inline qfk_vd qfk_vd_div(qfk_vd a, qfk_vd b) { return _mm512_div_pd(a, b); }

static inline qfk_vf qfk_vf_from_f64(qfk_vd a, qfk_vd b)
{
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(a)), _mm512_cvtpd_ps(b), 1);
}

/* Lanes of 64 bits. */
static inline qfk_vi qfk_vi_set64(int64_t i) { return _mm512_set1_epi64(i); }
static inline qfk_vi qfk_vi_add64(qfk_vi a, qfk_vi b) { return _mm512_add_epi64(a, b); }

static inline void qfk_vi_store_bytes(void *p, qfk_vi v, size_t n)
{
    if (n == sizeof v)
        _mm512_storeu_si512(p, v);
    else
        _mm512_mask_storeu_epi8(p, qfk_first64(n), v);
}

static inline void qfk_vi_store_bytes_past(void *p, qfk_vi v, size_t n)
{
    if (n == sizeof v)
        _mm512_stream_si512(p, v);
    else
        _mm512_mask_storeu_epi8(p, qfk_first64(n), v);
}

/* Integers, widened to 32 bits. */
static inline qfk_vi qfk_vi_load_i8(const void *p, size_t n)
{
    return _mm512_cvtepi8_epi32(qfk_load_bytes(p, n));
}

static inline qfk_vi qfk_vi_load_u8(const void *p, size_t n)
{
    return _mm512_cvtepu8_epi32(qfk_load_bytes(p, n));
}

static inline qfk_vi qfk_vi_load_i16(const void *p, size_t n)
{
    return _mm512_cvtepi16_epi32(qfk_load_words(p, n));
}

static inline qfk_vi qfk_vi_load_u16(const void *p, size_t n)
{
    return _mm512_cvtepu16_epi32(qfk_load_words(p, n));
}

static inline qfk_vi qfk_vi_load_i32(const void *p, size_t n)
{
    return n == QFK_LANES ? _mm512_loadu_si512(p) : _mm512_maskz_loadu_epi32(qfk_first16(n), p);
}

static inline void qfk_vi_store_x32(void *p, qfk_vi v, size_t n)
{
    if (n == QFK_LANES)
        _mm512_storeu_si512(p, v);
    else
        _mm512_mask_storeu_epi32(p, qfk_first16(n), v);
}

/* Nibbles: the first eight lanes take theirs from the low word, the others from the high one. */
static inline qfk_vi qfk_nibbles_on_top(const void *p, size_t n)
{
    uint64_t word = 0;
    memcpy(&word, p, n == QFK_LANES ? 8 : (n + 1) / 2);
    const __m512i low = _mm512_set1_epi32((int)(uint32_t)word),
                  high = _mm512_set1_epi32((int)(word >> 32));
    return _mm512_sllv_epi32(_mm512_mask_mov_epi32(low, 0xff00, high),
                             _mm512_setr_epi32(28, 24, 20, 16, 12, 8, 4, 0, 28, 24, 20, 16, 12, 8,
                                               4, 0));
}

static inline qfk_vi qfk_vi_load_i4(const void *p, size_t n)
{
    return _mm512_srai_epi32(qfk_nibbles_on_top(p, n), 28);
}

static inline qfk_vi qfk_vi_load_u4(const void *p, size_t n)
{
    return _mm512_srli_epi32(qfk_nibbles_on_top(p, n), 28);
}

static inline void qfk_vi_store_x8(void *p, qfk_vi v, size_t n)
{
    const __m128i bytes = _mm512_cvtepi32_epi8(v);
    if (n == QFK_LANES)
        _mm_storeu_si128(p, bytes);
    else
        _mm_mask_storeu_epi8(p, qfk_first16(n), bytes);
}

static inline void qfk_vi_store_x16(void *p, qfk_vi v, size_t n)
{
    qfk_store_words(p, _mm512_cvtepi32_epi16(v), n);
}

/* Whole vectors of narrowed elements, plain or past the caches. */
static inline void qfk_put16(void *p, __m128i bytes, bool past)
{
    if (past)
        _mm_stream_si128(p, bytes);
    else
        _mm_storeu_si128(p, bytes);
}

static inline void qfk_put32(void *p, __m256i words, bool past)
{
    if (past)
        _mm256_stream_si256(p, words);
    else
        _mm256_storeu_si256(p, words);
}

static inline void qfk_vi_put_x8(void *p, qfk_vi v, bool past)
{
    qfk_put16(p, _mm512_cvtepi32_epi8(v), past);
}

static inline void qfk_vi_put_x16(void *p, qfk_vi v, bool past)
{
    qfk_put32(p, _mm512_cvtepi32_epi16(v), past);
}

static inline void qfk_vi_put_x32(void *p, qfk_vi v, bool past)
{
    if (past)
        _mm512_stream_si512(p, v);
    else
        _mm512_storeu_si512(p, v);
}

QFK_STORE4(qfk_vi_store4_x8, qfk_vi, qfk_vi_put_x8, 1)
QFK_STORE4(qfk_vi_store4_x16, qfk_vi, qfk_vi_put_x16, 2)
QFK_STORE4(qfk_vi_store4_x32, qfk_vi, qfk_vi_put_x32, 4)

/* Short floats. */
static inline qfk_vf qfk_vf_load_f16(const void *p, size_t n)
{
    return _mm512_cvtph_ps(qfk_load_words(p, n));
}

static inline void qfk_vf_store_f16(void *p, qfk_vf v, size_t n)
{
    qfk_store_words(p, _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT), n);
}

static inline void qfk_vf_put_f16(void *p, qfk_vf v, bool past)
{
    qfk_put32(p, _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT), past);
}

QFK_STORE4(qfk_vf_store4_f16, qfk_vf, qfk_vf_put_f16, 2)

static inline qfk_vf qfk_vf_load_bf16(const void *p, size_t n)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(qfk_vi_load_u16(p, n), 16));
}

static inline __m256i qfk_bf16_words(qfk_vf v)
{
    const __m512i u = _mm512_castps_si512(v), even = _mm512_set1_epi32(1);
    const __m512i lsb = _mm512_and_si512(_mm512_srli_epi32(u, 16), even);
    const __m512i half = _mm512_add_epi32(lsb, _mm512_set1_epi32(0x7fff));
    const __m512i rounded = _mm512_srli_epi32(_mm512_add_epi32(u, half), 16);
    const __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
    return _mm512_cvtepi32_epi16(_mm512_mask_mov_epi32(rounded, nan, _mm512_set1_epi32(0x7fc0)));
}

static inline void qfk_vf_store_bf16(void *p, qfk_vf v, size_t n)
{
    qfk_store_words(p, qfk_bf16_words(v), n);
}

static inline void qfk_vf_put_bf16(void *p, qfk_vf v, bool past)
{
    qfk_put32(p, qfk_bf16_words(v), past);
}

QFK_STORE4(qfk_vf_store4_bf16, qfk_vf, qfk_vf_put_bf16, 2)

static inline qfk_vf qfk_vf_load_f8e4m3(const void *p, size_t n)
{
    const __m256i v = _mm256_cvtepi8_epi16(qfk_load_bytes(p, n));
    const __m256i u = _mm256_and_si256(_mm256_slli_epi16(v, 7), _mm256_set1_epi16(0x3f80));
    const __m256i nan = _mm256_cmpeq_epi16(u, _mm256_set1_epi16(0x3f80));
    const __m256i top = _mm256_or_si256(_mm256_and_si256(v, _mm256_set1_epi16((short)0x8000)),
                                        _mm256_and_si256(nan, _mm256_set1_epi16(0x4000)));
    return _mm512_mul_ps(_mm512_cvtph_ps(_mm256_or_si256(u, top)), _mm512_set1_ps(256));
}

static inline qfk_vf qfk_vf_load_f8e5m2(const void *p, size_t n)
{
    return _mm512_cvtph_ps(_mm256_slli_epi16(_mm256_cvtepi8_epi16(qfk_load_bytes(p, n)), 8));
}

#endif
