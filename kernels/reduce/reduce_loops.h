/* The loops of the reduce family, which the compiler vectorises with the flags of the source that
 * includes them: whole blocks of 16 columns, one for every partial, which stay in registers. */
#ifndef QFK_REDUCE_LOOPS_H
#define QFK_REDUCE_LOOPS_H

#include "kernels/common/unroll.h"

#include <math.h>

/* Unrolled by hand or by the compiler's first pass, the loop over partials stays scalar. */
#if defined(__clang__)
#define QFK_PARTIALS _Pragma("clang loop unroll(full)")
#else
#define QFK_PARTIALS _Pragma("GCC unroll 1")
#endif

/* Between a block and what it prefetches (sum of 235 MB, Zen 3: 15.3 ms without, 13.1 with). */
#define QFK_REDUCE_AHEAD 1024

/* Column j of a row, for which `at` stands, meets its partial. */
#define QFK_MEET(name, at) t[(first + j) % 16] = name##_next(t[(first + j) % 16], at)

/* A row into the partials t; one element may serve all columns. */
#define QFK_REDUCE_ROW(name, A, S, next)                                                          \
    QFK_INLINE qfk_##S name##_next(qfk_##S s, qfk_##A a) { return (qfk_##S)(next); }              \
                                                                                                  \
    static void name##_row(size_t n, size_t first, const qfk_##A##_mem *a, bool one, qfk_##S *t)  \
    {                                                                                             \
        size_t j = 0;                                                                             \
        for (; j < n && (one || (first + j) % 16); j++)                                           \
            QFK_MEET(name, a[one ? 0 : j]);                                                       \
        for (; n - j >= 16; j += 16) {                                                            \
            if (sizeof *a >= 4)                                                                   \
                __builtin_prefetch((const char *)(a + j) + QFK_REDUCE_AHEAD);                     \
            QFK_PARTIALS for (size_t k = 0; k < 16; k++) t[k] = name##_next(t[k], a[j + k]);      \
        }                                                                                         \
        for (; j < n; j++)                                                                        \
            QFK_MEET(name, a[j]);                                                                 \
    }

/* Defines the kernel `name`: `next` is the partial after `s` (key S) has met `a` (key A). */
#define QFK_REDUCE(name, A, S, start, next)                                                       \
    QFK_REDUCE_ROW(name, A, S, next)                                                              \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)              \
    {                                                                                             \
        for (size_t i = 0; i < m; i++) {                                                          \
            qfk_##S##_mem *x = qfk_out_row(&out, i);                                              \
            qfk_##S t[16];                                                                        \
            for (size_t k = 0; k < 16; k++)                                                       \
                t[k] = p->i[1] ? (start) : x[k];                                                  \
            name##_row(n, (size_t)p->i[0], qfk_in_row(in, i), in->col == 0, t);                   \
            memcpy(x, t, sizeof t);                                                               \
        }                                                                                         \
    }

#define QFK_SUM(name, X) QFK_REDUCE(name, X, f64, 0, s + a)
#define QFK_SUMSQ(name, X) QFK_REDUCE(name, X, f64, 0, s + (double)a * a)
#define QFK_SUM_WRAPS(name, X) QFK_REDUCE(name, X, X, 0, (uint64_t)s + (uint64_t)a)
#define QFK_ANY(name, X) QFK_REDUCE(name, X, X, 0, s | (a != 0))

/* Of equal values, +0 and -0 among them, the first stays. A NaN compares false and stays. */
#define QFK_AMAX(name, X, start) QFK_REDUCE(name, X, X, start, a > s ? a : s)
#define QFK_AMIN(name, X, start) QFK_REDUCE(name, X, X, start, a < s ? a : s)
#define QFK_AMAX_FLOAT(name, X) QFK_REDUCE(name, X, X, -INFINITY, ((a > s) | (a != a)) ? a : s)
#define QFK_AMIN_FLOAT(name, X) QFK_REDUCE(name, X, X, INFINITY, ((a < s) | (a != a)) ? a : s)

#endif
