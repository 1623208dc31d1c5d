/* Which breaker makes which operator. */
#include "dispatch/breakers/breaker.h"

#include <string.h>

static const struct {
    qf_op op;
    qfi_breaker_make *make;
} makers[] = {
    { QF_OP_matmul, qfi_matmul_make },
    { QF_OP_sum, qfi_reduce_make },
    { QF_OP_mean, qfi_reduce_make },
    { QF_OP_amax, qfi_reduce_make },
    { QF_OP_amin, qfi_reduce_make },
    { QF_OP_norm2, qfi_reduce_make },
    { QF_OP_any, qfi_reduce_make },
    { QF_OP_cumsum, qfi_scan_make },
    { QF_OP_index_select, qfi_gather_make },
    { QF_OP_index, qfi_gather_make },
    { QF_OP_gather, qfi_gather_make },
    { QF_OP_argmax, qfi_extreme_make },
    { QF_OP_argmin, qfi_extreme_make },
    { QF_OP_argsort, qfi_order_make },
    { QF_OP_put, qfi_put_make },
    { QF_OP_nonzero, qfi_nonzero_make },
    { QF_OP_cumprod, qfi_scan_make },
    { QF_OP_cummax, qfi_scan_make },
    { QF_OP_cummin, qfi_scan_make },
};

bool qfi_breaker_is_whole(const qfi_builder *b, uint32_t id)
{
    const qf_op op = qfi_step(b, id)->op;

    if (op == QF_OP_put)
        return b->value[id].bytes <= b->budget / 2;
    return qfi_is_scan(op) || op == QF_OP_argsort || op == QF_OP_nonzero;
}

qf_status qfi_breaker_finish(qfi_builder *b, qfi_breaker *x)
{
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
        if (makers[i].op == x->op)
            return makers[i].make(b, x);
    QF_FAIL(b->diag, QF_ERR_INTERNAL, "%s has no breaker", qf_op_get(x->op)->name);
}

qf_status qfi_breaker_operand(qfi_builder *b, qfi_breaker *x, int i, const uint8_t *order,
                              qf_dtype as)
{
    const uint32_t id = qfi_step(b, x->value)->in[i];
    uint32_t root = id;

    while (root >= b->program->n_input && qf_op_get(qfi_step(b, root)->op)->kind == QF_KIND_VIEW)
        root = qfi_step(b, root)->in[0];
    if (root >= b->program->n_input && b->value[id].bytes <= b->budget / 4)
        b->value[id].keep = true;
    return qfi_operand_segment(b, id, order, as, &x->in[i]);
}

uint64_t qfi_breaker_flops(const qfi_breaker *x)
{
    const qf_type *a = &x->in_type[0];
    uint64_t n;

    if (x->op != QF_OP_matmul || !qf_type_elements(&x->type, &n) ||
        !qf_mul(n, (uint64_t)a->dim[a->rank - 1], &n))
        return 0;
    return n;
}

qf_status qfi_breaker_kernel(qfi_builder *b, qfi_breaker *x, int slot, uint16_t op, qf_dtype dtype)
{
    size_t n;

    x->kernel[slot] = qfi_pick(b, op, dtype);
    if (!x->kernel[slot])
        QF_FAIL(b->diag, QF_ERR_UNSUPPORTED, "no kernel %s for %s", qfk_ops(&n)[op].name,
                qf_dtype_get(dtype)->name);
    return QF_OK;
}

qf_status qfi_breaker_cast(qfi_builder *b, qfi_breaker *x, int slot, qf_dtype from, qf_dtype to,
                           int *used)
{
    uint8_t ref;

    /* The stages of a conversion are what a pipeline would run; there is no piece at hand that they
     * could disturb. */
    b->n_stage = b->n_index = b->n_operand = 0;
    QF_TRY(qfi_convert(b, 0, from, to, false, &ref));
    *used = b->n_stage;
    for (int i = 0; i < *used; i++) {
        x->kernel[slot + i] = qfk_pick(b->table, b->stage[i].op, (qfk_key)b->stage[i].key);
        x->bits[slot + i] = b->stage[i].bits;
    }
    return QF_OK;
}

qfi_run qfi_task_run(const qfi_run *run, uint32_t worker, qfi_area work)
{
    qfi_run task = *run;
    task.serial = true;
    task.worker = worker;
    task.work = work;
    return task;
}

void qfi_task_failed(const qfi_run *run, uint32_t i, qf_status st)
{
    const qf_diag none = { .at = -1 };

    if (st != QF_OK && run->fault->status == QF_OK)
        qfi_run_failed(run, i, st == QFI_TOO_LARGE ? QF_ERR_LIMIT : st, &none);
}

void qfi_scatter(const char *from, int n_dim, const int64_t *n, char *dst, const int64_t *stride,
                 size_t size)
{
    int64_t at[QFI_DIMS] = { 0 }, to = 0;

    for (int d = 0; d < n_dim; d++)
        if (n[d] == 0)
            return;
    for (int d = n_dim;;) {
        memcpy(dst + to * (int64_t)size, from, size);
        from += size;
        for (d = n_dim - 1; d >= 0; d--) {
            to += stride[d];
            if (++at[d] < n[d])
                break;
            to -= stride[d] * n[d];
            at[d] = 0;
        }
        if (d < 0)
            return;
    }
}
