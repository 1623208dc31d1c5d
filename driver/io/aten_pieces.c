/* Builders of tensors put together from parts: cat, stack, grids, repeat, pad, roll, scatter. */
#include "aten_build.h"

#include <string.h>

/* ---- cat, stack ---- */

qfi_ref *qfi_arg_list(qfi_lowering *l, const char *name, uint32_t *n)
{
    const qfi_arg *arg = qfi_arg_get(l, name);
    qfi_ref *refs;

    *n = 0;
    if (arg->kind != QFI_ARG_TENSORS || !arg->n) {
        qfi_refuse(l, QF_REASON_undefined, "argument %s lists no tensors", name);
        return NULL;
    }
    refs = qfi_pool_alloc(&l->env->prog->pool, arg->n, sizeof *refs);
    if (!refs) {
        l->status = qf_fail(l->diag, QF_ERR_NOMEM, "list of %u tensors", (unsigned)arg->n);
        return NULL;
    }
    for (; *n < arg->n; ++*n)
        refs[*n] = qfi_value_ref(l, arg->values[*n]);
    return refs;
}

/* All in their common dtype. */
static void promote_all(qfi_lowering *l, qfi_ref *refs, uint32_t n)
{
    qf_dtype dtype = QF_DT_none;
    uint8_t best = 0;

    /* Tensors with dims decide; scalars only where they are of a higher class, as between two
     * operands. */
    for (uint32_t i = 0; i < n; i++) {
        const qf_type type = qfi_type_of(l, refs[i]);
        const uint8_t level = type.rank ? 2 : 1;
        if (dtype == QF_DT_none || (level > best && qfi_class(type.dtype) >= qfi_class(dtype)))
            dtype = type.dtype;
        else if (level == best || qfi_class(type.dtype) > qfi_class(dtype))
            dtype = qfi_promote(dtype, type.dtype);
        best = level > best ? level : best;
        if (dtype == QF_DT_none) {
            qfi_refuse(l, QF_REASON_unsupported_dtype, "dtypes without a common one");
            return;
        }
    }
    for (uint32_t i = 0; i < n; i++)
        refs[i] = qfi_cast(l, refs[i], dtype);
}

/* The list "tensors" in its common dtype; NULL: refused. */
static qfi_ref *promoted_list(qfi_lowering *l, uint32_t *n)
{
    qfi_ref *refs = qfi_arg_list(l, "tensors", n);

    if (refs)
        promote_all(l, refs, *n);
    return refs;
}

/* Tensors of shape [0] take part in promotion and in nothing else. */
static uint32_t drop_legacy_empty(const qfi_lowering *l, qfi_ref *refs, uint32_t n)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < n; i++) {
        const qf_type type = qfi_type_of(l, refs[i]);
        const bool skip = type.rank == 1 && !type.dim[0] && (kept || i + 1 < n);
        if (!skip)
            refs[kept++] = refs[i];
    }
    return kept;
}

void qfi_build_cat(qfi_lowering *l)
{
    uint32_t n;
    qfi_ref *refs = promoted_list(l, &n);

    if (!refs)
        return;
    n = drop_legacy_empty(l, refs, n);
    const int rank = qfi_type_of(l, refs[0]).rank;
    if (!rank)
        qfi_refuse(l, QF_REASON_undefined, "tensors of rank 0");
    qfi_result(l, qfi_cat(l, refs, n, qfi_dim(l, qfi_arg_int(l, "dim"), rank)));
}

void qfi_build_stack(qfi_lowering *l)
{
    uint32_t n;
    qfi_ref *refs = promoted_list(l, &n);

    if (!refs)
        return;
    const uint8_t dim = qfi_dim(l, qfi_arg_int(l, "dim"), qfi_type_of(l, refs[0]).rank + 1);
    for (uint32_t i = 0; i < n; i++)
        refs[i] = qfi_unsqueeze(l, refs[i], dim);
    qfi_result(l, qfi_cat(l, refs, n, dim));
}

/* As many dims of size 1 as torch's atleast_… gives a tensor of fewer: in front, but for the last
 * of three. */
static qfi_ref at_least(qfi_lowering *l, qfi_ref x, int rank)
{
    for (int have = qfi_type_of(l, x).rank; have < rank && qfi_lowering_ok(l); have++)
        x = qfi_unsqueeze(l, x, have == 2 ? 2 : 0);
    return x;
}

/* Along dim, or dim 0 of vectors, after at_least(rank). */
static void pile(qfi_lowering *l, int rank, uint8_t dim)
{
    uint32_t n;
    qfi_ref *refs = promoted_list(l, &n);

    if (!refs)
        return;
    for (uint32_t i = 0; i < n; i++)
        refs[i] = at_least(l, refs[i], rank);
    qfi_result(l, qfi_cat(l, refs, n, dim < qfi_type_of(l, refs[0]).rank ? dim : 0));
}

void qfi_build_hstack(qfi_lowering *l)
{
    pile(l, 1, 1);
}
void qfi_build_vstack(qfi_lowering *l)
{
    pile(l, 2, 0);
}
void qfi_build_dstack(qfi_lowering *l)
{
    pile(l, 3, 2);
}

/* Vectors are columns. */
void qfi_build_column_stack(qfi_lowering *l)
{
    uint32_t n;
    qfi_ref *refs = promoted_list(l, &n);

    if (!refs)
        return;
    for (uint32_t i = 0; i < n; i++)
        for (int rank = qfi_type_of(l, refs[i]).rank; rank < 2 && qfi_lowering_ok(l); rank++)
            refs[i] = qfi_unsqueeze(l, refs[i], (uint8_t)rank);
    qfi_result(l, qfi_cat(l, refs, n, 1));
}

/* ---- grids ---- */

/* Vectors along a dim each; "xy" swaps the first two. */
void qfi_build_meshgrid(qfi_lowering *l)
{
    const qfi_arg *order = qfi_arg_get(l, "indexing");
    const bool swap = order->kind == QFI_ARG_TEXT && qfi_str_is(order->text, "xy");
    int64_t size[QF_MAX_RANK], one[QF_MAX_RANK];
    uint32_t n;
    qfi_ref *refs = qfi_arg_list(l, "tensors", &n);

    if (order->kind != QFI_ARG_ABSENT && !swap &&
        (order->kind != QFI_ARG_TEXT || !qfi_str_is(order->text, "ij")))
        qfi_refuse(l, QF_REASON_unsupported_argument, "argument indexing");
    if (n > QF_MAX_RANK)
        qfi_refuse(l, QF_REASON_unsupported_rank, "rank %u", (unsigned)n);
    for (uint32_t i = 0; i < n && qfi_lowering_ok(l); i++) {
        size[swap && n > 1 && i < 2 ? 1 - i : i] = qfi_elements_of(l, refs[i]);
        one[i] = 1;
    }
    for (uint32_t i = 0; i < n && qfi_lowering_ok(l); i++) {
        const uint32_t dim = swap && n > 1 && i < 2 ? 1 - i : i;
        one[dim] = size[dim];
        qfi_give(l, i, qfi_expand(l, qfi_reshape(l, refs[i], n, one), n, size));
        one[dim] = 1;
    }
}

/* All in the shape that they have together. */
void qfi_build_broadcast_tensors(qfi_lowering *l)
{
    qf_type all = { 0 };
    uint32_t n;
    qfi_ref *refs = qfi_arg_list(l, "tensors", &n);

    for (uint32_t i = 0; i < n; i++) {
        const qf_type type = qfi_type_of(l, refs[i]);
        const int more = type.rank - all.rank;
        if (more > 0) {
            memmove(&all.dim[more], all.dim, (size_t)all.rank * sizeof *all.dim);
            for (int d = 0; d < more; d++)
                all.dim[d] = 1;
            all.rank = type.rank;
        }
        for (int d = 0; d < type.rank; d++)
            if (type.dim[d] != 1)
                all.dim[all.rank - type.rank + d] = type.dim[d];
    }
    for (uint32_t i = 0; i < n && qfi_lowering_ok(l); i++)
        qfi_give(l, i, qfi_expand_like(l, refs[i], all));
}

/* ---- repetition ---- */

/* Dim `dim`, whole, `times` times in a row. */
static qfi_ref repeat_dim(qfi_lowering *l, qfi_ref x, uint8_t dim, int64_t times)
{
    qf_type type = qfi_type_of(l, x), tiled;
    uint64_t size = 0;

    if (times == 1)
        return x;
    if (times < 0 || !qf_mul((uint64_t)type.dim[dim], (uint64_t)times, &size) || size > INT64_MAX)
        qfi_refuse(l, QF_REASON_undefined, "%lld repeats", (long long)times);
    tiled = type;
    tiled.dim[dim] = (int64_t)size;
    if (type.dim[dim] == 1)
        return qfi_expand_like(l, x, tiled);
    x = qfi_unsqueeze(l, x, dim);
    qf_type wide = qfi_type_of(l, x);
    wide.dim[dim] = times;
    return qfi_reshape(l, qfi_expand_like(l, x, wide), (uint32_t)tiled.rank, tiled.dim);
}

/* x, each of n dims `times` times; dims that x lacks come in front. */
static void repeat(qfi_lowering *l, qfi_ref x, const int64_t *times, uint32_t n)
{
    while (qfi_lowering_ok(l) && qfi_type_of(l, x).rank < (int)n)
        x = qfi_unsqueeze(l, x, 0);
    for (uint32_t i = 0; i < n && qfi_lowering_ok(l); i++)
        x = repeat_dim(l, x, (uint8_t)i, times[i]);
    qfi_result(l, x);
}

void qfi_build_repeat(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    int64_t times[QF_MAX_RANK];
    const uint32_t n = qfi_arg_ints(l, "repeats", times, QF_MAX_RANK);

    if ((int)n < qfi_type_of(l, x).rank)
        qfi_refuse(l, QF_REASON_undefined, "fewer repeats than dimensions");
    repeat(l, x, times, n);
}

/* Dims in front of those that are given are taken once. */
void qfi_build_tile(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const uint32_t rank = (uint32_t)qfi_type_of(l, x).rank;
    int64_t given[QF_MAX_RANK], times[QF_MAX_RANK];
    const uint32_t n = qfi_arg_ints(l, "dims", given, QF_MAX_RANK), all = n > rank ? n : rank;

    for (uint32_t i = 0; i < all; i++)
        times[i] = i < all - n ? 1 : given[i - (all - n)];
    repeat(l, x, times, all);
}

void qfi_build_repeat_interleave(qfi_lowering *l)
{
    const bool flat = !qfi_arg_has(l, "dim");
    const int64_t times = qfi_arg_int(l, "repeats");
    qfi_ref x = qfi_arg_tensor(l, "self");

    if (flat)
        x = qfi_flatten(l, x);
    qf_type type = qfi_type_of(l, x);
    const uint8_t dim = flat ? 0 : qfi_dim(l, qfi_arg_int(l, "dim"), type.rank);
    if (times < 0 || !type.rank)
        qfi_refuse(l, QF_REASON_undefined, "%lld repeats", (long long)times);
    x = qfi_unsqueeze(l, x, (uint8_t)(dim + 1));
    qf_type wide = qfi_type_of(l, x);
    if (!qfi_lowering_ok(l) || __builtin_mul_overflow(type.dim[dim], times, &type.dim[dim]))
        return;
    wide.dim[dim + 1] = times;
    qfi_result(l, qfi_reshape(l, qfi_expand_like(l, x, wide), (uint32_t)type.rank, type.dim));
}

/* ---- pad, roll ---- */

void qfi_build_constant_pad(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, x);
    const qfi_number zero = { { .is_int = true }, QFI_NUMBER_INT },
                     value = qfi_arg_has(l, "value") ? qfi_arg_number(l, "value") : zero;
    int64_t pad[2 * QF_MAX_RANK];
    const uint32_t n = qfi_arg_ints(l, "pad", pad, 2 * QF_MAX_RANK);
    qf_attrs attrs = { .pad = { { 0 }, { 0 } } };

    if (n % 2 || (int)n > 2 * type.rank || !qfi_number_fits(value, type.dtype, false)) {
        qfi_refuse(l, QF_REASON_undefined, "%u pads of a tensor of rank %d", (unsigned)n,
                   type.rank);
        return;
    }
    for (uint32_t i = 0; i < n / 2; i++) {
        const uint32_t dim = (uint32_t)type.rank - 1 - i;
        attrs.pad.before[dim] = pad[2 * i];
        attrs.pad.after[dim] = pad[2 * i + 1];
    }
    const qfi_ref fill = qfi_full(l, (qf_type){ .dtype = type.dtype }, value);
    qfi_result(l, qfi_append(l, QF_OP_pad, &attrs, (const qfi_ref[]){ x, fill }, 2));
}

void qfi_build_roll(qfi_lowering *l)
{
    const qfi_ref self = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, self);
    int64_t shift[QF_MAX_RANK], dims[QF_MAX_RANK] = { 0 };
    const uint32_t n = qfi_arg_ints(l, "shifts", shift, QF_MAX_RANK);
    const uint32_t n_dim = qfi_arg_ints(l, "dims", dims, QF_MAX_RANK);
    const bool flat = !n_dim;
    const qfi_ref x = flat ? qfi_flatten(l, self) : self;
    const qf_type rolled = qfi_type_of(l, x);
    qf_attrs attrs = { .roll = { { 0 } } };

    if (n != (flat ? 1 : n_dim) || !rolled.rank) {
        qfi_refuse(l, QF_REASON_undefined, "%u shifts of %u dimensions", (unsigned)n,
                   (unsigned)n_dim);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        const uint8_t dim = flat ? 0 : qfi_dim(l, dims[i], rolled.rank);
        const int64_t size = rolled.dim[dim] ? rolled.dim[dim] : 1, by = shift[i] % size;
        attrs.roll.shift[dim] = (attrs.roll.shift[dim] + by + size) % size;
    }
    qfi_result(
        l, qfi_reshape(l, qfi_append1(l, QF_OP_roll, &attrs, x), (uint32_t)type.rank, type.dim));
}

/* ---- scatter ---- */

void qfi_build_slice_scatter(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, x);
    qfi_ref src = qfi_cast(l, qfi_arg_tensor(l, "src"), type.dtype);
    qf_type part = type;
    qf_attrs attrs;

    const bool is_part = qfi_slice_attrs(l, type, &attrs);
    if (!qfi_lowering_ok(l))
        return;
    part.dim[attrs.slice.dim] = attrs.slice.n;
    src = qfi_expand_like(l, src, part);
    qfi_result(l, is_part
                      ? qfi_append(l, QF_OP_slice_scatter, &attrs, (const qfi_ref[]){ x, src }, 2)
                      : src);
}

void qfi_build_select_scatter(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, x);
    const qf_attrs attrs = qfi_select_attrs(l, type);
    const qfi_ref src = qfi_cast(l, qfi_arg_tensor(l, "src"), type.dtype);

    qfi_result(l, qfi_append(l, QF_OP_select_scatter, &attrs, (const qfi_ref[]){ x, src }, 2));
}
