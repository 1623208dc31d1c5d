/* Low-rank updates, and small products, in plain C. */
#include "kernels/gemm/update.h"

/* One chain of fused multiply-adds, in order of the steps. */
static float product(const qfk_update *u, const char *a, const char *b)
{
    float sum = 0;

    for (size_t t = 0; t < u->k; t++, a += u->a_step, b += u->b_step)
        sum = fmaf(*(const qfk_f32_mem *)(const void *)a, *(const qfk_f32_mem *)(const void *)b,
                   sum);
    return sum;
}

/* Where column j of a panel stands: pairs say that its even columns come first. */
static size_t place_of(size_t j, size_t width, bool pairs)
{
    return pairs ? j % 2 * (width / 2) + j / 2 : j;
}

#define UPDATE(name, T, pairs)                                                                 \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)           \
    {                                                                                          \
        const qfk_update u = qfk_update_of(in, out, p);                                        \
        for (size_t i = 0; i < m; i++) {                                                       \
            const char *c = qfk_in_row(&u.c, i);                                               \
            qfk_##T##_mem *x = qfk_out_row(&out, i);                                           \
            for (size_t j = 0; j < n; j++) {                                                   \
                const char *b = u.b + (ptrdiff_t)(j / u.width) * u.panel +                     \
                                4 * place_of(j % u.width, u.width, pairs);                     \
                const qfk_##T was =                                                            \
                    *(const qfk_##T##_mem *)(const void *)(c + (ptrdiff_t)j * u.c.col);        \
                const float sum = product(&u, u.a + (ptrdiff_t)i * u.a_row, b);               \
                x[j] = qfk_update_##T(sum, u.scale, was, u.manner);                            \
            }                                                                                  \
        }                                                                                      \
    }

UPDATE(qfk_update_f32_scalar, f32, false)
UPDATE(qfk_update_bf16_scalar, bf16, true)
UPDATE(qfk_update_f16_scalar, f16, false)

void qfk_multiply_f32_scalar(size_t m, size_t n, const qfk_in *in, qfk_out out,
                             const qfk_param *p)
{
    const qfk_update u = { .a_step = in[0].col, .b_step = in[1].row, .k = (size_t)p->i[0] };

    for (size_t i = 0; i < m; i++) {
        qfk_f32_mem *x = qfk_out_row(&out, i);
        for (size_t j = 0; j < n; j++)
            x[j] = product(&u, qfk_in_row(&in[0], i), (const char *)in[1].p + 4 * j);
    }
}
