/* Whole operators, element by element, from coordinates. */
#include "ref.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ref_make(ref_tensor *t, const qf_type *type)
{
    *t = (ref_tensor){ .type = *type, .n = 1 };
    for (int d = 0; d < type->rank; d++)
        t->n *= type->dim[d];
    t->e = calloc((size_t)t->n + 1, sizeof *t->e);
    if (!t->e)
        abort();
}

void ref_free(ref_tensor *t)
{
    free(t->e);
    *t = (ref_tensor){ 0 };
}

void ref_fill(ref_tensor *t, bool small, check_rng *rng)
{
    const qf_dtype dtype = t->type.dtype;
    const qf_dtype_info *d = qf_dtype_get(dtype);

    for (int64_t i = 0; i < t->n; i++) {
        uint64_t *e = t->e[i];
        if (d->compute == QF_DT_none || d->bits < 8) {
            e[0] = d->bits < 64 ? check_random(rng) >> (64 - d->bits) : check_random(rng);
            e[1] = d->bits > 64 ? check_random(rng) : 0;
        } else if (d->kind == QF_CLASS_BOOL) {
            e[0] = check_below(rng, 2);
        } else if (small) {
            const int64_t v = (int64_t)check_below(rng, 9) - (d->kind == QF_CLASS_UINT ? 0 : 4);
            e[0] =
                ref_is_float(dtype) ? ref_from_real(dtype, (double)v / 2) : ref_from_int(dtype, v);
        } else {
            e[0] = check_value((unsigned)dtype, rng);
        }
    }
}

int64_t ref_number(const qf_type *type, const int64_t *at)
{
    int64_t n = 0;
    for (int d = 0; d < type->rank; d++)
        n = n * type->dim[d] + at[d];
    return n;
}

void ref_coordinates(const qf_type *type, int64_t number, int64_t *at)
{
    for (int d = type->rank - 1; d >= 0; d--) {
        at[d] = number % type->dim[d];
        number /= type->dim[d];
    }
}

static const uint64_t *element(const ref_tensor *t, const int64_t *at)
{
    return t->e[ref_number(&t->type, at)];
}

/* Element of an operand that broadcasts to the result. */
static const uint64_t *broadcast(const ref_tensor *t, int rank, const int64_t *at)
{
    int64_t mine[QF_MAX_RANK];
    for (int d = 0; d < t->type.rank; d++)
        mine[d] = t->type.dim[d] == 1 ? 0 : at[d + rank - t->type.rank];
    return element(t, mine);
}

static void copy(const uint64_t *from, uint64_t *to)
{
    to[0] = from[0], to[1] = from[1];
}

/* Coordinates of the operand for those of the result of a view. */
static void view(qf_op op, const qf_attrs *a, const qf_type *in, const qf_type *out,
                 const int64_t *at, int64_t *x)
{
    int k = 0;

    if (op == QF_OP_reshape) {
        ref_coordinates(in, ref_number(out, at), x);
        return;
    }
    for (int d = 0; d < in->rank; d++) {
        if (op == QF_OP_identity)
            x[d] = at[d];
        else if (op == QF_OP_permute)
            x[a->dims.dim[d]] = at[d];
        else if (op == QF_OP_expand)
            x[d] = in->dim[d] == 1 ? 0 : at[d + out->rank - in->rank];
        else if (op == QF_OP_slice)
            x[d] = d == a->slice.dim ? a->slice.start + at[d] * a->slice.step : at[d];
        else if (op == QF_OP_select)
            x[d] = d == a->slice.dim ? a->slice.start : at[k++];
        else if (op == QF_OP_squeeze)
            x[d] = a->mask.dims >> d & 1 ? 0 : at[k++];
        else if (op == QF_OP_flip)
            x[d] = a->mask.dims >> d & 1 ? in->dim[d] - 1 - at[d] : at[d];
        else if (op == QF_OP_diagonal)
            x[d] = d == a->diagonal.dim0
                       ? at[out->rank - 1] + (a->diagonal.offset < 0 ? -a->diagonal.offset : 0)
                   : d == a->diagonal.dim1
                       ? at[out->rank - 1] + (a->diagonal.offset > 0 ? a->diagonal.offset : 0)
                       : at[k++];
    }
    for (int d = 0; op == QF_OP_unsqueeze && d < out->rank; d++)
        if (!(a->mask.dims >> d & 1))
            x[k++] = at[d];
}

static void cat(const qf_attrs *a, const ref_tensor *in, const int64_t *at, uint64_t *x)
{
    int64_t mine[QF_MAX_RANK];
    int i = 0;

    memcpy(mine, at, sizeof mine);
    for (; mine[a->dim.dim] >= in[i].type.dim[a->dim.dim]; i++)
        mine[a->dim.dim] -= in[i].type.dim[a->dim.dim];
    copy(element(&in[i], mine), x);
}

static void scatter(qf_op op, const qf_attrs *a, const ref_tensor *in, const int64_t *at,
                    uint64_t *x)
{
    const int dim = a->slice.dim, rank = in[0].type.rank;
    const int64_t step = op == QF_OP_slice_scatter ? a->slice.step : 1,
                  n = op == QF_OP_slice_scatter ? a->slice.n : 1;
    const int64_t from = at[dim] - a->slice.start;
    int64_t mine[QF_MAX_RANK];

    memcpy(mine, at, sizeof mine);
    if (from < 0 || from % step != 0 || from / step >= n) {
        copy(element(&in[0], at), x);
        return;
    }
    mine[dim] = from / step;
    if (op == QF_OP_select_scatter)
        memmove(&mine[dim], &mine[dim + 1], sizeof *mine * (size_t)(rank - 1 - dim));
    copy(element(&in[1], mine), x);
}

static void pad_or_roll(qf_op op, const qf_attrs *a, const ref_tensor *in, const int64_t *at,
                        uint64_t *x)
{
    int64_t mine[QF_MAX_RANK];

    for (int d = 0; d < in[0].type.rank; d++) {
        const int64_t n = in[0].type.dim[d];
        mine[d] = op == QF_OP_pad ? at[d] - a->pad.before[d]
                                  : ((at[d] - a->roll.shift[d] % n) % n + n) % n;
        if (mine[d] < 0 || mine[d] >= n) {
            copy(in[1].e[0], x);
            return;
        }
    }
    copy(element(&in[0], mine), x);
}

static bool quant(qf_op op, const qf_attrs *a, const ref_tensor *in, const int64_t *at, qf_dtype to,
                  uint64_t *x)
{
    const qf_dtype qt = in[0].type.dtype, st = in[1].type.dtype, zt = in[2].type.dtype;
    int64_t block[QF_MAX_RANK];
    uint64_t e[3] = { 0 };

    for (int d = 0; d < in[0].type.rank; d++)
        block[d] = at[d] / a->quant.block[d];
    e[0] = element(&in[0], at)[0];
    const uint64_t s = element(&in[1], block)[0], z = element(&in[2], block)[0];
    if (op == QF_OP_quantize) {
        const float v =
            rintf((float)ref_real(qt, e[0]) * (float)ref_real(st, s)) + (float)ref_real(zt, z);
        if (isnan(v)) {
            *x = 0;
            return qf_dtype_get(to)->bits <= 16;
        }
        const double clamped =
            fmin(fmax((double)v, (double)(float)a->quant.qmin), (double)(float)a->quant.qmax);
        return ref_convert(QF_DT_f64, ref_from_real(QF_DT_f64, clamped), to, x);
    }
    if (!ref_convert(qt, e[0], zt, &e[0]))
        return false;
    e[1] = z;
    (void)ref_point(QF_OP_sub, zt, e, &e[0]);
    (void)ref_convert(zt, e[0], st, &e[0]);
    e[1] = s;
    (void)ref_point(QF_OP_mul, st, e, &e[0]);
    return ref_convert(st, e[0], to, x);
}

static bool count(const qf_attrs *a, int64_t i, uint64_t *x)
{
    const qf_dtype to = a->arange.type.dtype;
    const qf_scalar *start = &a->arange.start, *step = &a->arange.step;

    if (!ref_is_float(to)) {
        *x = ref_from_int(to, (int64_t)((uint64_t)start->i + (uint64_t)i * (uint64_t)step->i));
        return true;
    }
    const double v = (start->is_int ? (double)start->i : start->f) +
                     (double)i * (step->is_int ? (double)step->i : step->f);
    return ref_convert(QF_DT_f64, ref_from_real(QF_DT_f64, v), to, x);
}

static bool full(const qf_attrs *a, uint64_t *x)
{
    const qf_scalar *v = &a->full.value;
    if (v->is_int)
        return ref_convert(QF_DT_i64, (uint64_t)v->i, a->full.type.dtype, x);
    return ref_convert(QF_DT_f64, ref_from_real(QF_DT_f64, v->f), a->full.type.dtype, x);
}

/* Index of `size`, wrapped; -1 if it is outside. */
static int64_t wrapped(const ref_tensor *index, const int64_t *at, int rank, int64_t size)
{
    int64_t v = ref_int(index->type.dtype, broadcast(index, rank, at)[0]);
    v += v < 0 ? size : 0;
    return v >= 0 && v < size ? v : -1;
}

static bool pick(qf_op op, const qf_attrs *a, const ref_tensor *in, const int64_t *at,
                 const qf_type *out, uint64_t *x)
{
    const uint32_t dims = op == QF_OP_index ? a->index.dims : 1u << a->dim.dim;
    const int rank = in[0].type.rank, n_index = out->rank - rank + __builtin_popcount(dims);
    int first = 0, i = 1, k = 0;
    int64_t mine[QF_MAX_RANK];

    while (!(dims >> first & 1))
        first++;
    bool together = true;
    for (int d = first, seen = 0; d < rank; d++) {
        seen += (int)(dims >> d & 1);
        together = together && ((dims >> d & 1) || seen == __builtin_popcount(dims));
    }
    first = together ? first : 0;
    for (int d = 0; d < rank; d++) {
        if (dims >> d & 1) {
            mine[d] = op == QF_OP_gather
                          ? wrapped(&in[1], at, out->rank, in[0].type.dim[d])
                          : wrapped(&in[i++], at + first, n_index, in[0].type.dim[d]);
            if (mine[d] < 0)
                return false;
            k += op == QF_OP_gather;
            continue;
        }
        if (op != QF_OP_gather && k == first)
            k += n_index;
        mine[d] = at[k++];
    }
    copy(element(&in[0], mine), x);
    return true;
}

static bool point(qf_op op, const qf_attrs *a, const ref_tensor *in, size_t n_in,
                  const qf_type *out, const int64_t *at, uint64_t *x)
{
    uint64_t e[3] = { 0 };

    if (op == QF_OP_where) {
        copy(broadcast(&in[broadcast(&in[0], out->rank, at)[0] ? 1 : 2], out->rank, at), x);
        return true;
    }
    if (op == QF_OP_triu || op == QF_OP_tril) {
        const int64_t v = at[out->rank - 1] - at[out->rank - 2];
        if (op == QF_OP_triu ? v >= a->tri.diagonal : v <= a->tri.diagonal)
            copy(element(&in[0], at), x);
        return true;
    }
    for (size_t i = 0; i < n_in; i++)
        e[i] = broadcast(&in[i], out->rank, at)[0];
    if (op == QF_OP_bitcast) {
        copy(broadcast(&in[0], out->rank, at), x);
        return true;
    }
    if (op == QF_OP_cast) {
        if (in[0].type.dtype == out->dtype) {
            copy(broadcast(&in[0], out->rank, at), x);
            return true;
        }
        return ref_convert(in[0].type.dtype, e[0], out->dtype, x);
    }
    return ref_point(op, in[0].type.dtype, e, x);
}

static bool one(qf_op op, const qf_attrs *a, const ref_tensor *in, size_t n_in, const qf_type *out,
                const int64_t *at, uint64_t *x)
{
    int64_t from[QF_MAX_RANK];

    switch (op) {
    case QF_OP_full:
        return full(a, x);
    case QF_OP_arange:
        return count(a, at[0], x);
    case QF_OP_cat:
        cat(a, in, at, x);
        return true;
    case QF_OP_slice_scatter:
    case QF_OP_select_scatter:
        scatter(op, a, in, at, x);
        return true;
    case QF_OP_pad:
    case QF_OP_roll:
        pad_or_roll(op, a, in, at, x);
        return true;
    case QF_OP_quantize:
    case QF_OP_dequantize:
        return quant(op, a, in, at, out->dtype, x);
    case QF_OP_index_select:
    case QF_OP_index:
    case QF_OP_gather:
        return pick(op, a, in, at, out, x);
    default:
        break;
    }
    if (qf_op_get(op)->kind != QF_KIND_VIEW)
        return point(op, a, in, n_in, out, at, x);
    view(op, a, &in[0].type, out, at, from);
    copy(element(&in[0], from), x);
    return true;
}

bool ref_eval(qf_op op, const qf_attrs *attrs, const ref_tensor *in, size_t n_in, ref_tensor *out)
{
    const bool picks = op == QF_OP_index_select || op == QF_OP_index || op == QF_OP_gather;
    const bool orders = op >= QF_OP_argmax && op <= QF_OP_nonzero;
    bool defined = true;

    if (orders)
        return ref_order(op, attrs, in, out);
    if (qf_op_get(op)->kind == QF_KIND_BREAKER && !picks)
        return ref_breaker(op, attrs, in, out);
    for (int64_t i = 0; i < out->n; i++) {
        int64_t at[QF_MAX_RANK] = { 0 };
        ref_coordinates(&out->type, i, at);
        defined &= one(op, attrs, in, n_in, &out->type, at, out->e[i]);
    }
    return defined;
}
