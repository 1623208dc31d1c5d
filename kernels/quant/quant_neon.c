/* NEON rows of the quant family. */
#include "kernels/common/simd_neon.h"
#include "kernels/quant/quant_vectors.h"

QFK_QUANTIZE(qfk_quantize_i8_neon, i8, qfk_vi_store_x8, -128, 127)
QFK_QUANTIZE(qfk_quantize_u8_neon, u8, qfk_vi_store_x8, 0, 255)
QFK_QUANTIZE(qfk_quantize_i16_neon, i16, qfk_vi_store_x16, -32768, 32767)
QFK_QUANTIZE(qfk_quantize_u16_neon, u16, qfk_vi_store_x16, 0, 65535)
QFK_QUANTIZE(qfk_quantize_i32_neon, i32, qfk_vi_store_x32, -2147483648.0f, 2147483520.0f)

QFK_DEQUANTIZE(qfk_dequantize_i8_neon, i8)
QFK_DEQUANTIZE(qfk_dequantize_u8_neon, u8)
QFK_DEQUANTIZE(qfk_dequantize_i16_neon, i16)
QFK_DEQUANTIZE(qfk_dequantize_u16_neon, u16)
QFK_DEQUANTIZE(qfk_dequantize_i32_neon, i32)
QFK_DEQUANTIZE_NIBBLES(qfk_dequantize_i4_neon, i4)
QFK_DEQUANTIZE_NIBBLES(qfk_dequantize_u4_neon, u4)
