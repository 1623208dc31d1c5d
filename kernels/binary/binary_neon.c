/* NEON rows of the binary family. */
#include "kernels/common/simd_neon.h"
#include "kernels/binary/binary_vectors.h"

QFK_BINARY(qfk_add_f32_neon, vf, add)
QFK_BINARY(qfk_sub_f32_neon, vf, sub)
QFK_BINARY(qfk_mul_f32_neon, vf, mul)
QFK_BINARY(qfk_div_f32_neon, vf, div)
QFK_BINARY(qfk_add_f64_neon, vd, add)
QFK_BINARY(qfk_sub_f64_neon, vd, sub)
QFK_BINARY(qfk_mul_f64_neon, vd, mul)
QFK_BINARY(qfk_div_f64_neon, vd, div)
