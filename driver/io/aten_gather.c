/* Builders of operators that read elements by index. */
#include "aten_build.h"

#include <string.h>

qfi_ref qfi_arg_index(qfi_lowering *l, const char *name)
{
    const qfi_ref ref = qfi_arg_tensor(l, name);
    const qf_dtype dtype = qfi_type_of(l, ref).dtype;

    if (qfi_lowering_ok(l) && dtype != QF_DT_i64 && dtype != QF_DT_i32)
        qfi_refuse(l, QF_REASON_unsupported_argument, "%s of %s", name, qf_dtype_get(dtype)->name);
    return ref;
}

qfi_ref qfi_checked_index(qfi_lowering *l, qfi_ref index, int64_t size, bool wraps)
{
    const qfi_ref zero = qfi_full_int(l, QF_DT_i64, 0), end = qfi_full_int(l, QF_DT_i64, size);
    qfi_ref at = qfi_cast(l, index, QF_DT_i64);

    if (wraps)
        at = qfi_append3(l, QF_OP_where, qfi_append2(l, QF_OP_lt, at, zero),
                         qfi_append2(l, QF_OP_add, at, end), at);
    const qfi_ref inside = qfi_append2(l, QF_OP_bit_and, qfi_append2(l, QF_OP_ge, at, zero),
                                       qfi_append2(l, QF_OP_lt, at, end));
    return qfi_append3(l, QF_OP_where, inside, at, qfi_full_int(l, QF_DT_i64, INT64_MAX));
}

void qfi_check_defined(qfi_lowering *l, qfi_ref ref, const char *text)
{
    qf_scalar value[1];
    uint32_t n = 0;

    if (!qfi_lowering_ok(l) || qfi_elements_of(l, ref) == 0)
        return;
    /* One element, as it will be asked for. */
    const bool is_float = qfi_class(qfi_type_of(l, ref).dtype) == QF_CLASS_FLOAT;
    const qfi_ref one =
        qfi_cast(l, qfi_slice(l, qfi_flatten(l, ref), 0, 0, 1), is_float ? QF_DT_f64 : QF_DT_i64);
    if (qfi_lowering_ok(l) && !l->env->elements(l->env, one, value, &n) &&
        l->env->prog->def[one].undefined)
        qfi_refuse(l, QF_REASON_undefined, "%s", text);
}

qfi_ref qfi_select_rows(qfi_lowering *l, qfi_ref x, uint8_t dim, qfi_ref index)
{
    const qf_attrs attrs = { .dim = { dim } };
    return qfi_append(l, QF_OP_index_select, &attrs, (const qfi_ref[]){ x, qfi_flatten(l, index) },
                      2);
}

/* An index of an operator that refuses negative ones: they are outside of every tensor. */
static qfi_ref from_zero(qfi_lowering *l, qfi_ref index)
{
    const qfi_ref at = qfi_cast(l, index, QF_DT_i64);
    const qfi_ref below = qfi_append2(l, QF_OP_lt, at, qfi_full_int(l, QF_DT_i64, 0));

    return qfi_append3(l, QF_OP_where, below, qfi_full_int(l, QF_DT_i64, INT64_MAX), at);
}

void qfi_build_index_select(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self"), index = from_zero(l, qfi_arg_index(l, "index"));
    const int rank = qfi_type_of(l, x).rank;

    if (rank < 1)
        qfi_refuse(l, QF_REASON_unsupported_rank, "rank 0");
    qfi_result(l, qfi_select_rows(l, x, qfi_dim(l, qfi_arg_int(l, "dim"), rank), index));
}

void qfi_build_embedding(qfi_lowering *l)
{
    const qfi_ref weight = qfi_arg_tensor(l, "weight"),
                  index = from_zero(l, qfi_arg_index(l, "indices"));
    const qf_type table = qfi_type_of(l, weight), at = qfi_type_of(l, index);
    int64_t dim[2 * QF_MAX_RANK];

    if (table.rank != 2) {
        qfi_refuse(l, QF_REASON_undefined, "a table of rank %d", table.rank);
        return;
    }
    memcpy(dim, at.dim, (size_t)at.rank * sizeof *dim);
    dim[at.rank] = table.dim[1];
    qfi_result(l, qfi_reshape(l, qfi_select_rows(l, weight, 0, index), (uint32_t)at.rank + 1, dim));
}

void qfi_build_index(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    qfi_ref in[1 + QF_MAX_RANK] = { x };
    qf_attrs attrs = { .index = { 0 } };
    qfi_indices list;

    qfi_arg_indices(l, "indices", qfi_type_of(l, x), &list);
    for (uint32_t i = 0; i < list.n; i++) {
        in[1 + i] = list.index[i];
        attrs.index.dims |= 1u << list.dim[i];
    }
    qfi_result(l, list.n ? qfi_append(l, QF_OP_index, &attrs, in, 1 + list.n) : x);
}

/* Elements by their numbers in all of self. */
void qfi_build_take(qfi_lowering *l)
{
    const qfi_ref x = qfi_flatten(l, qfi_arg_tensor(l, "self")), index = qfi_arg_index(l, "index");
    const qf_type type = qfi_type_of(l, index);
    const qfi_ref at = qfi_checked_index(l, index, qfi_elements_of(l, x), true);

    qfi_result(l, qfi_reshape(l, qfi_select_rows(l, x, 0, at), (uint32_t)type.rank, type.dim));
}

void qfi_build_gather(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self"), index = from_zero(l, qfi_arg_index(l, "index"));
    const int rank = qfi_type_of(l, x).rank;
    const qf_attrs attrs = { .dim = { qfi_dim(l, qfi_arg_int(l, "dim"), rank) } };

    if (rank < 1)
        qfi_refuse(l, QF_REASON_unsupported_rank, "rank 0");
    qfi_result(l, qfi_append(l, QF_OP_gather, &attrs, (const qfi_ref[]){ x, index }, 2));
}

/* gather, with both operands broadcast over the other dims; without a dim, of all elements in a
 * row. */
void qfi_build_take_along_dim(qfi_lowering *l)
{
    const bool flat = !qfi_arg_has(l, "dim");
    qfi_ref x = qfi_arg_tensor(l, "self"), index = qfi_arg_index(l, "indices");

    if (flat) {
        x = qfi_flatten(l, x);
        index = qfi_flatten(l, index);
    }
    qf_type from = qfi_type_of(l, x), at = qfi_type_of(l, index);
    const uint8_t dim = flat ? 0 : qfi_dim(l, qfi_arg_int(l, "dim"), from.rank);
    if (from.rank != at.rank || from.rank < 1) {
        qfi_refuse(l, QF_REASON_unsupported_rank, "ranks %d and %d", from.rank, at.rank);
        return;
    }
    for (int i = 0; i < from.rank; i++)
        if (i != dim)
            from.dim[i] = at.dim[i] = from.dim[i] == 1 ? at.dim[i] : from.dim[i];
    const qf_attrs attrs = { .dim = { dim } };
    const qfi_ref in[2] = { qfi_expand_like(l, x, from),
                            qfi_cast(l, qfi_expand_like(l, index, at), QF_DT_i64) };
    qfi_result(l, qfi_append(l, QF_OP_gather, &attrs, in, 2));
}

qfi_ref qfi_count_by(qfi_lowering *l, int64_t n, int64_t step)
{
    const qf_attrs attrs = { .arange = { .type = { .dtype = QF_DT_i64, .rank = 1, .dim = { n } },
                                         .start = { .is_int = true },
                                         .step = { .is_int = true, .i = step } } };
    return qfi_append(l, QF_OP_arange, &attrs, NULL, 0);
}

/* Windows of `size` elements along a dim, one every `step`; they become the last dim. */
void qfi_build_unfold(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, x);
    const uint8_t dim = qfi_dim(l, qfi_arg_int(l, "dimension"), type.rank);
    const int64_t size = qfi_arg_int(l, "size"), step = qfi_arg_int(l, "step");
    uint8_t order[QF_MAX_RANK] = { 0 };
    int64_t dims[QF_MAX_RANK + 1];

    if (type.rank < 1 || type.rank == QF_MAX_RANK) {
        qfi_refuse(l, QF_REASON_unsupported_rank, "rank %d", type.rank);
        return;
    }
    if (size < 0 || step < 1 || size > type.dim[dim]) {
        qfi_refuse(l, QF_REASON_undefined, "windows of %lld elements", (long long)size);
        return;
    }
    const int64_t n = (type.dim[dim] - size) / step + 1;
    const qfi_ref starts = qfi_unsqueeze(l, qfi_count_by(l, n, step), 1);
    const qfi_ref at = qfi_append2(l, QF_OP_add, starts, qfi_count_by(l, size, 1));
    memcpy(dims, type.dim, dim * sizeof *dims);
    dims[dim] = n;
    dims[dim + 1] = size;
    for (int i = dim + 1; i < type.rank; i++)
        dims[i + 1] = type.dim[i];
    for (int i = 0; i <= type.rank; i++)
        order[i] = (uint8_t)(i == type.rank ? dim + 1 : i > dim ? i + 1 : i);
    const qfi_ref windows =
        qfi_reshape(l, qfi_select_rows(l, x, dim, at), (uint32_t)type.rank + 1, dims);
    qfi_result(l, qfi_permute(l, windows, order));
}
