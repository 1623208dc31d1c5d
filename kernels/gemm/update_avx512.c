/* Low-rank updates, and small products, with AVX-512: 14 rows of two vectors,
 * 28 sums in 28 of the 32 registers. */
#include "kernels/gemm/words_avx512.h"

#define QFK_UPDATE_ROWS 14
#define QFK_UPDATE_FEW 8
#include "kernels/gemm/multiply_vectors.h"
#include "kernels/gemm/update_bf16.h"

UPDATE(qfk_update_f32_avx512, qfk_update_f32_scalar, f32)
UPDATE(qfk_update_f16_avx512, qfk_update_f16_scalar, f16)

void qfk_update_bf16_avx512(size_t m, size_t n, const qfk_in *in, qfk_out x, const qfk_param *p)
{
    update_bf16(m, n, in, x, p);
}

void qfk_multiply_f32_avx512(size_t m, size_t n, const qfk_in *in, qfk_out x,
                            const qfk_param *p)
{
    multiply_tile(m, n, in, x, p);
}
