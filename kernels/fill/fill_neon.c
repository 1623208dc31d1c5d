/* NEON rows of the fill family. A vector of repeated elements fills rows of any element size. */
#include "kernels/common/simd_neon.h"

static void fill_rows(size_t m, size_t row_bytes, qfk_out out, uint8x16_t v)
{
    for (size_t i = 0; i < m; i++) {
        char *x = qfk_out_row(&out, i);
        QFK_VECTORS(row_bytes, 16, qfk_store_bytes16(x + j, v, left));
    }
}

void qfk_fill_x8_neon(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)
{
    (void)in;
    fill_rows(m, n, out, vdupq_n_u8((uint8_t)p->i[0]));
}

void qfk_fill_x16_neon(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)
{
    (void)in;
    fill_rows(m, 2 * n, out, vreinterpretq_u8_u16(vdupq_n_u16((uint16_t)p->i[0])));
}

void qfk_fill_x32_neon(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)
{
    (void)in;
    fill_rows(m, 4 * n, out, vreinterpretq_u8_u32(vdupq_n_u32((uint32_t)p->i[0])));
}

void qfk_fill_x64_neon(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)
{
    (void)in;
    fill_rows(m, 8 * n, out, vreinterpretq_u8_u64(vdupq_n_u64((uint64_t)p->i[0])));
}
