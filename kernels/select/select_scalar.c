/* Scalar rows of the select family. */
#include "kernels/common/element.h"
#include "kernels/select/select_loops.h"

QFK_WHERE(qfk_where_x8_scalar, x8)
QFK_WHERE(qfk_where_x16_scalar, x16)
QFK_WHERE(qfk_where_x32_scalar, x32)
QFK_WHERE(qfk_where_x64_scalar, x64)

QFK_KEEP(qfk_keep_ge_x8_scalar, x8, qfk_keep_ge_range)
QFK_KEEP(qfk_keep_ge_x16_scalar, x16, qfk_keep_ge_range)
QFK_KEEP(qfk_keep_ge_x32_scalar, x32, qfk_keep_ge_range)
QFK_KEEP(qfk_keep_ge_x64_scalar, x64, qfk_keep_ge_range)
QFK_KEEP(qfk_keep_le_x8_scalar, x8, qfk_keep_le_range)
QFK_KEEP(qfk_keep_le_x16_scalar, x16, qfk_keep_le_range)
QFK_KEEP(qfk_keep_le_x32_scalar, x32, qfk_keep_le_range)
QFK_KEEP(qfk_keep_le_x64_scalar, x64, qfk_keep_le_range)
