/* Type of matmul: torch's rules for one dim, two dims, and broadcast batches. */
#include "dispatch/ops/op.h"

qf_status qfi_infer_matmul(const qf_call *call, qf_type *out, qf_diag *diag)
{
    qf_type a = call->in[0], b = call->in[1];

    QF_TRY(qfi_need_dtype(call, 0, QFI_NUMBER, diag));
    const qf_dtype_info *info = qf_dtype_get(a.dtype);
    if (info->bits < (info->kind == QF_CLASS_FLOAT ? 16 : 8))
        QF_FAIL(diag, QF_ERR_DTYPE, "matmul: %s is not supported", info->name);
    if (a.dtype != b.dtype)
        QF_FAIL(diag, QF_ERR_DTYPE, "matmul: %s by %s", qf_dtype_get(a.dtype)->name,
                qf_dtype_get(b.dtype)->name);
    QF_TRY(qfi_need_rank(call, 0, 1, diag));
    QF_TRY(qfi_need_rank(call, 1, 1, diag));

    const int b_inner = b.rank > 1 ? b.rank - 2 : 0;
    if (a.dim[a.rank - 1] != b.dim[b_inner])
        QF_FAIL(diag, QF_ERR_SHAPE, "matmul: inner dims %lld and %lld",
                (long long)a.dim[a.rank - 1], (long long)b.dim[b_inner]);
    qf_type batch = { .dtype = a.dtype, .rank = (int8_t)(a.rank > 2 ? a.rank - 2 : 0) };
    for (int d = 0; d < batch.rank; d++)
        batch.dim[d] = a.dim[d];
    qf_type b_batch = b;
    b_batch.rank = (int8_t)(b.rank > 2 ? b.rank - 2 : 0);
    QF_TRY(qfi_broadcast(call, &batch, &b_batch, diag));

    *out = batch;
    if (a.rank > 1)
        out->dim[out->rank++] = a.dim[a.rank - 2];
    if (b.rank > 1)
        out->dim[out->rank++] = b.dim[b.rank - 1];
    return QF_OK;
}
