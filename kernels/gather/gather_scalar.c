/* Gathering in plain C. */
#include "kernels/common/element.h"

/* Defines the kernel `name` for elements of key X. */
#define GATHER(name, X)                                                                            \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)               \
    {                                                                                              \
        const ptrdiff_t step = in[1].col / (ptrdiff_t)sizeof(int64_t);                             \
        for (size_t i = 0; i < m; i++) {                                                           \
            const char *table = qfk_in_row(&in[0], i);                                             \
            const qfk_i64_mem *index = qfk_in_row(&in[1], i);                                      \
            qfk_##X##_mem *x = qfk_out_row(&out, i);                                               \
            for (size_t j = 0; j < n; j++, table += in[0].col, index += step)                      \
                x[j] = *(const qfk_##X##_mem *)(const void *)(table + *index * p->i[0]);           \
        }                                                                                          \
    }

GATHER(qfk_gather_x8_scalar, x8)
GATHER(qfk_gather_x16_scalar, x16)
GATHER(qfk_gather_x32_scalar, x32)
GATHER(qfk_gather_x64_scalar, x64)
