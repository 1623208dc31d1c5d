/* AVX2 rows of the quant family. */
#include "kernels/common/simd_avx2.h"
#include "kernels/quant/quant_vectors.h"

QFK_QUANTIZE(qfk_quantize_i8_avx2, i8, 8, -128, 127)
QFK_QUANTIZE(qfk_quantize_u8_avx2, u8, 8, 0, 255)
QFK_QUANTIZE(qfk_quantize_i16_avx2, i16, 16, -32768, 32767)
QFK_QUANTIZE(qfk_quantize_u16_avx2, u16, 16, 0, 65535)
QFK_QUANTIZE(qfk_quantize_i32_avx2, i32, 32, -2147483648.0f, 2147483520.0f)

QFK_DEQUANTIZE_F32(qfk_dequantize_i8_avx2, QFK_BYTES, i8)
QFK_DEQUANTIZE_F32(qfk_dequantize_u8_avx2, QFK_BYTES, u8)
QFK_DEQUANTIZE_F32(qfk_dequantize_i16_avx2, QFK_BYTES, i16)
QFK_DEQUANTIZE_F32(qfk_dequantize_u16_avx2, QFK_BYTES, u16)
QFK_DEQUANTIZE_F32(qfk_dequantize_i32_avx2, QFK_BYTES, i32)
QFK_DEQUANTIZE_F32(qfk_dequantize_i4_avx2, QFK_NIBBLES, i4)
QFK_DEQUANTIZE_F32(qfk_dequantize_u4_avx2, QFK_NIBBLES, u4)
QFK_DEQUANTIZE_F16(qfk_dequantize_f16_i8_avx2, QFK_BYTES, i8)
QFK_DEQUANTIZE_F16(qfk_dequantize_f16_u8_avx2, QFK_BYTES, u8)
QFK_DEQUANTIZE_F16(qfk_dequantize_f16_i4_avx2, QFK_NIBBLES, i4)
QFK_DEQUANTIZE_F16(qfk_dequantize_f16_u4_avx2, QFK_NIBBLES, u4)
QFK_DEQUANTIZE_BF16(qfk_dequantize_bf16_i8_avx2, QFK_BYTES, i8)
QFK_DEQUANTIZE_BF16(qfk_dequantize_bf16_u8_avx2, QFK_BYTES, u8)
QFK_DEQUANTIZE_BF16(qfk_dequantize_bf16_i4_avx2, QFK_NIBBLES, i4)
QFK_DEQUANTIZE_BF16(qfk_dequantize_bf16_u4_avx2, QFK_NIBBLES, u4)
QFK_DEQUANTIZE_I64(qfk_dequantize_i64_i8_avx2, i8)
QFK_DEQUANTIZE_I64(qfk_dequantize_i64_u8_avx2, u8)
QFK_DEQUANTIZE_I64(qfk_dequantize_i64_i16_avx2, i16)
QFK_DEQUANTIZE_I64(qfk_dequantize_i64_u16_avx2, u16)
