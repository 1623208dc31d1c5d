/* Scalar rows of the cast family. */
#include "kernels/common/bf16.h"
#include "kernels/common/element.h"
#include "kernels/common/f16.h"
#include "kernels/common/f8.h"

/* Truncation. What does not fit gives the least integer, as x86 does: any value would
 * do, since a guard kernel reports it, but all rows must agree and none may trap. */
static inline int32_t i32_from_f32(float a)
{
    return a >= -0x1p31f && a < 0x1p31f ? (int32_t)a : INT32_MIN;
}

static inline int32_t i32_from_f64(double a)
{
    return a > -0x1.00000002p31 && a < 0x1p31 ? (int32_t)a : INT32_MIN;
}

static inline int64_t i64_from_f32(float a)
{
    return a >= -0x1p63f && a < 0x1p63f ? (int64_t)a : INT64_MIN;
}

static inline int64_t i64_from_f64(double a)
{
    return a >= -0x1p63 && a < 0x1p63 ? (int64_t)a : INT64_MIN;
}

/* From 2^63 on, without that bit. */
static inline uint64_t u64_from_f64(double a)
{
    return a >= 0x1p63 ? (uint64_t)i64_from_f64(a - 0x1p63) ^ (uint64_t)1 << 63
                       : (uint64_t)i64_from_f64(a);
}

/* To integers: from integers it wraps. */
QFK_MAP1(qfk_to_i8_b8_scalar, b8, i8, a != 0)
QFK_MAP1(qfk_to_i8_i16_scalar, i16, i8, a)
QFK_MAP1(qfk_to_i8_i32_scalar, i32, i8, a)
QFK_MAP1(qfk_to_i8_i64_scalar, i64, i8, a)
QFK_MAP1(qfk_to_i8_u8_scalar, u8, i8, a)
QFK_MAP1(qfk_to_i8_u16_scalar, u16, i8, a)
QFK_MAP1(qfk_to_i8_u32_scalar, u32, i8, a)
QFK_MAP1(qfk_to_i8_u64_scalar, u64, i8, a)
QFK_MAP1(qfk_to_i8_f32_scalar, f32, i8, i32_from_f32(a))
QFK_MAP1(qfk_to_i8_f64_scalar, f64, i8, i32_from_f64(a))
QFK_MAP1(qfk_to_i16_b8_scalar, b8, i16, a != 0)
QFK_MAP1(qfk_to_i16_i8_scalar, i8, i16, a)
QFK_MAP1(qfk_to_i16_i32_scalar, i32, i16, a)
QFK_MAP1(qfk_to_i16_i64_scalar, i64, i16, a)
QFK_MAP1(qfk_to_i16_u8_scalar, u8, i16, a)
QFK_MAP1(qfk_to_i16_u16_scalar, u16, i16, a)
QFK_MAP1(qfk_to_i16_u32_scalar, u32, i16, a)
QFK_MAP1(qfk_to_i16_u64_scalar, u64, i16, a)
QFK_MAP1(qfk_to_i16_f32_scalar, f32, i16, i32_from_f32(a))
QFK_MAP1(qfk_to_i16_f64_scalar, f64, i16, i32_from_f64(a))
QFK_MAP1(qfk_to_i32_b8_scalar, b8, i32, a != 0)
QFK_MAP1(qfk_to_i32_i8_scalar, i8, i32, a)
QFK_MAP1(qfk_to_i32_i16_scalar, i16, i32, a)
QFK_MAP1(qfk_to_i32_i64_scalar, i64, i32, a)
QFK_MAP1(qfk_to_i32_u8_scalar, u8, i32, a)
QFK_MAP1(qfk_to_i32_u16_scalar, u16, i32, a)
QFK_MAP1(qfk_to_i32_u32_scalar, u32, i32, a)
QFK_MAP1(qfk_to_i32_u64_scalar, u64, i32, a)
QFK_MAP1(qfk_to_i32_f32_scalar, f32, i32, i32_from_f32(a))
QFK_MAP1(qfk_to_i32_f64_scalar, f64, i32, i32_from_f64(a))
QFK_MAP1(qfk_to_i64_b8_scalar, b8, i64, a != 0)
QFK_MAP1(qfk_to_i64_i8_scalar, i8, i64, a)
QFK_MAP1(qfk_to_i64_i16_scalar, i16, i64, a)
QFK_MAP1(qfk_to_i64_i32_scalar, i32, i64, a)
QFK_MAP1(qfk_to_i64_u8_scalar, u8, i64, a)
QFK_MAP1(qfk_to_i64_u16_scalar, u16, i64, a)
QFK_MAP1(qfk_to_i64_u32_scalar, u32, i64, a)
QFK_MAP1(qfk_to_i64_u64_scalar, u64, i64, a)
QFK_MAP1(qfk_to_i64_f32_scalar, f32, i64, i64_from_f32(a))
QFK_MAP1(qfk_to_i64_f64_scalar, f64, i64, i64_from_f64(a))
QFK_MAP1(qfk_to_u8_b8_scalar, b8, u8, a != 0)
QFK_MAP1(qfk_to_u8_i8_scalar, i8, u8, a)
QFK_MAP1(qfk_to_u8_i16_scalar, i16, u8, a)
QFK_MAP1(qfk_to_u8_i32_scalar, i32, u8, a)
QFK_MAP1(qfk_to_u8_i64_scalar, i64, u8, a)
QFK_MAP1(qfk_to_u8_u16_scalar, u16, u8, a)
QFK_MAP1(qfk_to_u8_u32_scalar, u32, u8, a)
QFK_MAP1(qfk_to_u8_u64_scalar, u64, u8, a)
QFK_MAP1(qfk_to_u8_f32_scalar, f32, u8, i32_from_f32(a))
QFK_MAP1(qfk_to_u8_f64_scalar, f64, u8, i32_from_f64(a))
QFK_MAP1(qfk_to_u16_b8_scalar, b8, u16, a != 0)
QFK_MAP1(qfk_to_u16_i8_scalar, i8, u16, a)
QFK_MAP1(qfk_to_u16_i16_scalar, i16, u16, a)
QFK_MAP1(qfk_to_u16_i32_scalar, i32, u16, a)
QFK_MAP1(qfk_to_u16_i64_scalar, i64, u16, a)
QFK_MAP1(qfk_to_u16_u8_scalar, u8, u16, a)
QFK_MAP1(qfk_to_u16_u32_scalar, u32, u16, a)
QFK_MAP1(qfk_to_u16_u64_scalar, u64, u16, a)
QFK_MAP1(qfk_to_u16_f32_scalar, f32, u16, i32_from_f32(a))
QFK_MAP1(qfk_to_u16_f64_scalar, f64, u16, i32_from_f64(a))
QFK_MAP1(qfk_to_u32_b8_scalar, b8, u32, a != 0)
QFK_MAP1(qfk_to_u32_i8_scalar, i8, u32, a)
QFK_MAP1(qfk_to_u32_i16_scalar, i16, u32, a)
QFK_MAP1(qfk_to_u32_i32_scalar, i32, u32, a)
QFK_MAP1(qfk_to_u32_i64_scalar, i64, u32, a)
QFK_MAP1(qfk_to_u32_u8_scalar, u8, u32, a)
QFK_MAP1(qfk_to_u32_u16_scalar, u16, u32, a)
QFK_MAP1(qfk_to_u32_u64_scalar, u64, u32, a)
QFK_MAP1(qfk_to_u32_f32_scalar, f32, u32, i64_from_f32(a))
QFK_MAP1(qfk_to_u32_f64_scalar, f64, u32, i64_from_f64(a))
QFK_MAP1(qfk_to_u64_b8_scalar, b8, u64, a != 0)
QFK_MAP1(qfk_to_u64_i8_scalar, i8, u64, a)
QFK_MAP1(qfk_to_u64_i16_scalar, i16, u64, a)
QFK_MAP1(qfk_to_u64_i32_scalar, i32, u64, a)
QFK_MAP1(qfk_to_u64_i64_scalar, i64, u64, a)
QFK_MAP1(qfk_to_u64_u8_scalar, u8, u64, a)
QFK_MAP1(qfk_to_u64_u16_scalar, u16, u64, a)
QFK_MAP1(qfk_to_u64_u32_scalar, u32, u64, a)
QFK_MAP1(qfk_to_u64_f32_scalar, f32, u64, u64_from_f64(a))
QFK_MAP1(qfk_to_u64_f64_scalar, f64, u64, u64_from_f64(a))

/* To f32 and f64: one rounding. */
QFK_MAP1(qfk_to_f32_b8_scalar, b8, f32, a != 0)
QFK_MAP1(qfk_to_f32_i8_scalar, i8, f32, a)
QFK_MAP1(qfk_to_f32_i16_scalar, i16, f32, a)
QFK_MAP1(qfk_to_f32_i32_scalar, i32, f32, a)
QFK_MAP1(qfk_to_f32_i64_scalar, i64, f32, a)
QFK_MAP1(qfk_to_f32_u8_scalar, u8, f32, a)
QFK_MAP1(qfk_to_f32_u16_scalar, u16, f32, a)
QFK_MAP1(qfk_to_f32_u32_scalar, u32, f32, a)
QFK_MAP1(qfk_to_f32_u64_scalar, u64, f32, a)
QFK_MAP1(qfk_to_f32_f64_scalar, f64, f32, a)
QFK_MAP1(qfk_to_f32_f16_scalar, f16, f32, qfk_f32_from_f16(a))
QFK_MAP1(qfk_to_f32_bf16_scalar, bf16, f32, qfk_f32_from_bf16(a))
QFK_MAP1(qfk_to_f32_f8e4m3_scalar, f8e4m3, f32, qfk_f32_from_f8e4m3(a))
QFK_MAP1(qfk_to_f32_f8e5m2_scalar, f8e5m2, f32, qfk_f32_from_f8e5m2(a))
QFK_MAP1(qfk_to_f64_b8_scalar, b8, f64, a != 0)
QFK_MAP1(qfk_to_f64_i8_scalar, i8, f64, a)
QFK_MAP1(qfk_to_f64_i16_scalar, i16, f64, a)
QFK_MAP1(qfk_to_f64_i32_scalar, i32, f64, a)
QFK_MAP1(qfk_to_f64_i64_scalar, i64, f64, a)
QFK_MAP1(qfk_to_f64_u8_scalar, u8, f64, a)
QFK_MAP1(qfk_to_f64_u16_scalar, u16, f64, a)
QFK_MAP1(qfk_to_f64_u32_scalar, u32, f64, a)
QFK_MAP1(qfk_to_f64_u64_scalar, u64, f64, a)
QFK_MAP1(qfk_to_f64_f32_scalar, f32, f64, a)

/* To the short floats. */
QFK_MAP1(qfk_to_f16_f32_scalar, f32, f16, qfk_f16_from_f32(a))
QFK_MAP1(qfk_to_bf16_f32_scalar, f32, bf16, qfk_bf16_from_f32(a))
QFK_MAP1(qfk_to_f8e4m3_f32_scalar, f32, f8e4m3, qfk_f8e4m3_from_f32(a))
QFK_MAP1(qfk_to_f8e5m2_f32_scalar, f32, f8e5m2, qfk_f8e5m2_from_f32(a))

/* To b8: not zero; a NaN is not. */
QFK_MAP1(qfk_to_b8_i8_scalar, i8, b8, a != 0)
QFK_MAP1(qfk_to_b8_i16_scalar, i16, b8, a != 0)
QFK_MAP1(qfk_to_b8_i32_scalar, i32, b8, a != 0)
QFK_MAP1(qfk_to_b8_i64_scalar, i64, b8, a != 0)
QFK_MAP1(qfk_to_b8_u8_scalar, u8, b8, a != 0)
QFK_MAP1(qfk_to_b8_u16_scalar, u16, b8, a != 0)
QFK_MAP1(qfk_to_b8_u32_scalar, u32, b8, a != 0)
QFK_MAP1(qfk_to_b8_u64_scalar, u64, b8, a != 0)
QFK_MAP1(qfk_to_b8_f32_scalar, f32, b8, a != 0)
QFK_MAP1(qfk_to_b8_f64_scalar, f64, b8, a != 0)
QFK_MAP1(qfk_to_b8_f16_scalar, f16, b8, (a & 0x7fff) != 0)
QFK_MAP1(qfk_to_b8_bf16_scalar, bf16, b8, (a & 0x7fff) != 0)
QFK_MAP1(qfk_to_b8_f8e4m3_scalar, f8e4m3, b8, (a & 0x7f) != 0)
QFK_MAP1(qfk_to_b8_f8e5m2_scalar, f8e5m2, b8, (a & 0x7f) != 0)
