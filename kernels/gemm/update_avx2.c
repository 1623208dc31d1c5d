/* Low-rank updates with AVX2: 6 rows of two vectors, 12 sums in 12 of the 16 registers. */
#include "kernels/gemm/words_avx2.h"

#define QFK_UPDATE_ROWS 6
#include "kernels/gemm/update_bf16.h"

UPDATE(qfk_update_f32_avx2, qfk_update_f32_scalar, f32)
UPDATE(qfk_update_f16_avx2, qfk_update_f16_scalar, f16)
UPDATE_BF16(qfk_update_bf16_avx2, qfk_update_bf16_scalar)
