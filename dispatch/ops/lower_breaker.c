/* Lowering of operators that read their operands in their own order: their result is kept, or made
 * window by window. */
#include <string.h>

#include "dispatch/breakers/breaker.h"
#include "dispatch/ops/op.h"

/* The value's breaker, made on first use. Its operands are compiled later: the builder is busy with
 * this box. */
static qf_status find_breaker(qfi_builder *b, uint32_t id, uint32_t *number)
{
    qfi_value *v = &b->value[id];
    const qf_step *step = qfi_step(b, id);

    if (v->breaker == 0) {
        qfi_breaker *x = qfi_bump_get(&b->pipe->pool, 1, sizeof *x);
        if (!x)
            QF_FAIL(b->diag, QF_ERR_NOMEM, "no memory to build a pipeline");
        *x = (qfi_breaker){ .value = id,
                            .op = step->op,
                            .attrs = step->attrs,
                            .type = v->type,
                            .makes = v->type.dtype,
                            .n_in = (uint8_t)step->n_in };
        for (int i = 0; i < step->n_in; i++)
            x->in_type[i] = *qfi_in_type(b, id, i);
        b->breaker[b->n_breaker++] = x;
        v->breaker = b->n_breaker;
    }
    *number = v->breaker - 1;
    return QF_OK;
}

qf_status qfi_lower_breaker(qfi_builder *b, uint32_t id, uint16_t kernel, const qfi_form *row,
                            uint8_t *ref)
{
    const qfi_value *v = &b->value[id];
    qfi_operand o = { .source = QFI_PANEL };
    const size_t rank = (size_t)v->type.rank;
    const bool in_tiles = id != b->making && !b->nested && qfi_matmul_in_tiles(b, id);

    (void)kernel;
    /* A scan needs all that stands before a window; other small results are made once rather than
     * part by part. */
    if (id != b->making && !in_tiles &&
        (b->nested || qfi_breaker_is_whole(b, id) || v->bytes <= b->budget / 8))
        return qfi_keep(b, id);
    qfi_form *rows = qfi_bump_get(&b->pipe->pool, rank + 1, sizeof *rows);
    if (!rows)
        QF_FAIL(b->diag, QF_ERR_NOMEM, "no memory to build a pipeline");
    memcpy(rows, row, rank * sizeof *rows);
    QF_TRY(find_breaker(b, id, &o.which));
    o.row = rows;
    qfi_breaker *x = b->breaker[o.which];
    if (in_tiles)
        qfi_matmul_use_tiles(x);
    const unsigned bits = qf_dtype_get(x->makes)->bits;
    o.bits = (uint8_t)(bits > 64 ? 64 : bits);
    QF_TRY(qfi_lower_panel(b, &o, x->makes, ref));
    return qfi_convert(b, *ref, x->makes, v->type.dtype, false, ref);
}
