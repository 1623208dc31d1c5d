/* AVX2 rows of the select family: the scalar loops under other flags. */
#include "kernels/common/element.h"
#include "kernels/select/select_loops.h"

QFK_WHERE(qfk_where_x8_avx2, x8)
QFK_WHERE(qfk_where_x16_avx2, x16)
QFK_WHERE(qfk_where_x32_avx2, x32)
QFK_WHERE(qfk_where_x64_avx2, x64)

QFK_KEEP(qfk_keep_ge_x8_avx2, x8, qfk_keep_ge_range)
QFK_KEEP(qfk_keep_ge_x16_avx2, x16, qfk_keep_ge_range)
QFK_KEEP(qfk_keep_ge_x32_avx2, x32, qfk_keep_ge_range)
QFK_KEEP(qfk_keep_ge_x64_avx2, x64, qfk_keep_ge_range)
QFK_KEEP(qfk_keep_le_x8_avx2, x8, qfk_keep_le_range)
QFK_KEEP(qfk_keep_le_x16_avx2, x16, qfk_keep_le_range)
QFK_KEEP(qfk_keep_le_x32_avx2, x32, qfk_keep_le_range)
QFK_KEEP(qfk_keep_le_x64_avx2, x64, qfk_keep_le_range)
