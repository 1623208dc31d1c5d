/* AVX2 rows of dequantize_turned. */
#include "kernels/common/simd_avx2.h"
#include "kernels/copy/unit_avx2.h"
#include "kernels/quant/turned_vectors.h"

QFK_TURNED(qfk_dequantize_turned_i8_avx2, i8, qfk_transpose_x8_avx2,
           qfk_dequantize_i8_avx2, qfk_vf_store, qfk_vf_store4_f32, 4)
QFK_TURNED(qfk_dequantize_turned_u8_avx2, u8, qfk_transpose_x8_avx2,
           qfk_dequantize_u8_avx2, qfk_vf_store, qfk_vf_store4_f32, 4)
QFK_TURNED(qfk_dequantize_turned_f16_i8_avx2, i8, qfk_transpose_x8_avx2,
           qfk_dequantize_f16_i8_avx2, qfk_vf_store_f16, qfk_vf_store4_f16, 2)
QFK_TURNED(qfk_dequantize_turned_f16_u8_avx2, u8, qfk_transpose_x8_avx2,
           qfk_dequantize_f16_u8_avx2, qfk_vf_store_f16, qfk_vf_store4_f16, 2)
QFK_TURNED(qfk_dequantize_turned_bf16_i8_avx2, i8, qfk_transpose_x8_avx2,
           qfk_dequantize_bf16_i8_avx2, qfk_vf_store_bf16, qfk_vf_store4_bf16, 2)
QFK_TURNED(qfk_dequantize_turned_bf16_u8_avx2, u8, qfk_transpose_x8_avx2,
           qfk_dequantize_bf16_u8_avx2, qfk_vf_store_bf16, qfk_vf_store4_bf16, 2)
