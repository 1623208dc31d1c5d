/* Quantisation to and from 8 bits with AVX2, eight columns at a time. */
#include "kernels/common/masks.h"
#include "kernels/quant/operand_row.h"

/* The first `left` of the eight values at column j. */
static inline __m256 take(qfk_operand a, size_t j, size_t left)
{
    if (!a.step)
        return _mm256_set1_ps(*a.p);
    const float *p = (const void *)(a.p + j);
    return left < 8 ? _mm256_maskload_ps(p, qfk_mask32(left)) : _mm256_loadu_ps(p);
}

typedef struct bounds {
    __m256 low, high;
} bounds;

/* Bounds cut to min and max, as the scalar rows do. */
static inline bounds cut_bounds(const qfk_param *p, float min, float max)
{
    const __m256 low = _mm256_set1_ps((float)p->f[0]), high = _mm256_set1_ps((float)p->f[1]);
    return (bounds){ _mm256_max_ps(low, _mm256_set1_ps(min)),
                     _mm256_min_ps(high, _mm256_set1_ps(max)) };
}

/* Eight quantised values as 32-bit integers; NaN gives 0. */
static inline __m256i quantized(__m256 a, __m256 b, __m256 c, bounds to)
{
    const __m256 whole =
        _mm256_round_ps(_mm256_mul_ps(a, b), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m256 r = _mm256_add_ps(whole, c);
    const __m256 clamped = _mm256_min_ps(_mm256_max_ps(r, to.low), to.high);
    return _mm256_cvttps_epi32(_mm256_and_ps(clamped, _mm256_cmp_ps(r, r, _CMP_ORD_Q)));
}

/* The low bytes of eight integers that fit into 8 bits, signed or not. */
static inline __m128i low_bytes(__m256i v)
{
    const __m256i pick =
        _mm256_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 4, 8, 12,
                         -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    const __m256i bytes = _mm256_shuffle_epi8(v, pick);
    return _mm_unpacklo_epi32(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
}

static inline void quantize(size_t m, size_t n, const qfk_in *in, qfk_out out, bounds to)
{
    for (size_t i = 0; i < m; i++) {
        const qfk_operand a = qfk_operand_row(&in[0], i), b = qfk_operand_row(&in[1], i);
        const qfk_operand c = qfk_operand_row(&in[2], i);
        char *x = qfk_out_row(&out, i);
        size_t j = 0;
        for (; j + 8 <= n; j += 8) {
            const __m256i q = quantized(take(a, j, 8), take(b, j, 8), take(c, j, 8), to);
            _mm_storel_epi64((void *)(x + j), low_bytes(q));
        }
        if (j < n) {
            const size_t left = n - j;
            const __m256i q = quantized(take(a, j, left), take(b, j, left), take(c, j, left), to);
            const int64_t bytes = _mm_cvtsi128_si64(low_bytes(q));
            memcpy(x + j, &bytes, left);
        }
    }
}

void qfk_quantize_i8_avx2(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)
{
    quantize(m, n, in, out, cut_bounds(p, -128, 127));
}

void qfk_quantize_u8_avx2(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)
{
    quantize(m, n, in, out, cut_bounds(p, 0, 255));
}

/* The first `left` of eight bytes; the others are 0. */
static inline __m128i take_bytes(const char *q, size_t left)
{
    int64_t bytes = 0;
    if (left >= 8)
        return _mm_loadl_epi64((const void *)q);
    memcpy(&bytes, q, left);
    return _mm_cvtsi64_si128(bytes);
}

static inline __m256i widen(__m128i bytes, bool has_sign)
{
    return has_sign ? _mm256_cvtepi8_epi32(bytes) : _mm256_cvtepu8_epi32(bytes);
}

static inline void dequantize(size_t m, size_t n, const qfk_in *in, qfk_out out, bool has_sign)
{
    for (size_t i = 0; i < m; i++) {
        const qfk_operand b = qfk_operand_row(&in[1], i), c = qfk_operand_row(&in[2], i);
        const char *q = qfk_in_row(&in[0], i);
        const __m128i same = _mm_set1_epi8(n ? *q : 0);
        float *x = qfk_out_row(&out, i);
        for (size_t j = 0; j < n; j += 8) {
            const size_t left = n - j < 8 ? n - j : 8;
            const __m256i v = widen(in[0].col ? take_bytes(q + j, left) : same, has_sign);
            const __m256 shifted = _mm256_sub_ps(_mm256_cvtepi32_ps(v), take(c, j, left));
            const __m256 y = _mm256_mul_ps(shifted, take(b, j, left));
            if (left == 8)
                _mm256_storeu_ps(x + j, y);
            else
                _mm256_maskstore_ps(x + j, qfk_mask32(left), y);
        }
    }
}

void qfk_dequantize_i8_avx2(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)
{
    (void)p;
    dequantize(m, n, in, out, true);
}

void qfk_dequantize_u8_avx2(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)
{
    (void)p;
    dequantize(m, n, in, out, false);
}
