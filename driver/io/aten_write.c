/* Builders of operators that write elements by index: they number the places in the flattened
 * tensor and put the elements there.
 *
 * torch leaves the order open in which two elements for one place are written, and that in which
 * floats are added: the first is refused unless they are equal, the second inexact. */
#include "aten_build.h"

#include <math.h>
#include <string.h>

/* ---- numbers of places ---- */

/* Places in a tensor of `type`, for a box of `shape`: the sum of what each dim adds. `sum` is their
 * number; `outside` says where an index is out of range, QFI_NONE: nowhere. */
typedef struct places {
    qf_type type, shape;
    qfi_ref sum, outside;
} places;

static int64_t step_of(const qf_type *type, int dim)
{
    int64_t step = 1;

    for (int d = dim + 1; d < type->rank; d++)
        step *= type->dim[d];
    return step;
}

/* x with its dims from `at` on of `rank` ones. */
static qfi_ref spread(qfi_lowering *l, qfi_ref x, int rank, int at)
{
    const qf_type type = qfi_type_of(l, x);
    int64_t dim[QF_MAX_RANK] = { 1, 1, 1, 1, 1, 1, 1, 1 };

    for (int d = 0; d < type.rank && at + d < QF_MAX_RANK; d++)
        dim[at + d] = type.dim[d];
    return qfi_reshape(l, x, (uint32_t)rank, dim);
}

static void add_term(qfi_lowering *l, places *p, qfi_ref term)
{
    p->sum = p->sum == QFI_NONE ? term : qfi_append2(l, QF_OP_add, p->sum, term);
}

/* Dim `dim` of the tensor runs along dim `at` of the box. */
static void add_range(qfi_lowering *l, places *p, int dim, int at)
{
    add_term(
        l, p,
        spread(l, qfi_count_by(l, p->shape.dim[at], step_of(&p->type, dim)), p->shape.rank, at));
}

/* Dim `dim` of the tensor is what the index (qfi_checked_index) says, whose dims stand from `at` on
 * in the box. */
static void add_index(qfi_lowering *l, places *p, int dim, qfi_ref index, int at)
{
    const qfi_ref x = spread(l, index, p->shape.rank, at),
                  out = qfi_append2(l, QF_OP_eq, x, qfi_full_int(l, QF_DT_i64, INT64_MAX)),
                  step = qfi_full_int(l, QF_DT_i64, step_of(&p->type, dim));

    add_term(l, p, qfi_append2(l, QF_OP_mul, x, step));
    p->outside = p->outside == QFI_NONE ? out : qfi_append2(l, QF_OP_bit_or, p->outside, out);
}

/* One number for each element of the box. */
static qfi_ref number_places(qfi_lowering *l, const places *p)
{
    const qfi_ref zero = qfi_full_int(l, QF_DT_i64, 0);
    qfi_ref sum = p->sum == QFI_NONE ? zero : p->sum;

    if (p->outside != QFI_NONE)
        sum = qfi_append3(l, QF_OP_where, p->outside, qfi_full_int(l, QF_DT_i64, INT64_MAX), sum);
    return qfi_expand_like(l, sum, p->shape);
}

/* ---- putting ---- */

static qfi_ref put_flat(qfi_lowering *l, qfi_ref x, qfi_ref numbers, qfi_ref source,
                        qf_put_mode mode)
{
    const qf_attrs attrs = { .put = { (uint8_t)mode } };
    const qfi_ref in[3] = { qfi_flatten(l, x), qfi_flatten(l, numbers), qfi_flatten(l, source) };

    return qfi_append(l, QF_OP_put, &attrs, in, 3);
}

/* x with the elements of `source` (of the numbers' shape, or broadcast to it) put at the numbers;
 * narrow floats are computed with as f32. */
static qfi_ref put(qfi_lowering *l, qfi_ref x, qfi_ref numbers, qfi_ref source, qf_put_mode mode)
{
    const qf_type type = qfi_type_of(l, x);
    const bool narrow = mode != QF_PUT_SET && qfi_class(type.dtype) == QF_CLASS_FLOAT &&
                        qf_dtype_get(type.dtype)->bits < 32;
    const qf_dtype dtype = narrow ? QF_DT_f32 : type.dtype;

    if (!qfi_lowering_ok(l))
        return QFI_NONE;
    if (qfi_type_of(l, source).dtype != type.dtype)
        qfi_refuse(l, QF_REASON_undefined, "%s written to %s",
                   qf_dtype_get(qfi_type_of(l, source).dtype)->name,
                   qf_dtype_get(type.dtype)->name);
    if (qfi_elements_of(l, numbers) == 0)
        return x;
    source = qfi_expand_like(l, source, qfi_type_of(l, numbers));
    l->env->inexact |=
        (mode == QF_PUT_ADD || mode == QF_PUT_MUL) && qfi_class(type.dtype) == QF_CLASS_FLOAT;
    const qfi_ref flat =
        put_flat(l, qfi_cast(l, x, dtype), numbers, qfi_cast(l, source, dtype), mode);
    qfi_check_defined(l, flat, "different elements for one place, or a place outside");
    return qfi_cast(l, qfi_reshape(l, flat, (uint32_t)type.rank, type.dim), type.dtype);
}

/* ---- index_put, put ---- */

/* The box that the indices make, as torch places its dims: those of the indices where neighbouring
 * indexed dims stood, else in front. */
static bool plan_box(qfi_lowering *l, const qfi_indices *list, places *p)
{
    qf_type common = { .dtype = QF_DT_i64 };
    bool together = true;
    uint32_t set = 0;

    for (uint32_t i = 0; i < list->n; i++) {
        const qf_type t = qfi_type_of(l, list->index[i]);
        set |= 1u << list->dim[i];
        together = together && (i == 0 || list->dim[i] == list->dim[i - 1] + 1);
        if (t.rank > common.rank) {
            memmove(common.dim + (t.rank - common.rank), common.dim,
                    (size_t)common.rank * sizeof *common.dim);
            for (int d = 0; d < t.rank - common.rank; d++)
                common.dim[d] = 1;
            common.rank = t.rank;
        }
        for (int d = 0; d < t.rank; d++)
            if (t.dim[d] != 1)
                common.dim[common.rank - t.rank + d] = t.dim[d];
    }
    const int first = together ? list->dim[0] : 0, rank = p->type.rank;
    if (rank - (int)list->n + common.rank > QF_MAX_RANK) {
        qfi_refuse(l, QF_REASON_unsupported_rank, "more than %d dimensions", QF_MAX_RANK);
        return false;
    }
    p->shape = (qf_type){ .dtype = QF_DT_i64, .rank = (int8_t)(rank - (int)list->n + common.rank) };
    memcpy(p->shape.dim + first, common.dim, (size_t)common.rank * sizeof *common.dim);
    for (int d = 0, to = 0; d < rank; d++) {
        if (set >> d & 1)
            continue;
        to += to == first ? common.rank : 0;
        p->shape.dim[to] = p->type.dim[d];
        add_range(l, p, d, to++);
    }
    for (uint32_t i = 0; i < list->n; i++)
        add_index(l, p, list->dim[i], list->index[i],
                  first + common.rank - qfi_type_of(l, list->index[i]).rank);
    return true;
}

/* One mask, and values that do not tell its true elements apart: no places need to be counted.
 * False: it is something else. */
static bool put_by_mask(qfi_lowering *l, qfi_ref x, qfi_ref values, bool adds)
{
    const qfi_arg *list = qfi_arg_get(l, "indices");
    const qf_type type = qfi_type_of(l, x), from = qfi_type_of(l, values);
    int at = 0;

    if (list->kind != QFI_ARG_TENSORS || !list->n || !qfi_lowering_ok(l))
        return false;
    while (at < (int)list->n - 1 && list->values[at] == QFI_NONE)
        at++;
    if (at != (int)list->n - 1 || list->values[at] == QFI_NONE)
        return false;
    const qfi_ref mask = qfi_value_ref(l, list->values[at]);
    const qf_type shape = qfi_type_of(l, mask);
    const int rest = type.rank - at - shape.rank, behind = from.rank - rest - 1;
    if (shape.dtype != QF_DT_b8 || shape.rank < 1 || rest < 0 || from.dtype != type.dtype)
        return false;
    for (int d = 0; d < shape.rank; d++)
        if (shape.dim[d] != type.dim[at + d])
            return false;
    if (behind > at || (behind >= 0 && from.dim[behind] != 1))
        return false;
    qf_type wide = { .dtype = from.dtype, .rank = type.rank };
    for (int d = 0; d < type.rank; d++) {
        const int k = d < at                ? behind - at + d
                      : d < at + shape.rank ? -1
                                            : from.rank - type.rank + d;
        wide.dim[d] = k < 0 ? 1 : from.dim[k];
    }
    qfi_ref value = qfi_reshape(l, values, (uint32_t)type.rank, wide.dim);
    if (adds)
        value = qfi_append2(l, type.dtype == QF_DT_b8 ? QF_OP_bit_or : QF_OP_add, x, value);
    qfi_result(l, qfi_append3(l, QF_OP_where, spread(l, mask, type.rank, at), value, x));
    return true;
}

void qfi_build_index_put(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self"), values = qfi_arg_tensor(l, "values");
    const bool adds = qfi_arg_bool(l, "accumulate");
    places p = { .type = qfi_type_of(l, x), .sum = QFI_NONE, .outside = QFI_NONE };
    qfi_indices list;

    if (put_by_mask(l, x, values, adds))
        return;
    qfi_arg_indices(l, "indices", p.type, &list);
    if (!list.n)
        qfi_refuse(l, QF_REASON_unsupported_argument, "no indices");
    if (!qfi_lowering_ok(l) || !plan_box(l, &list, &p))
        return;
    qfi_result(l, put(l, x, number_places(l, &p), values, adds ? QF_PUT_ADD : QF_PUT_SET));
}

/* By numbers in all of self. */
void qfi_build_put(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self"), index = qfi_arg_index(l, "index"),
                  source = qfi_arg_tensor(l, "source");
    const qf_type at = qfi_type_of(l, index);

    if (qfi_elements_of(l, index) != qfi_elements_of(l, source))
        qfi_refuse(l, QF_REASON_undefined, "other places than elements");
    qfi_result(l, put(l, x, qfi_checked_index(l, index, qfi_elements_of(l, x), true),
                      qfi_reshape(l, source, (uint32_t)at.rank, at.dim),
                      qfi_arg_bool(l, "accumulate") ? QF_PUT_ADD : QF_PUT_SET));
}

/* ---- along one dim ---- */

static qf_type as_1d(qf_type type)
{
    if (!type.rank)
        type = (qf_type){ .dtype = type.dtype, .rank = 1, .dim = { 1 } };
    return type;
}

/* Places of whole slices, one for each element of the index. *slices: their shape. */
static qfi_ref slice_places(qfi_lowering *l, qf_type type, bool wraps, qf_type *slices)
{
    const qfi_ref index = qfi_flatten(l, qfi_arg_index(l, "index"));
    const uint8_t dim = qfi_dim(l, qfi_arg_int(l, "dim"), type.rank);
    places p = { .type = as_1d(type), .sum = QFI_NONE, .outside = QFI_NONE };

    p.shape = p.type;
    p.shape.dim[dim] = qfi_elements_of(l, index);
    for (int d = 0; d < p.type.rank; d++)
        if (d != dim)
            add_range(l, &p, d, d);
    add_index(l, &p, dim, qfi_checked_index(l, index, p.type.dim[dim], wraps), dim);
    *slices = p.shape;
    return number_places(l, &p);
}

static void write_slices(qfi_lowering *l, qfi_ref source, bool wraps, qf_put_mode mode)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, x);
    qf_type slices;
    const qfi_ref numbers = slice_places(l, type, wraps, &slices);
    const qf_type from = as_1d(qfi_type_of(l, source));

    slices.dtype = from.dtype;
    if (!qf_type_equal(&slices, &from))
        qfi_refuse(l, QF_REASON_undefined, "a source of another shape");
    qfi_result(l, put(l, x, numbers, qfi_reshape(l, source, (uint32_t)from.rank, from.dim), mode));
}

void qfi_build_index_copy(qfi_lowering *l)
{
    write_slices(l, qfi_arg_tensor(l, "source"), false, QF_PUT_SET);
}

void qfi_build_index_add(qfi_lowering *l)
{
    const qfi_ref source = qfi_arg_tensor(l, "source");
    const qf_dtype dtype = qfi_type_of(l, source).dtype;
    const qfi_number alpha = qfi_arg_number(l, "alpha");
    const bool scales = qfi_number_double(alpha) != 1.0;

    if (scales && (qfi_class(dtype) == QF_CLASS_BOOL ||
                   (!alpha.v.is_int && qfi_class(dtype) != QF_CLASS_FLOAT)))
        qfi_refuse(l, QF_REASON_undefined, "a scale for %s", qf_dtype_get(dtype)->name);
    write_slices(
        l,
        scales ? qfi_append2(l, QF_OP_mul, source, qfi_full(l, (qf_type){ .dtype = dtype }, alpha))
               : source,
        false, QF_PUT_ADD);
}

/* A number, or a tensor of one, as the dtype of `type`. */
static qfi_ref value_arg(qfi_lowering *l, qf_dtype dtype)
{
    const qfi_operand value = qfi_arg_operand(l, "value");

    if (value.is_number && !qfi_number_fits(value.number, dtype, true))
        qfi_refuse(l, QF_REASON_undefined, "the value does not fit %s", qf_dtype_get(dtype)->name);
    if (!value.is_number && qfi_type_of(l, value.ref).rank)
        qfi_refuse(l, QF_REASON_undefined, "a value that is no scalar");
    return qfi_operand_as(l, &value, dtype);
}

void qfi_build_index_fill(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, x);
    qf_type slices;
    const qfi_ref numbers = slice_places(l, type, true, &slices);

    qfi_result(l, put(l, x, numbers, value_arg(l, type.dtype), QF_PUT_SET));
}

/* ---- scatter ---- */

/* Places as `index` says along the dim; in the others, where its elements stand. */
static qfi_ref scatter_places(qfi_lowering *l, qf_type type)
{
    const qfi_ref index = qfi_arg_index(l, "index");
    const uint8_t dim = qfi_dim(l, qfi_arg_int(l, "dim"), type.rank);
    places p = { .type = as_1d(type), .sum = QFI_NONE, .outside = QFI_NONE };

    p.shape = as_1d(qfi_type_of(l, index));
    if (p.shape.rank != p.type.rank) {
        qfi_refuse(l, QF_REASON_undefined, "ranks %d and %d", p.shape.rank, p.type.rank);
        return QFI_NONE;
    }
    for (int d = 0; d < p.type.rank; d++) {
        if (d != dim && p.shape.dim[d] > p.type.dim[d])
            qfi_refuse(l, QF_REASON_undefined, "an index that is larger along dimension %d", d);
        else if (d != dim)
            add_range(l, &p, d, d);
    }
    const qfi_ref at = qfi_reshape(l, index, (uint32_t)p.shape.rank, p.shape.dim);
    add_index(l, &p, dim, qfi_checked_index(l, at, p.type.dim[dim], false), 0);
    return number_places(l, &p);
}

/* The part of the source that the index covers, or the one value. */
static qfi_ref scatter_source(qfi_lowering *l, qfi_ref numbers, qf_dtype dtype)
{
    if (qfi_arg_get(l, "src")->kind == QFI_ARG_ABSENT)
        return value_arg(l, dtype);
    qfi_ref src = qfi_arg_tensor(l, "src");
    const qf_type shape = qfi_type_of(l, numbers), from = as_1d(qfi_type_of(l, src));
    src = qfi_reshape(l, src, (uint32_t)from.rank, from.dim);
    if (from.rank != shape.rank && qfi_lowering_ok(l))
        qfi_refuse(l, QF_REASON_undefined, "ranks %d and %d", from.rank, shape.rank);
    for (int d = 0; d < from.rank && qfi_lowering_ok(l); d++)
        src = qfi_slice(l, src, (uint8_t)d, 0, shape.dim[d]);
    return src;
}

static void build_scatter(qfi_lowering *l, qf_put_mode mode)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, x);
    const qfi_ref numbers = scatter_places(l, type);

    qfi_result(l, put(l, x, numbers, scatter_source(l, numbers, type.dtype), mode));
}

void qfi_build_scatter(qfi_lowering *l)
{
    build_scatter(l, QF_PUT_SET);
}
void qfi_build_scatter_add(qfi_lowering *l)
{
    build_scatter(l, QF_PUT_ADD);
}

/* A reduction by name. means: the sums are divided by their count. */
static qf_put_mode reduce_arg(qfi_lowering *l, bool *means)
{
    static const struct {
        const char *name;
        qf_put_mode mode;
    } names[] = { { "add", QF_PUT_ADD },  { "multiply", QF_PUT_MUL }, { "sum", QF_PUT_ADD },
                  { "prod", QF_PUT_MUL }, { "amin", QF_PUT_MIN },     { "amax", QF_PUT_MAX },
                  { "mean", QF_PUT_ADD } };
    const qfi_arg *arg = qfi_arg_get(l, "reduce");

    *means = arg->kind == QFI_ARG_TEXT && qfi_str_is(arg->text, "mean");
    for (size_t i = 0; arg->kind == QFI_ARG_TEXT && i < sizeof names / sizeof *names; i++)
        if (qfi_str_is(arg->text, names[i].name))
            return names[i].mode;
    qfi_refuse(l, QF_REASON_unsupported_argument, "argument reduce");
    return QF_PUT_SET;
}

void qfi_build_scatter_op(qfi_lowering *l)
{
    bool means;
    build_scatter(l, reduce_arg(l, &means));
}

/* What changes nothing when it is joined. */
static qfi_ref neutral(qfi_lowering *l, qf_put_mode mode, qf_dtype dtype)
{
    const unsigned bits = qf_dtype_get(dtype)->bits;
    const bool is_float = qfi_class(dtype) == QF_CLASS_FLOAT,
               is_signed = qfi_class(dtype) == QF_CLASS_INT, most = mode == QF_PUT_MIN;
    const uint64_t max =
        bits < 64 || is_signed ? (UINT64_C(1) << (bits - is_signed)) - 1 : UINT64_MAX;

    if (mode == QF_PUT_ADD || mode == QF_PUT_MUL)
        return qfi_full_int(l, dtype, mode == QF_PUT_MUL);
    if (is_float)
        return qfi_scalar(l, dtype, most ? (double)INFINITY : -(double)INFINITY);
    if (dtype == QF_DT_b8)
        return qfi_full_int(l, dtype, most);
    return qfi_full_int(l, dtype, most ? (int64_t)max : is_signed ? -(int64_t)max - 1 : 0);
}

static qfi_ref divided(qfi_lowering *l, qfi_ref sum, qfi_ref count)
{
    const qf_dtype dtype = qfi_type_of(l, sum).dtype;
    const qfi_ref by = qfi_append2(l, QF_OP_maximum, count, qfi_full_int(l, dtype, 1));
    const bool is_float = qfi_class(dtype) == QF_CLASS_FLOAT;

    return qfi_append2(l, is_float ? QF_OP_div : QF_OP_idiv_floor, sum, by);
}

/* Without self, the places that are written start from the neutral element. */
void qfi_build_scatter_reduce(qfi_lowering *l)
{
    const qfi_ref self = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, self);
    bool means;
    const qf_put_mode mode = reduce_arg(l, &means);
    const bool includes = qfi_arg_bool(l, "include_self");
    const qfi_ref numbers = scatter_places(l, type), src = scatter_source(l, numbers, type.dtype);
    qf_type mask = type;
    qfi_ref x = self;

    if (means && type.dtype == QF_DT_b8)
        qfi_refuse(l, QF_REASON_undefined, "the mean of booleans");
    mask.dtype = QF_DT_b8;
    if (!includes) {
        const qfi_ref none = qfi_expand_like(l, qfi_full_int(l, QF_DT_b8, 0), mask);
        const qfi_ref touched = put(l, none, numbers, qfi_full_int(l, QF_DT_b8, 1), QF_PUT_SET);
        x = qfi_append3(l, QF_OP_where, touched, neutral(l, mode, type.dtype), self);
    }
    qfi_ref result = put(l, x, numbers, src, mode);
    if (means) {
        const qfi_ref first =
            qfi_expand_like(l, qfi_full_int(l, type.dtype, includes ? 1 : 0), type);
        result =
            divided(l, result, put(l, first, numbers, qfi_full_int(l, type.dtype, 1), QF_PUT_ADD));
    }
    qfi_result(l, result);
}

/* ---- diagonals ---- */

void qfi_build_diagonal_scatter(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self"), src = qfi_arg_tensor(l, "src");
    const qf_type type = qfi_type_of(l, x);
    const qf_attrs attrs = { .diagonal = { qfi_dim(l, qfi_arg_int(l, "dim1"), type.rank),
                                           qfi_dim(l, qfi_arg_int(l, "dim2"), type.rank),
                                           qfi_arg_int(l, "offset") } };
    const qfi_ref all =
        qfi_reshape(l, qfi_count_by(l, qfi_elements_of(l, x), 1), (uint32_t)type.rank, type.dim);
    const qfi_ref numbers = qfi_append1(l, QF_OP_diagonal, &attrs, all);

    qfi_result(l, put(l, x, numbers, src, QF_PUT_SET));
}
