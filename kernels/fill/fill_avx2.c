/* AVX2 rows of the fill family. */
#include "kernels/common/simd_avx2.h"
#include "kernels/fill/fill_vectors.h"

QFK_FILL(qfk_fill_x8_avx2, x8, _mm256_set1_epi8, char)
QFK_FILL(qfk_fill_x16_avx2, x16, _mm256_set1_epi16, short)
QFK_FILL(qfk_fill_x32_avx2, x32, _mm256_set1_epi32, int)
QFK_FILL(qfk_fill_x64_avx2, x64, _mm256_set1_epi64x, long long)
QFK_IOTA_ROW(qfk_iota_i64_avx2)
QFK_ARANGE_ROW(qfk_arange_f32_avx2, f32, vf, qfk_arange_f32_scalar)
QFK_ARANGE_ROW(qfk_arange_f64_avx2, f64, vd, qfk_arange_f64_scalar)
