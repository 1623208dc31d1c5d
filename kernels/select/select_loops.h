/* The loops of the select family, which the compiler vectorises with the flags of the source that
 * includes them. */
#ifndef QFK_SELECT_LOOPS_H
#define QFK_SELECT_LOOPS_H

#include "kernels/common/unroll.h"
#include "kernels/select/keep_range.h"

/* One row of x = a ? b : c; mb, mc: b and c move along it. */
#define QFK_WHERE_ROW(name, X)                                                                     \
    QFK_INLINE void name(size_t n, const qfk_in *in, size_t i, qfk_##X##_mem *x, bool mb, bool mc) \
    {                                                                                              \
        const qfk_b8_mem *a = qfk_in_row(&in[0], i);                                               \
        const qfk_##X##_mem *b = qfk_in_row(&in[1], i), *c = qfk_in_row(&in[2], i);                \
        const qfk_##X b0 = *b, c0 = *c;                                                            \
        const qfk_b8 a0 = *a;                                                                      \
        const size_t sa = in[0].col != 0;                                                          \
        QFK_EACH(n) {                                                                              \
            const qfk_##X vb = mb ? b[j] : b0, vc = mc ? c[j] : c0;                                \
            x[j] = (sa ? a[j] : a0) ? vb : vc;                                                     \
        }                                                                                          \
    }

/* Defines the kernel `name`: x = a ? b : c. */
#define QFK_WHERE(name, X)                                                                         \
    QFK_WHERE_ROW(name##_row, X)                                                                   \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)               \
    {                                                                                              \
        (void)p;                                                                                   \
        for (size_t i = 0; n && i < m; i++) {                                                      \
            if (in[1].col && in[2].col)                                                            \
                name##_row(n, in, i, qfk_out_row(&out, i), true, true);                            \
            else if (in[1].col)                                                                    \
                name##_row(n, in, i, qfk_out_row(&out, i), true, false);                           \
            else                                                                                   \
                name##_row(n, in, i, qfk_out_row(&out, i), false, in[2].col != 0);                 \
        }                                                                                          \
    }

/* Defines the kernel `name`: x = a in the columns that `range` finds for a row, else 0. */
#define QFK_KEEP(name, X, range)                                                     \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p) \
    {                                                                                \
        for (size_t i = 0; n && i < m; i++) {                                        \
            const qfk_range kept = range(p, i, n);                                   \
            const size_t width = kept.hi - kept.lo;                                  \
            const qfk_##X##_mem *a = qfk_in_row(in, i);                              \
            qfk_##X##_mem *x = qfk_out_row(&out, i);                                 \
            const qfk_##X a0 = *a;                                                   \
            memset(x, 0, kept.lo * sizeof *x);                                       \
            if (in->col)                                                             \
                QFK_EACH(width) x[kept.lo + j] = a[kept.lo + j];                     \
            else                                                                     \
                QFK_EACH(width) x[kept.lo + j] = a0;                                 \
            memset(x + kept.hi, 0, (n - kept.hi) * sizeof *x);                       \
        }                                                                            \
    }

#endif
