/* Scalar rows of the select family. */
#include "kernels/common/element.h"
#include "kernels/select/keep_range.h"

QFK_MAP3(qfk_where_x8_scalar, b8, x8, x8, a ? b : c)
QFK_MAP3(qfk_where_x16_scalar, b8, x16, x16, a ? b : c)
QFK_MAP3(qfk_where_x32_scalar, b8, x32, x32, a ? b : c)
QFK_MAP3(qfk_where_x64_scalar, b8, x64, x64, a ? b : c)

/* Defines the kernel `name`: x = a in the columns that `range` gives for a row, else 0. */
#define KEEP(name, X, range)                                                         \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p) \
    {                                                                                \
        for (size_t i = 0; n && i < m; i++) {                                        \
            const qfk_range kept = range(p, i, n);                                   \
            const qfk_##X##_mem *a = qfk_in_row(in, i);                              \
            qfk_##X##_mem *x = qfk_out_row(&out, i);                                 \
            const qfk_##X a0 = *a;                                                   \
            const bool dense = in->col != 0;                                         \
            memset(x, 0, kept.lo * sizeof *x);                                       \
            for (size_t j = kept.lo; j < kept.hi; j++)                               \
                x[j] = dense ? a[j] : a0;                                            \
            if (kept.hi < n)                                                         \
                memset(x + kept.hi, 0, (n - kept.hi) * sizeof *x);                   \
        }                                                                            \
    }

KEEP(qfk_keep_ge_x8_scalar, x8, qfk_keep_ge_range)
KEEP(qfk_keep_ge_x16_scalar, x16, qfk_keep_ge_range)
KEEP(qfk_keep_ge_x32_scalar, x32, qfk_keep_ge_range)
KEEP(qfk_keep_ge_x64_scalar, x64, qfk_keep_ge_range)
KEEP(qfk_keep_le_x8_scalar, x8, qfk_keep_le_range)
KEEP(qfk_keep_le_x16_scalar, x16, qfk_keep_le_range)
KEEP(qfk_keep_le_x32_scalar, x32, qfk_keep_le_range)
KEEP(qfk_keep_le_x64_scalar, x64, qfk_keep_le_range)
