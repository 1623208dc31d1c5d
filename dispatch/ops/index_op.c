/* Types of values that are made from coordinates. */
#include "dispatch/ops/op.h"

static qf_status take_type(const qf_call *call, const qf_type *type, qf_type *out, qf_diag *diag)
{
    if (qf_dtype_get(type->dtype)->compute == QF_DT_none)
        QF_FAIL(diag, QF_ERR_DTYPE, "%s: dtype %s is not supported", qfi_op_name(call),
                qf_dtype_get(type->dtype)->name);
    if (type->rank < 0 || type->rank > QF_MAX_RANK)
        QF_FAIL(diag, QF_ERR_RANK, "%s: rank %d", qfi_op_name(call), type->rank);
    for (int d = 0; d < type->rank; d++)
        if (type->dim[d] < 0)
            QF_FAIL(diag, QF_ERR_SHAPE, "%s: dim %d is unknown", qfi_op_name(call), d);
    *out = *type;
    return QF_OK;
}

qf_status qfi_infer_full(const qf_call *call, qf_type *out, qf_diag *diag)
{
    return take_type(call, &call->attrs->full.type, out, diag);
}

qf_status qfi_infer_arange(const qf_call *call, qf_type *out, qf_diag *diag)
{
    const qf_type *type = &call->attrs->arange.type;

    QF_TRY(take_type(call, type, out, diag));
    if (type->rank != 1)
        QF_FAIL(diag, QF_ERR_RANK, "arange: rank %d", type->rank);
    const qf_dtype_class kind = qf_dtype_get(type->dtype)->kind;
    if (kind == QF_CLASS_BOOL)
        QF_FAIL(diag, QF_ERR_DTYPE, "arange: booleans do not count");
    if (kind != QF_CLASS_FLOAT &&
        (!call->attrs->arange.start.is_int || !call->attrs->arange.step.is_int))
        QF_FAIL(diag, QF_ERR_ATTR, "arange: integers need an integral start and step");
    return QF_OK;
}
