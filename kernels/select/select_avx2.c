/* AVX2 rows of the select family: where is the scalar loops under other flags. */
#include "kernels/common/simd_avx2.h"
#include "kernels/select/keep_vectors.h"
#include "kernels/select/select_loops.h"

QFK_WHERE(qfk_where_x8_avx2, x8)
QFK_WHERE(qfk_where_x16_avx2, x16)
QFK_WHERE(qfk_where_x32_avx2, x32)
QFK_WHERE(qfk_where_x64_avx2, x64)

#define KEEP(name, X, range, set1, T) \
    QFK_KEEP_ROWS(name, X, range, set1, T, qfk_copy_x8_avx2, qfk_stream_x8_avx2)

KEEP(qfk_keep_ge_x8_avx2, x8, qfk_keep_ge_range, _mm256_set1_epi8, char)
KEEP(qfk_keep_ge_x16_avx2, x16, qfk_keep_ge_range, _mm256_set1_epi16, short)
KEEP(qfk_keep_ge_x32_avx2, x32, qfk_keep_ge_range, _mm256_set1_epi32, int)
KEEP(qfk_keep_ge_x64_avx2, x64, qfk_keep_ge_range, _mm256_set1_epi64x, long long)
KEEP(qfk_keep_le_x8_avx2, x8, qfk_keep_le_range, _mm256_set1_epi8, char)
KEEP(qfk_keep_le_x16_avx2, x16, qfk_keep_le_range, _mm256_set1_epi16, short)
KEEP(qfk_keep_le_x32_avx2, x32, qfk_keep_le_range, _mm256_set1_epi32, int)
KEEP(qfk_keep_le_x64_avx2, x64, qfk_keep_le_range, _mm256_set1_epi64x, long long)
