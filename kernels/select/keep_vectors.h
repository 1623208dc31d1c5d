/* keep_ge and keep_le over vectors. An includer has included a vector vocabulary. */
#ifndef QFK_KEEP_VECTORS_H
#define QFK_KEEP_VECTORS_H

#include "kernels/common/repeat.h"
#include "kernels/select/keep_range.h"

/* Rows of `size` bytes an element. v: the element that serves all, if it stays along the row; else
 * `move`, a kernel, moves bytes. */
static inline void qfk_keep_row(const char *a, char *x, size_t n, qfk_range kept, size_t size,
                             const qfk_vi *v, qfk_tile *move, bool past)
{
    const size_t lo = kept.lo * size, width = (kept.hi - kept.lo) * size;
    const qfk_vi zero = qfk_vi_set64(0);

    qfk_repeat(x, lo, zero, past);
    if (v)
        qfk_repeat(x + lo, width, *v, past);
    else
        move(1, width, &(qfk_in){ a + lo, 0, 1 }, (qfk_out){ x + lo, 0 }, NULL);
    qfk_repeat(x + lo + width, (n - kept.hi) * size, zero, past);
}

/* Defines the kernel `name` of elements X, which set1 repeats, as a T, in a vector: x = a in the
 * columns that `range` finds for a row, else 0. copy and stream: kernels that move bytes. */
#define QFK_KEEP_ROWS(name, X, range, set1, T, copy, stream)                                       \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)               \
    {                                                                                              \
        const bool past = qfk_goes_past(p, out);                                                   \
        for (size_t i = 0; n && i < m; i++) {                                                      \
            const qfk_##X##_mem *a = qfk_in_row(in, i);                                            \
            const qfk_vi same = set1((T)*a), *v = in->col ? NULL : &same;                          \
            char *x = qfk_out_row(&out, i);                                                        \
            if (past)                                                                              \
                qfk_keep_row((const char *)a, x, n, range(p, i, n), sizeof *a, v, stream, true);   \
            else                                                                                   \
                qfk_keep_row((const char *)a, x, n, range(p, i, n), sizeof *a, v, copy, false);    \
        }                                                                                          \
    }

#endif
