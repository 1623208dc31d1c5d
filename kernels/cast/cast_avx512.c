/* AVX-512 rows of the cast family: f32 to and from f16 and bf16 (integers; the bf16 instructions
 * treat subnormals as zero). */
#include "kernels/common/bf16.h"
#include "kernels/common/element.h"
#include "kernels/common/f16.h"
#include "kernels/common/masks.h"

/* Without optimisation this intrinsic is a macro, in gcc one that warns of its own mask. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
/* Sixteen floats to sixteen short floats, and back. */
static inline __m256i f16_from_f32(__m512 a)
{
    return _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT);
}
#pragma GCC diagnostic pop

static inline __m512 f32_from_f16(__m256i h) { return _mm512_cvtph_ps(h); }

static inline __m256i bf16_from_f32(__m512 a)
{
    const __m512i u = _mm512_castps_si512(a), even = _mm512_set1_epi32(1);
    const __m512i lsb = _mm512_and_si512(_mm512_srli_epi32(u, 16), even);
    const __m512i half = _mm512_add_epi32(lsb, _mm512_set1_epi32(0x7fff));
    const __m512i rounded = _mm512_srli_epi32(_mm512_add_epi32(u, half), 16);
    const __mmask16 nan = _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q);
    return _mm512_cvtepi32_epi16(_mm512_mask_mov_epi32(rounded, nan, _mm512_set1_epi32(0x7fc0)));
}

static inline __m512 f32_from_bf16(__m256i h)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16));
}

/* Defines the kernel `name`: f32 to a short float, by `sixteen`; by `one` for a repeated one. */
#define NARROW(name, sixteen, one)                                                        \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)      \
    {                                                                                     \
        (void)p;                                                                          \
        for (size_t i = 0; n && i < m; i++) {                                             \
            const qfk_f32_mem *a = qfk_in_row(in, i);                                     \
            qfk_x16_mem *x = qfk_out_row(&out, i);                                        \
            const qfk_x16 x0 = one(*a);                                                   \
            if (in->col == 0) {                                                           \
                QFK_EACH(n) x[j] = x0;                                                    \
                continue;                                                                 \
            }                                                                             \
            size_t j = 0;                                                                 \
            for (; n - j >= 16; j += 16)                                                  \
                _mm256_storeu_si256((void *)(x + j), sixteen(_mm512_loadu_ps(a + j)));    \
            const __mmask16 k = qfk_first16(n - j);                                       \
            _mm256_mask_storeu_epi16(x + j, k, sixteen(_mm512_maskz_loadu_ps(k, a + j))); \
        }                                                                                 \
    }

NARROW(qfk_to_f16_f32_avx512, f16_from_f32, qfk_f16_from_f32)
NARROW(qfk_to_bf16_f32_avx512, bf16_from_f32, qfk_bf16_from_f32)

static inline __m256i load16(const qfk_x16_mem *a) { return _mm256_loadu_si256((const void *)a); }

/* Defines the kernel `name`: a short float to f32. */
#define WIDEN(name, sixteen, one)                                                         \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)      \
    {                                                                                     \
        (void)p;                                                                          \
        for (size_t i = 0; n && i < m; i++) {                                             \
            const qfk_x16_mem *a = qfk_in_row(in, i);                                     \
            qfk_f32_mem *x = qfk_out_row(&out, i);                                        \
            const float x0 = one(*a);                                                     \
            if (in->col == 0) {                                                           \
                QFK_EACH(n) x[j] = x0;                                                    \
                continue;                                                                 \
            }                                                                             \
            size_t j = 0;                                                                 \
            for (; n - j >= 16; j += 16)                                                  \
                _mm512_storeu_ps(x + j, sixteen(load16(a + j)));                          \
            const __mmask16 k = qfk_first16(n - j);                                       \
            _mm512_mask_storeu_ps(x + j, k, sixteen(_mm256_maskz_loadu_epi16(k, a + j))); \
        }                                                                                 \
    }

WIDEN(qfk_to_f32_f16_avx512, f32_from_f16, qfk_f32_from_f16)
WIDEN(qfk_to_f32_bf16_avx512, f32_from_bf16, qfk_f32_from_bf16)
