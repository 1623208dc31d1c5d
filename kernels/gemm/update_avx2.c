/* Low-rank updates, and small products, with AVX2: 6 rows of two vectors,
 * 12 sums in 12 of the 16 registers. */
#include "kernels/gemm/words_avx2.h"

#define QFK_UPDATE_ROWS 6
#define QFK_UPDATE_FEW 4
#include "kernels/gemm/multiply_vectors.h"
#include "kernels/gemm/update_bf16.h"

UPDATE(qfk_update_f32_avx2, qfk_update_f32_scalar, f32)
UPDATE(qfk_update_f16_avx2, qfk_update_f16_scalar, f16)

void qfk_update_bf16_avx2(size_t m, size_t n, const qfk_in *in, qfk_out x, const qfk_param *p)
{
    update_bf16(m, n, in, x, p);
}

void qfk_multiply_f32_avx2(size_t m, size_t n, const qfk_in *in, qfk_out x,
                            const qfk_param *p)
{
    multiply_tile(m, n, in, x, p);
}
