/* AVX2 rows of the cast family: f32 to and from f16 (F16C) and bf16 (integers). */
#include "kernels/common/bf16.h"
#include "kernels/common/element.h"
#include "kernels/common/f16.h"
#include "kernels/common/masks.h"

/* Eight floats to eight short floats, and back. */
static inline __m128i f16_from_f32(__m256 a)
{
    return _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT);
}

static inline __m256 f32_from_f16(__m128i h) { return _mm256_cvtph_ps(h); }

static inline __m128i bf16_from_f32(__m256 a)
{
    const __m256i u = _mm256_castps_si256(a), even = _mm256_set1_epi32(1);
    const __m256i lsb = _mm256_and_si256(_mm256_srli_epi32(u, 16), even);
    const __m256i half = _mm256_add_epi32(lsb, _mm256_set1_epi32(0x7fff));
    const __m256i rounded = _mm256_srli_epi32(_mm256_add_epi32(u, half), 16);
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(a, a, _CMP_UNORD_Q));
    const __m256i r = _mm256_blendv_epi8(rounded, _mm256_set1_epi32(0x7fc0), nan);
    /* The pack works within 128-bit lanes: the low halves of both lanes are put together. */
    const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(r, r), 0x88);
    return _mm256_castsi256_si128(packed);
}

static inline __m256 f32_from_bf16(__m128i h)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
}

/* The first n of 8, n less than that. */
static inline __m256 load_floats(const float *a, size_t n)
{
    return _mm256_maskload_ps(a, qfk_mask32(n));
}

static inline __m128i load_shorts(const qfk_x16_mem *a, size_t n)
{
    return qfk_load_first_bytes(a, 2 * n);
}

static inline void store_floats(qfk_f32_mem *x, __m256 v, size_t n)
{
    _mm256_maskstore_ps((void *)x, qfk_mask32(n), v);
}

/* Defines the kernel `name`: f32 to a short float, by `eight`; by `one` for a repeated one. */
#define NARROW(name, eight, one)                                                             \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)         \
    {                                                                                        \
        (void)p;                                                                             \
        for (size_t i = 0; n && i < m; i++) {                                                \
            const float *a = qfk_in_row(in, i);                                              \
            qfk_x16_mem *x = qfk_out_row(&out, i);                                           \
            const qfk_x16 x0 = one(*(const qfk_f32_mem *)a);                                 \
            if (in->col == 0) {                                                              \
                QFK_EACH(n) x[j] = x0;                                                       \
                continue;                                                                    \
            }                                                                                \
            size_t j = 0;                                                                    \
            for (; n - j >= 8; j += 8)                                                       \
                _mm_storeu_si128((void *)(x + j), eight(_mm256_loadu_ps(a + j)));            \
            if (j < n)                                                                       \
                qfk_store_first_bytes(x + j, eight(load_floats(a + j, n - j)), 2 * (n - j)); \
        }                                                                                    \
    }

NARROW(qfk_to_f16_f32_avx2, f16_from_f32, qfk_f16_from_f32)
NARROW(qfk_to_bf16_f32_avx2, bf16_from_f32, qfk_bf16_from_f32)

static inline __m128i load8(const qfk_x16_mem *a) { return _mm_loadu_si128((const void *)a); }

/* Defines the kernel `name`: a short float to f32. */
#define WIDEN(name, eight, one)                                                      \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p) \
    {                                                                                \
        (void)p;                                                                     \
        for (size_t i = 0; n && i < m; i++) {                                        \
            const qfk_x16_mem *a = qfk_in_row(in, i);                                \
            qfk_f32_mem *x = qfk_out_row(&out, i);                                   \
            const float x0 = one(*a);                                                \
            if (in->col == 0) {                                                      \
                QFK_EACH(n) x[j] = x0;                                               \
                continue;                                                            \
            }                                                                        \
            size_t j = 0;                                                            \
            for (; n - j >= 8; j += 8)                                               \
                _mm256_storeu_ps((void *)(x + j), eight(load8(a + j)));              \
            if (j < n)                                                               \
                store_floats(x + j, eight(load_shorts(a + j, n - j)), n - j);        \
        }                                                                            \
    }

WIDEN(qfk_to_f32_f16_avx2, f32_from_f16, qfk_f32_from_f16)
WIDEN(qfk_to_f32_bf16_avx2, f32_from_bf16, qfk_f32_from_bf16)
