/* Narrow tiles in plain C. */
#include "kernels/common/element.h"

#define PANEL(name, T)                                                                             \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)               \
    {                                                                                              \
        (void)p;                                                                                   \
        for (size_t i = 0; i < m; i++) {                                                           \
            const char *a = qfk_in_row(in, i);                                                     \
            qfk_##T##_mem *x = qfk_out_row(&out, i);                                               \
            for (size_t j = 0; j < n; j++)                                                         \
                x[j] = *(const qfk_##T##_mem *)(const void *)(a + (ptrdiff_t)j * in->col);         \
        }                                                                                          \
    }

PANEL(qfk_panel_x32_scalar, x32)
PANEL(qfk_panel_x64_scalar, x64)
