/* qf_eval: one operator as a pipeline that writes to the caller's view. */
#include "dispatch/providers/providers.h"
#include "dispatch/stream.h"

#include <stdlib.h>
#include <string.h>

/* First and last byte that a view touches, as addresses; false for one that touches none. */
static bool touched(const qf_tensor *t, uintptr_t *first, uintptr_t *last)
{
    const unsigned bits = qf_dtype_get(t->dtype)->bits;
    int64_t least = t->offset, greatest = t->offset;

    if (!t->storage || !t->storage->data || qf_tensor_elements(t) == 0)
        return false;
    for (int d = 0; d < t->rank; d++)
        *(t->stride[d] < 0 ? &least : &greatest) += t->stride[d] * (t->shape[d] - 1);
    const uintptr_t base = (uintptr_t)t->storage->data;
    *first = base + (uintptr_t)((uint64_t)least * bits / 8);
    *last = base + (uintptr_t)(((uint64_t)greatest * bits + bits - 1) / 8);
    return true;
}

static bool same_view(const qf_tensor *a, const qf_tensor *b)
{
    if (a->storage->data != b->storage->data || a->offset != b->offset || a->dtype != b->dtype ||
        a->rank != b->rank)
        return false;
    for (int d = 0; d < a->rank; d++)
        if (a->shape[d] != b->shape[d] || (a->stride[d] != b->stride[d] && a->shape[d] > 1))
            return false;
    return true;
}

/* ERR_ALIAS if the result overlaps an operand that it does not replace; *in_place: it does one. */
static qf_status check_aliases(qf_op op, const qf_tensor *in, size_t n_in, const qf_tensor *out,
                               bool *in_place, qf_diag *diag)
{
    uintptr_t out_first, out_last, first, last;

    *in_place = false;
    if (!touched(out, &out_first, &out_last))
        return QF_OK;
    for (size_t i = 0; i < n_in; i++) {
        if (!touched(&in[i], &first, &last) || last < out_first || first > out_last)
            continue;
        if (qf_op_get(op)->kind != QF_KIND_POINTWISE || !same_view(&in[i], out))
            QF_FAIL(diag, QF_ERR_ALIAS, "%s: the result overlaps operand %zu", qf_op_get(op)->name,
                    i);
        *in_place = true;
    }
    return QF_OK;
}

/* No two elements of the result may be one: sorted by stride, each dim must reach beyond all faster
 * ones. */
static qf_status check_strides(const qf_tensor *out, qf_diag *diag)
{
    uint8_t dim[QF_MAX_RANK];
    int n = 0;
    int64_t reach = 0;

    for (int d = 0; d < out->rank; d++) {
        if (out->shape[d] < 2)
            continue;
        int k = n++;
        for (; k > 0 && llabs(out->stride[dim[k - 1]]) > llabs(out->stride[d]); k--)
            dim[k] = dim[k - 1];
        dim[k] = (uint8_t)d;
    }
    for (int k = 0; k < n; k++) {
        if (llabs(out->stride[dim[k]]) <= reach)
            QF_FAIL(diag, QF_ERR_STRIDE, "the strides of the result may repeat an element");
        reach += llabs(out->stride[dim[k]]) * (out->shape[dim[k]] - 1);
    }
    return QF_OK;
}

static qf_status check_out(const qf_pipe *pipe, const qf_tensor *out, qf_diag *diag)
{
    const qf_type type = qf_tensor_type(out);

    if (!qf_type_equal(&type, &pipe->type))
        QF_FAIL(diag, type.dtype == pipe->type.dtype ? QF_ERR_SHAPE : QF_ERR_DTYPE,
                "the result has another type than `out`");
    if (qf_tensor_elements(out) > 0 && (!out->storage->data || !out->storage->writable))
        QF_FAIL(diag, QF_ERR_ARG, "the result's storage is not writable memory");
    return check_strides(out, diag);
}

static qf_status run_into(const qf_ctx *ctx, const qf_pipe *pipe, const qf_tensor *out,
                          bool in_place, qf_diag *diag)
{
    static const int64_t zero[QFI_DIMS];
    const int halves = pipe->bits == 128 ? 2 : 1;
    int64_t stride[QFI_DIMS] = { 0 };
    qfi_session s;
    qfi_wants wants;

    for (int d = 0; d < out->rank; d++)
        stride[d] = out->stride[d] * halves;
    stride[out->rank] = 1;
    qfi_wants_plan(ctx, pipe, pipe->cost.written, &wants);
    qf_status st = qfi_session_open(&s, ctx, pipe, NULL, &wants, NULL, diag);
    /* What was just read is in the cache: it is overwritten there. */
    if (in_place)
        s.run.streams = false;
    if (st == QF_OK) {
        st = qfi_run_segment(&s.run, pipe->result, zero, pipe->result->dim, out->storage->data,
                             out->offset * halves, stride);
        st = qfi_session_status(&s, st, diag);
    }
    qfi_session_close(&s);
    return st;
}

qf_status qf_eval(const qf_ctx *ctx, qf_op op, const qf_attrs *attrs, const qf_tensor *in,
                  size_t n_in, qf_tensor *out, qf_diag *diag)
{
    qf_step step = { .op = op, .n_in = (uint16_t)n_in };
    qf_pipe *pipe = NULL;
    qfi_bump pool = { 0 };
    qf_ctx full;
    qf_status st;
    bool in_place;

    if (n_in > UINT16_MAX)
        QF_FAIL(diag, QF_ERR_ARG, "%zu operands", n_in);
    if (attrs)
        step.attrs = *attrs;
    else if (qf_op_get(op) && strcmp(qf_op_get(op)->attrs, "none") != 0)
        QF_FAIL(diag, QF_ERR_ATTR, "%s: attributes are missing", qf_op_get(op)->name);
    QF_TRY(qfi_ctx_make(ctx, &full, diag));
    pool.from = full.allocator;
    uint32_t *ids = qfi_bump_get(&pool, n_in, sizeof *ids);
    if (!ids)
        QF_FAIL(diag, QF_ERR_NOMEM, "no memory for %zu operands", n_in);
    for (size_t i = 0; i < n_in; i++)
        ids[i] = (uint32_t)i;
    step.in = ids;
    const qf_program program = {
        .input = in, .n_input = (uint32_t)n_in, .step = &step, .n_step = 1
    };

    QF_TRY_OUT(qf_pipe_build(ctx, &program, (uint32_t)n_in, NULL, &pipe, diag));
    QF_TRY_OUT(qf_tensor_check(out, diag));
    QF_TRY_OUT(check_out(pipe, out, diag));
    QF_TRY_OUT(check_aliases(op, in, n_in, out, &in_place, diag));
    if (full.providers & QF_PROVIDER_XNN && qfi_xnn_eval(&full, op, attrs, in, out))
        goto out;
    if (qf_tensor_elements(out) > 0)
        QF_TRY_OUT(run_into(&full, pipe, out, in_place, diag));
out:
    qf_pipe_free(pipe);
    qfi_bump_free(&pool);
    return st;
}
