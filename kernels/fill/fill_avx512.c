/* AVX-512 rows of the fill family. */
#include "kernels/common/simd_avx512.h"
#include "kernels/fill/fill_vectors.h"

QFK_FILL(qfk_fill_x8_avx512, x8, _mm512_set1_epi8, char)
QFK_FILL(qfk_fill_x16_avx512, x16, _mm512_set1_epi16, short)
QFK_FILL(qfk_fill_x32_avx512, x32, _mm512_set1_epi32, int)
QFK_FILL(qfk_fill_x64_avx512, x64, _mm512_set1_epi64, long long)
QFK_IOTA_ROW(qfk_iota_i64_avx512)
QFK_ARANGE_ROW(qfk_arange_f32_avx512, f32, vf, qfk_arange_f32_scalar)
QFK_ARANGE_ROW(qfk_arange_f64_avx512, f64, vd, qfk_arange_f64_scalar)
