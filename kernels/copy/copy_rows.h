/* The copy kernel over vectors. */
#ifndef QFK_COPY_ROWS_H
#define QFK_COPY_ROWS_H

#include "kernels/common/element.h"

/* Defines the kernel `name` of key X. copy(x, a, n) moves n bytes, repeat_bytes(x, v, n) fills them
 * with a vector; `set1` repeats an element, as a T, in one. */
#define QFK_COPY(name, X, copy, set1, T)                                                 \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)     \
    {                                                                                    \
        (void)p;                                                                         \
        for (size_t i = 0; n && i < m; i++) {                                            \
            const char *a = qfk_in_row(in, i);                                           \
            qfk_##X##_mem *x = qfk_out_row(&out, i);                                     \
            const qfk_##X a0 = *(const qfk_##X##_mem *)a;                                \
            if (in->col == (ptrdiff_t)sizeof *x)                                         \
                copy((char *)x, a, n * sizeof *x);                                       \
            else if (in->col == 0)                                                       \
                repeat_bytes((char *)x, set1((T)a0), n * sizeof *x);                     \
            else                                                                         \
                QFK_EACH(n) x[j] = *(const qfk_##X##_mem *)(a + (ptrdiff_t)j * in->col); \
        }                                                                                \
    }

#endif
