/* Quantisation to and from 8 bits with AVX-512, sixteen columns at a time, the last ones masked. */
#include "kernels/common/masks.h"
#include "kernels/quant/operand_row.h"

static inline __m512 take(qfk_operand a, size_t j, __mmask16 k)
{
    return a.step ? _mm512_maskz_loadu_ps(k, a.p + j) : _mm512_set1_ps(*a.p);
}

static inline __mmask16 columns(size_t left)
{
    return left < 16 ? qfk_first16(left) : 0xffff;
}

/* Without optimisation this intrinsic is a macro, in gcc one that warns of its own mask. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
static inline __m512 nearest(__m512 a)
{
    return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
#pragma GCC diagnostic pop

static inline void quantize(size_t m, size_t n, const qfk_in *in, qfk_out out, __m512 low,
                            __m512 high)
{
    for (size_t i = 0; i < m; i++) {
        const qfk_operand a = qfk_operand_row(&in[0], i), b = qfk_operand_row(&in[1], i);
        const qfk_operand c = qfk_operand_row(&in[2], i);
        char *x = qfk_out_row(&out, i);
        for (size_t j = 0; j < n; j += 16) {
            const __mmask16 k = columns(n - j);
            const __m512 product = _mm512_mul_ps(take(a, j, k), take(b, j, k));
            const __m512 r = _mm512_add_ps(nearest(product), take(c, j, k));
            const __m512 clamped = _mm512_min_ps(_mm512_max_ps(r, low), high);
            const __mmask16 number = _mm512_cmp_ps_mask(r, r, _CMP_ORD_Q);
            const __m512i q = _mm512_maskz_cvttps_epi32(number, clamped);
            _mm_mask_storeu_epi8(x + j, k, _mm512_cvtepi32_epi8(q));
        }
    }
}

void qfk_quantize_i8_avx512(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)
{
    const __m512 low = _mm512_max_ps(_mm512_set1_ps((float)p->f[0]), _mm512_set1_ps(-128));
    const __m512 high = _mm512_min_ps(_mm512_set1_ps((float)p->f[1]), _mm512_set1_ps(127));
    quantize(m, n, in, out, low, high);
}

void qfk_quantize_u8_avx512(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)
{
    const __m512 low = _mm512_max_ps(_mm512_set1_ps((float)p->f[0]), _mm512_set1_ps(0));
    const __m512 high = _mm512_min_ps(_mm512_set1_ps((float)p->f[1]), _mm512_set1_ps(255));
    quantize(m, n, in, out, low, high);
}

static inline __m512i widen(__m128i bytes, bool has_sign)
{
    return has_sign ? _mm512_cvtepi8_epi32(bytes) : _mm512_cvtepu8_epi32(bytes);
}

static inline void dequantize(size_t m, size_t n, const qfk_in *in, qfk_out out, bool has_sign)
{
    for (size_t i = 0; i < m; i++) {
        const qfk_operand b = qfk_operand_row(&in[1], i), c = qfk_operand_row(&in[2], i);
        const char *q = qfk_in_row(&in[0], i);
        const __m128i same = _mm_set1_epi8(n ? *q : 0);
        float *x = qfk_out_row(&out, i);
        for (size_t j = 0; j < n; j += 16) {
            const __mmask16 k = columns(n - j);
            const __m128i bytes = in[0].col ? _mm_maskz_loadu_epi8(k, q + j) : same;
            const __m512 v = _mm512_cvtepi32_ps(widen(bytes, has_sign));
            const __m512 y = _mm512_mul_ps(_mm512_sub_ps(v, take(c, j, k)), take(b, j, k));
            _mm512_mask_storeu_ps(x + j, k, y);
        }
    }
}

void qfk_dequantize_i8_avx512(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)
{
    (void)p;
    dequantize(m, n, in, out, true);
}

void qfk_dequantize_u8_avx512(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)
{
    (void)p;
    dequantize(m, n, in, out, false);
}
