/* Scalar rows of the binary family. */
#include "kernels/common/element.h"
#include "kernels/common/arc64.h"
#include "kernels/common/rounding.h"

/* Integer division never traps: a zero divisor, and the quotient that does not fit (least / -1),
 * give 0. A guard kernel reports both. */
static inline int64_t quotient(int64_t a, int64_t b, int64_t least)
{
    return b == 0 || (b == -1 && a == least) ? 0 : a / b;
}

static inline int64_t rest(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }

static inline int64_t floor_quotient(int64_t a, int64_t b, int64_t least)
{
    return quotient(a, b, least) - (rest(a, b) != 0 && (a < 0) != (b < 0));
}

static inline int64_t floor_rest(int64_t a, int64_t b)
{
    const int64_t r = rest(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static inline uint64_t unsigned_quotient(uint64_t a, uint64_t b) { return b ? a / b : 0; }
static inline uint64_t unsigned_rest(uint64_t a, uint64_t b) { return b ? a % b : 0; }

/* The rest with the sign of the divisor. */
static inline float floor_rest_f32(float a, float b)
{
    const float r = fmodf(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static inline double floor_rest_f64(double a, double b)
{
    const double r = fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/* The floor of the exact quotient, which floor(a / b) misses where a / b rounds up to an integer
 * (1 / 0.1 gives 9): the rest is taken away first, so that the division is near an integer. */
static inline float floor_quotient_f32(float a, float b)
{
    const float r = fmodf(a, b), q = (a - r) / b - (r != 0 && (r < 0) != (b < 0) ? 1.0f : 0.0f);
    const float down = qfk_floor_f32(q), near = q - down > 0.5f ? down + 1.0f : down;
    return b == 0 ? a / b : q == 0 ? copysignf(0.0f, a / b) : near;
}

static inline double floor_quotient_f64(double a, double b)
{
    const double r = fmod(a, b), q = (a - r) / b - (r != 0 && (r < 0) != (b < 0) ? 1.0 : 0.0);
    const double down = qfk_floor_f64(q), near = q - down > 0.5 ? down + 1.0 : down;
    return b == 0 ? a / b : q == 0 ? copysign(0.0, a / b) : near;
}

/* Integer powers wrap; 1 and -1 alone have powers with a negative exponent, others give 0. */
static inline uint64_t power(uint64_t a, uint64_t b)
{
    uint64_t x = 1;

    for (; b; b >>= 1, a *= a)
        if (b & 1)
            x *= a;
    return x;
}

static inline int64_t signed_power(int64_t a, int64_t b)
{
    if (b < 0)
        return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;
    return (int64_t)power((uint64_t)a, (uint64_t)b);
}


/* add */
QFK_MAP2(qfk_add_x8_scalar, x8, x8, a + b)
QFK_MAP2(qfk_add_x16_scalar, x16, x16, a + b)
QFK_MAP2(qfk_add_x32_scalar, x32, x32, a + b)
QFK_MAP2(qfk_add_x64_scalar, x64, x64, a + b)
QFK_MAP2(qfk_add_f32_scalar, f32, f32, a + b)
QFK_MAP2(qfk_add_f64_scalar, f64, f64, a + b)

/* sub */
QFK_MAP2(qfk_sub_x8_scalar, x8, x8, a - b)
QFK_MAP2(qfk_sub_x16_scalar, x16, x16, a - b)
QFK_MAP2(qfk_sub_x32_scalar, x32, x32, a - b)
QFK_MAP2(qfk_sub_x64_scalar, x64, x64, a - b)
QFK_MAP2(qfk_sub_f32_scalar, f32, f32, a - b)
QFK_MAP2(qfk_sub_f64_scalar, f64, f64, a - b)

/* mul */
QFK_MAP2(qfk_mul_x8_scalar, x8, x8, 1u * a * b)
QFK_MAP2(qfk_mul_x16_scalar, x16, x16, 1u * a * b)
QFK_MAP2(qfk_mul_x32_scalar, x32, x32, a * b)
QFK_MAP2(qfk_mul_x64_scalar, x64, x64, a * b)
QFK_MAP2(qfk_mul_f32_scalar, f32, f32, a * b)
QFK_MAP2(qfk_mul_f64_scalar, f64, f64, a * b)

/* div */
QFK_MAP2(qfk_div_f32_scalar, f32, f32, a / b)
QFK_MAP2(qfk_div_f64_scalar, f64, f64, a / b)

/* idiv_trunc, idiv_floor, fmod, remainder */
QFK_MAP2(qfk_idiv_trunc_i8_scalar, i8, i8, quotient(a, b, INT8_MIN))
QFK_MAP2(qfk_idiv_trunc_i16_scalar, i16, i16, quotient(a, b, INT16_MIN))
QFK_MAP2(qfk_idiv_trunc_i32_scalar, i32, i32, quotient(a, b, INT32_MIN))
QFK_MAP2(qfk_idiv_trunc_i64_scalar, i64, i64, quotient(a, b, INT64_MIN))
QFK_MAP2(qfk_idiv_trunc_u8_scalar, u8, u8, unsigned_quotient(a, b))
QFK_MAP2(qfk_idiv_trunc_u16_scalar, u16, u16, unsigned_quotient(a, b))
QFK_MAP2(qfk_idiv_trunc_u32_scalar, u32, u32, unsigned_quotient(a, b))
QFK_MAP2(qfk_idiv_trunc_u64_scalar, u64, u64, unsigned_quotient(a, b))
QFK_MAP2(qfk_idiv_trunc_f32_scalar, f32, f32, qfk_trunc_f32(a / b))
QFK_MAP2(qfk_idiv_trunc_f64_scalar, f64, f64, qfk_trunc_f64(a / b))
QFK_MAP2(qfk_idiv_floor_i8_scalar, i8, i8, floor_quotient(a, b, INT8_MIN))
QFK_MAP2(qfk_idiv_floor_i16_scalar, i16, i16, floor_quotient(a, b, INT16_MIN))
QFK_MAP2(qfk_idiv_floor_i32_scalar, i32, i32, floor_quotient(a, b, INT32_MIN))
QFK_MAP2(qfk_idiv_floor_i64_scalar, i64, i64, floor_quotient(a, b, INT64_MIN))
QFK_MAP2(qfk_idiv_floor_u8_scalar, u8, u8, unsigned_quotient(a, b))
QFK_MAP2(qfk_idiv_floor_u16_scalar, u16, u16, unsigned_quotient(a, b))
QFK_MAP2(qfk_idiv_floor_u32_scalar, u32, u32, unsigned_quotient(a, b))
QFK_MAP2(qfk_idiv_floor_u64_scalar, u64, u64, unsigned_quotient(a, b))
QFK_MAP2(qfk_idiv_floor_f32_scalar, f32, f32, floor_quotient_f32(a, b))
QFK_MAP2(qfk_idiv_floor_f64_scalar, f64, f64, floor_quotient_f64(a, b))
QFK_MAP2(qfk_fmod_i8_scalar, i8, i8, rest(a, b))
QFK_MAP2(qfk_fmod_i16_scalar, i16, i16, rest(a, b))
QFK_MAP2(qfk_fmod_i32_scalar, i32, i32, rest(a, b))
QFK_MAP2(qfk_fmod_i64_scalar, i64, i64, rest(a, b))
QFK_MAP2(qfk_fmod_u8_scalar, u8, u8, unsigned_rest(a, b))
QFK_MAP2(qfk_fmod_u16_scalar, u16, u16, unsigned_rest(a, b))
QFK_MAP2(qfk_fmod_u32_scalar, u32, u32, unsigned_rest(a, b))
QFK_MAP2(qfk_fmod_u64_scalar, u64, u64, unsigned_rest(a, b))
QFK_MAP2(qfk_fmod_f32_scalar, f32, f32, fmodf(a, b))
QFK_MAP2(qfk_fmod_f64_scalar, f64, f64, fmod(a, b))
QFK_MAP2(qfk_remainder_i8_scalar, i8, i8, floor_rest(a, b))
QFK_MAP2(qfk_remainder_i16_scalar, i16, i16, floor_rest(a, b))
QFK_MAP2(qfk_remainder_i32_scalar, i32, i32, floor_rest(a, b))
QFK_MAP2(qfk_remainder_i64_scalar, i64, i64, floor_rest(a, b))
QFK_MAP2(qfk_remainder_u8_scalar, u8, u8, unsigned_rest(a, b))
QFK_MAP2(qfk_remainder_u16_scalar, u16, u16, unsigned_rest(a, b))
QFK_MAP2(qfk_remainder_u32_scalar, u32, u32, unsigned_rest(a, b))
QFK_MAP2(qfk_remainder_u64_scalar, u64, u64, unsigned_rest(a, b))
QFK_MAP2(qfk_remainder_f32_scalar, f32, f32, floor_rest_f32(a, b))
QFK_MAP2(qfk_remainder_f64_scalar, f64, f64, floor_rest_f64(a, b))

/* pow */
QFK_MAP2(qfk_pow_i8_scalar, i8, i8, signed_power(a, b))
QFK_MAP2(qfk_pow_i16_scalar, i16, i16, signed_power(a, b))
QFK_MAP2(qfk_pow_i32_scalar, i32, i32, signed_power(a, b))
QFK_MAP2(qfk_pow_i64_scalar, i64, i64, signed_power(a, b))
QFK_MAP2(qfk_pow_u8_scalar, u8, u8, power(a, b))
QFK_MAP2(qfk_pow_f32_scalar, f32, f32, qfk_pow64(a, b))
QFK_MAP2(qfk_pow_f64_scalar, f64, f64, qfk_pow64(a, b))

QFK_MAP2(qfk_atan2_f32_scalar, f32, f32, qfk_atan2_64(a, b))
QFK_MAP2(qfk_atan2_f64_scalar, f64, f64, qfk_atan2_64(a, b))
QFK_MAP2(qfk_hypot_f32_scalar, f32, f32, qfk_hypot64(a, b))
QFK_MAP2(qfk_hypot_f64_scalar, f64, f64, qfk_hypot64(a, b))

/* minimum, maximum: the first operand where both are equal (-0, 0), a NaN where there is one. */
QFK_MAP2(qfk_minimum_i8_scalar, i8, i8, a <= b ? a : b)
QFK_MAP2(qfk_minimum_i16_scalar, i16, i16, a <= b ? a : b)
QFK_MAP2(qfk_minimum_i32_scalar, i32, i32, a <= b ? a : b)
QFK_MAP2(qfk_minimum_i64_scalar, i64, i64, a <= b ? a : b)
QFK_MAP2(qfk_minimum_u8_scalar, u8, u8, a <= b ? a : b)
QFK_MAP2(qfk_minimum_u16_scalar, u16, u16, a <= b ? a : b)
QFK_MAP2(qfk_minimum_u32_scalar, u32, u32, a <= b ? a : b)
QFK_MAP2(qfk_minimum_u64_scalar, u64, u64, a <= b ? a : b)
QFK_MAP2(qfk_minimum_f32_scalar, f32, f32, a <= b || a != a ? a : b)
QFK_MAP2(qfk_minimum_f64_scalar, f64, f64, a <= b || a != a ? a : b)
QFK_MAP2(qfk_maximum_i8_scalar, i8, i8, a >= b ? a : b)
QFK_MAP2(qfk_maximum_i16_scalar, i16, i16, a >= b ? a : b)
QFK_MAP2(qfk_maximum_i32_scalar, i32, i32, a >= b ? a : b)
QFK_MAP2(qfk_maximum_i64_scalar, i64, i64, a >= b ? a : b)
QFK_MAP2(qfk_maximum_u8_scalar, u8, u8, a >= b ? a : b)
QFK_MAP2(qfk_maximum_u16_scalar, u16, u16, a >= b ? a : b)
QFK_MAP2(qfk_maximum_u32_scalar, u32, u32, a >= b ? a : b)
QFK_MAP2(qfk_maximum_u64_scalar, u64, u64, a >= b ? a : b)
QFK_MAP2(qfk_maximum_f32_scalar, f32, f32, a >= b || a != a ? a : b)
QFK_MAP2(qfk_maximum_f64_scalar, f64, f64, a >= b || a != a ? a : b)

/* bit_and, bit_or, bit_xor */
QFK_MAP2(qfk_bit_and_x8_scalar, x8, x8, a & b)
QFK_MAP2(qfk_bit_and_x16_scalar, x16, x16, a & b)
QFK_MAP2(qfk_bit_and_x32_scalar, x32, x32, a & b)
QFK_MAP2(qfk_bit_and_x64_scalar, x64, x64, a & b)
QFK_MAP2(qfk_bit_or_x8_scalar, x8, x8, a | b)
QFK_MAP2(qfk_bit_or_x16_scalar, x16, x16, a | b)
QFK_MAP2(qfk_bit_or_x32_scalar, x32, x32, a | b)
QFK_MAP2(qfk_bit_or_x64_scalar, x64, x64, a | b)
QFK_MAP2(qfk_bit_xor_x8_scalar, x8, x8, a ^ b)
QFK_MAP2(qfk_bit_xor_x16_scalar, x16, x16, a ^ b)
QFK_MAP2(qfk_bit_xor_x32_scalar, x32, x32, a ^ b)
QFK_MAP2(qfk_bit_xor_x64_scalar, x64, x64, a ^ b)

/* shl, shr: a count that is negative or not below the bits of the type shifts everything out. */
QFK_MAP2(qfk_shl_x8_scalar, x8, x8, b < 8 ? (uint32_t)a << b : 0)
QFK_MAP2(qfk_shl_x16_scalar, x16, x16, b < 16 ? (uint32_t)a << b : 0)
QFK_MAP2(qfk_shl_x32_scalar, x32, x32, b < 32 ? a << b : 0)
QFK_MAP2(qfk_shl_x64_scalar, x64, x64, b < 64 ? a << b : 0)
QFK_MAP2(qfk_shr_i8_scalar, i8, i8, a >> (b >= 0 && b < 8 ? b : 7))
QFK_MAP2(qfk_shr_i16_scalar, i16, i16, a >> (b >= 0 && b < 16 ? b : 15))
QFK_MAP2(qfk_shr_i32_scalar, i32, i32, a >> (b >= 0 && b < 32 ? b : 31))
QFK_MAP2(qfk_shr_i64_scalar, i64, i64, a >> (b >= 0 && b < 64 ? b : 63))
QFK_MAP2(qfk_shr_u8_scalar, u8, u8, b < 8 ? a >> b : 0)
QFK_MAP2(qfk_shr_u16_scalar, u16, u16, b < 16 ? a >> b : 0)
QFK_MAP2(qfk_shr_u32_scalar, u32, u32, b < 32 ? a >> b : 0)
QFK_MAP2(qfk_shr_u64_scalar, u64, u64, b < 64 ? a >> b : 0)

/* fma */
QFK_MAP3(qfk_fma_f32_scalar, f32, f32, f32, fmaf(a, b, c))
QFK_MAP3(qfk_fma_f64_scalar, f64, f64, f64, fma(a, b, c))
