/* float to the two 8-bit floats of OCP and back. Rounds half to even; a NaN becomes 0x7F with its
 * sign. e4m3 (finite only) saturates: overflow and infinities become +-448. e5m2 overflows to
 * infinity. */
#ifndef QFK_F8_H
#define QFK_F8_H

#include "kernels/common/f16.h"

static inline qfk_f8e4m3 qfk_f8e4m3_from_f32(float f)
{
    const uint32_t bits = qfk_bits32(f), sign = bits >> 24 & 0x80u, u = bits & 0x7fffffffu;
    const uint32_t normal = (u + 0x7ffffu + (u >> 20 & 1u) - (120u << 23)) >> 20;
    /* The last place of 2^14 is 2^-9, the step of subnormals. */
    const uint32_t small = qfk_bits32(qfk_float32(u) + 16384.0f) - 0x46800000u;
    const uint32_t finite = u < 0x3c800000u ? small : normal;
    const uint32_t huge = u > 0x7f800000u ? 0x7fu : 0x7eu;
    return (qfk_f8e4m3)(sign | (u < 0x43e00000u ? finite : huge));
}

static inline float qfk_f32_from_f8e4m3(qfk_f8e4m3 h)
{
    const uint32_t sign = (uint32_t)(h & 0x80u) << 24, u = h & 0x7fu;
    const uint32_t normal = (u << 20) + (120u << 23);
    const uint32_t small = qfk_bits32((float)u * 0x1p-9f);
    return qfk_float32(sign | (u < 8u ? small : u < 0x7fu ? normal : 0x7ff00000u));
}

static inline qfk_f8e5m2 qfk_f8e5m2_from_f32(float f)
{
    const uint32_t bits = qfk_bits32(f), sign = bits >> 24 & 0x80u, u = bits & 0x7fffffffu;
    const uint32_t normal = (u + 0xfffffu + (u >> 21 & 1u) - (112u << 23)) >> 21;
    /* The last place of 2^7 is 2^-16, the step of subnormals. */
    const uint32_t small = qfk_bits32(qfk_float32(u) + 128.0f) - 0x43000000u;
    const uint32_t finite = u < 0x38800000u ? small : normal;
    const uint32_t huge = u > 0x7f800000u ? 0x7fu : 0x7cu;
    return (qfk_f8e5m2)(sign | (u < 0x47700000u ? finite : huge));
}

/* The upper byte of a half. */
static inline float qfk_f32_from_f8e5m2(qfk_f8e5m2 h)
{
    return qfk_f32_from_f16((qfk_f16)(h << 8));
}

#endif
