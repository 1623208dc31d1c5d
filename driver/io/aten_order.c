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

/* What stands in the middle of a sorted dim, or at its end, where NaN stands if there is one. */
static qfi_ref middle_of(qfi_lowering *l, qfi_ref sorted, uint8_t dim, qfi_ref has_nan)
{
    const int64_t n = qfi_type_of(l, sorted).dim[dim];
    const qfi_ref middle = qfi_slice(l, sorted, dim, (n - 1) / 2, 1);

    return has_nan == QFI_NONE
               ? middle
               : qfi_append3(l, QF_OP_where, has_nan, qfi_slice(l, sorted, dim, n - 1, 1), middle);
}

/* The median as result 0, of an even number the lower one, and its place as result 1, which is
 * defined if no elements are equal. NaN is larger than all, and the median where there is one. */
static void give_median(qfi_lowering *l, qfi_ref x, uint8_t dim, bool keep)
{
    const int64_t n = qfi_type_of(l, x).dim[dim];
    qfi_ref has_nan = QFI_NONE;

    if (n < 1) {
        qfi_refuse(l, QF_REASON_undefined, "the median of no elements");
        return;
    }
    const qfi_ref sorted = elements_at(l, x, dim, sorted_places(l, x, dim, n, false, false));
    if (qfi_class(qfi_type_of(l, x).dtype) == QF_CLASS_FLOAT) {
        const qfi_ref last = qfi_slice(l, sorted, dim, n - 1, 1);
        has_nan = qfi_append2(l, QF_OP_ne, last, last);
    }
    const qfi_ref value = middle_of(l, sorted, dim, has_nan);
    qfi_give(l, 0, keep ? value : qfi_squeeze(l, value, dim));
    if (!is_used(l, 1))
        return;
    const qfi_ref place = middle_of(l, sorted_places(l, x, dim, n, false, true), dim, has_nan);
    qfi_check_defined(l, place, "places of equal elements");
    qfi_give(l, 1, keep ? place : qfi_squeeze(l, place, dim));
}

void qfi_build_median(qfi_lowering *l)
{
    give_median(l, qfi_flatten(l, qfi_arg_tensor(l, "self")), 0, false);
}

void qfi_build_median_dim(qfi_lowering *l)
{
    const qfi_ref self = qfi_arg_tensor(l, "self");
    const bool keep = qfi_arg_bool(l, "keepdim") && qfi_type_of(l, self).rank;

    give_median(l, at_least_1d(l, self), dim_arg(l, self), keep);
}

/* Comparisons of all elements of a dim with one another that are made. */
#define MOST_PAIRS (INT64_C(1) << 26)

/* The most frequent element, of several the least; its place is defined if no elements are equal.
 */
void qfi_build_mode(qfi_lowering *l)
{
    const qfi_ref self = qfi_arg_tensor(l, "self"), x = at_least_1d(l, self);
    const uint8_t dim = dim_arg(l, self);
    const qf_type type = qfi_type_of(l, x);
    const int64_t n = type.dim[dim];
    const bool keep = qfi_arg_bool(l, "keepdim") && qfi_type_of(l, self).rank;
    const qf_attrs along = { .reduce = { 1u << dim, true } };

    if (n < 1 || type.rank == QF_MAX_RANK || qfi_elements_of(l, x) > MOST_PAIRS / n) {
        qfi_refuse(l, QF_REASON_unsupported_argument, "the mode of %lld elements", (long long)n);
        return;
    }
    const qfi_ref sorted = elements_at(l, x, dim, sorted_places(l, x, dim, n, false, false));
    const qfi_ref equal = qfi_append2(l, QF_OP_eq, qfi_unsqueeze(l, sorted, dim),
                                      qfi_unsqueeze(l, sorted, (uint8_t)(dim + 1)));
    const qf_attrs pairs = { .reduce = { 1u << dim, false } };
    const qfi_ref count = qfi_append1(l, QF_OP_sum, &pairs, equal),
                  first = qfi_append1(l, QF_OP_argmax, &along, count);
    const qfi_ref value = elements_at(l, sorted, dim, first);
    qfi_give(l, 0, keep ? value : qfi_squeeze(l, value, dim));
    if (!is_used(l, 1))
        return;
    const qfi_ref place = qfi_slice(l, sorted_places(l, x, dim, n, false, true), dim, 0, 1);
    qfi_check_defined(l, place, "places of equal elements");
    qfi_give(l, 1, keep ? place : qfi_squeeze(l, place, dim));
}

/* The extreme so far, and the last place where it stood. Booleans are compared as numbers. */
static void build_cumulative(qfi_lowering *l, qf_op op)
{
    const qfi_ref self = qfi_arg_tensor(l, "self");
    const qf_dtype own = qfi_type_of(l, self).dtype;
    const qfi_ref x = at_least_1d(l, own == QF_DT_b8 ? qfi_cast(l, self, QF_DT_u8) : self);
    const uint8_t dim = dim_arg(l, self);
    const qf_type type = qfi_type_of(l, x);
    const qf_attrs along = { .dim = { dim } };
    int64_t ones[QF_MAX_RANK] = { 1, 1, 1, 1, 1, 1, 1, 1 };

    const qfi_ref so_far = qfi_append1(l, op, &along, x);
    qfi_give(l, 0, dims_like(l, qfi_cast(l, so_far, own), self));
    if (!is_used(l, 1))
        return;
    ones[dim] = type.dim[dim];
    const qfi_ref zero = qfi_full_int(l, QF_DT_i64, 0),
                  at = qfi_reshape(l, qfi_count_by(l, type.dim[dim], 1), (uint32_t)type.rank, ones);
    const qfi_ref here = qfi_append2(l, QF_OP_bit_or, qfi_append2(l, QF_OP_eq, x, so_far),
                                     qfi_append2(l, QF_OP_ne, x, x));
    const qfi_ref last =
        qfi_append1(l, QF_OP_cummax, &along, qfi_append3(l, QF_OP_where, here, at, zero));
    qfi_give(l, 1, dims_like(l, last, self));
}

void qfi_build_cummax(qfi_lowering *l)
{
    build_cumulative(l, QF_OP_cummax);
}
void qfi_build_cummin(qfi_lowering *l)
{
    build_cumulative(l, QF_OP_cummin);
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

/* Whether each element equals one of others. */
void qfi_build_isin(qfi_lowering *l)
{
    const bool one = qfi_arg_get(l, "element")->kind != QFI_ARG_ABSENT;
    const bool few = qfi_arg_get(l, "test_element")->kind != QFI_ARG_ABSENT;
    const qfi_operand in[2] = { qfi_arg_operand(l, one ? "element" : "elements"),
                                qfi_arg_operand(l, few ? "test_element" : "test_elements") };
    const qf_dtype dtype = qfi_result_dtype(l, in, 2);
    const qfi_ref x = qfi_operand_as(l, &in[0], dtype),
                  among = qfi_flatten(l, qfi_operand_as(l, &in[1], dtype));
    const int rank = qfi_type_of(l, x).rank;
    const int64_t n = qfi_elements_of(l, x), m = qfi_elements_of(l, among);
    const qf_attrs last = { .reduce = { 1u << rank, false } };

    if (rank == QF_MAX_RANK || (n > 0 && m > MOST_COMPARED / n)) {
        qfi_refuse(l, QF_REASON_unsupported_argument, "%lld elements among %lld", (long long)n,
                   (long long)m);
        return;
    }
    const qfi_ref any = qfi_append1(
        l, QF_OP_any, &last, qfi_append2(l, QF_OP_eq, qfi_unsqueeze(l, x, (uint8_t)rank), among));
    qfi_result(l, qfi_arg_bool(l, "invert") ? qfi_append1(l, QF_OP_logical_not, NULL, any) : any);
}
