/* Types of operators that work element by element. */
#include "dispatch/ops/op.h"

/* All operands of one accepted dtype, broadcast together. */
static qf_status alike(const qf_call *call, qfi_accept accept, qf_type *out, qf_diag *diag)
{
    QF_TRY(qfi_need_dtype(call, 0, accept, diag));
    for (int i = 1; i < call->n_in; i++) {
        if (call->in[i].dtype != out->dtype)
            QF_FAIL(diag, QF_ERR_DTYPE, "%s: operand %d is %s, operand 0 %s", qfi_op_name(call), i,
                    qf_dtype_get(call->in[i].dtype)->name, qf_dtype_get(out->dtype)->name);
        QF_TRY(qfi_broadcast(call, out, &call->in[i], diag));
    }
    return QF_OK;
}

qf_status qfi_infer_compute(const qf_call *call, qf_type *out, qf_diag *diag)
{
    return alike(call, QFI_COMPUTE, out, diag);
}

qf_status qfi_infer_number(const qf_call *call, qf_type *out, qf_diag *diag)
{
    return alike(call, QFI_NUMBER, out, diag);
}

qf_status qfi_infer_integer(const qf_call *call, qf_type *out, qf_diag *diag)
{
    return alike(call, QFI_INTEGER, out, diag);
}

qf_status qfi_infer_bits(const qf_call *call, qf_type *out, qf_diag *diag)
{
    return alike(call, QFI_BITS, out, diag);
}

qf_status qfi_infer_signed(const qf_call *call, qf_type *out, qf_diag *diag)
{
    return alike(call, QFI_SIGNED, out, diag);
}

qf_status qfi_infer_floating(const qf_call *call, qf_type *out, qf_diag *diag)
{
    return alike(call, QFI_FLOATING, out, diag);
}

/* Wide unsigned powers are nowhere defined by the runtimes that models come from. */
qf_status qfi_infer_pow(const qf_call *call, qf_type *out, qf_diag *diag)
{
    if (out->dtype == QF_DT_u16 || out->dtype == QF_DT_u32 || out->dtype == QF_DT_u64)
        QF_FAIL(diag, QF_ERR_DTYPE, "pow: %s is not supported", qf_dtype_get(out->dtype)->name);
    return alike(call, QFI_NUMBER, out, diag);
}

qf_status qfi_infer_compare(const qf_call *call, qf_type *out, qf_diag *diag)
{
    QF_TRY(alike(call, QFI_COMPUTE, out, diag));
    out->dtype = QF_DT_b8;
    return QF_OK;
}

qf_status qfi_infer_where(const qf_call *call, qf_type *out, qf_diag *diag)
{
    if (call->in[0].dtype != QF_DT_b8)
        QF_FAIL(diag, QF_ERR_DTYPE, "where: the condition is %s",
                qf_dtype_get(call->in[0].dtype)->name);
    if (call->in[1].dtype != call->in[2].dtype)
        QF_FAIL(diag, QF_ERR_DTYPE, "where: %s or %s", qf_dtype_get(call->in[1].dtype)->name,
                qf_dtype_get(call->in[2].dtype)->name);
    out->dtype = call->in[1].dtype;
    QF_TRY(qfi_broadcast(call, out, &call->in[1], diag));
    return qfi_broadcast(call, out, &call->in[2], diag);
}

qf_status qfi_infer_tri(const qf_call *call, qf_type *out, qf_diag *diag)
{
    (void)out;
    return qfi_need_rank(call, 0, 2, diag);
}

qf_status qfi_infer_cast(const qf_call *call, qf_type *out, qf_diag *diag)
{
    const qf_dtype_info *to = qf_dtype_get(call->attrs->cast.dtype);

    if (to->bits == 0)
        QF_FAIL(diag, QF_ERR_ATTR, "cast: dtype %d does not exist", (int)call->attrs->cast.dtype);
    if (call->attrs->cast.dtype == out->dtype)
        return QF_OK;
    QF_TRY(qfi_need_dtype(call, 0, QFI_COMPUTE, diag));
    if (to->compute == QF_DT_none)
        QF_FAIL(diag, QF_ERR_DTYPE, "cast: to %s is not supported", to->name);
    out->dtype = call->attrs->cast.dtype;
    return QF_OK;
}

/* Complex numbers of two f32; their other sizes only move. */
qf_status qfi_infer_complex(const qf_call *call, qf_type *out, qf_diag *diag)
{
    QF_TRY(alike(call, QFI_FLOATING, out, diag));
    if (out->dtype != QF_DT_f32)
        QF_FAIL(diag, QF_ERR_DTYPE, "complex: of %s", qf_dtype_get(out->dtype)->name);
    out->dtype = QF_DT_c64;
    return QF_OK;
}

qf_status qfi_infer_part(const qf_call *call, qf_type *out, qf_diag *diag)
{
    if (out->dtype != QF_DT_c64)
        QF_FAIL(diag, QF_ERR_DTYPE, "%s: of %s", qfi_op_name(call), qf_dtype_get(out->dtype)->name);
    out->dtype = QF_DT_f32;
    return QF_OK;
}

qf_status qfi_infer_bitcast(const qf_call *call, qf_type *out, qf_diag *diag)
{
    const qf_dtype_info *from = qf_dtype_get(out->dtype),
                        *to = qf_dtype_get(call->attrs->cast.dtype);

    if (to->bits == 0)
        QF_FAIL(diag, QF_ERR_ATTR, "bitcast: dtype %d does not exist",
                (int)call->attrs->cast.dtype);
    if (to->bits != from->bits)
        QF_FAIL(diag, QF_ERR_DTYPE, "bitcast: %s as %s", from->name, to->name);
    out->dtype = call->attrs->cast.dtype;
    return QF_OK;
}
