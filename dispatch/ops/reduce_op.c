/* Types of reductions and scans. */
#include "dispatch/ops/op.h"

static void drop_reduced(const qf_call *call, qf_type *out)
{
    const uint32_t dims = call->attrs->reduce.dims;
    int to = 0;

    for (int d = 0; d < call->in[0].rank; d++) {
        if (dims >> d & 1 && !call->attrs->reduce.keep)
            continue;
        out->dim[to++] = dims >> d & 1 ? 1 : call->in[0].dim[d];
    }
    out->rank = (int8_t)to;
}

static qf_status reduced(const qf_call *call, qfi_accept accept, qf_type *out, qf_diag *diag)
{
    QF_TRY(qfi_need_dtype(call, 0, accept, diag));
    QF_TRY(qfi_need_mask(call, call->attrs->reduce.dims, out->rank, diag));
    drop_reduced(call, out);
    return QF_OK;
}

/* Sums of integers and booleans are i64, as in torch. */
static void widen_integers(qf_type *out)
{
    if (qf_dtype_get(out->dtype)->kind != QF_CLASS_FLOAT)
        out->dtype = QF_DT_i64;
}

qf_status qfi_infer_sum(const qf_call *call, qf_type *out, qf_diag *diag)
{
    QF_TRY(reduced(call, QFI_COMPUTE, out, diag));
    widen_integers(out);
    return QF_OK;
}

qf_status qfi_infer_float_reduce(const qf_call *call, qf_type *out, qf_diag *diag)
{
    return reduced(call, QFI_FLOATING, out, diag);
}

/* The extremum of nothing does not exist. */
qf_status qfi_infer_extremum(const qf_call *call, qf_type *out, qf_diag *diag)
{
    uint64_t have = 0, want = 0;

    QF_TRY(reduced(call, QFI_COMPUTE, out, diag));
    if (qf_dtype_get(out->dtype)->bits < 8)
        QF_FAIL(diag, QF_ERR_DTYPE, "%s: %s is not supported", qfi_op_name(call),
                qf_dtype_get(out->dtype)->name);
    if (qf_type_elements(&call->in[0], &have) && qf_type_elements(out, &want) && have == 0 &&
        want > 0)
        QF_FAIL(diag, QF_ERR_SHAPE, "%s: over no elements", qfi_op_name(call));
    return QF_OK;
}

qf_status qfi_infer_argmax(const qf_call *call, qf_type *out, qf_diag *diag)
{
    QF_TRY(qfi_infer_extremum(call, out, diag));
    out->dtype = QF_DT_i64;
    return QF_OK;
}

qf_status qfi_infer_any(const qf_call *call, qf_type *out, qf_diag *diag)
{
    QF_TRY(reduced(call, QFI_COMPUTE, out, diag));
    out->dtype = QF_DT_b8;
    return QF_OK;
}

qf_status qfi_infer_cumsum(const qf_call *call, qf_type *out, qf_diag *diag)
{
    QF_TRY(qfi_need_dtype(call, 0, QFI_COMPUTE, diag));
    QF_TRY(qfi_need_dim(call, out, call->attrs->dim.dim, diag));
    widen_integers(out);
    return QF_OK;
}

qf_status qfi_infer_cumulative(const qf_call *call, qf_type *out, qf_diag *diag)
{
    QF_TRY(qfi_need_dtype(call, 0, QFI_NUMBER, diag));
    if (out->dtype == QF_DT_u64 || qf_dtype_get(out->dtype)->bits < 8)
        QF_FAIL(diag, QF_ERR_DTYPE, "%s: %s is not supported", qfi_op_name(call),
                qf_dtype_get(out->dtype)->name);
    return qfi_need_dim(call, out, call->attrs->dim.dim, diag);
}
