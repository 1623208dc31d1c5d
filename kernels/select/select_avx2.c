/* AVX2 rows of the select family: where is the scalar loops under other flags. */
#include "kernels/common/simd_avx2.h"
#include "kernels/select/keep_vectors.h"
#include "kernels/select/select_loops.h"

QFK_WHERE(qfk_where_x8_avx2, x8)
QFK_WHERE(qfk_where_x16_avx2, x16)
QFK_WHERE(qfk_where_x32_avx2, x32)
QFK_WHERE(qfk_where_x64_avx2, x64)

#define KEEP(op, X, set1, T)                                                            \
    QFK_KEEP_ROWS(qfk_##op##_##X##_avx2, X, qfk_##op##_range, set1, T, qfk_copy_x8_avx2, \
                  qfk_stream_x8_avx2)

KEEP(keep_ge, x8, _mm256_set1_epi8, char)
KEEP(keep_ge, x16, _mm256_set1_epi16, short)
KEEP(keep_ge, x32, _mm256_set1_epi32, int)
KEEP(keep_ge, x64, _mm256_set1_epi64x, long long)
KEEP(keep_le, x8, _mm256_set1_epi8, char)
KEEP(keep_le, x16, _mm256_set1_epi16, short)
KEEP(keep_le, x32, _mm256_set1_epi32, int)
KEEP(keep_le, x64, _mm256_set1_epi64x, long long)
