/* A view, or a concatenation, of quantised data: what becomes of its scales, zero points, and of
 * the axis or groups that they stand for. */
#include "work.h"

#include <string.h>

/* Where the axis is after a view, -1 if it is no dim of its own any more. in: type of the view's
 * operand. */
typedef int8_t move_fn(const qfi_def *view, const qf_type *in, int8_t axis);

static int8_t move_permute(const qfi_def *view, const qf_type *in, int8_t axis)
{
    (void)in;
    for (int8_t i = 0; i < view->type.rank; i++)
        if (view->attrs->dims.dim[i] == axis)
            return i;
    return -1;
}

static int8_t move_reshape(const qfi_def *view, const qf_type *in, int8_t axis)
{
    int64_t before = 1, seen = 1;
    for (int8_t i = 0; i < axis; i++)
        before *= in->dim[i];
    for (int8_t i = 0; i < view->type.rank; seen *= view->type.dim[i++])
        if (seen == before && view->type.dim[i] == in->dim[axis])
            return i;
    return -1;
}

static int8_t move_slice(const qfi_def *view, const qf_type *in, int8_t axis)
{
    (void)view, (void)in;
    return axis;
}

static int8_t move_select(const qfi_def *view, const qf_type *in, int8_t axis)
{
    const uint8_t dim = view->attrs->slice.dim;
    (void)in;
    return dim == axis ? -1 : (int8_t)(axis - (dim < axis));
}

static int8_t move_squeeze(const qfi_def *view, const qf_type *in, int8_t axis)
{
    int8_t before = 0;
    (void)in;
    for (int8_t i = 0; i < axis; i++)
        before = (int8_t)(before + (int)(view->attrs->mask.dims >> i & 1));
    return view->attrs->mask.dims >> axis & 1 ? -1 : (int8_t)(axis - before);
}

static int8_t move_unsqueeze(const qfi_def *view, const qf_type *in, int8_t axis)
{
    (void)in;
    for (int8_t i = 0; i < view->type.rank; i++)
        if (!(view->attrs->mask.dims >> i & 1) && axis-- == 0)
            return i;
    return -1;
}

/* The views that can move under a dequantize. */
static move_fn *const axis_after[QF_OP_COUNT] = {
    [QF_OP_permute] = move_permute, [QF_OP_reshape] = move_reshape,
    [QF_OP_slice] = move_slice,     [QF_OP_select] = move_select,
    [QF_OP_squeeze] = move_squeeze, [QF_OP_unsqueeze] = move_unsqueeze,
};

bool qfi_is_carried(qf_op op)
{
    return op < QF_OP_COUNT && axis_after[op];
}

/* A slice of the blocks in the place of one of the elements; scales and zero points alike. */
static qf_status slice_blocks(qfi_fold *fold, const qf_attrs *attrs, qfi_quantised *q,
                              qf_diag *diag)
{
    QF_TRY(qfi_prog_call(&fold->prog, QF_OP_slice, attrs, &q->scale, 1, &q->scale, diag));
    if (q->zero == QFI_NONE)
        return QF_OK;
    return qfi_prog_call(&fold->prog, QF_OP_slice, attrs, &q->zero, 1, &q->zero, diag);
}

/* Rows and groups of whole rows: a slice of rows, or of columns at the borders of groups. */
static qf_status slice_groups(qfi_fold *fold, const qfi_def *view, qfi_quantised *q, bool *carried,
                              qf_diag *diag)
{
    qf_attrs attrs = *view->attrs;
    if (attrs.slice.dim == 1) {
        const int64_t n = view->type.dim[1];
        if (attrs.slice.step != 1 || attrs.slice.start % q->group || n % q->group)
            return QF_OK;
        attrs.slice.start /= q->group;
        attrs.slice.n = n / q->group;
    }
    *carried = true;
    return slice_blocks(fold, &attrs, q, diag);
}

/* Groups are runs of the elements in row-major order, so rows may be of any whole number of them.
 * One group to the row may be stated larger than the row: then the row stays as long as it is. */
static qf_status reshape_groups(qfi_fold *fold, const qfi_def *view, qfi_quantised *q,
                                bool *carried, qf_diag *diag)
{
    const qf_type in = fold->prog.def[q->data].type;
    qf_attrs attrs = { .shape = { .rank = 2 } };
    if (view->type.rank != 2 || view->type.dim[1] % q->group ||
        (in.dim[1] == q->group && view->type.dim[1] != in.dim[1]))
        return QF_OK;
    attrs.shape.dim[0] = view->type.dim[0];
    attrs.shape.dim[1] = view->type.dim[1] / q->group;
    *carried = true;
    QF_TRY(qfi_prog_call(&fold->prog, QF_OP_reshape, &attrs, &q->scale, 1, &q->scale, diag));
    if (q->zero == QFI_NONE)
        return QF_OK;
    return qfi_prog_call(&fold->prog, QF_OP_reshape, &attrs, &q->zero, 1, &q->zero, diag);
}

static qf_status carry_groups(qfi_fold *fold, const qfi_def *view, qfi_quantised *q, bool *carried,
                              qf_diag *diag)
{
    if (view->op == QF_OP_slice)
        return slice_groups(fold, view, q, carried, diag);
    return view->op == QF_OP_reshape ? reshape_groups(fold, view, q, carried, diag) : QF_OK;
}

static qf_status carry_axis(qfi_fold *fold, const qfi_def *view, qfi_quantised *q, bool *carried,
                            qf_diag *diag)
{
    const qf_type in = fold->prog.def[q->data].type;
    const int8_t axis = q->axis < 0 ? -1 : axis_after[view->op](view, &in, q->axis);
    if (q->axis >= 0 && axis < 0)
        return QF_OK;
    if (q->axis >= 0 && view->op == QF_OP_slice && view->attrs->slice.dim == q->axis) {
        qf_attrs attrs = *view->attrs;
        attrs.slice.dim = 0;
        QF_TRY(slice_blocks(fold, &attrs, q, diag));
    }
    q->axis = axis;
    *carried = true;
    return QF_OK;
}

qf_status qfi_carry_view(qfi_fold *fold, qfi_ref ref, qfi_quantised *q, bool *carried,
                         qf_diag *diag)
{
    const qfi_def view = fold->prog.def[ref];
    *carried = false;
    if (!qfi_is_carried(view.op))
        return QF_OK;
    if (q->by_blocks)
        QF_TRY(qfi_carry_blocks(fold, &view, q, carried, diag));
    else if (q->group)
        QF_TRY(carry_groups(fold, &view, q, carried, diag));
    else
        QF_TRY(carry_axis(fold, &view, q, carried, diag));
    if (!*carried)
        return QF_OK;
    return qfi_prog_call(&fold->prog, view.op, view.attrs, &q->data, 1, &q->data, diag);
}

/* ---------------------------------------- several */

/* Whether the scales of two parts are joined as the parts are; else they must be the same ones. */
static bool joins_scales(const qfi_quantised *q, uint8_t dim)
{
    return q->by_blocks || q->group || q->axis == dim;
}

/* Blocks of one size, one after the other in that dim. */
static bool same_blocks(const qfi_fold *fold, const qfi_quantised *a, const qfi_quantised *b)
{
    const int8_t rank = fold->prog.def[a->data].type.rank;
    return a->by_blocks == b->by_blocks &&
           (!a->by_blocks || (rank == fold->prog.def[b->data].type.rank &&
                              !memcmp(a->block, b->block, (size_t)rank * sizeof *a->block)));
}

static bool can_join(const qfi_fold *fold, const qfi_quantised *a, const qfi_quantised *b,
                     uint8_t dim)
{
    const qfi_def *def = fold->prog.def;
    if (a->axis != b->axis || a->group != b->group || !same_blocks(fold, a, b) ||
        (a->zero == QFI_NONE) != (b->zero == QFI_NONE) ||
        def[a->data].type.dtype != def[b->data].type.dtype)
        return false;
    if (!joins_scales(a, dim))
        return a->scale == b->scale && a->zero == b->zero;
    /* Groups as long as the row may be stated longer. */
    const bool whole_rows =
        a->group && (def[a->data].type.dim[1] == a->group || def[b->data].type.dim[1] == a->group);
    return def[a->scale].type.dtype == def[b->scale].type.dtype &&
           (a->zero == QFI_NONE || def[a->zero].type.dtype == def[b->zero].type.dtype) &&
           !(whole_rows && dim == 1);
}

static qf_status join(qfi_fold *fold, uint8_t dim, const qfi_ref *part, uint32_t n, qfi_ref *out,
                      qf_diag *diag)
{
    const qf_attrs attrs = { .dim = { .dim = dim } };
    return part[0] == QFI_NONE ? QF_OK
                               : qfi_prog_call(&fold->prog, QF_OP_cat, &attrs, part, n, out, diag);
}

qf_status qfi_carry_cat(qfi_fold *fold, uint8_t dim, const qfi_quantised *part, uint32_t n,
                        qfi_quantised *out, bool *carried, qf_diag *diag)
{
    qfi_ref *ref = qfi_pool_alloc(&qfi_work_of(fold)->run.pool, (size_t)n * 3, sizeof *ref);
    if (!ref)
        return QFI_NO_MEMORY(diag);
    *carried = true;
    for (uint32_t i = 0; i < n; i++) {
        *carried = *carried && can_join(fold, &part[0], &part[i], dim);
        ref[i] = part[i].data;
        ref[n + i] = part[i].scale;
        ref[2 * n + i] = part[i].zero;
    }
    *out = part[0];
    if (!*carried)
        return QF_OK;
    if (joins_scales(&part[0], dim)) {
        const uint8_t scale_dim = part[0].by_blocks || part[0].group ? dim : 0;
        QF_TRY(join(fold, scale_dim, ref + n, n, &out->scale, diag));
        QF_TRY(join(fold, scale_dim, ref + 2 * (size_t)n, n, &out->zero, diag));
    }
    return join(fold, dim, ref, n, &out->data, diag);
}
