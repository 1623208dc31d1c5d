/* The normal form of attributes: a copy by fields, one function per member of qf_attrs, found by
 * the attribute column of ops.def. */
#include "attrs.h"

#include <string.h>

static void copy_type(const qf_type *from, qf_type *to)
{
    to->dtype = from->dtype;
    to->rank = from->rank;
    for (int i = 0; i < from->rank && i < QF_MAX_RANK; i++)
        to->dim[i] = from->dim[i];
}

static void copy_scalar(const qf_scalar *from, qf_scalar *to)
{
    to->is_int = from->is_int;
    if (from->is_int)
        to->i = from->i;
    else
        to->f = from->f;
}

static void copy_dims(int rank, const qf_attrs *from, qf_attrs *to)
{
    for (int i = 0; i < rank; i++)
        to->dims.dim[i] = from->dims.dim[i];
}

static void copy_shape(int rank, const qf_attrs *from, qf_attrs *to)
{
    (void)rank;
    to->shape.rank = from->shape.rank;
    for (int i = 0; i < from->shape.rank && i < QF_MAX_RANK; i++)
        to->shape.dim[i] = from->shape.dim[i];
}

static void copy_slice(int rank, const qf_attrs *from, qf_attrs *to)
{
    (void)rank;
    to->slice.dim = from->slice.dim;
    to->slice.start = from->slice.start;
    to->slice.step = from->slice.step;
    to->slice.n = from->slice.n;
}

static void copy_mask(int rank, const qf_attrs *from, qf_attrs *to)
{
    (void)rank;
    to->mask.dims = from->mask.dims;
}

static void copy_diagonal(int rank, const qf_attrs *from, qf_attrs *to)
{
    (void)rank;
    to->diagonal.dim0 = from->diagonal.dim0;
    to->diagonal.dim1 = from->diagonal.dim1;
    to->diagonal.offset = from->diagonal.offset;
}

static void copy_full(int rank, const qf_attrs *from, qf_attrs *to)
{
    (void)rank;
    copy_type(&from->full.type, &to->full.type);
    copy_scalar(&from->full.value, &to->full.value);
}

static void copy_arange(int rank, const qf_attrs *from, qf_attrs *to)
{
    (void)rank;
    copy_type(&from->arange.type, &to->arange.type);
    copy_scalar(&from->arange.start, &to->arange.start);
    copy_scalar(&from->arange.step, &to->arange.step);
}

static void copy_tri(int rank, const qf_attrs *from, qf_attrs *to)
{
    (void)rank;
    to->tri.diagonal = from->tri.diagonal;
}

static void copy_cast(int rank, const qf_attrs *from, qf_attrs *to)
{
    (void)rank;
    to->cast.dtype = from->cast.dtype;
}

static void copy_quant(int rank, const qf_attrs *from, qf_attrs *to)
{
    to->quant.dtype = from->quant.dtype;
    to->quant.rule = from->quant.rule;
    to->quant.qmin = from->quant.qmin;
    to->quant.qmax = from->quant.qmax;
    for (int i = 0; i < rank; i++)
        to->quant.block[i] = from->quant.block[i];
}

static void copy_dim(int rank, const qf_attrs *from, qf_attrs *to)
{
    (void)rank;
    to->dim.dim = from->dim.dim;
}

static void copy_roll(int rank, const qf_attrs *from, qf_attrs *to)
{
    for (int i = 0; i < rank; i++)
        to->roll.shift[i] = from->roll.shift[i];
}

static void copy_pad(int rank, const qf_attrs *from, qf_attrs *to)
{
    for (int i = 0; i < rank; i++) {
        to->pad.before[i] = from->pad.before[i];
        to->pad.after[i] = from->pad.after[i];
    }
}

static void copy_reduce(int rank, const qf_attrs *from, qf_attrs *to)
{
    (void)rank;
    to->reduce.dims = from->reduce.dims;
    to->reduce.keep = from->reduce.keep;
}

static void copy_index(int rank, const qf_attrs *from, qf_attrs *to)
{
    (void)rank;
    to->index.dims = from->index.dims;
}

static void copy_sort(int rank, const qf_attrs *from, qf_attrs *to)
{
    (void)rank;
    to->sort.dim = from->sort.dim;
    to->sort.descending = from->sort.descending;
    to->sort.distinct = from->sort.distinct;
    to->sort.n = from->sort.n;
}

static void copy_put(int rank, const qf_attrs *from, qf_attrs *to)
{
    (void)rank;
    to->put.mode = from->put.mode;
}

static void copy_count(int rank, const qf_attrs *from, qf_attrs *to)
{
    (void)rank;
    to->count.n = from->count.n;
}

typedef void copy_fn(int rank, const qf_attrs *from, qf_attrs *to);

#define copy_none NULL
static copy_fn *const copies[] = {
#define QF_OP(name, n_in, kind, flags, attrs, infer, lower, kernel) copy_##attrs,
#include <qfold/ops.def>
#undef QF_OP
};

bool qfi_attrs_any(qf_op op)
{
    return op < QF_OP_COUNT && copies[op];
}

void qfi_attrs_copy(qf_op op, int rank, const qf_attrs *from, qf_attrs *to)
{
    memset(to, 0, sizeof *to);
    if (qfi_attrs_any(op) && from)
        copies[op](rank < 0 || rank > QF_MAX_RANK ? QF_MAX_RANK : rank, from, to);
}
