/* Builders of operators whose results depend on where a mask is true. */
#include "aten_build.h"

#include <string.h>

/* ---- counting ahead ---- */

static int64_t evaluate_one(qfi_lowering *l, qfi_ref ref, const char *text)
{
    qf_scalar value[64];
    uint32_t n = 0;

    if (!qfi_lowering_ok(l))
        return 0;
    if (l->env->elements(l->env, ref, value, &n) && n == 1 && value[0].is_int && value[0].i >= 0)
        return value[0].i;
    qfi_refuse(l, QF_REASON_unsupported_argument, "%s", text);
    return 0;
}

static qfi_ref sum_all(qfi_lowering *l, qfi_ref x)
{
    const qf_attrs attrs = { .reduce = { 1, false } };
    return qfi_append1(l, QF_OP_sum, &attrs, qfi_flatten(l, x));
}

/* Dim 0 of the node's first result, if the record says it; else -1. */
static int64_t recorded_size(const qfi_lowering *l)
{
    const qfi_node *node = &l->graph->node[l->node];
    const qf_type *type = &l->graph->value[node->first_out].type;

    return node->n_out && type->rank > 0 && type->dim[0] >= 0 ? type->dim[0] : -1;
}

qfi_ref qfi_true_places(qfi_lowering *l, qfi_ref mask, int64_t n)
{
    const qfi_ref flat = qfi_flatten(l, qfi_cast(l, mask, QF_DT_b8));
    const bool known = n >= 0;

    if (!known)
        n = evaluate_one(l, sum_all(l, flat), "more elements than are counted ahead");
    if (n > qfi_elements_of(l, flat))
        qfi_refuse(l, QF_REASON_undefined, "%lld of %lld elements", (long long)n,
                   (long long)qfi_elements_of(l, flat));
    const qf_attrs attrs = { .count = { n } };
    const qfi_ref places = qfi_append1(l, QF_OP_nonzero, &attrs, flat);
    if (known)
        qfi_check_defined(l, places, "another number of true elements");
    return places;
}

qfi_ref qfi_coordinate(qfi_lowering *l, qfi_ref number, const qf_type *type, int dim)
{
    int64_t step = 1;

    for (int d = dim + 1; d < type->rank; d++)
        step *= type->dim[d];
    /* Without elements there are no numbers to divide. */
    const qfi_ref by = qfi_full_int(l, QF_DT_i64, step ? step : 1),
                  size = qfi_full_int(l, QF_DT_i64, type->dim[dim] ? type->dim[dim] : 1);
    return qfi_append2(l, QF_OP_fmod, qfi_append2(l, QF_OP_idiv_trunc, number, by), size);
}

/* ---- lists of indices ---- */

/* A mask stands for an index of each of its dims. */
static uint8_t add_mask(qfi_lowering *l, qfi_ref mask, qf_type type, uint8_t dim, qfi_indices *out)
{
    const qf_type shape = qfi_type_of(l, mask);

    for (int d = 0; d < shape.rank; d++)
        if (dim + d >= type.rank || shape.dim[d] != type.dim[dim + d]) {
            qfi_refuse(l, QF_REASON_undefined, "a mask of another shape");
            return dim;
        }
    if (shape.rank == 0) {
        qfi_refuse(l, QF_REASON_unsupported_rank, "a mask of rank 0");
        return dim;
    }
    const qfi_ref places = qfi_true_places(l, mask, -1);
    for (int d = 0; d < shape.rank; d++) {
        out->dim[out->n] = (uint8_t)(dim + d);
        out->index[out->n++] = qfi_coordinate(l, places, &shape, d);
    }
    return (uint8_t)(dim + shape.rank);
}

void qfi_arg_indices(qfi_lowering *l, const char *name, qf_type type, qfi_indices *out)
{
    const qfi_arg *list = qfi_arg_get(l, name);
    uint8_t dim = 0;

    *out = (qfi_indices){ 0 };
    if (list->kind != QFI_ARG_TENSORS || (int)list->n > type.rank) {
        qfi_refuse(l, QF_REASON_undefined, "more indices than dimensions");
        return;
    }
    for (uint32_t i = 0; i < list->n && qfi_lowering_ok(l); i++) {
        if (list->values[i] == QFI_NONE) {
            dim++;
            continue;
        }
        const qfi_ref index = qfi_value_ref(l, list->values[i]);
        const qf_dtype dtype = qfi_type_of(l, index).dtype;
        if (dtype == QF_DT_b8) {
            dim = add_mask(l, index, type, dim, out);
            continue;
        }
        if (qfi_lowering_ok(l) && dtype != QF_DT_i64 && dtype != QF_DT_i32)
            qfi_refuse(l, QF_REASON_unsupported_argument, "indices of %s",
                       qf_dtype_get(dtype)->name);
        if (dim >= type.rank) {
            qfi_refuse(l, QF_REASON_undefined, "more indices than dimensions");
            return;
        }
        out->dim[out->n] = dim;
        out->index[out->n++] = qfi_checked_index(l, index, type.dim[dim], true);
        dim++;
    }
}

/* ---- nonzero ---- */

/* Coordinates of true elements: one row of them for each. */
static qfi_ref coordinate_rows(qfi_lowering *l, qfi_ref places, const qf_type *type)
{
    qfi_ref column[QF_MAX_RANK];

    for (int d = 0; d < type->rank; d++)
        column[d] = qfi_unsqueeze(l, qfi_coordinate(l, places, type, d), 1);
    return qfi_cat(l, column, (uint32_t)type->rank, 1);
}

void qfi_build_nonzero(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, x);

    if (!type.rank)
        qfi_refuse(l, QF_REASON_unsupported_rank, "rank 0");
    else
        qfi_result(l, coordinate_rows(l, qfi_true_places(l, x, recorded_size(l)), &type));
}

/* As a list of one tensor per dim. */
void qfi_build_nonzero_numpy(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, x);

    if (!type.rank)
        qfi_refuse(l, QF_REASON_unsupported_rank, "rank 0");
    const qfi_ref places = qfi_true_places(l, x, recorded_size(l));
    for (int d = 0; d < type.rank; d++)
        qfi_give(l, (uint32_t)d, qfi_coordinate(l, places, &type, d));
}

/* The first `size` ones; what is lacking is filled up. */
void qfi_build_nonzero_static(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, x);
    const int64_t size = qfi_arg_int(l, "size"), fill = qfi_arg_int(l, "fill_value");
    qf_attrs pad = { .pad = { { 0 }, { 0 } } };

    if (!type.rank || size < 0) {
        qfi_refuse(l, QF_REASON_unsupported_rank, "rank %d", type.rank);
        return;
    }
    const qfi_ref rows = coordinate_rows(l, qfi_true_places(l, x, -1), &type);
    if (!qfi_lowering_ok(l))
        return;
    pad.pad.after[0] = size - qfi_type_of(l, rows).dim[0];
    const qfi_ref in[2] = { rows, qfi_full_int(l, QF_DT_i64, fill) };
    qfi_result(l, pad.pad.after[0] ? qfi_append(l, QF_OP_pad, &pad, in, 2) : rows);
}

void qfi_build_count_nonzero(qfi_lowering *l)
{
    const qfi_ref truth = qfi_cast(l, qfi_arg_tensor(l, "self"), QF_DT_b8);
    const int rank = qfi_type_of(l, truth).rank;
    int64_t dims[QF_MAX_RANK];
    const uint32_t n = qfi_arg_has(l, "dim") ? qfi_arg_ints(l, "dim", dims, QF_MAX_RANK) : 0;
    const uint32_t set = n ? qfi_dim_set(l, dims, n, rank) : (1u << rank) - 1;
    const qf_attrs attrs = { .reduce = { set, false } };

    qfi_result(l, rank ? qfi_append1(l, QF_OP_sum, &attrs, truth) : qfi_cast(l, truth, QF_DT_i64));
}

/* ---- elements under a mask ---- */

/* The mask and x, both of their common shape. */
static qf_type meet(qfi_lowering *l, qfi_ref *x, qfi_ref *mask)
{
    const qf_type a = qfi_type_of(l, *x), b = qfi_type_of(l, *mask);
    qf_type wide = a.rank >= b.rank ? a : b;

    for (int d = 1; d <= a.rank && d <= b.rank; d++) {
        const int64_t n = a.dim[a.rank - d];
        wide.dim[wide.rank - d] = n == 1 ? b.dim[b.rank - d] : n;
    }
    if (b.dtype != QF_DT_b8)
        qfi_refuse(l, QF_REASON_undefined, "a mask that is not boolean");
    *x = qfi_expand_like(l, *x, wide);
    *mask = qfi_expand_like(l, *mask, wide);
    return wide;
}

void qfi_build_masked_select(qfi_lowering *l)
{
    qfi_ref x = qfi_arg_tensor(l, "self"), mask = qfi_arg_tensor(l, "mask");

    meet(l, &x, &mask);
    const qfi_ref places = qfi_true_places(l, mask, recorded_size(l));
    qfi_result(l, qfi_select_rows(l, qfi_flatten(l, x), 0, places));
}

/* The k-th true element of the mask takes the k-th element of the source. */
void qfi_build_masked_scatter(qfi_lowering *l)
{
    qfi_ref x = qfi_arg_tensor(l, "self"), mask = qfi_arg_tensor(l, "mask");
    const qfi_ref source = qfi_flatten(l, qfi_arg_tensor(l, "source"));
    const qf_attrs along = { .dim = { 0 } };
    const qf_type type = meet(l, &x, &mask);
    const qfi_ref zero = qfi_full_int(l, QF_DT_i64, 0), one = qfi_full_int(l, QF_DT_i64, 1);

    if (qfi_type_of(l, source).dtype != type.dtype)
        qfi_refuse(l, QF_REASON_undefined, "a source of another dtype");
    if (!qfi_elements_of(l, source))
        qfi_refuse(l, QF_REASON_unsupported_argument, "a source without elements");
    const qfi_ref flat = qfi_flatten(l, mask), counted = qfi_append1(l, QF_OP_cumsum, &along, flat),
                  at = qfi_append3(l, QF_OP_where, flat, qfi_append2(l, QF_OP_sub, counted, one),
                                   zero);
    const qfi_ref taken =
        qfi_reshape(l, qfi_select_rows(l, source, 0, at), (uint32_t)type.rank, type.dim);
    qfi_result(l, qfi_append3(l, QF_OP_where, mask, taken, x));
}

/* ---- triangles of indices ---- */

static int64_t triangle_size(int64_t row, int64_t col, int64_t offset, bool lower)
{
    int64_t n = 0;

    for (int64_t r = 0; r < row; r++) {
        const int64_t end = r + offset + (lower ? 1 : 0), at = end < 0 ? 0 : end > col ? col : end;
        n += lower ? at : col - at;
    }
    return n;
}

static void build_triangle(qfi_lowering *l, bool lower)
{
    const int64_t row = qfi_arg_int(l, "row"), col = qfi_arg_int(l, "col"),
                  offset = qfi_arg_int(l, "offset"), most = INT64_C(1) << 24;
    const bool given = qfi_arg_get(l, "dtype")->kind == QFI_ARG_DTYPE;
    const qf_dtype dtype = given ? qfi_arg_get(l, "dtype")->dtype : QF_DT_i64;
    qf_type type = { .dtype = QF_DT_b8, .rank = 2, .dim = { row, col } };
    const qf_attrs tri = { .tri = { offset } };

    if (row < 0 || col < 0 || row > most || col > most || offset > most || offset < -most) {
        qfi_refuse(l, QF_REASON_unsupported_argument, "%lld by %lld", (long long)row,
                   (long long)col);
        return;
    }
    const qfi_ref ones = qfi_expand_like(l, qfi_full_int(l, QF_DT_b8, 1), type);
    const qf_attrs count = { .count = { triangle_size(row, col, offset, lower) } };
    const qfi_ref places =
        qfi_append1(l, QF_OP_nonzero, &count,
                    qfi_flatten(l, qfi_append1(l, lower ? QF_OP_tril : QF_OP_triu, &tri, ones)));
    const qfi_ref rows[2] = { qfi_unsqueeze(l, qfi_coordinate(l, places, &type, 0), 0),
                              qfi_unsqueeze(l, qfi_coordinate(l, places, &type, 1), 0) };
    qfi_result(l, qfi_cast(l, qfi_cat(l, rows, 2, 0), dtype));
}

void qfi_build_tril_indices(qfi_lowering *l)
{
    build_triangle(l, true);
}
void qfi_build_triu_indices(qfi_lowering *l)
{
    build_triangle(l, false);
}
