/* NEON rows of the cast family: the short floats. */
#include "kernels/common/simd_neon.h"
#include "kernels/cast/cast_vectors.h"

QFK_NARROW(qfk_to_f16_f32_neon, f16)
QFK_NARROW(qfk_to_bf16_f32_neon, bf16)
QFK_WIDEN(qfk_to_f32_f16_neon, f16)
QFK_WIDEN(qfk_to_f32_bf16_neon, bf16)
QFK_WIDEN(qfk_to_f32_f8e4m3_neon, f8e4m3)
QFK_WIDEN(qfk_to_f32_f8e5m2_neon, f8e5m2)
