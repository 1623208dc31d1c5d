/* Scalar rows of the copy family. */
#include "kernels/common/element.h"
#include "kernels/common/nibble.h"

/* Defines the kernel `name`: x = a for any strides. */
#define COPY(name, X)                                                                    \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)     \
    {                                                                                    \
        (void)p;                                                                         \
        for (size_t i = 0; n && i < m; i++) {                                            \
            const char *a = qfk_in_row(in, i);                                           \
            qfk_##X##_mem *x = qfk_out_row(&out, i);                                     \
            const qfk_##X a0 = *(const qfk_##X##_mem *)a;                                \
            if (in->col == (ptrdiff_t)sizeof *x) {                                       \
                memmove(x, a, n * sizeof *x); /* in place it is the same memory */       \
            } else if (in->col == 0) {                                                   \
                QFK_EACH(n) x[j] = a0;                                                   \
            } else {                                                                     \
                QFK_EACH(n) x[j] = *(const qfk_##X##_mem *)(a + (ptrdiff_t)j * in->col); \
            }                                                                            \
        }                                                                                \
    }

COPY(qfk_copy_x8_scalar, x8)
COPY(qfk_copy_x16_scalar, x16)
COPY(qfk_copy_x32_scalar, x32)
COPY(qfk_copy_x64_scalar, x64)

/* Without instructions that pass the caches it is a copy. */
COPY(qfk_stream_x8_scalar, x8)

/* Defines the kernel `name`: x = a, whose columns are dense. Strips of 8 columns read 8 runs and
 * write short ones. */
#define TRANSPOSE(name, X)                                                           \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p) \
    {                                                                                \
        (void)p;                                                                     \
        for (size_t strip = 0; strip < n; strip += 8) {                              \
            const size_t end = n - strip < 8 ? n : strip + 8;                        \
            for (size_t i = 0; i < m; i++) {                                         \
                const char *a = qfk_in_row(in, i);                                   \
                qfk_##X##_mem *x = qfk_out_row(&out, i);                             \
                for (size_t j = strip; j < end; j++)                                 \
                    x[j] = *(const qfk_##X##_mem *)(a + (ptrdiff_t)j * in->col);     \
            }                                                                        \
        }                                                                            \
    }

TRANSPOSE(qfk_transpose_x8_scalar, x8)
TRANSPOSE(qfk_transpose_x16_scalar, x16)
TRANSPOSE(qfk_transpose_x32_scalar, x32)
TRANSPOSE(qfk_transpose_x64_scalar, x64)

/* Defines the kernel `name`: nibbles of key A, each into a byte. */
#define UNPACK(name, A, X)                                                               \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)     \
    {                                                                                    \
        for (size_t i = 0; i < m; i++) {                                                 \
            qfk_##X##_mem *x = qfk_out_row(&out, i);                                     \
            for (size_t j = 0; j < n; j++)                                               \
                x[j] = qfk_nibble_##A(in->p, qfk_row_nibble(p, i) + j * (size_t)p->i[2]); \
        }                                                                                \
    }

UNPACK(qfk_unpack_u4_scalar, u4, u8)
UNPACK(qfk_unpack_i4_scalar, i4, i8)

void qfk_pack_x4_scalar(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)
{
    qfk_u8_mem *bytes = out.p;

    for (size_t i = 0; i < m; i++) {
        const qfk_u8_mem *a = qfk_in_row(in, i);
        for (size_t j = 0; j < n; j++) {
            const size_t at = qfk_row_nibble(p, i) + j;
            const unsigned shift = at % 2 * 4, v = a[(ptrdiff_t)j * in->col] & 15u;
            bytes[at / 2] = (uint8_t)((bytes[at / 2] & ~(15u << shift)) | v << shift);
        }
    }
}
