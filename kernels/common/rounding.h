/* Rounding to integral values without an instruction beyond baseline x86-64, so that loops over it
 * vectorise everywhere. The sign of a zero result is the operand's, as IEEE wants; a NaN becomes
 * quiet, as with the instructions (hence x + 0). Needs round-to-nearest mode. */
#ifndef QFK_ROUNDING_H
#define QFK_ROUNDING_H

#include <math.h>

/* Half to even. From 2^23 (2^52) on a value is integral; below, adding that rounds at the units. */
static inline float qfk_round_f32(float x)
{
    const float a = fabsf(x), r = (a + 0x1p23f) - 0x1p23f;
    return a < 0x1p23f ? copysignf(r, x) : x + 0.0f;
}

static inline double qfk_round_f64(double x)
{
    const double a = fabs(x), r = (a + 0x1p52) - 0x1p52;
    return a < 0x1p52 ? copysign(r, x) : x + 0.0;
}

static inline float qfk_floor_f32(float x)
{
    const float r = qfk_round_f32(x);
    return r > x ? r - 1.0f : r;
}

static inline double qfk_floor_f64(double x)
{
    const double r = qfk_round_f64(x);
    return r > x ? r - 1.0 : r;
}

static inline float qfk_ceil_f32(float x) { return -qfk_floor_f32(-x); }
static inline double qfk_ceil_f64(double x) { return -qfk_floor_f64(-x); }
static inline float qfk_trunc_f32(float x) { return copysignf(qfk_floor_f32(fabsf(x)), x); }
static inline double qfk_trunc_f64(double x) { return copysign(qfk_floor_f64(fabs(x)), x); }

#endif
