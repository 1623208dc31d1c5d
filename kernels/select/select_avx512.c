/* AVX-512 rows of the select family: where is the scalar loops under other flags. */
#include "kernels/common/simd_avx512.h"
#include "kernels/select/keep_vectors.h"
#include "kernels/select/select_loops.h"

QFK_WHERE(qfk_where_x8_avx512, x8)
QFK_WHERE(qfk_where_x16_avx512, x16)
QFK_WHERE(qfk_where_x32_avx512, x32)
QFK_WHERE(qfk_where_x64_avx512, x64)

#define KEEP(op, X, set1, T)                                                            \
    QFK_KEEP_ROWS(qfk_##op##_##X##_avx512, X, qfk_##op##_range, set1, T, qfk_copy_x8_avx512, \
                  qfk_stream_x8_avx512)

KEEP(keep_ge, x8, _mm512_set1_epi8, char)
KEEP(keep_ge, x16, _mm512_set1_epi16, short)
KEEP(keep_ge, x32, _mm512_set1_epi32, int)
KEEP(keep_ge, x64, _mm512_set1_epi64, long long)
KEEP(keep_le, x8, _mm512_set1_epi8, char)
KEEP(keep_le, x16, _mm512_set1_epi16, short)
KEEP(keep_le, x32, _mm512_set1_epi32, int)
KEEP(keep_le, x64, _mm512_set1_epi64, long long)
