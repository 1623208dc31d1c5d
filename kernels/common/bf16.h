/* float to bfloat16 and back, in integers. Rounds half to even; every NaN becomes 0x7FC0 (its bits
 * differ between runtimes, so one is fixed). */
#ifndef QFK_BF16_H
#define QFK_BF16_H

#include "kernels/common/element.h"

static inline qfk_bf16 qfk_bf16_from_f32(float f)
{
    const uint32_t u = qfk_bits32(f), rounded = (u + 0x7fffu + (u >> 16 & 1u)) >> 16;
    return (qfk_bf16)((u & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : rounded);
}

static inline float qfk_f32_from_bf16(qfk_bf16 h) { return qfk_float32((uint32_t)h << 16); }

#endif
