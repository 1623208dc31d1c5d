/* Types of views: the same elements, other strides. */
#include "dispatch/ops/op.h"

qf_status qfi_infer_identity(const qf_call *call, qf_type *out, qf_diag *diag)
{
    (void)call, (void)out, (void)diag;
    return QF_OK;
}

qf_status qfi_infer_permute(const qf_call *call, qf_type *out, qf_diag *diag)
{
    const qf_type *in = &call->in[0];
    uint32_t seen = 0;

    for (int k = 0; k < in->rank; k++) {
        const int d = call->attrs->dims.dim[k];
        QF_TRY(qfi_need_dim(call, in, d, diag));
        if (seen >> d & 1)
            QF_FAIL(diag, QF_ERR_ATTR, "permute: dim %d appears twice", d);
        seen |= 1u << d;
        out->dim[k] = in->dim[d];
    }
    return QF_OK;
}

static qf_status take_shape(const qf_call *call, qf_type *out, qf_diag *diag)
{
    uint64_t elements;

    if (call->attrs->shape.rank > QF_MAX_RANK)
        QF_FAIL(diag, QF_ERR_RANK, "%s: rank %d", qfi_op_name(call), call->attrs->shape.rank);
    out->rank = (int8_t)call->attrs->shape.rank;
    for (int d = 0; d < out->rank; d++)
        out->dim[d] = call->attrs->shape.dim[d];
    if (!qf_type_elements(out, &elements))
        QF_FAIL(diag, QF_ERR_SHAPE, "%s: a negative dim or too many elements", qfi_op_name(call));
    return QF_OK;
}

qf_status qfi_infer_reshape(const qf_call *call, qf_type *out, qf_diag *diag)
{
    uint64_t have = 0, want = 0;

    QF_TRY(take_shape(call, out, diag));
    if (!qf_type_elements(&call->in[0], &have) || !qf_type_elements(out, &want) || have != want)
        QF_FAIL(diag, QF_ERR_SHAPE, "reshape: %llu elements into %llu", (unsigned long long)have,
                (unsigned long long)want);
    return QF_OK;
}

qf_status qfi_infer_expand(const qf_call *call, qf_type *out, qf_diag *diag)
{
    const qf_type *in = &call->in[0];

    QF_TRY(take_shape(call, out, diag));
    if (out->rank < in->rank)
        QF_FAIL(diag, QF_ERR_RANK, "expand: from rank %d to %d", in->rank, out->rank);
    for (int d = 0; d < in->rank; d++) {
        const int64_t n = out->dim[d + out->rank - in->rank];
        if (in->dim[d] != 1 && in->dim[d] != n)
            QF_FAIL(diag, QF_ERR_SHAPE, "expand: a dim of %lld to %lld", (long long)in->dim[d],
                    (long long)n);
    }
    return QF_OK;
}

/* The slice must lie inside: start + (n - 1) * step < size, without overflow. */
static qf_status check_slice(const qf_call *call, int64_t size, qf_diag *diag)
{
    const int64_t start = call->attrs->slice.start, step = call->attrs->slice.step,
                  n = call->attrs->slice.n;

    if (step < 1 || n < 0 || start < 0 || start > size ||
        (n > 0 && (start == size || (n - 1) > (size - 1 - start) / step)))
        QF_FAIL(diag, QF_ERR_ATTR, "%s: %lld elements from %lld by %lld of %lld", qfi_op_name(call),
                (long long)n, (long long)start, (long long)step, (long long)size);
    return QF_OK;
}

static qf_status check_element(const qf_call *call, int64_t size, qf_diag *diag)
{
    const int64_t at = call->attrs->slice.start;
    if (at < 0 || at >= size)
        QF_FAIL(diag, QF_ERR_ATTR, "%s: element %lld of %lld", qfi_op_name(call), (long long)at,
                (long long)size);
    return QF_OK;
}

static void remove_dim(qf_type *t, int dim)
{
    t->rank--;
    for (int d = dim; d < t->rank; d++)
        t->dim[d] = t->dim[d + 1];
}

qf_status qfi_infer_slice(const qf_call *call, qf_type *out, qf_diag *diag)
{
    const int dim = call->attrs->slice.dim;
    QF_TRY(qfi_need_dim(call, out, dim, diag));
    QF_TRY(check_slice(call, out->dim[dim], diag));
    out->dim[dim] = call->attrs->slice.n;
    return QF_OK;
}

qf_status qfi_infer_select(const qf_call *call, qf_type *out, qf_diag *diag)
{
    const int dim = call->attrs->slice.dim;
    QF_TRY(qfi_need_dim(call, out, dim, diag));
    QF_TRY(check_element(call, out->dim[dim], diag));
    remove_dim(out, dim);
    return QF_OK;
}

qf_status qfi_infer_squeeze(const qf_call *call, qf_type *out, qf_diag *diag)
{
    const uint32_t dims = call->attrs->mask.dims;

    QF_TRY(qfi_need_mask(call, dims, out->rank, diag));
    for (int d = out->rank - 1; d >= 0; d--) {
        if (!(dims >> d & 1))
            continue;
        if (out->dim[d] != 1)
            QF_FAIL(diag, QF_ERR_ATTR, "squeeze: dim %d is %lld", d, (long long)out->dim[d]);
        remove_dim(out, d);
    }
    return QF_OK;
}

qf_status qfi_infer_unsqueeze(const qf_call *call, qf_type *out, qf_diag *diag)
{
    const uint32_t dims = call->attrs->mask.dims;
    const qf_type *in = &call->in[0];
    const int rank = in->rank + __builtin_popcount(dims);

    if (rank > QF_MAX_RANK)
        QF_FAIL(diag, QF_ERR_RANK, "unsqueeze: rank %d", rank);
    QF_TRY(qfi_need_mask(call, dims, rank, diag));
    out->rank = (int8_t)rank;
    for (int d = 0, from = 0; d < rank; d++)
        out->dim[d] = dims >> d & 1 ? 1 : in->dim[from++];
    return QF_OK;
}

qf_status qfi_infer_flip(const qf_call *call, qf_type *out, qf_diag *diag)
{
    return qfi_need_mask(call, call->attrs->mask.dims, out->rank, diag);
}

qf_status qfi_infer_diagonal(const qf_call *call, qf_type *out, qf_diag *diag)
{
    const int dim0 = call->attrs->diagonal.dim0, dim1 = call->attrs->diagonal.dim1;
    const int64_t offset = call->attrs->diagonal.offset;

    QF_TRY(qfi_need_dim(call, out, dim0, diag));
    QF_TRY(qfi_need_dim(call, out, dim1, diag));
    if (dim0 == dim1)
        QF_FAIL(diag, QF_ERR_ATTR, "diagonal: dim %d twice", dim0);
    int64_t rows = out->dim[dim0], columns = out->dim[dim1];
    if (offset >= 0)
        columns = offset >= columns ? 0 : columns - offset;
    else
        rows = offset <= -rows ? 0 : rows + offset;
    remove_dim(out, dim0 > dim1 ? dim0 : dim1);
    remove_dim(out, dim0 > dim1 ? dim1 : dim0);
    out->dim[out->rank++] = rows < columns ? rows : columns;
    return QF_OK;
}

qf_status qfi_infer_slice_scatter(const qf_call *call, qf_type *out, qf_diag *diag)
{
    const int dim = call->attrs->slice.dim;
    qf_type part = *out;

    QF_TRY(qfi_need_dim(call, out, dim, diag));
    QF_TRY(check_slice(call, out->dim[dim], diag));
    part.dim[dim] = call->attrs->slice.n;
    if (!qf_type_equal(&part, &call->in[1]))
        QF_FAIL(diag, QF_ERR_SHAPE, "slice_scatter: operand 1 has not the type of the slice");
    return QF_OK;
}

qf_status qfi_infer_select_scatter(const qf_call *call, qf_type *out, qf_diag *diag)
{
    const int dim = call->attrs->slice.dim;
    qf_type part = *out;

    QF_TRY(qfi_need_dim(call, out, dim, diag));
    QF_TRY(check_element(call, out->dim[dim], diag));
    remove_dim(&part, dim);
    if (!qf_type_equal(&part, &call->in[1]))
        QF_FAIL(diag, QF_ERR_SHAPE, "select_scatter: operand 1 has not the type of the element");
    return QF_OK;
}
