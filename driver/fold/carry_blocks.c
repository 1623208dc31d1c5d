/* Views of data that is quantised in blocks of any shape: scales and zero points stand in a grid of
 * one element for each block, and take the view of the blocks as the data takes that of the
 * elements. What cuts through a block is not carried. */
#include "work.h"

#include <string.h>

static int64_t grid_dim(const qf_type *data, const qfi_quantised *q, int i)
{
    return data->dim[i] / q->block[i];
}

static qf_status view_grids(qfi_fold *fold, qf_op op, const qf_attrs *attrs, qfi_quantised *q,
                            qf_diag *diag)
{
    QF_TRY(qfi_prog_call(&fold->prog, op, attrs, &q->scale, 1, &q->scale, diag));
    if (q->zero == QFI_NONE)
        return QF_OK;
    return qfi_prog_call(&fold->prog, op, attrs, &q->zero, 1, &q->zero, diag);
}

/* ---- views that keep elements and their blocks apart ---- */

static void move_dims(const qfi_def *view, qfi_quantised *q)
{
    int64_t block[QF_MAX_RANK];
    int from = 0, n = 0;
    memcpy(block, q->block, sizeof block);
    if (view->op == QF_OP_permute)
        for (int i = 0; i < view->type.rank; i++)
            q->block[i] = block[view->attrs->dims.dim[i]];
    if (view->op == QF_OP_unsqueeze)
        for (int i = 0; i < view->type.rank; i++)
            q->block[i] = view->attrs->mask.dims >> i & 1 ? 1 : block[from++];
    if (view->op == QF_OP_squeeze)
        for (; n < view->type.rank; from++)
            if (!(view->attrs->mask.dims >> from & 1))
                q->block[n++] = block[from];
}

/* Elements [start, start + n step) of a dim, as blocks; false if they cut through one. */
static bool cut_blocks(int64_t grid, int64_t *block, int64_t n, qf_attrs *attrs)
{
    if (grid == 1) {
        attrs->slice.start = 0;
        attrs->slice.step = attrs->slice.n = 1;
        *block = n;
        return n > 0;
    }
    if (*block == 1)
        return n > 0;
    const bool whole =
        n > 0 && attrs->slice.step == 1 && attrs->slice.start % *block == 0 && n % *block == 0;
    attrs->slice.start /= *block;
    attrs->slice.n = n / *block;
    return whole;
}

static qf_status move_slice(qfi_fold *fold, const qfi_def *view, const qf_type *in,
                            qfi_quantised *q, bool *carried, qf_diag *diag)
{
    qf_attrs attrs = *view->attrs;
    const uint8_t dim = attrs.slice.dim;
    *carried = cut_blocks(grid_dim(in, q, dim), &q->block[dim], view->type.dim[dim], &attrs);
    return *carried ? view_grids(fold, QF_OP_slice, &attrs, q, diag) : QF_OK;
}

static qf_status move_select(qfi_fold *fold, const qfi_def *view, const qf_type *in,
                             qfi_quantised *q, qf_diag *diag)
{
    qf_attrs attrs = *view->attrs;
    const uint8_t dim = attrs.slice.dim;
    attrs.slice.start /= q->block[dim];
    for (int i = dim; i + 1 < in->rank; i++)
        q->block[i] = q->block[i + 1];
    return view_grids(fold, QF_OP_select, &attrs, q, diag);
}

/* ---- reshapes ---- */

/* Blocks of dims [begin, end) as runs of the elements in row-major order: their length; 0 if they
 * are no runs. */
static int64_t run_of(const int64_t *dim, const int64_t *block, int begin, int end)
{
    int64_t run = 1;
    int i = end;
    while (i > begin && block[i - 1] == dim[i - 1])
        run *= block[--i];
    if (i > begin)
        run *= block[--i];
    while (i > begin && block[i - 1] == 1)
        i--;
    return i == begin ? run : 0;
}

/* The opposite: blocks of dims that are runs of that length; false if there are none. */
static bool block_of_run(const int64_t *dim, int begin, int end, int64_t run, int64_t *block)
{
    for (int i = end; i-- > begin;) {
        block[i] = run < dim[i] ? run : dim[i];
        if (dim[i] % block[i] || run % block[i])
            return false;
        run /= block[i];
    }
    return run == 1;
}

/* Dims of both shapes from the left, in the smallest sets that hold the same elements. */
static bool reshape_blocks(const qf_type *in, const qf_type *out, const int64_t *old,
                           int64_t *block)
{
    int i = 0, j = 0;
    while (i < in->rank || j < out->rank) {
        const int i0 = i, j0 = j;
        int64_t a = i < in->rank ? in->dim[i++] : 1, b = j < out->rank ? out->dim[j++] : 1;
        while (a != b && (a < b ? i < in->rank : j < out->rank)) {
            if (a < b)
                a *= in->dim[i++];
            else
                b *= out->dim[j++];
        }
        const int64_t run = run_of(in->dim, old, i0, i);
        if (a != b || !run || !block_of_run(out->dim, j0, j, run, block))
            return false;
    }
    return true;
}

static qf_status move_reshape(qfi_fold *fold, const qfi_def *view, const qf_type *in,
                              qfi_quantised *q, bool *carried, qf_diag *diag)
{
    int64_t block[QF_MAX_RANK] = { 0 };
    qf_attrs attrs = { .shape = { .rank = (uint8_t)view->type.rank } };
    *carried = reshape_blocks(in, &view->type, q->block, block);
    if (!*carried)
        return QF_OK;
    memcpy(q->block, block, sizeof block);
    for (int i = 0; i < view->type.rank; i++)
        attrs.shape.dim[i] = view->type.dim[i] / block[i];
    return view_grids(fold, QF_OP_reshape, &attrs, q, diag);
}

qf_status qfi_carry_blocks(qfi_fold *fold, const qfi_def *view, qfi_quantised *q, bool *carried,
                           qf_diag *diag)
{
    const qf_type in = fold->prog.def[q->data].type;
    *carried = true;
    if (view->op == QF_OP_slice)
        return move_slice(fold, view, &in, q, carried, diag);
    if (view->op == QF_OP_select)
        return move_select(fold, view, &in, q, diag);
    if (view->op == QF_OP_reshape)
        return move_reshape(fold, view, &in, q, carried, diag);
    move_dims(view, q);
    return view_grids(fold, view->op, view->attrs, q, diag);
}
