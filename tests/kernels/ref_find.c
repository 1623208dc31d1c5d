/* The references of all families, by row: the tests and the benchmarks find here what a row takes.
 */
#include "kernel_ref.h"

#include <string.h>

static const ref_op *const families[QFK_FAMILY_COUNT] = {
    [QFK_copy] = ref_copy,       [QFK_binary] = ref_binary, [QFK_unary] = ref_unary,
    [QFK_compare] = ref_compare, [QFK_select] = ref_select, [QFK_cast] = ref_cast,
    [QFK_quant] = ref_quant,     [QFK_fill] = ref_fill,     [QFK_guard] = ref_guard,
    [QFK_reduce] = ref_reduce,   [QFK_gather] = ref_gather, [QFK_gemm] = ref_gemm,
};

const ref_op *ref_find(const qfk_row *row)
{
    const ref_op *op = families[row->family];

    while (op->op && strcmp(op->op, row->op))
        op++;
    return op->op ? op : NULL;
}
