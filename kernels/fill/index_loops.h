/* Indices of the fill family, and plain loops over them. */
#ifndef QFK_INDEX_LOOPS_H
#define QFK_INDEX_LOOPS_H

#include "kernels/common/element.h"

/* The index of the first element of row i. */
static inline uint64_t qfk_row_index(const qfk_param *p, size_t i)
{
    return (uint64_t)p->i[0] + i * (uint64_t)p->i[1];
}

/* Whether the indices of a row, and the steps to them, stay below 2^53, where doubles are exact. */
static inline bool qfk_exact_row(int64_t first, int64_t step, size_t n)
{
    return n <= INT32_MAX && step > -((int64_t)1 << 20) && step < (int64_t)1 << 20 &&
           first > -((int64_t)1 << 51) && first < (int64_t)1 << 51;
}

/* Defines the kernel `name`: x = index, as key X. */
#define QFK_IOTA(name, X)                                                            \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p) \
    {                                                                                \
        const uint64_t step = (uint64_t)p->i[2];                                     \
        (void)in;                                                                    \
        for (size_t i = 0; i < m; i++) {                                             \
            const uint64_t first = qfk_row_index(p, i);                              \
            qfk_##X##_mem *x = qfk_out_row(&out, i);                                 \
            QFK_EACH(n) x[j] = (qfk_##X)(first + j * step);                          \
        }                                                                            \
    }

/* Defines the kernel `name`: x = f[0] + index * f[1] in double, as key X. Few machines have an
 * instruction for 64-bit integers as doubles, so indices are counted in doubles where they are
 * exact. */
#define QFK_ARANGE(name, X)                                                                      \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)             \
    {                                                                                            \
        const double start = p->f[0], each = p->f[1], step = (double)p->i[2];                    \
        (void)in;                                                                                \
        for (size_t i = 0; i < m; i++) {                                                         \
            const uint64_t first = qfk_row_index(p, i);                                          \
            const double from = (double)(int64_t)first;                                          \
            qfk_##X##_mem *x = qfk_out_row(&out, i);                                             \
            if (qfk_exact_row((int64_t)first, p->i[2], n))                                       \
                for (int32_t j = 0; j < (int32_t)n; j++)                                         \
                    x[j] = (qfk_##X)(start + (from + (double)j * step) * each);                  \
            else                                                                                 \
                for (size_t j = 0; j < n; j++) {                                                 \
                    const int64_t index = (int64_t)(first + j * (uint64_t)p->i[2]);              \
                    x[j] = (qfk_##X)(start + (double)index * each);                              \
                }                                                                                \
        }                                                                                        \
    }

#endif
