/* Walking a row vector by vector. */
#ifndef QFK_UNROLL_H
#define QFK_UNROLL_H

#include "kernels/common/element.h"

/* Loops of two to ten instructions a vector: four vectors at a time share what a loop costs. */
#if defined(__clang__)
#define QFK_UNROLL _Pragma("clang loop unroll_count(4)")
#else
#define QFK_UNROLL _Pragma("GCC unroll 4")
#endif

/* For what a kernel calls with constants that choose its code. */
#define QFK_INLINE static inline __attribute__((always_inline))

/* Whether rows may be stored past the caches: they begin with lines. */
static inline bool qfk_goes_past(const qfk_param *p, qfk_out out)
{
    return p && p->past && ((uintptr_t)out.p | (uintptr_t)out.row) % 64 == 0;
}

/* Defines `name`, which stores four vectors V one after the other, each by `put`, as elements of
 * `size` bytes. */
#define QFK_STORE4(name, V, put, size)                                  \
    static inline void name(void *p, V a, V b, V c, V d, bool past)     \
    {                                                                   \
        char *x = p;                                                    \
        put(x, a, past);                                                \
        put(x + QFK_LANES * (size), b, past);                           \
        put(x + 2 * QFK_LANES * (size), c, past);                       \
        put(x + 3 * QFK_LANES * (size), d, past);                       \
    }

/* Runs a statement for the columns of a row, vector by vector: for columns j … j + left - 1. left
 * is the constant `lanes`, and what is left once at the end. */
#define QFK_VECTORS(columns, lanes, ...) QFK_WALK(QFK_UNROLL, 0, columns, lanes, __VA_ARGS__)

/* The same for the few columns from `first` on that another loop left. */
#define QFK_REST(first, columns, lanes, ...) QFK_WALK(, first, columns, lanes, __VA_ARGS__)

#define QFK_WALK(unroll, first, columns, lanes, ...)             \
    do {                                                         \
        size_t j = (first);                                      \
        unroll for (; (columns) - j >= (lanes); j += (lanes)) {  \
            const size_t left = (lanes);                         \
            __VA_ARGS__;                                         \
        }                                                        \
        if (j < (columns)) {                                     \
            const size_t left = (columns) - j;                   \
            __VA_ARGS__;                                         \
        }                                                        \
    } while (0)

#endif
