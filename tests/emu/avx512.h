/* A plain C meaning for every AVX-512 intrinsic that kernels/ uses, so that the *_avx512.c sources
 * can be compiled for, and checked on, any x86-64 machine. It is included before anything else and
 * takes the place of <immintrin.h>. A kernel that uses an intrinsic which is not here does not
 * build: add it, in the words of Intel's manual, lane by lane. */
#ifndef QF_EMU_AVX512_H
#define QF_EMU_AVX512_H

/* The include guards of gcc's and clang's <immintrin.h>. */
#define _IMMINTRIN_H_INCLUDED
#define __IMMINTRIN_H

#include "check.h"

#include <math.h>
#include <string.h>

/* A vector of bytes, seen in lanes of any type. */
#define VECTOR(name, size)                                                                        \
    typedef union name {                                                                          \
        uint8_t u8[size];                                                                         \
        int8_t i8[size];                                                                          \
        uint16_t u16[(size) / 2];                                                                 \
        uint32_t u32[(size) / 4];                                                                 \
        int32_t i32[(size) / 4];                                                                  \
        uint64_t u64[(size) / 8];                                                                 \
        float f32[(size) / 4];                                                                    \
        double f64[(size) / 8];                                                                   \
    } name;

VECTOR(__m128i, 16)
VECTOR(__m256i, 32)
VECTOR(__m512i, 64)
typedef __m256i __m256;
typedef __m512i __m512, __m512d;
typedef uint8_t __mmask8;
typedef uint16_t __mmask16;
typedef uint32_t __mmask32;
typedef uint64_t __mmask64;

#define _MM_FROUND_TO_NEAREST_INT 0
#define _MM_FROUND_NO_EXC 8
#define _CMP_UNORD_Q 3
#define _CMP_ORD_Q 7

/* Is lane i set in a mask? */
static inline bool emu_bit(uint64_t mask, size_t i) { return mask >> i & 1; }

/* A lane that is not set in the mask is neither read nor written. */
static inline void emu_move(void *to, const void *from, size_t size, size_t n, uint64_t mask)
{
    for (size_t i = 0; i < n; i++)
        if (emu_bit(mask, i))
            memcpy((char *)to + i * size, (const char *)from + i * size, size);
}

/* Loads and stores: n lanes of `size` bytes, under a mask or all. */
#define LOAD(name, V, lane_size, n)                                                               \
    static inline V name(const void *p)                                                           \
    {                                                                                             \
        V x = { { 0 } };                                                                          \
        emu_move(&x, p, lane_size, n, ~(uint64_t)0);                                              \
        return x;                                                                                 \
    }
#define MASKZ_LOAD(name, V, lane_size, n)                                                         \
    static inline V name(uint64_t k, const void *p)                                               \
    {                                                                                             \
        V x = { { 0 } };                                                                          \
        emu_move(&x, p, lane_size, n, k);                                                         \
        return x;                                                                                 \
    }
#define STORE(name, V, lane_size, n)                                                              \
    static inline void name(void *p, V v) { emu_move(p, &v, lane_size, n, ~(uint64_t)0); }
#define MASK_STORE(name, V, lane_size, n)                                                         \
    static inline void name(void *p, uint64_t k, V v) { emu_move(p, &v, lane_size, n, k); }

LOAD(_mm_loadu_si128, __m128i, 1, 16)
LOAD(_mm256_loadu_si256, __m256i, 1, 32)
LOAD(_mm512_loadu_si512, __m512i, 1, 64)
LOAD(_mm512_loadu_ps, __m512, 4, 16)
LOAD(_mm512_loadu_pd, __m512d, 8, 8)
MASKZ_LOAD(_mm_maskz_loadu_epi8, __m128i, 1, 16)
MASKZ_LOAD(_mm256_maskz_loadu_epi16, __m256i, 2, 16)
MASKZ_LOAD(_mm512_maskz_loadu_epi8, __m512i, 1, 64)
MASKZ_LOAD(_mm512_maskz_loadu_epi32, __m512i, 4, 16)
MASKZ_LOAD(_mm512_maskz_loadu_ps, __m512, 4, 16)
MASKZ_LOAD(_mm512_maskz_loadu_pd, __m512d, 8, 8)
STORE(_mm_storeu_si128, __m128i, 1, 16)
STORE(_mm256_storeu_si256, __m256i, 1, 32)
STORE(_mm512_storeu_si512, __m512i, 1, 64)
STORE(_mm512_stream_si512, __m512i, 1, 64)
STORE(_mm512_storeu_ps, __m512, 4, 16)
STORE(_mm512_storeu_pd, __m512d, 8, 8)
MASK_STORE(_mm_mask_storeu_epi8, __m128i, 1, 16)
MASK_STORE(_mm256_mask_storeu_epi16, __m256i, 2, 16)
MASK_STORE(_mm512_mask_storeu_epi8, __m512i, 1, 64)
MASK_STORE(_mm512_mask_storeu_epi32, __m512i, 4, 16)
MASK_STORE(_mm512_mask_storeu_ps, __m512, 4, 16)
MASK_STORE(_mm512_mask_storeu_pd, __m512d, 8, 8)

/* Past the caches: memory sees the same. */
STORE(_mm512_stream_ps, __m512, 4, 16)
STORE(_mm512_stream_pd, __m512d, 8, 8)
STORE(_mm256_stream_si256, __m256i, 1, 32)
STORE(_mm_stream_si128, __m128i, 1, 16)

/* One value in every lane. */
#define SET1(name, V, T, lane, n)                                                                 \
    static inline V name(T v)                                                                     \
    {                                                                                             \
        V x;                                                                                      \
        for (size_t i = 0; i < n; i++)                                                            \
            memcpy(&x.lane[i], &v, sizeof v);                                                     \
        return x;                                                                                 \
    }

SET1(_mm_set1_epi8, __m128i, char, u8, 16)
SET1(_mm256_set1_epi16, __m256i, short, u16, 16)
SET1(_mm512_set1_epi8, __m512i, char, u8, 64)
SET1(_mm512_set1_epi16, __m512i, short, u16, 32)
SET1(_mm512_set1_epi32, __m512i, int, u32, 16)
SET1(_mm512_set1_epi64, __m512i, long long, u64, 8)
SET1(_mm512_set1_ps, __m512, float, f32, 16)
SET1(_mm512_set1_pd, __m512d, double, f64, 8)

static inline __m256i _mm256_set_m128i(__m128i high, __m128i low)
{
    __m256i x;

    memcpy(&x, &low, sizeof low);
    memcpy((char *)&x + sizeof low, &high, sizeof high);
    return x;
}

static inline __m256i _mm256_setr_epi32(int a, int b, int c, int d, int e, int f, int g, int h)
{
    return (__m256i){ .i32 = { a, b, c, d, e, f, g, h } };
}

static inline __m256i _mm256_blend_epi32(__m256i a, __m256i b, unsigned mask)
{
    for (size_t i = 0; i < 8; i++)
        a.u32[i] = emu_bit(mask, i) ? b.u32[i] : a.u32[i];
    return a;
}

static inline __m256i _mm256_permutevar8x32_epi32(__m256i a, __m256i lane)
{
    __m256i x;

    for (size_t i = 0; i < 8; i++)
        x.u32[i] = a.u32[lane.u32[i] % 8];
    return x;
}

static inline __m512i _mm512_setzero_si512(void) { return (__m512i){ { 0 } }; }
static inline __m512 _mm512_setzero_ps(void) { return (__m512){ { 0 } }; }
static inline __m512d _mm512_setzero_pd(void) { return (__m512d){ { 0 } }; }
#define _mm512_setr_epi32(...) ((__m512i){ .u32 = { __VA_ARGS__ } })
#define _mm512_setr_epi64(...) ((__m512i){ .u64 = { __VA_ARGS__ } })
#define _mm512_castps_si512(v) (v)
#define _mm512_castsi512_ps(v) (v)
#define _mm512_castps256_ps512(v) _mm512_insertf32x8(_mm512_setzero_ps(), v, 0)

/* x.lane[i] = expr of a, b (and c), for n lanes. */
#define LANES1(name, V, X, n, lane, expr)                                                         \
    static inline X name(V a)                                                                     \
    {                                                                                             \
        X x = { { 0 } };                                                                          \
        for (size_t i = 0; i < n; i++)                                                            \
            x.lane[i] = expr;                                                                     \
        return x;                                                                                 \
    }
#define LANES2(name, V, n, lane, expr)                                                            \
    static inline V name(V a, V b)                                                                \
    {                                                                                             \
        V x = { { 0 } };                                                                          \
        for (size_t i = 0; i < n; i++)                                                            \
            x.lane[i] = expr;                                                                     \
        return x;                                                                                 \
    }
#define LANES3(name, A, B, C, n, lane, expr)                                                      \
    static inline __m512i name(A a, B b, C c)                                                     \
    {                                                                                             \
        __m512i x = { { 0 } };                                                                    \
        for (size_t i = 0; i < n; i++)                                                            \
            x.lane[i] = expr;                                                                     \
        return x;                                                                                 \
    }
static inline __m256i _mm256_slli_epi16(__m256i a, unsigned count)
{
    for (size_t i = 0; i < 16; i++)
        a.u16[i] = (uint16_t)(count < 16 ? a.u16[i] << count : 0);
    return a;
}
#define SHIFT16(name, expr)                                                                       \
    static inline __m512i name(__m512i a, unsigned count)                                         \
    {                                                                                             \
        __m512i x;                                                                                \
        for (size_t i = 0; i < 32; i++)                                                           \
            x.u16[i] = (uint16_t)(expr);                                                          \
        return x;                                                                                 \
    }
#define SHIFT(name, expr)                                                                         \
    static inline __m512i name(__m512i a, unsigned count)                                         \
    {                                                                                             \
        __m512i x;                                                                                \
        for (size_t i = 0; i < 16; i++)                                                           \
            x.u32[i] = expr;                                                                      \
        return x;                                                                                 \
    }

LANES2(_mm512_add_ps, __m512, 16, f32, a.f32[i] + b.f32[i])
LANES2(_mm512_sub_ps, __m512, 16, f32, a.f32[i] - b.f32[i])
LANES2(_mm512_mul_ps, __m512, 16, f32, a.f32[i] * b.f32[i])
LANES2(_mm512_div_ps, __m512, 16, f32, a.f32[i] / b.f32[i])
LANES2(_mm512_min_ps, __m512, 16, f32, a.f32[i] < b.f32[i] ? a.f32[i] : b.f32[i])
LANES2(_mm512_max_ps, __m512, 16, f32, a.f32[i] > b.f32[i] ? a.f32[i] : b.f32[i])
LANES3(_mm512_fmadd_ps, __m512, __m512, __m512, 16, f32, fmaf(a.f32[i], b.f32[i], c.f32[i]))
LANES2(_mm512_add_pd, __m512d, 8, f64, a.f64[i] + b.f64[i])
LANES2(_mm512_sub_pd, __m512d, 8, f64, a.f64[i] - b.f64[i])
LANES2(_mm512_mul_pd, __m512d, 8, f64, a.f64[i] * b.f64[i])
LANES2(_mm512_div_pd, __m512d, 8, f64, a.f64[i] / b.f64[i])
LANES3(_mm512_fmadd_pd, __m512d, __m512d, __m512d, 8, f64, fma(a.f64[i], b.f64[i], c.f64[i]))
LANES2(_mm512_add_epi32, __m512i, 16, u32, a.u32[i] + b.u32[i])
LANES2(_mm512_add_epi64, __m512i, 8, u64, a.u64[i] + b.u64[i])
LANES2(_mm256_and_si256, __m256i, 4, u64, a.u64[i] & b.u64[i])
LANES2(_mm256_or_si256, __m256i, 4, u64, a.u64[i] | b.u64[i])
LANES2(_mm256_cmpeq_epi16, __m256i, 16, u16, a.u16[i] == b.u16[i] ? 0xffff : 0)
LANES2(_mm512_andnot_si512, __m512i, 8, u64, ~a.u64[i] & b.u64[i])
LANES2(_mm512_subs_epu16, __m512i, 32, u16,
       (uint16_t)(a.u16[i] > b.u16[i] ? a.u16[i] - b.u16[i] : 0))
LANES2(_mm512_sub_epi16, __m512i, 32, u16, (uint16_t)(a.u16[i] - b.u16[i]))
LANES2(_mm512_or_si512, __m512i, 8, u64, a.u64[i] | b.u64[i])
LANES2(_mm512_xor_si512, __m512i, 8, u64, a.u64[i] ^ b.u64[i])
LANES2(_mm512_sub_epi8, __m512i, 64, u8, (uint8_t)(a.u8[i] - b.u8[i]))
SHIFT16(_mm512_slli_epi16, count < 16 ? a.u16[i] << count : 0)
SHIFT16(_mm512_srai_epi16, (int16_t)a.u16[i] >> (count < 16 ? count : 15))
SHIFT16(_mm512_srli_epi16, count < 16 ? a.u16[i] >> count : 0)
LANES2(_mm512_and_si512, __m512i, 8, u64, a.u64[i] & b.u64[i])
SHIFT(_mm512_srli_epi32, count < 32 ? a.u32[i] >> count : 0)
LANES2(_mm512_sllv_epi32, __m512i, 16, u32, b.u32[i] < 32 ? a.u32[i] << b.u32[i] : 0)
SHIFT(_mm512_srai_epi32, (uint32_t)((int32_t)a.u32[i] >> (count < 32 ? count : 31)))
SHIFT(_mm512_slli_epi32, count < 32 ? a.u32[i] << count : 0)
LANES3(_mm512_mask_mov_epi32, __m512i, uint64_t, __m512i, 16, u32,
       emu_bit(b, i) ? c.u32[i] : a.u32[i])

static inline __m512i _mm512_mask_blend_epi16(__mmask32 k, __m512i a, __m512i b)
{
    for (size_t i = 0; i < 32; i++)
        a.u16[i] = emu_bit(k, i) ? b.u16[i] : a.u16[i];
    return a;
}

static inline __mmask16 _mm512_test_epi32_mask(__m512i a, __m512i b)
{
    unsigned x = 0;

    for (size_t i = 0; i < 16; i++)
        x |= (unsigned)((a.u32[i] & b.u32[i]) != 0) << i;
    return (__mmask16)x;
}

/* Unordered and ordered: one of two lanes is a NaN, neither is. */
static inline __mmask16 _mm512_cmp_ps_mask(__m512 a, __m512 b, int how)
{
    unsigned x = 0;

    for (size_t i = 0; i < 16; i++)
        x |= (unsigned)((isnan(a.f32[i]) || isnan(b.f32[i])) == (how == _CMP_UNORD_Q)) << i;
    return (__mmask16)x;
}

/* Interleaving within quarters of 16 bytes: lane i of a quarter comes from lane i / 2 of a or b. */
static inline __m512i emu_unpack(__m512i a, __m512i b, size_t size, size_t first)
{
    __m512i x;

    for (size_t q = 0; q < 64; q += 16)
        for (size_t i = 0; i < 16 / size; i++)
            memcpy(&x.u8[q + i * size], (i % 2 ? b : a).u8 + q + (first + i / 2) * size, size);
    return x;
}

static inline __m512i _mm512_unpacklo_epi8(__m512i a, __m512i b) { return emu_unpack(a, b, 1, 0); }
static inline __m512i _mm512_unpackhi_epi8(__m512i a, __m512i b) { return emu_unpack(a, b, 1, 8); }
static inline __m512i _mm512_unpacklo_epi16(__m512i a, __m512i b) { return emu_unpack(a, b, 2, 0); }
static inline __m512i _mm512_unpackhi_epi16(__m512i a, __m512i b) { return emu_unpack(a, b, 2, 4); }
static inline __m512i _mm512_unpacklo_epi32(__m512i a, __m512i b) { return emu_unpack(a, b, 4, 0); }
static inline __m512i _mm512_unpackhi_epi32(__m512i a, __m512i b) { return emu_unpack(a, b, 4, 2); }

/* b: lane numbers in a followed by c. */
LANES3(_mm512_permutex2var_epi32, __m512i, __m512i, __m512i, 16, u32,
       (b.u32[i] & 16 ? c : a).u32[b.u32[i] & 15])
LANES3(_mm512_permutex2var_epi64, __m512i, __m512i, __m512i, 8, u64,
       (b.u64[i] & 8 ? c : a).u64[b.u64[i] & 7])

static inline __m512 _mm512_insertf32x8(__m512 v, __m256 half, unsigned at)
{
    memcpy(v.u8 + 32 * (size_t)at, half.u8, 32);
    return v;
}

static inline __m128i _mm512_extracti32x4_epi32(__m512i v, unsigned quarter)
{
    __m128i x;

    memcpy(&x, v.u8 + 16 * (size_t)quarter, 16);
    return x;
}

/* Conversions. A NaN that becomes a half keeps its sign and top bits and becomes quiet. */
static inline uint16_t emu_half(uint32_t bits)
{
    if (!check_is_nan(QF_DT_f32, bits))
        return (uint16_t)check_from_f64(QF_DT_f16, check_to_f64(QF_DT_f32, bits));
    return (uint16_t)((bits >> 16 & 0x8000) | 0x7e00 | (bits >> 13 & 0x1ff));
}

static inline uint32_t emu_float(uint16_t bits)
{
    if (!check_is_nan(QF_DT_f16, bits))
        return (uint32_t)check_from_f64(QF_DT_f32, check_to_f64(QF_DT_f16, bits));
    return (uint32_t)(bits & 0x8000) << 16 | 0x7fc00000 | (uint32_t)(bits & 0x1ff) << 13;
}

static inline int32_t emu_truncate(float v)
{
    return v >= -0x1p31f && v < 0x1p31f ? (int32_t)v : INT32_MIN;
}

#define _mm512_cvtps_ph(v, rounding) emu_cvtps_ph(v)
#define _mm512_roundscale_ps(v, rounding) emu_round_ps(v)
LANES1(emu_cvtps_ph, __m512, __m256i, 16, u16, emu_half(a.u32[i]))
LANES1(emu_round_ps, __m512, __m512, 16, f32, nearbyintf(a.f32[i]))
LANES1(_mm512_cvtph_ps, __m256i, __m512, 16, u32, emu_float(a.u16[i]))
LANES1(_mm512_cvtpd_ps, __m512d, __m256, 8, f32, (float)a.f64[i])
LANES1(_mm512_cvtepi32_ps, __m512i, __m512, 16, f32, (float)a.i32[i])
LANES1(_mm512_cvtepi32_epi8, __m512i, __m128i, 16, u8, (uint8_t)a.u32[i])
LANES1(_mm512_cvtepi32_epi16, __m512i, __m256i, 16, u16, (uint16_t)a.u32[i])
LANES1(_mm512_cvtepi16_epi8, __m512i, __m256i, 32, u8, (uint8_t)a.u16[i])
LANES1(_mm512_cvtepu8_epi16, __m256i, __m512i, 32, u16, a.u8[i])
LANES1(_mm512_cvtepu16_epi32, __m256i, __m512i, 16, u32, a.u16[i])
LANES1(_mm512_cvtepi16_epi32, __m256i, __m512i, 16, i32, (int16_t)a.u16[i])
LANES1(_mm256_cvtepi8_epi16, __m128i, __m256i, 16, u16, (uint16_t)a.i8[i])
LANES1(_mm512_cvtepu8_epi32, __m128i, __m512i, 16, u32, a.u8[i])
LANES1(_mm512_cvtepi8_epi32, __m128i, __m512i, 16, i32, a.i8[i])

static inline __m512i _mm512_maskz_cvttps_epi32(uint64_t k, __m512 a)
{
    __m512i x = { { 0 } };

    for (size_t i = 0; i < 16; i++)
        x.i32[i] = emu_bit(k, i) ? emu_truncate(a.f32[i]) : 0;
    return x;
}

#endif
