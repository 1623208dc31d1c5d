/* Floats truncated to integers. */
#ifndef QFK_TRUNCATE_H
#define QFK_TRUNCATE_H

#include <stdint.h>

/* Truncation. What does not fit gives the least integer, as x86 does: any value would
 * do, since a guard kernel reports it, but all rows must agree and none may trap. */
static inline int32_t qfk_i32_from_f32(float a)
{
    return a >= -0x1p31f && a < 0x1p31f ? (int32_t)a : INT32_MIN;
}

static inline int32_t qfk_i32_from_f64(double a)
{
    return a > -0x1.00000002p31 && a < 0x1p31 ? (int32_t)a : INT32_MIN;
}

static inline int64_t qfk_i64_from_f32(float a)
{
    return a >= -0x1p63f && a < 0x1p63f ? (int64_t)a : INT64_MIN;
}

static inline int64_t qfk_i64_from_f64(double a)
{
    return a >= -0x1p63 && a < 0x1p63 ? (int64_t)a : INT64_MIN;
}

/* From 2^63 on, without that bit. */
static inline uint64_t qfk_u64_from_f64(double a)
{
    return a >= 0x1p63 ? (uint64_t)qfk_i64_from_f64(a - 0x1p63) ^ (uint64_t)1 << 63
                       : (uint64_t)qfk_i64_from_f64(a);
}

#endif
