/* Types of operators that pick elements by index. */
#include "dispatch/ops/op.h"

static qf_status check_index(const qf_call *call, int i, qf_diag *diag)
{
    if (qf_dtype_get(call->in[0].dtype)->bits < 8)
        QF_FAIL(diag, QF_ERR_DTYPE, "%s: %s is not supported", qfi_op_name(call),
                qf_dtype_get(call->in[0].dtype)->name);
    if (call->in[i].dtype != QF_DT_i64 && call->in[i].dtype != QF_DT_i32)
        QF_FAIL(diag, QF_ERR_DTYPE, "%s: operand %d is %s, an index is i64 or i32",
                qfi_op_name(call), i, qf_dtype_get(call->in[i].dtype)->name);
    return QF_OK;
}

qf_status qfi_infer_index_select(const qf_call *call, qf_type *out, qf_diag *diag)
{
    QF_TRY(qfi_need_dim(call, out, call->attrs->dim.dim, diag));
    QF_TRY(check_index(call, 1, diag));
    if (call->in[1].rank != 1)
        QF_FAIL(diag, QF_ERR_RANK, "index_select: the index has rank %d", call->in[1].rank);
    out->dim[call->attrs->dim.dim] = call->in[1].dim[0];
    return QF_OK;
}

/* torch's gather: the index has the result's shape and may be shorter than the data in every dim
 * but the gathered one. */
qf_status qfi_infer_gather(const qf_call *call, qf_type *out, qf_diag *diag)
{
    const qf_type *data = &call->in[0], *index = &call->in[1];

    QF_TRY(qfi_need_dim(call, out, call->attrs->dim.dim, diag));
    QF_TRY(check_index(call, 1, diag));
    if (index->rank != data->rank)
        QF_FAIL(diag, QF_ERR_RANK, "gather: the index has rank %d, the data %d", index->rank,
                data->rank);
    for (int d = 0; d < data->rank; d++) {
        if (d != call->attrs->dim.dim && index->dim[d] > data->dim[d])
            QF_FAIL(diag, QF_ERR_SHAPE, "gather: dim %d of the index is larger than the data's", d);
        out->dim[d] = index->dim[d];
    }
    return QF_OK;
}

/* torch's placement: the broadcast index dims stand where the indexed dims stood if those are
 * neighbours, else in front. */
qf_status qfi_infer_index(const qf_call *call, qf_type *out, qf_diag *diag)
{
    const uint32_t dims = call->attrs->index.dims;
    const qf_type *data = &call->in[0];
    qf_type index = call->n_in > 1 ? call->in[1] : (qf_type){ 0 };

    QF_TRY(qfi_need_mask(call, dims, data->rank, diag));
    if (dims == 0 || __builtin_popcount(dims) != call->n_in - 1)
        QF_FAIL(diag, QF_ERR_ATTR, "index: dims %#x with %d indices", (unsigned)dims,
                call->n_in - 1);
    for (int i = 1; i < call->n_in; i++) {
        QF_TRY(check_index(call, i, diag));
        QF_TRY(qfi_broadcast(call, &index, &call->in[i], diag));
    }
    const int rank = data->rank - __builtin_popcount(dims) + index.rank;
    if (rank > QF_MAX_RANK)
        QF_FAIL(diag, QF_ERR_RANK, "index: the result has rank %d", rank);

    const int first = __builtin_ctz(dims);
    const bool together = ((dims >> first) & ((dims >> first) + 1)) == 0;
    int to = 0;
    for (int d = 0; together && d < first; d++)
        out->dim[to++] = data->dim[d];
    for (int d = 0; d < index.rank; d++)
        out->dim[to++] = index.dim[d];
    for (int d = together ? first : 0; d < data->rank; d++)
        if (!(dims >> d & 1))
            out->dim[to++] = data->dim[d];
    out->rank = (int8_t)rank;
    return QF_OK;
}
