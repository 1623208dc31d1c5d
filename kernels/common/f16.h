/* float to IEEE half and back: bit for bit what F16C does, in plain arithmetic that vectorises.
 * Rounds half to even; a NaN keeps its sign and the top bits of its payload and becomes quiet. */
#ifndef QFK_F16_H
#define QFK_F16_H

#include "kernels/common/element.h"

static inline qfk_f16 qfk_f16_from_f32(float f)
{
    const uint32_t bits = qfk_bits32(f), sign = bits >> 16 & 0x8000u, u = bits & 0x7fffffffu;
    /* Normal: add half of the last place kept, less one bit if that place is even; the bias moves
     * from 127 to 15. */
    const uint32_t normal = (u + 0xfffu + (u >> 13 & 1u) - (112u << 23)) >> 13;
    /* Subnormal: the last place of 0.5f is 2^-24, so the addition rounds to the half's step. */
    const uint32_t small = qfk_bits32(qfk_float32(u) + 0.5f) - 0x3f000000u;
    const uint32_t finite = u < 0x38800000u ? small : normal;
    const uint32_t huge = u > 0x7f800000u ? 0x7e00u | (u >> 13 & 0x1ffu) : 0x7c00u;
    return (qfk_f16)(sign | (u < 0x477ff000u ? finite : huge));
}

static inline float qfk_f32_from_f16(qfk_f16 h)
{
    const uint32_t sign = (uint32_t)(h & 0x8000u) << 16, u = h & 0x7fffu;
    const uint32_t normal = (u << 13) + (112u << 23);
    /* 0.5f + step * u, and the 0.5f taken away again: exact for subnormal halves and zero. */
    const uint32_t small = qfk_bits32(qfk_float32(0x3f000000u | u) - 0.5f);
    const uint32_t special = 0x7f800000u | u << 13 | (u > 0x7c00u ? 0x400000u : 0u);
    return qfk_float32(sign | (u < 0x400u ? small : u < 0x7c00u ? normal : special));
}

#endif
