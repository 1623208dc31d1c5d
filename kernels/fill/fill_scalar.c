/* Scalar rows of the fill family. */
#include "kernels/common/element.h"

/* The index of the first element of row i. */
static inline uint64_t row_index(const qfk_param *p, size_t i)
{
    return (uint64_t)p->i[0] + i * (uint64_t)p->i[1];
}

/* Defines the kernel `name`: x[i][j] = expr of `index` and `p`, written as key X. */
#define FILL(name, X, expr)                                                          \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p) \
    {                                                                                \
        const uint64_t step = (uint64_t)p->i[2];                                     \
        (void)in;                                                                    \
        (void)step;                                                                  \
        for (size_t i = 0; i < m; i++) {                                             \
            const uint64_t first = row_index(p, i);                                  \
            qfk_##X##_mem *x = qfk_out_row(&out, i);                                 \
            (void)first;                                                             \
            QFK_EACH(n) x[j] = (qfk_##X)(expr);                                      \
        }                                                                            \
    }

FILL(qfk_fill_x8_scalar, x8, p->i[0])
FILL(qfk_fill_x16_scalar, x16, p->i[0])
FILL(qfk_fill_x32_scalar, x32, p->i[0])
FILL(qfk_fill_x64_scalar, x64, p->i[0])
FILL(qfk_iota_i64_scalar, i64, first + j * step)
FILL(qfk_arange_f32_scalar, f32, p->f[0] + (double)(int64_t)(first + j * step) * p->f[1])
FILL(qfk_arange_f64_scalar, f64, p->f[0] + (double)(int64_t)(first + j * step) * p->f[1])
