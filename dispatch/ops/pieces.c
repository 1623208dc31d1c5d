/* Types of operators whose result is put together from boxes. */
#include "dispatch/ops/op.h"

qf_status qfi_infer_cat(const qf_call *call, qf_type *out, qf_diag *diag)
{
    const int dim = call->attrs->dim.dim;
    int64_t total = out->rank > dim ? out->dim[dim] : 0;

    QF_TRY(qfi_need_dim(call, out, dim, diag));
    for (int i = 1; i < call->n_in; i++) {
        qf_type part = call->in[i];
        if (part.dtype != out->dtype)
            QF_FAIL(diag, QF_ERR_DTYPE, "cat: operand %d is %s, operand 0 %s", i,
                    qf_dtype_get(part.dtype)->name, qf_dtype_get(out->dtype)->name);
        if (part.rank != out->rank)
            QF_FAIL(diag, QF_ERR_RANK, "cat: operand %d has rank %d, operand 0 %d", i, part.rank,
                    out->rank);
        if (__builtin_add_overflow(total, part.dim[dim], &total))
            QF_FAIL(diag, QF_ERR_OVERFLOW, "cat: the result is too large");
        part.dim[dim] = out->dim[dim];
        if (!qf_type_equal(&part, out))
            QF_FAIL(diag, QF_ERR_SHAPE,
                    "cat: operand %d differs from operand 0 in a dim other than %d", i, dim);
    }
    out->dim[dim] = total;
    return QF_OK;
}

qf_status qfi_infer_pad(const qf_call *call, qf_type *out, qf_diag *diag)
{
    const qf_type *fill = &call->in[1];

    if (fill->rank != 0)
        QF_FAIL(diag, QF_ERR_RANK, "pad: operand 1 has rank %d, needs 0", fill->rank);
    if (fill->dtype != out->dtype)
        QF_FAIL(diag, QF_ERR_DTYPE, "pad: operand 1 is %s, operand 0 %s",
                qf_dtype_get(fill->dtype)->name, qf_dtype_get(out->dtype)->name);
    for (int d = 0; d < out->rank; d++) {
        int64_t n = out->dim[d];
        if (__builtin_add_overflow(n, call->attrs->pad.before[d], &n) ||
            __builtin_add_overflow(n, call->attrs->pad.after[d], &n))
            QF_FAIL(diag, QF_ERR_OVERFLOW, "pad: dim %d is too large", d);
        /* Cropping one side past the other would make the surviving range undefined. */
        if (n < 0 || call->attrs->pad.before[d] < -out->dim[d] ||
            call->attrs->pad.after[d] < -out->dim[d])
            QF_FAIL(diag, QF_ERR_ATTR, "pad: dim %d is cropped by more than its size", d);
        out->dim[d] = n;
    }
    return QF_OK;
}
