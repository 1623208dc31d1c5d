/* The vector vocabulary with AVX2; simd_avx512.h gives the same names another width. Loops of a
 * family that are written with it stand in one header, which a source per instruction set includes.
 *
 * qfk_vf, qfk_vi, qfk_vd: QFK_LANES floats or 32-bit integers, QFK_DOUBLES doubles. A count n is at
 * most the lanes of the vector: lanes from n on are neither read nor written, and are 0 after a
 * load. Where n is the constant of a whole vector, only the whole case remains. */
#ifndef QFK_SIMD_AVX2_H
#define QFK_SIMD_AVX2_H

#include "kernels/common/element.h"
#include "kernels/common/masks.h"
#include "kernels/common/unroll.h"

#define QFK_LANES 8
#define QFK_DOUBLES 4

typedef __m256 qfk_vf;
typedef __m256i qfk_vi;
typedef __m256d qfk_vd;

/* The first n of 16 (of 8) bytes. */
static inline __m128i qfk_load_bytes16(const void *p, size_t n)
{
    return n == 16 ? _mm_loadu_si128(p) : qfk_load_first_bytes(p, n);
}

static inline __m128i qfk_load_bytes8(const void *p, size_t n)
{
    uint64_t bytes = 0;
    if (n == 8)
        return _mm_loadl_epi64(p);
    memcpy(&bytes, p, n);
    return _mm_cvtsi64_si128((long long)bytes);
}

/* 32 bytes; past the caches to where a vector is aligned. */
static inline void qfk_put32(void *p, __m256i v, bool past)
{
    if (past)
        _mm256_stream_si256(p, v);
    else
        _mm256_storeu_si256(p, v);
}

/* Floats. */
static inline qfk_vf qfk_vf_load(const void *p, size_t n)
{
    return n == QFK_LANES ? _mm256_loadu_ps(p) : _mm256_maskload_ps(p, qfk_mask32(n));
}

static inline void qfk_vf_store(void *p, qfk_vf v, size_t n)
{
    if (n == QFK_LANES)
        _mm256_storeu_ps(p, v);
    else
        _mm256_maskstore_ps(p, qfk_mask32(n), v);
}

/* Past the caches; p is aligned to the vector, but for the last n. */
static inline void qfk_vf_store_past(void *p, qfk_vf v, size_t n)
{
    if (n == QFK_LANES)
        _mm256_stream_ps(p, v);
    else
        qfk_vf_store(p, v, n);
}

/* Four vectors, one after the other. `past` is a constant. */
static inline void qfk_vf_store4_f32(void *p, qfk_vf a, qfk_vf b, qfk_vf c, qfk_vf d, bool past)
{
    char *x = p;
    qfk_put32(x, _mm256_castps_si256(a), past);
    qfk_put32(x + 32, _mm256_castps_si256(b), past);
    qfk_put32(x + 64, _mm256_castps_si256(c), past);
    qfk_put32(x + 96, _mm256_castps_si256(d), past);
}

static inline qfk_vf qfk_vf_set(float f) { return _mm256_set1_ps(f); }
static inline qfk_vf qfk_vf_add(qfk_vf a, qfk_vf b) { return _mm256_add_ps(a, b); }
static inline qfk_vf qfk_vf_sub(qfk_vf a, qfk_vf b) { return _mm256_sub_ps(a, b); }
static inline qfk_vf qfk_vf_mul(qfk_vf a, qfk_vf b) { return _mm256_mul_ps(a, b); }
static inline qfk_vf qfk_vf_div(qfk_vf a, qfk_vf b) { return _mm256_div_ps(a, b); }

/* b where one of the two is a NaN. */
static inline qfk_vf qfk_vf_min(qfk_vf a, qfk_vf b) { return _mm256_min_ps(a, b); }
static inline qfk_vf qfk_vf_max(qfk_vf a, qfk_vf b) { return _mm256_max_ps(a, b); }

/* Half to even. */
static inline qfk_vf qfk_vf_round(qfk_vf a)
{
    return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

static inline qfk_vf qfk_vf_from_i32(qfk_vi v) { return _mm256_cvtepi32_ps(v); }

/* Truncated; the least integer where 32 bits do not hold it. */
static inline qfk_vi qfk_vi_from_f32(qfk_vf a) { return _mm256_cvttps_epi32(a); }

/* a truncated, 0 where b is a NaN. */
static inline qfk_vi qfk_vf_truncated(qfk_vf a, qfk_vf b)
{
    return _mm256_cvttps_epi32(_mm256_and_ps(a, _mm256_cmp_ps(b, b, _CMP_ORD_Q)));
}

/* Doubles. */
static inline qfk_vd qfk_vd_load(const void *p, size_t n)
{
    return n == QFK_DOUBLES ? _mm256_loadu_pd(p) : _mm256_maskload_pd(p, qfk_mask64(n));
}

static inline void qfk_vd_store(void *p, qfk_vd v, size_t n)
{
    if (n == QFK_DOUBLES)
        _mm256_storeu_pd(p, v);
    else
        _mm256_maskstore_pd(p, qfk_mask64(n), v);
}

static inline void qfk_vd_store_past(void *p, qfk_vd v, size_t n)
{
    if (n == QFK_DOUBLES)
        _mm256_stream_pd(p, v);
    else
        qfk_vd_store(p, v, n);
}

static inline qfk_vd qfk_vd_set(double f) { return _mm256_set1_pd(f); }
static inline qfk_vd qfk_vd_add(qfk_vd a, qfk_vd b) { return _mm256_add_pd(a, b); }
static inline qfk_vd qfk_vd_sub(qfk_vd a, qfk_vd b) { return _mm256_sub_pd(a, b); }
static inline qfk_vd qfk_vd_mul(qfk_vd a, qfk_vd b) { return _mm256_mul_pd(a, b); }
static inline qfk_vd qfk_vd_div(qfk_vd a, qfk_vd b) { return _mm256_div_pd(a, b); }

/* The first doubles, then those of b, rounded. */
static inline qfk_vf qfk_vf_from_f64(qfk_vd a, qfk_vd b)
{
    return _mm256_set_m128(_mm256_cvtpd_ps(b), _mm256_cvtpd_ps(a));
}

/* Lanes of 64 bits. */
static inline qfk_vi qfk_vi_set64(int64_t i) { return _mm256_set1_epi64x(i); }
static inline qfk_vi qfk_vi_add64(qfk_vi a, qfk_vi b) { return _mm256_add_epi64(a, b); }

/* The first n bytes of a vector. */
static inline void qfk_vi_store_bytes(void *p, qfk_vi v, size_t n)
{
    if (n == sizeof v)
        _mm256_storeu_si256(p, v);
    else
        qfk_store_first_bytes32(p, v, n);
}

static inline void qfk_vi_store_bytes_past(void *p, qfk_vi v, size_t n)
{
    if (n == sizeof v)
        _mm256_stream_si256(p, v);
    else
        qfk_store_first_bytes32(p, v, n);
}

/* Integers, widened to 32 bits. */
static inline qfk_vi qfk_vi_load_i8(const void *p, size_t n)
{
    return _mm256_cvtepi8_epi32(qfk_load_bytes8(p, n));
}

static inline qfk_vi qfk_vi_load_u8(const void *p, size_t n)
{
    return _mm256_cvtepu8_epi32(qfk_load_bytes8(p, n));
}

static inline qfk_vi qfk_vi_load_i16(const void *p, size_t n)
{
    return _mm256_cvtepi16_epi32(qfk_load_bytes16(p, 2 * n));
}

static inline qfk_vi qfk_vi_load_u16(const void *p, size_t n)
{
    return _mm256_cvtepu16_epi32(qfk_load_bytes16(p, 2 * n));
}

static inline qfk_vi qfk_vi_load_i32(const void *p, size_t n)
{
    return n == QFK_LANES ? _mm256_loadu_si256(p) : _mm256_maskload_epi32(p, qfk_mask32(n));
}

static inline void qfk_vi_store_x32(void *p, qfk_vi v, size_t n)
{
    if (n == QFK_LANES)
        _mm256_storeu_si256(p, v);
    else
        _mm256_maskstore_epi32(p, qfk_mask32(n), v);
}

/* Nibbles, the low one of a byte first: each lane shifts its own to the top, then down. */
static inline qfk_vi qfk_nibbles_on_top(const void *p, size_t n)
{
    uint32_t word = 0;
    memcpy(&word, p, n == QFK_LANES ? 4 : (n + 1) / 2);
    return _mm256_sllv_epi32(_mm256_set1_epi32((int)word),
                             _mm256_setr_epi32(28, 24, 20, 16, 12, 8, 4, 0));
}

static inline qfk_vi qfk_vi_load_i4(const void *p, size_t n)
{
    return _mm256_srai_epi32(qfk_nibbles_on_top(p, n), 28);
}

static inline qfk_vi qfk_vi_load_u4(const void *p, size_t n)
{
    return _mm256_srli_epi32(qfk_nibbles_on_top(p, n), 28);
}

/* The low 8 or 16 bits of each lane. */
static inline void qfk_vi_store_x8(void *p, qfk_vi v, size_t n)
{
    const __m256i pick =
        _mm256_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 4, 8, 12,
                         -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    const __m256i fours = _mm256_shuffle_epi8(v, pick);
    const __m128i bytes =
        _mm_unpacklo_epi32(_mm256_castsi256_si128(fours), _mm256_extracti128_si256(fours, 1));
    if (n == QFK_LANES)
        _mm_storel_epi64(p, bytes);
    else
        memcpy(p, &bytes, n);
}

static inline void qfk_store_words(void *p, __m128i words, size_t n)
{
    if (n == QFK_LANES)
        _mm_storeu_si128(p, words);
    else
        qfk_store_first_bytes(p, words, 2 * n);
}

static inline __m128i qfk_low_words(qfk_vi v)
{
    const __m256i pick =
        _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1, 0, 1, 4, 5, 8,
                         9, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1);
    const __m256i words = _mm256_permute4x64_epi64(_mm256_shuffle_epi8(v, pick), 0x08);
    return _mm256_castsi256_si128(words);
}

static inline void qfk_vi_store_x16(void *p, qfk_vi v, size_t n)
{
    qfk_store_words(p, qfk_low_words(v), n);
}

/* Lanes of at most 16 bits of two vectors, lanes of at most 8 bits of four, in order: packs work in
 * each half, so the quarters of their result are moved last. */
static inline __m256i qfk_join_words(qfk_vi a, qfk_vi b)
{
    return _mm256_permute4x64_epi64(_mm256_packus_epi32(a, b), 0xd8);
}

static inline __m256i qfk_join_bytes(qfk_vi a, qfk_vi b, qfk_vi c, qfk_vi d)
{
    const __m256i words = _mm256_packus_epi32(a, b), more = _mm256_packus_epi32(c, d);
    return _mm256_permutevar8x32_epi32(_mm256_packus_epi16(words, more),
                                       _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

static inline void qfk_vi_store4_x8(void *p, qfk_vi a, qfk_vi b, qfk_vi c, qfk_vi d, bool past)
{
    const __m256i low = _mm256_set1_epi32(0xff);
    qfk_put32(p,
              qfk_join_bytes(_mm256_and_si256(a, low), _mm256_and_si256(b, low),
                             _mm256_and_si256(c, low), _mm256_and_si256(d, low)),
              past);
}

static inline void qfk_vi_store4_x16(void *p, qfk_vi a, qfk_vi b, qfk_vi c, qfk_vi d, bool past)
{
    const __m256i zero = _mm256_setzero_si256();
    qfk_put32(p,
              qfk_join_words(_mm256_blend_epi16(a, zero, 0xaa), _mm256_blend_epi16(b, zero, 0xaa)),
              past);
    qfk_put32((char *)p + 32,
              qfk_join_words(_mm256_blend_epi16(c, zero, 0xaa), _mm256_blend_epi16(d, zero, 0xaa)),
              past);
}

static inline void qfk_vi_store4_x32(void *p, qfk_vi a, qfk_vi b, qfk_vi c, qfk_vi d, bool past)
{
    qfk_vf_store4_f32(p, _mm256_castsi256_ps(a), _mm256_castsi256_ps(b), _mm256_castsi256_ps(c),
                      _mm256_castsi256_ps(d), past);
}

/* Short floats as floats, and back; bit for bit what f16.h, bf16.h and f8.h do. */
static inline qfk_vf qfk_vf_load_f16(const void *p, size_t n)
{
    return _mm256_cvtph_ps(qfk_load_bytes16(p, 2 * n));
}

static inline void qfk_vf_store_f16(void *p, qfk_vf v, size_t n)
{
    qfk_store_words(p, _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT), n);
}

static inline __m256i qfk_join_halves(qfk_vf a, qfk_vf b)
{
    return _mm256_set_m128i(_mm256_cvtps_ph(b, _MM_FROUND_TO_NEAREST_INT),
                            _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT));
}

static inline void qfk_vf_store4_f16(void *p, qfk_vf a, qfk_vf b, qfk_vf c, qfk_vf d, bool past)
{
    qfk_put32(p, qfk_join_halves(a, b), past);
    qfk_put32((char *)p + 32, qfk_join_halves(c, d), past);
}

static inline qfk_vf qfk_vf_load_bf16(const void *p, size_t n)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(qfk_vi_load_u16(p, n), 16));
}

/* Rounded to bf16, each in the low half of its lane. */
static inline __m256i qfk_bf16_lanes(qfk_vf v)
{
    const __m256i u = _mm256_castps_si256(v), even = _mm256_set1_epi32(1);
    const __m256i lsb = _mm256_and_si256(_mm256_srli_epi32(u, 16), even);
    const __m256i half = _mm256_add_epi32(lsb, _mm256_set1_epi32(0x7fff));
    const __m256i rounded = _mm256_srli_epi32(_mm256_add_epi32(u, half), 16);
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    return _mm256_blendv_epi8(rounded, _mm256_set1_epi32(0x7fc0), nan);
}

static inline void qfk_vf_store_bf16(void *p, qfk_vf v, size_t n)
{
    qfk_store_words(p, qfk_low_words(qfk_bf16_lanes(v)), n);
}

static inline void qfk_vf_store4_bf16(void *p, qfk_vf a, qfk_vf b, qfk_vf c, qfk_vf d, bool past)
{
    qfk_put32(p, qfk_join_words(qfk_bf16_lanes(a), qfk_bf16_lanes(b)), past);
    qfk_put32((char *)p + 32, qfk_join_words(qfk_bf16_lanes(c), qfk_bf16_lanes(d)), past);
}

/* The bits of e4m3 in the places of a half are the value over 2^8; 0x7f becomes a NaN. */
static inline qfk_vf qfk_vf_load_f8e4m3(const void *p, size_t n)
{
    const __m128i v = _mm_cvtepi8_epi16(qfk_load_bytes8(p, n));
    const __m128i u = _mm_and_si128(_mm_slli_epi16(v, 7), _mm_set1_epi16(0x3f80));
    const __m128i nan = _mm_cmpeq_epi16(u, _mm_set1_epi16(0x3f80));
    const __m128i top = _mm_or_si128(_mm_and_si128(v, _mm_set1_epi16((short)0x8000)),
                                     _mm_and_si128(nan, _mm_set1_epi16(0x4000)));
    return _mm256_mul_ps(_mm256_cvtph_ps(_mm_or_si128(u, top)), _mm256_set1_ps(256));
}

/* The upper byte of a half. */
static inline qfk_vf qfk_vf_load_f8e5m2(const void *p, size_t n)
{
    return _mm256_cvtph_ps(_mm_unpacklo_epi8(_mm_setzero_si128(), qfk_load_bytes8(p, n)));
}

/* Floats of 8 bits. places: bits of a float below their last; least: the least normal number; most:
 * what larger ones become. */
typedef struct qfk_f8_kind {
    int places;
    float least, most;
} qfk_f8_kind;

#define QFK_F8_E4M3 ((qfk_f8_kind){ 20, 0x1p-6f, 448 })
#define QFK_F8_E5M2 ((qfk_f8_kind){ 21, 0x1p-14f, 65536 })

/* Without sign; of a NaN, all ones. What is added has the last place of the result, so the sum is
 * rounded to it; below the normal numbers that place stays. */
static inline __m256i qfk_f8_lanes(qfk_vf v, qfk_f8_kind k)
{
    const __m256 magnitude = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), v),
                 a = _mm256_min_ps(_mm256_set1_ps(k.most), magnitude),
                 least = _mm256_set1_ps(k.least),
                 exponent = _mm256_castsi256_ps(_mm256_set1_epi32(0x7f800000)),
                 power = _mm256_max_ps(_mm256_and_ps(a, exponent), least);
    const __m256i e = _mm256_castps_si256(power),
                  unit = _mm256_add_epi32(e, _mm256_set1_epi32(k.places << 23)),
                  sum = _mm256_castps_si256(_mm256_add_ps(a, _mm256_castsi256_ps(unit))),
                  upper = _mm256_sub_epi32(e, _mm256_castps_si256(least)),
                  nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    return _mm256_or_si256(
        _mm256_add_epi32(_mm256_sub_epi32(sum, unit), _mm256_srli_epi32(upper, k.places)), nan);
}

static inline void qfk_store_f8(void *p, qfk_vf v, size_t n, qfk_f8_kind k)
{
    const __m256i low = _mm256_and_si256(qfk_f8_lanes(v, k), _mm256_set1_epi32(0x7f)),
                  sign = _mm256_srli_epi32(_mm256_castps_si256(v), 24);
    qfk_vi_store_x8(p, _mm256_or_si256(low, _mm256_and_si256(sign, _mm256_set1_epi32(0x80))), n);
}

/* Packing saturates, which keeps the sign of what is more than a byte. */
static inline __m256i qfk_signed_bytes(__m256i a, __m256i b, __m256i c, __m256i d)
{
    return _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
}

static inline void qfk_store4_f8(void *p, const qfk_vf v[4], qfk_f8_kind k, bool past)
{
    const __m256i low =
        qfk_signed_bytes(qfk_f8_lanes(v[0], k), qfk_f8_lanes(v[1], k), qfk_f8_lanes(v[2], k),
                         qfk_f8_lanes(v[3], k));
    const __m256i sign = qfk_signed_bytes(_mm256_castps_si256(v[0]), _mm256_castps_si256(v[1]),
                                          _mm256_castps_si256(v[2]), _mm256_castps_si256(v[3]));
    const __m256i x = _mm256_or_si256(_mm256_and_si256(low, _mm256_set1_epi8(0x7f)),
                                      _mm256_and_si256(sign, _mm256_set1_epi8((char)0x80)));
    qfk_put32(p, _mm256_permutevar8x32_epi32(x, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)), past);
}

#define QFK_STORE_F8(T, kind)                                                                  \
    static inline void qfk_vf_store_##T(void *p, qfk_vf v, size_t n)                           \
    {                                                                                          \
        qfk_store_f8(p, v, n, kind);                                                           \
    }                                                                                          \
    static inline void qfk_vf_store4_##T(void *p, qfk_vf a, qfk_vf b, qfk_vf c, qfk_vf d,      \
                                         bool past)                                            \
    {                                                                                          \
        qfk_store4_f8(p, (const qfk_vf[]){ a, b, c, d }, kind, past);                          \
    }

QFK_STORE_F8(f8e4m3, QFK_F8_E4M3)
QFK_STORE_F8(f8e5m2, QFK_F8_E5M2)

#endif
