/* Types of operators that order elements, count them, or write by index. */
#include "dispatch/ops/op.h"

qf_status qfi_infer_argsort(const qf_call *call, qf_type *out, qf_diag *diag)
{
    const int dim = call->attrs->sort.dim;
    const int64_t n = call->attrs->sort.n;

    QF_TRY(qfi_need_dtype(call, 0, QFI_COMPUTE, diag));
    QF_TRY(qfi_need_dim(call, out, dim, diag));
    if (n < 0 || n > out->dim[dim])
        QF_FAIL(diag, QF_ERR_ATTR, "argsort: the first %lld of %lld", (long long)n,
                (long long)out->dim[dim]);
    out->dtype = QF_DT_i64;
    out->dim[dim] = n;
    return QF_OK;
}

static qf_status need_row(const qf_call *call, int i, qf_diag *diag)
{
    if (call->in[i].rank != 1)
        QF_FAIL(diag, QF_ERR_RANK, "%s: operand %d has rank %d, needs 1", qfi_op_name(call), i,
                call->in[i].rank);
    return QF_OK;
}

/* Dtypes that are joined by arithmetic are those that are computed in as they are. */
static qf_status need_joined(const qf_call *call, qf_diag *diag)
{
    const qf_dtype_info *d = qf_dtype_get(call->in[0].dtype);
    const unsigned mode = call->attrs->put.mode;

    if (mode >= QF_PUT_COUNT)
        QF_FAIL(diag, QF_ERR_ATTR, "put: mode %u", mode);
    if (d->bits < 8 || (mode != QF_PUT_SET && d->compute != call->in[0].dtype))
        QF_FAIL(diag, QF_ERR_DTYPE, "put: %s is not supported", d->name);
    return QF_OK;
}

qf_status qfi_infer_put(const qf_call *call, qf_type *out, qf_diag *diag)
{
    (void)out;
    for (int i = 0; i < 3; i++)
        QF_TRY(need_row(call, i, diag));
    QF_TRY(need_joined(call, diag));
    if (call->in[1].dtype != QF_DT_i64 && call->in[1].dtype != QF_DT_i32)
        QF_FAIL(diag, QF_ERR_DTYPE, "put: operand 1 is %s, an index is i64 or i32",
                qf_dtype_get(call->in[1].dtype)->name);
    if (call->in[2].dtype != call->in[0].dtype)
        QF_FAIL(diag, QF_ERR_DTYPE, "put: operand 2 is %s, operand 0 %s",
                qf_dtype_get(call->in[2].dtype)->name, qf_dtype_get(call->in[0].dtype)->name);
    if (call->in[2].dim[0] != call->in[1].dim[0])
        QF_FAIL(diag, QF_ERR_SHAPE, "put: %lld elements for %lld places",
                (long long)call->in[2].dim[0], (long long)call->in[1].dim[0]);
    return QF_OK;
}

qf_status qfi_infer_nonzero(const qf_call *call, qf_type *out, qf_diag *diag)
{
    const int64_t n = call->attrs->count.n;

    QF_TRY(need_row(call, 0, diag));
    if (call->in[0].dtype != QF_DT_b8)
        QF_FAIL(diag, QF_ERR_DTYPE, "nonzero: operand 0 is %s, not b8",
                qf_dtype_get(call->in[0].dtype)->name);
    if (n < 0 || n > out->dim[0])
        QF_FAIL(diag, QF_ERR_ATTR, "nonzero: %lld of %lld elements", (long long)n,
                (long long)out->dim[0]);
    out->dtype = QF_DT_i64;
    out->dim[0] = n;
    return QF_OK;
}
