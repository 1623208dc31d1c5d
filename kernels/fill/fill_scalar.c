/* Scalar rows of the fill family. */
#include "kernels/fill/index_loops.h"

/* Defines the kernel `name`: x = the low bits of i[0]. */
#define FILL(name, X)                                                                \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p) \
    {                                                                                \
        const qfk_##X v = (qfk_##X)p->i[0];                                          \
        (void)in;                                                                    \
        for (size_t i = 0; i < m; i++) {                                             \
            qfk_##X##_mem *x = qfk_out_row(&out, i);                                 \
            QFK_EACH(n) x[j] = v;                                                    \
        }                                                                            \
    }

FILL(qfk_fill_x8_scalar, x8)
FILL(qfk_fill_x16_scalar, x16)
FILL(qfk_fill_x32_scalar, x32)
FILL(qfk_fill_x64_scalar, x64)

QFK_IOTA(qfk_iota_i64_scalar, i64)
QFK_ARANGE(qfk_arange_f32_scalar, f32)
QFK_ARANGE(qfk_arange_f64_scalar, f64)
