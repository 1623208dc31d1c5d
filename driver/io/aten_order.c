/* Builders of operators that order elements or look for their places. */
#include "aten_build.h"

/* The first n places along a dim in order. */
static qfi_ref sorted_places(qfi_lowering *l, qfi_ref x, uint8_t dim, int64_t n, bool descending,
                             bool distinct)
{
    const qf_attrs attrs = {
        .sort = { .dim = dim, .descending = descending, .distinct = distinct, .n = n }
    };
    return qfi_append1(l, QF_OP_argsort, &attrs, x);
}

static qfi_ref elements_at(qfi_lowering *l, qfi_ref x, uint8_t dim, qfi_ref index)
{
    const qf_attrs attrs = { .dim = { dim } };
    return qfi_append(l, QF_OP_gather, &attrs, (const qfi_ref[]){ x, index }, 2);
}

/* Whether somebody reads the node's result `slot`. */
static bool is_used(const qfi_lowering *l, uint32_t slot)
{
    const qfi_node *node = &l->graph->node[l->node];
    return slot < node->n_out && l->graph->value[node->first_out + slot].n_use > 0;
}

/* A scalar counts as one element. */
static qfi_ref at_least_1d(qfi_lowering *l, qfi_ref x)
{
    return qfi_type_of(l, x).rank ? x : qfi_unsqueeze(l, x, 0);
}

static qfi_ref dims_like(qfi_lowering *l, qfi_ref x, qfi_ref model)
{
    return qfi_type_of(l, model).rank ? x : qfi_reshape(l, x, 0, NULL);
}

static uint8_t dim_arg(qfi_lowering *l, qfi_ref x)
{
    return qfi_arg_has(l, "dim") ? qfi_dim(l, qfi_arg_int(l, "dim"), qfi_type_of(l, x).rank) : 0;
}

/* ---- sort ---- */

/* Values in slot 0 and places in slot 1. The order of equal elements, and so their places, is
 * defined only if the sort is stable. */
static void give_sorted(qfi_lowering *l, uint8_t dim, int64_t n, bool descending, bool stable)
{
    const qfi_ref self = qfi_arg_tensor(l, "self"), x = at_least_1d(l, self);

    qfi_give(
        l, 0,
        dims_like(l, elements_at(l, x, dim, sorted_places(l, x, dim, n, descending, false)), self));
    if (!is_used(l, 1))
        return;
    const qfi_ref places = sorted_places(l, x, dim, n, descending, !stable);
    if (!stable)
        qfi_check_defined(l, places, "places of equal elements");
    qfi_give(l, 1, dims_like(l, places, self));
}

static bool is_stable(qfi_lowering *l)
{
    return qfi_arg_has(l, "stable") && qfi_arg_bool(l, "stable");
}

static int64_t size_along(qfi_lowering *l, uint8_t dim)
{
    const qf_type type = qfi_type_of(l, qfi_arg_tensor(l, "self"));
    return type.rank ? type.dim[dim] : 1;
}

void qfi_build_sort(qfi_lowering *l)
{
    const uint8_t dim = dim_arg(l, qfi_arg_tensor(l, "self"));
    give_sorted(l, dim, size_along(l, dim), qfi_arg_bool(l, "descending"), is_stable(l));
}

void qfi_build_argsort(qfi_lowering *l)
{
    const qfi_ref self = qfi_arg_tensor(l, "self"), x = at_least_1d(l, self);
    const uint8_t dim = dim_arg(l, self);
    const bool stable = is_stable(l);
    const qfi_ref places =
        sorted_places(l, x, dim, size_along(l, dim), qfi_arg_bool(l, "descending"), !stable);

    if (!stable)
        qfi_check_defined(l, places, "places of equal elements");
    qfi_result(l, dims_like(l, places, self));
}

void qfi_build_msort(qfi_lowering *l)
{
    const qfi_ref self = qfi_arg_tensor(l, "self"), x = at_least_1d(l, self);
    const qfi_ref places = sorted_places(l, x, 0, size_along(l, 0), false, false);

    qfi_result(l, dims_like(l, elements_at(l, x, 0, places), self));
}

void qfi_build_topk(qfi_lowering *l)
{
    const uint8_t dim = dim_arg(l, qfi_arg_tensor(l, "self"));
    const int64_t k = qfi_arg_int(l, "k");

    if (k < 0 || k > size_along(l, dim) || (k > 1 && !qfi_arg_bool(l, "sorted")))
        qfi_refuse(l, QF_REASON_undefined, "%lld elements in no order", (long long)k);
    give_sorted(l, dim, k, qfi_arg_bool(l, "largest"), false);
}

/* The k-th smallest; ranks the whole dim, as its place is defined only if no element equals it. */
void qfi_build_kthvalue(qfi_lowering *l)
{
    const qfi_ref self = qfi_arg_tensor(l, "self"), x = at_least_1d(l, self);
    const uint8_t dim = dim_arg(l, self);
    const int64_t k = qfi_arg_int(l, "k");
    const bool keep = qfi_arg_bool(l, "keepdim") && qfi_type_of(l, self).rank;

    if (k < 1 || k > size_along(l, dim)) {
        qfi_refuse(l, QF_REASON_undefined, "element %lld in order", (long long)k);
        return;
    }
    for (uint32_t slot = 0; slot < 2; slot++) {
        if (!is_used(l, slot))
            continue;
        const qfi_ref places = sorted_places(l, x, dim, k, false, slot == 1);
        const qfi_ref place = qfi_slice(l, places, dim, k - 1, 1);
        if (slot == 1)
            qfi_check_defined(l, place, "places of equal elements");
        const qfi_ref result = slot == 1 ? place : elements_at(l, x, dim, place);
        qfi_give(l, slot, keep ? result : qfi_squeeze(l, result, dim));
    }
}

/* ---- extremes ---- */

static qfi_ref extreme_place(qfi_lowering *l, qf_op op, qfi_ref x, uint8_t dim, bool keep)
{
    const qf_attrs attrs = { .reduce = { 1u << dim, keep } };
    return qfi_append1(l, op, &attrs, x);
}

static void build_arg_extreme(qfi_lowering *l, qf_op op)
{
    const qfi_ref self = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, self);
    const bool whole = !qfi_arg_has(l, "dim"), keep = qfi_arg_bool(l, "keepdim") && type.rank;
    const qfi_ref x = whole ? qfi_flatten(l, self) : at_least_1d(l, self);
    const int64_t ones[QF_MAX_RANK] = { 1, 1, 1, 1, 1, 1, 1, 1 };

    if (type.dtype == QF_DT_b8)
        qfi_refuse(l, QF_REASON_undefined, "booleans");
    const qfi_ref place = extreme_place(l, op, x, whole ? 0 : dim_arg(l, self), keep && !whole);
    qfi_result(l, whole && keep ? qfi_reshape(l, place, (uint32_t)type.rank, ones) : place);
}

void qfi_build_argmax(qfi_lowering *l)
{
    build_arg_extreme(l, QF_OP_argmax);
}
void qfi_build_argmin(qfi_lowering *l)
{
    build_arg_extreme(l, QF_OP_argmin);
}

/* The value is that which stands at the place: of two zeros, the first. */
static void build_extreme_dim(qfi_lowering *l, qf_op op)
{
    const qfi_ref self = qfi_arg_tensor(l, "self"), x = at_least_1d(l, self);
    const uint8_t dim = dim_arg(l, self);
    const bool keep = qfi_arg_bool(l, "keepdim") && qfi_type_of(l, self).rank;
    const qfi_ref place = extreme_place(l, op, x, dim, true), value = elements_at(l, x, dim, place);

    qfi_give(l, 0, keep ? value : qfi_squeeze(l, value, dim));
    qfi_give(l, 1, keep ? place : qfi_squeeze(l, place, dim));
}

void qfi_build_max_dim(qfi_lowering *l)
{
    build_extreme_dim(l, QF_OP_argmax);
}
void qfi_build_min_dim(qfi_lowering *l)
{
    build_extreme_dim(l, QF_OP_argmin);
}

void qfi_build_aminmax(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const int rank = qfi_type_of(l, x).rank;
    const bool whole = !qfi_arg_has(l, "dim");
    const qf_attrs attrs = { .reduce = { whole ? (1u << rank) - 1 : 1u << dim_arg(l, x),
                                         qfi_arg_bool(l, "keepdim") } };

    for (uint32_t slot = 0; slot < 2; slot++)
        qfi_give(l, slot, rank ? qfi_append1(l, slot ? QF_OP_amax : QF_OP_amin, &attrs, x) : x);
}

/* ---- places in a sorted sequence ---- */

/* Comparisons that are made rather than searched. */
#define MOST_COMPARED (INT64_C(1) << 28)

/* The number of elements of the sequence (along its last dim) that stand before each value: that
 * are less, or, on the right, not larger. What does not compare stands behind all. */
static qfi_ref count_before(qfi_lowering *l, qfi_ref sequence, qfi_ref values, bool right)
{
    const qf_type seq = qfi_type_of(l, sequence), type = qfi_type_of(l, values);
    const qfi_ref v = qfi_unsqueeze(l, values, (uint8_t)type.rank);
    qfi_ref s = sequence;

    if (type.rank >= QF_MAX_RANK || seq.rank < 1 || (seq.rank > 1 && seq.rank != type.rank)) {
        qfi_refuse(l, QF_REASON_unsupported_rank, "ranks %d and %d", seq.rank, type.rank);
        return QFI_NONE;
    }
    for (int d = 0; d + 1 < seq.rank; d++)
        if (seq.dim[d] != type.dim[d])
            qfi_refuse(l, QF_REASON_undefined, "%lld sequences for %lld rows",
                       (long long)seq.dim[d], (long long)type.dim[d]);
    if (seq.dtype != type.dtype)
        qfi_refuse(l, QF_REASON_undefined, "%s among %s", qf_dtype_get(type.dtype)->name,
                   qf_dtype_get(seq.dtype)->name);
    const int64_t n = qfi_elements_of(l, values), last = seq.dim[seq.rank - 1];
    if (n > 0 && last > MOST_COMPARED / n)
        qfi_refuse(l, QF_REASON_unsupported_argument, "%lld values among %lld", (long long)n,
                   (long long)last);
    if (seq.rank > 1)
        s = qfi_unsqueeze(l, s, (uint8_t)(seq.rank - 1));
    const qfi_ref behind = qfi_append2(l, right ? QF_OP_gt : QF_OP_ge, s, v);
    const qf_attrs attrs = { .reduce = { 1u << type.rank, false } };
    return qfi_append1(l, QF_OP_sum, &attrs, qfi_append1(l, QF_OP_logical_not, NULL, behind));
}

static void give_searched(qfi_lowering *l, const char *sequence, bool right)
{
    const qfi_ref s = qfi_arg_tensor(l, sequence);
    const qfi_operand x = qfi_arg_operand(l, "self");
    const qfi_ref values =
        qfi_operand_as(l, &x, x.is_number ? qfi_type_of(l, s).dtype : qfi_type_of(l, x.ref).dtype);

    if (x.is_number && x.number.kind == QFI_NUMBER_FLOAT &&
        qfi_class(qfi_type_of(l, s).dtype) != QF_CLASS_FLOAT)
        qfi_refuse(l, QF_REASON_undefined, "a fraction among integers");
    qfi_result(l, qfi_cast(l, count_before(l, s, values, right),
                           qfi_arg_bool(l, "out_int32") ? QF_DT_i32 : QF_DT_i64));
}

void qfi_build_bucketize(qfi_lowering *l)
{
    give_searched(l, "boundaries", qfi_arg_bool(l, "right"));
}

void qfi_build_searchsorted(qfi_lowering *l)
{
    const bool sided = qfi_arg_has(l, "side") && qfi_arg_get(l, "side")->kind == QFI_ARG_TEXT;

    if (qfi_arg_has(l, "sorter"))
        qfi_refuse(l, QF_REASON_unsupported_argument, "a sorter");
    give_searched(l, "sorted_sequence",
                  qfi_arg_bool(l, "right") ||
                      (sided && qfi_str_is(qfi_arg_get(l, "side")->text, "right")));
}
