/* Arithmetic on sizes and steps that the language lacks. */
#ifndef QFOLD_DISPATCH_ARITH_H
#define QFOLD_DISPATCH_ARITH_H

#include <stdint.h>

static inline int64_t qfi_min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t qfi_max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t qfi_magnitude(int64_t a)
{
    return a < 0 ? -a : a;
}

/* How many parts of b make up a; both positive. */
static inline int64_t qfi_parts(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static inline int64_t qfi_round_up(int64_t a, int64_t b)
{
    return qfi_parts(a, b) * b;
}

/* Bytes in whole cache lines. */
static inline uint64_t qfi_lines(uint64_t bytes)
{
    return (bytes + 63) & ~(uint64_t)63;
}

#endif
