/* Types of quantize and dequantize. */
#include "dispatch/ops/op.h"

/* Operand i must have one element per block of the data. */
static qf_status check_blocks(const qf_call *call, int i, qf_diag *diag)
{
    const qf_type *data = &call->in[0], *t = &call->in[i];

    if (t->rank != data->rank)
        QF_FAIL(diag, QF_ERR_RANK, "%s: operand %d has rank %d, the data %d", qfi_op_name(call), i,
                t->rank, data->rank);
    for (int d = 0; d < data->rank; d++) {
        const int64_t block = call->attrs->quant.block[d], n = data->dim[d];
        if (block < 1)
            QF_FAIL(diag, QF_ERR_ATTR, "%s: block of %lld in dim %d", qfi_op_name(call),
                    (long long)block, d);
        const int64_t blocks = n / block + (n % block != 0);
        if (t->dim[d] != blocks && !(n == 0 && t->dim[d] == 1))
            QF_FAIL(diag, QF_ERR_SHAPE,
                    "%s: operand %d has %lld elements in dim %d for %lld blocks", qfi_op_name(call),
                    i, (long long)t->dim[d], d, (long long)blocks);
    }
    return QF_OK;
}

qf_status qfi_infer_quantize(const qf_call *call, qf_type *out, qf_diag *diag)
{
    const qf_dtype_info *to = qf_dtype_get(call->attrs->quant.dtype);

    QF_TRY(qfi_need_dtype(call, 0, QFI_FLOATING, diag));
    if (call->in[0].dtype == QF_DT_f64 || call->in[1].dtype != QF_DT_f32 ||
        call->in[2].dtype != QF_DT_f32)
        QF_FAIL(diag, QF_ERR_DTYPE,
                "quantize: works in f32, with multiplier and zero point in f32");
    if (to->compute == QF_DT_none || to->kind == QF_CLASS_BOOL || to->bits > 32 ||
        to->compute == QF_DT_f64 || call->attrs->quant.dtype == QF_DT_f32 ||
        call->attrs->quant.dtype == QF_DT_u32)
        QF_FAIL(diag, QF_ERR_DTYPE, "quantize: to %s is not supported", to->name);
    const bool is_float = to->kind == QF_CLASS_FLOAT, is_signed = to->kind == QF_CLASS_INT;
    const int64_t most = is_float ? INT32_MAX : ((int64_t)1 << (to->bits - is_signed)) - 1;
    const int64_t least = is_float ? INT32_MIN : is_signed ? -most - 1 : 0;
    const int64_t qmin = call->attrs->quant.qmin, qmax = call->attrs->quant.qmax;
    if (call->attrs->quant.rule != QF_QUANT_TORCH || qmin > qmax || qmin < least || qmax > most)
        QF_FAIL(diag, QF_ERR_ATTR, "quantize: unknown rule, or bounds that %s does not hold",
                to->name);
    QF_TRY(check_blocks(call, 1, diag));
    QF_TRY(check_blocks(call, 2, diag));
    out->dtype = call->attrs->quant.dtype;
    return QF_OK;
}

qf_status qfi_infer_dequantize(const qf_call *call, qf_type *out, qf_diag *diag)
{
    const qf_dtype_info *to = qf_dtype_get(call->attrs->quant.dtype);

    QF_TRY(qfi_need_dtype(call, 0, QFI_NUMBER, diag));
    QF_TRY(qfi_need_dtype(call, 1, QFI_FLOATING, diag));
    QF_TRY(qfi_need_dtype(call, 2, QFI_NUMBER, diag));
    if (to->kind != QF_CLASS_FLOAT || to->compute == QF_DT_none)
        QF_FAIL(diag, QF_ERR_DTYPE, "dequantize: to %s is not supported", to->name);
    if (call->attrs->quant.rule != QF_QUANT_TORCH)
        QF_FAIL(diag, QF_ERR_ATTR, "dequantize: unknown rule");
    QF_TRY(check_blocks(call, 1, diag));
    QF_TRY(check_blocks(call, 2, diag));
    out->dtype = call->attrs->quant.dtype;
    return QF_OK;
}
