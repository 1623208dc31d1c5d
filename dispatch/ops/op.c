/* The rows of ops.def with their rules, and what every rule starts from. */
#include "dispatch/ops/op.h"

#include <string.h>

/* The flags column of ops.def. */
enum { FLAG_0 = 0, FLAG_CHECKED = QF_OP_CHECKED, FLAG_INEXACT = QF_OP_INEXACT };

static const qf_op_info infos[] = {
#define QF_OP(name, n_in, kind, flags, attrs, infer, lower, kernel)                                \
    { #name, n_in, QF_KIND_##kind, FLAG_##flags, #attrs },
#include <qfold/ops.def>
#undef QF_OP
};

static qfi_infer *const infers[] = {
#define QF_OP(name, n_in, kind, flags, attrs, infer, lower, kernel) qfi_infer_##infer,
#include <qfold/ops.def>
#undef QF_OP
};

const qf_op_info *qf_op_get(qf_op op)
{
    return (unsigned)op < QF_OP_COUNT ? &infos[op] : NULL;
}

qf_op qf_op_find(const char *name)
{
    int op = 0;
    while (op < QF_OP_COUNT && strcmp(infos[op].name, name) != 0)
        op++;
    return (qf_op)op;
}

const char *qfi_op_name(const qf_call *call)
{
    return infos[call->op].name;
}

static qf_status check_operand(const qf_call *call, int i, qf_diag *diag)
{
    const qf_type *t = &call->in[i];
    uint64_t bytes;

    if (qf_dtype_get(t->dtype)->bits == 0)
        QF_FAIL(diag, QF_ERR_DTYPE, "%s: operand %d has no dtype", qfi_op_name(call), i);
    if (t->rank < 0 || t->rank > QF_MAX_RANK)
        QF_FAIL(diag, QF_ERR_RANK, "%s: operand %d has rank %d", qfi_op_name(call), i, t->rank);
    if (!qf_type_bytes(t, &bytes))
        QF_FAIL(diag, QF_ERR_SHAPE, "%s: operand %d has an unknown or too large shape",
                qfi_op_name(call), i);
    return QF_OK;
}

qf_status qf_infer(const qf_call *call, qf_type *out, qf_diag *diag)
{
    const qf_op_info *info = qf_op_get(call->op);
    uint64_t bytes;

    if (!info)
        QF_FAIL(diag, QF_ERR_ARG, "operator %d does not exist", (int)call->op);
    if (info->n_in >= 0 ? call->n_in != info->n_in : call->n_in == 0)
        QF_FAIL(diag, QF_ERR_ARG, "%s: %d operands", info->name, call->n_in);
    if (!call->attrs && strcmp(info->attrs, "none") != 0)
        QF_FAIL(diag, QF_ERR_ATTR, "%s: attributes are missing", info->name);
    for (int i = 0; i < call->n_in; i++)
        QF_TRY(check_operand(call, i, diag));

    *out = call->n_in > 0 ? call->in[0] : (qf_type){ 0 };
    QF_TRY(infers[call->op](call, out, diag));
    if (!qf_type_bytes(out, &bytes))
        QF_FAIL(diag, QF_ERR_OVERFLOW, "%s: the result is too large", info->name);
    return QF_OK;
}

#define KIND(name) (1u << QF_CLASS_##name)

/* computes: only dtypes that have a compute type. */
static const struct {
    bool computes;
    unsigned kinds;
} accepts[] = {
    [QFI_COMPUTE] = { true, ~0u },
    [QFI_NUMBER] = { true, ~KIND(BOOL) },
    [QFI_INTEGER] = { false, KIND(INT) | KIND(UINT) },
    [QFI_BITS] = { false, KIND(INT) | KIND(UINT) | KIND(BOOL) },
    [QFI_SIGNED] = { true, KIND(INT) | KIND(FLOAT) },
    [QFI_FLOATING] = { true, KIND(FLOAT) },
};

qf_status qfi_need_dtype(const qf_call *call, int i, qfi_accept accept, qf_diag *diag)
{
    const qf_dtype_info *d = qf_dtype_get(call->in[i].dtype);
    const bool computes = d->compute != QF_DT_none || !accepts[accept].computes;

    if (!computes || !(accepts[accept].kinds >> d->kind & 1))
        QF_FAIL(diag, QF_ERR_DTYPE, "%s: operand %d may not be %s", qfi_op_name(call), i, d->name);
    return QF_OK;
}

qf_status qfi_need_rank(const qf_call *call, int i, int least, qf_diag *diag)
{
    if (call->in[i].rank < least)
        QF_FAIL(diag, QF_ERR_RANK, "%s: operand %d has rank %d, needs %d", qfi_op_name(call), i,
                call->in[i].rank, least);
    return QF_OK;
}

qf_status qfi_need_dim(const qf_call *call, const qf_type *type, int64_t dim, qf_diag *diag)
{
    if (dim < 0 || dim >= type->rank)
        QF_FAIL(diag, QF_ERR_ATTR, "%s: dim %lld of rank %d", qfi_op_name(call), (long long)dim,
                type->rank);
    return QF_OK;
}

qf_status qfi_need_mask(const qf_call *call, uint32_t dims, int rank, qf_diag *diag)
{
    if (dims >> rank != 0)
        QF_FAIL(diag, QF_ERR_ATTR, "%s: dims %#x of rank %d", qfi_op_name(call), (unsigned)dims,
                rank);
    return QF_OK;
}

qf_status qfi_broadcast(const qf_call *call, qf_type *shape, const qf_type *with, qf_diag *diag)
{
    const int rank = shape->rank > with->rank ? shape->rank : with->rank;
    qf_type wide = { .dtype = shape->dtype, .rank = (int8_t)rank };

    for (int d = 0; d < rank; d++) {
        const int a = d - (rank - shape->rank), b = d - (rank - with->rank);
        const int64_t na = a < 0 ? 1 : shape->dim[a], nb = b < 0 ? 1 : with->dim[b];
        if (na != nb && na != 1 && nb != 1)
            QF_FAIL(diag, QF_ERR_SHAPE, "%s: dims %lld and %lld do not broadcast",
                    qfi_op_name(call), (long long)na, (long long)nb);
        wide.dim[d] = na == 1 ? nb : na;
    }
    *shape = wide;
    return QF_OK;
}
