/* One row of an f32 operand of a quant kernel. */
#ifndef QFK_OPERAND_ROW_H
#define QFK_OPERAND_ROW_H

#include "kernels/common/element.h"

/* step: 0 where one value serves the whole row, else 1. */
typedef struct qfk_operand {
    const qfk_f32_mem *p;
    size_t step;
} qfk_operand;

static inline qfk_operand qfk_operand_row(const qfk_in *in, size_t i)
{
    return (qfk_operand){ qfk_in_row(in, i), in->col != 0 };
}

#endif
