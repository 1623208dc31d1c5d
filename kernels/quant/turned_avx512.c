/* AVX-512 rows of dequantize_turned. */
#include "kernels/common/simd_avx512.h"
#include "kernels/copy/unit_avx512.h"
#include "kernels/quant/turned_vectors.h"

QFK_TURNED(qfk_dequantize_turned_i8_avx512, i8, qfk_transpose_x8_avx512,
           qfk_dequantize_i8_avx512, qfk_vf_store, qfk_vf_store4_f32, 4)
QFK_TURNED(qfk_dequantize_turned_u8_avx512, u8, qfk_transpose_x8_avx512,
           qfk_dequantize_u8_avx512, qfk_vf_store, qfk_vf_store4_f32, 4)
QFK_TURNED(qfk_dequantize_turned_f16_i8_avx512, i8, qfk_transpose_x8_avx512,
           qfk_dequantize_f16_i8_avx512, qfk_vf_store_f16, qfk_vf_store4_f16, 2)
QFK_TURNED(qfk_dequantize_turned_f16_u8_avx512, u8, qfk_transpose_x8_avx512,
           qfk_dequantize_f16_u8_avx512, qfk_vf_store_f16, qfk_vf_store4_f16, 2)
QFK_TURNED(qfk_dequantize_turned_bf16_i8_avx512, i8, qfk_transpose_x8_avx512,
           qfk_dequantize_bf16_i8_avx512, qfk_vf_store_bf16, qfk_vf_store4_bf16, 2)
QFK_TURNED(qfk_dequantize_turned_bf16_u8_avx512, u8, qfk_transpose_x8_avx512,
           qfk_dequantize_bf16_u8_avx512, qfk_vf_store_bf16, qfk_vf_store4_bf16, 2)
