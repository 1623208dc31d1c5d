/* AVX2 rows of the reduce family: the scalar loops under other flags. */
#include "kernels/reduce/reduce_loops.h"

QFK_SUM(qfk_sum_f32_avx2, f32)
QFK_SUM(qfk_sum_f64_avx2, f64)
QFK_SUM_WRAPS(qfk_sum_i64_avx2, i64)
QFK_SUMSQ(qfk_sumsq_f32_avx2, f32)
QFK_SUMSQ(qfk_sumsq_f64_avx2, f64)

QFK_AMAX(qfk_amax_i8_avx2, i8, INT8_MIN)
QFK_AMAX(qfk_amax_i16_avx2, i16, INT16_MIN)
QFK_AMAX(qfk_amax_i32_avx2, i32, INT32_MIN)
QFK_AMAX(qfk_amax_i64_avx2, i64, INT64_MIN)
QFK_AMAX(qfk_amax_u8_avx2, u8, 0)
QFK_AMAX(qfk_amax_u16_avx2, u16, 0)
QFK_AMAX(qfk_amax_u32_avx2, u32, 0)
QFK_AMAX(qfk_amax_u64_avx2, u64, 0)
QFK_AMAX_FLOAT(qfk_amax_f32_avx2, f32)
QFK_AMAX_FLOAT(qfk_amax_f64_avx2, f64)

QFK_AMIN(qfk_amin_i8_avx2, i8, INT8_MAX)
QFK_AMIN(qfk_amin_i16_avx2, i16, INT16_MAX)
QFK_AMIN(qfk_amin_i32_avx2, i32, INT32_MAX)
QFK_AMIN(qfk_amin_i64_avx2, i64, INT64_MAX)
QFK_AMIN(qfk_amin_u8_avx2, u8, UINT8_MAX)
QFK_AMIN(qfk_amin_u16_avx2, u16, UINT16_MAX)
QFK_AMIN(qfk_amin_u32_avx2, u32, UINT32_MAX)
QFK_AMIN(qfk_amin_u64_avx2, u64, UINT64_MAX)
QFK_AMIN_FLOAT(qfk_amin_f32_avx2, f32)
QFK_AMIN_FLOAT(qfk_amin_f64_avx2, f64)

QFK_ANY(qfk_any_b8_avx2, b8)
