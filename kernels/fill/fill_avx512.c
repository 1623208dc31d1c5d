/* AVX-512 rows of the fill family. A vector of repeated elements fills rows of any element size. */
#include "kernels/common/element.h"
#include "kernels/common/masks.h"
#include "kernels/fill/index_loops.h"

static void fill_rows(size_t m, size_t row_bytes, qfk_out out, __m512i v)
{
    for (size_t i = 0; i < m; i++) {
        char *x = qfk_out_row(&out, i);
        size_t at = 0;
        for (; row_bytes - at >= 64; at += 64)
            _mm512_storeu_si512(x + at, v);
        _mm512_mask_storeu_epi8(x + at, qfk_first64(row_bytes - at), v);
    }
}

void qfk_fill_x8_avx512(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)
{
    (void)in;
    fill_rows(m, n, out, _mm512_set1_epi8((char)p->i[0]));
}

void qfk_fill_x16_avx512(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)
{
    (void)in;
    fill_rows(m, 2 * n, out, _mm512_set1_epi16((short)p->i[0]));
}

void qfk_fill_x32_avx512(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)
{
    (void)in;
    fill_rows(m, 4 * n, out, _mm512_set1_epi32((int)p->i[0]));
}

void qfk_fill_x64_avx512(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)
{
    (void)in;
    fill_rows(m, 8 * n, out, _mm512_set1_epi64(p->i[0]));
}

QFK_IOTA(qfk_iota_i64_avx512, i64)
QFK_ARANGE(qfk_arange_f32_avx512, f32)
QFK_ARANGE(qfk_arange_f64_avx512, f64)
