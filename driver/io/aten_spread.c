/* Builders of tensors in which elements of another stand apart or again: diagonals, one-hot rows,
 * counts, repetition by counts. */
#include "aten_build.h"

#include <string.h>

/* The last dim of x on a diagonal of two dims at the end, zeros around it. */
static qfi_ref on_diagonal(qfi_lowering *l, qfi_ref x, int64_t offset)
{
    const qf_type type = qfi_type_of(l, x);
    const int last = type.rank - 1;
    const qf_attrs tri = { .tri = { offset } };
    qf_attrs pad = { .pad = { { 0 }, { 0 } } };
    int64_t dim[QF_MAX_RANK + 1];

    /* Along rows, the element of column j is j - offset; padded so that it is number j. */
    pad.pad.before[last] = offset > 0 ? offset : 0;
    pad.pad.after[last] = offset >= 0 ? 0 : offset < -INT64_MAX ? INT64_MAX : -offset;
    const qfi_ref zero = qfi_full_int(l, type.dtype, 0);
    qfi_ref wide = offset ? qfi_append(l, QF_OP_pad, &pad, (const qfi_ref[]){ x, zero }, 2) : x;
    if (!qfi_lowering_ok(l) || type.rank >= QF_MAX_RANK) {
        qfi_refuse(l, QF_REASON_unsupported_rank, "rank %d", type.rank + 1);
        return QFI_NONE;
    }
    memcpy(dim, qfi_type_of(l, wide).dim, (size_t)type.rank * sizeof *dim);
    dim[type.rank] = dim[last];
    wide = qfi_expand(l, qfi_unsqueeze(l, wide, (uint8_t)last), (uint32_t)type.rank + 1, dim);
    return qfi_append1(l, QF_OP_triu, &tri, qfi_append1(l, QF_OP_tril, &tri, wide));
}

/* The two dims at the end move to dim1 and dim2. */
static void give_diagonal(qfi_lowering *l, qfi_ref x, int64_t offset, uint8_t dim1, uint8_t dim2)
{
    const int rank = qfi_type_of(l, x).rank + 1;
    uint8_t order[QF_MAX_RANK] = { 0 }, next = 0;
    const qfi_ref made = on_diagonal(l, x, offset);

    if (dim1 == dim2)
        qfi_refuse(l, QF_REASON_undefined, "dimension %d appears twice", dim1);
    for (int d = 0; d < rank && d < QF_MAX_RANK; d++)
        order[d] = d == dim1 ? (uint8_t)(rank - 2) : d == dim2 ? (uint8_t)(rank - 1) : next++;
    qfi_result(l, qfi_lowering_ok(l) ? qfi_permute(l, made, order) : QFI_NONE);
}

void qfi_build_diag_embed(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const int rank = qfi_type_of(l, x).rank + 1;

    if (rank < 2) {
        qfi_refuse(l, QF_REASON_unsupported_rank, "rank 0");
        return;
    }
    give_diagonal(l, x, qfi_arg_int(l, "offset"), qfi_dim(l, qfi_arg_int(l, "dim1"), rank),
                  qfi_dim(l, qfi_arg_int(l, "dim2"), rank));
}

/* Of a matrix its diagonal, of a row a matrix around it. */
void qfi_build_diag(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const int rank = qfi_type_of(l, x).rank;
    const int64_t offset = qfi_arg_int(l, "diagonal");
    const qf_attrs attrs = { .diagonal = { 0, 1, offset } };

    if (rank == 1)
        give_diagonal(l, x, offset, 0, 1);
    else if (rank == 2)
        qfi_result(l, qfi_append1(l, QF_OP_diagonal, &attrs, x));
    else
        qfi_refuse(l, QF_REASON_undefined, "rank %d", rank);
}

/* ---- classes ---- */

/* One more than the largest of a few indices. */
static int64_t count_classes(qfi_lowering *l, qfi_ref x)
{
    const qf_attrs attrs = { .reduce = { 1, false } };
    qf_scalar value[64];
    uint32_t n = 0;

    if (!qfi_elements_of(l, x)) {
        qfi_refuse(l, QF_REASON_undefined, "classes of no elements");
        return 0;
    }
    const qfi_ref most = qfi_append1(l, QF_OP_amax, &attrs, qfi_flatten(l, x));
    if (qfi_lowering_ok(l) && l->env->elements(l->env, most, value, &n) && n == 1 &&
        value[0].i < INT64_MAX)
        return value[0].i + 1;
    qfi_refuse(l, QF_REASON_unsupported_argument, "more indices than are looked at ahead");
    return 0;
}

/* Each index is looked up among all classes, which fails for what is none, and compared with them.
 */
void qfi_build_one_hot(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_index(l, "self");
    const qf_type type = qfi_type_of(l, x);
    const int64_t given = qfi_arg_int(l, "num_classes"),
                  n = given == -1 ? count_classes(l, x) : given;

    if (n < 0 || (n == 0 && qfi_elements_of(l, x)) || type.rank >= QF_MAX_RANK) {
        qfi_refuse(l, QF_REASON_undefined, "%lld classes", (long long)n);
        return;
    }
    const qfi_ref classes = qfi_count_by(l, n, 1);
    const qfi_ref known =
        qfi_reshape(l, qfi_select_rows(l, classes, 0, qfi_checked_index(l, x, n, false)),
                    (uint32_t)type.rank, type.dim);
    qfi_result(
        l,
        qfi_cast(l, qfi_append2(l, QF_OP_eq, qfi_unsqueeze(l, known, (uint8_t)type.rank), classes),
                 QF_DT_i64));
}

/* How often each number occurs, or the sum of its weights. */
void qfi_build_bincount(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self"), one = qfi_full_int(l, QF_DT_i64, 1);
    const int64_t least = qfi_arg_int(l, "minlength"), count = qfi_elements_of(l, x);
    const qf_dtype_class kind = qfi_class(qfi_type_of(l, x).dtype);
    const qf_attrs adds = { .put = { QF_PUT_ADD } };
    qfi_ref weight = qfi_expand(l, one, 1, &count);

    if (qfi_type_of(l, x).rank != 1 || least < 0 ||
        (kind != QF_CLASS_INT && kind != QF_CLASS_UINT)) {
        qfi_refuse(l, QF_REASON_undefined, "counts of %s",
                   qf_dtype_get(qfi_type_of(l, x).dtype)->name);
        return;
    }
    if (qfi_arg_has(l, "weights") && count) {
        const qfi_ref w = qfi_arg_tensor(l, "weights");
        const qf_dtype dtype = qfi_type_of(l, w).dtype;
        weight = qfi_cast(l, w, dtype == QF_DT_f32 ? QF_DT_f32 : QF_DT_f64);
    }
    const int64_t most = count ? count_classes(l, x) : 0, n = most > least ? most : least;
    const qfi_ref none = qfi_full_int(l, qfi_type_of(l, weight).dtype, 0);
    const qfi_ref in[3] = { qfi_expand(l, none, 1, &n), qfi_checked_index(l, x, n, false), weight };
    const qfi_ref sums = qfi_append(l, QF_OP_put, &adds, in, 3);
    qfi_check_defined(l, sums, "numbers below zero");
    qfi_result(l, sums);
}

/* ---- repetition by counts ---- */

static qfi_ref running(qfi_lowering *l, qfi_ref x)
{
    const qf_attrs attrs = { .dim = { 0 } };
    return qfi_append1(l, QF_OP_cumsum, &attrs, x);
}

/* The sum of the counts: what the node says, or a sum that is small enough to look at. */
static int64_t total_count(qfi_lowering *l, qfi_ref counts)
{
    const qf_attrs attrs = { .reduce = { 1, false } };
    qf_scalar value[64];
    uint32_t n = 0;

    if (qfi_arg_has(l, "output_size"))
        return qfi_arg_int(l, "output_size");
    const qfi_ref sum = qfi_append1(l, QF_OP_sum, &attrs, counts);
    if (qfi_lowering_ok(l) && l->env->elements(l->env, sum, value, &n) && n == 1 && value[0].i >= 0)
        return value[0].i;
    qfi_refuse(l, QF_REASON_unsupported_argument, "more counts than are looked at ahead");
    return 0;
}

/* 0 counts[0] times, 1 counts[1] times …: where a number ends, the next one is one more; those that
 * do not occur add up. Behind the last there is room for the end of all. */
static qfi_ref repeated_numbers(qfi_lowering *l, qfi_ref counts)
{
    const int64_t n = qfi_elements_of(l, counts), total = total_count(l, counts);
    const qf_attrs adds = { .put = { QF_PUT_ADD } };
    const qf_type type = { .dtype = QF_DT_i64, .rank = 1, .dim = { n } };
    qf_type room = type;

    if (!qfi_lowering_ok(l) || total < 0 || total == INT64_MAX) {
        qfi_refuse(l, QF_REASON_undefined, "%lld elements", (long long)total);
        return QFI_NONE;
    }
    room.dim[0] = total + 1;
    const qfi_ref ends = qfi_checked_index(l, running(l, counts), total + 1, false),
                  one = qfi_full_int(l, QF_DT_i64, 1), zero = qfi_full_int(l, QF_DT_i64, 0);
    const qfi_ref in[3] = { qfi_expand_like(l, zero, room), ends, qfi_expand_like(l, one, type) };
    const qfi_ref steps = qfi_append(l, QF_OP_put, &adds, in, 3);
    qfi_check_defined(l, steps, "counts below zero, or of another sum");
    return qfi_slice(l, running(l, steps), 0, 0, total);
}

void qfi_build_repeat_interleave_counts(qfi_lowering *l)
{
    const qfi_ref counts = qfi_arg_index(l, "repeats");
    const qf_dtype dtype = qfi_type_of(l, counts).dtype;

    if (qfi_type_of(l, counts).rank != 1) {
        qfi_refuse(l, QF_REASON_undefined, "counts of rank %d", qfi_type_of(l, counts).rank);
        return;
    }
    qfi_result(l, qfi_cast(l, repeated_numbers(l, qfi_cast(l, counts, QF_DT_i64)), dtype));
}

/* One count for all, or one for each slice. */
void qfi_build_repeat_interleave_each(qfi_lowering *l)
{
    const qfi_ref self = qfi_arg_tensor(l, "self"),
                  counts = qfi_cast(l, qfi_flatten(l, qfi_arg_index(l, "repeats")), QF_DT_i64);
    const bool flat = !qfi_arg_has(l, "dim") || !qfi_type_of(l, self).rank;
    const qfi_ref x = flat ? qfi_flatten(l, self) : self;
    const qf_type type = qfi_type_of(l, x);
    const uint8_t dim = flat ? 0 : qfi_dim(l, qfi_arg_int(l, "dim"), type.rank);
    const int64_t n = type.dim[dim];

    if (qfi_elements_of(l, counts) != n && qfi_elements_of(l, counts) != 1) {
        qfi_refuse(l, QF_REASON_undefined, "other counts than slices");
        return;
    }
    const qfi_ref each = qfi_expand(l, counts, 1, &n);
    qfi_result(l, qfi_select_rows(l, x, dim, repeated_numbers(l, each)));
}
