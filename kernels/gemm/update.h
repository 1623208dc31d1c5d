/* What an update computes, element by element, and its operands: the definition of its bits, and
 * what rows over vectors do at edges. */
#ifndef QFK_UPDATE_H
#define QFK_UPDATE_H

#include "kernels/common/bf16.h"
#include "kernels/common/f16.h"

#include <math.h>

/* p.i[2]. FUSED: product, scale and c meet in one fused multiply-add. ROUNDED: the product, and
 * what scaling makes of it, are rounded to the key; then a, b and the scale hold values of it. */
enum { QFK_UPDATE_FUSED = 1, QFK_UPDATE_ROUNDED = 2 };

/* One call. panel: bytes from a panel of b to the next; a_step, b_step: from a step to the next;
 * a_row: of a, from a row to the next. */
typedef struct qfk_update {
    const char *a, *b;
    ptrdiff_t a_step, a_row, b_step, panel;
    size_t k, width;
    qfk_in c;
    qfk_out x;
    float scale;
    int64_t manner;
} qfk_update;

static inline qfk_update qfk_update_of(const qfk_in *in, qfk_out x, const qfk_param *p)
{
    return (qfk_update){ .a = in[0].p,
                         .b = in[1].p,
                         .a_step = in[0].row,
                         .a_row = in[0].col,
                         .b_step = in[1].row,
                         .panel = (ptrdiff_t)p->i[3],
                         .k = (size_t)p->i[0],
                         .width = (size_t)p->i[1],
                         .c = in[2],
                         .x = x,
                         .scale = (float)p->f[0],
                         .manner = p->i[2] };
}

/* The sum of the scaled product p and c, before it is rounded to the key. */
static inline float qfk_update_f32(float p, float scale, float c, int64_t manner)
{
    return manner & QFK_UPDATE_FUSED ? fmaf(p, scale, c) : c + p * scale;
}

#define QFK_UPDATE_SHORT(T)                                                                   \
    static inline qfk_##T qfk_update_##T(float p, float scale, qfk_##T c0, int64_t manner)    \
    {                                                                                         \
        const float c = qfk_f32_from_##T(c0);                                                 \
        if (manner & QFK_UPDATE_ROUNDED)                                                      \
            p = qfk_f32_from_##T(qfk_##T##_from_f32(p));                                      \
        if (manner != QFK_UPDATE_ROUNDED)                                                     \
            return qfk_##T##_from_f32(qfk_update_f32(p, scale, c, manner));                   \
        return qfk_##T##_from_f32(c + qfk_f32_from_##T(qfk_##T##_from_f32(p * scale)));       \
    }

QFK_UPDATE_SHORT(bf16)
QFK_UPDATE_SHORT(f16)

#endif
