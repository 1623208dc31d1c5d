/* Products, reductions and prefix sums, element by element. */
#include "ref.h"

#include <math.h>
#include <string.h>

static uint64_t operand(const ref_tensor *t, const int64_t *batch, int n_batch, int64_t row,
                        int64_t col, bool left)
{
    const int rank = t->type.rank, lead = rank > 2 ? rank - 2 : 0;
    int64_t at[QF_MAX_RANK];

    for (int d = 0; d < lead; d++)
        at[d] = t->type.dim[d] == 1 ? 0 : batch[n_batch - lead + d];
    if (rank == 1) {
        at[0] = left ? col : row;
    } else {
        at[lead] = row;
        at[lead + 1] = col;
    }
    return t->e[ref_number(&t->type, at)][0];
}

/* One chain of fused multiply-adds in order of k, rounded at the end. */
static uint64_t product(const ref_tensor *in, const int64_t *batch, int n_batch, int64_t m,
                        int64_t n)
{
    const qf_dtype t = in[0].type.dtype;
    const int64_t k = in[0].type.dim[in[0].type.rank - 1];
    float single = 0;
    double wide = 0;
    uint64_t whole = 0;

    for (int64_t i = 0; i < k; i++) {
        const uint64_t p = operand(&in[0], batch, n_batch, m, i, true),
                       q = operand(&in[1], batch, n_batch, i, n, false);
        if (!ref_is_float(t))
            whole += (uint64_t)ref_int(t, p) * (uint64_t)ref_int(t, q);
        else if (t == QF_DT_f64)
            wide = fma(ref_real(t, p), ref_real(t, q), wide);
        else
            single = fmaf((float)ref_real(t, p), (float)ref_real(t, q), single);
    }
    if (!ref_is_float(t))
        return ref_from_int(t, (int64_t)whole);
    return ref_from_real(t, t == QF_DT_f64 ? wide : (double)single);
}

static void matmul(const ref_tensor *in, ref_tensor *out)
{
    int dims = out->type.rank;
    const int col = in[1].type.rank > 1 ? --dims : -1, row = in[0].type.rank > 1 ? --dims : -1;

    for (int64_t i = 0; i < out->n; i++) {
        int64_t at[QF_MAX_RANK];
        ref_coordinates(&out->type, i, at);
        out->e[i][0] = product(in, at, dims, row < 0 ? 0 : at[row], col < 0 ? 0 : at[col]);
    }
}

/* What an element of the result has seen so far. */
typedef struct seen {
    long double sum;
    uint64_t whole, best;
    int64_t n;
    bool any;
} seen;

static void see(qf_op op, qf_dtype t, uint64_t bits, seen *s)
{
    const long double v =
        ref_is_float(t) ? (long double)ref_real(t, bits) : (long double)ref_int(t, bits);
    const uint64_t pair[3] = { s->best, bits };

    s->sum += op == QF_OP_norm2 ? v * v : v;
    s->whole += ref_is_float(t) ? 0 : (uint64_t)ref_int(t, bits);
    s->any |= v != 0;
    if (s->n++ == 0)
        s->best = bits;
    else if (op == QF_OP_amax || op == QF_OP_amin)
        (void)ref_point(op == QF_OP_amax ? QF_OP_maximum : QF_OP_minimum, t, pair, &s->best);
}

static uint64_t result(qf_op op, qf_dtype t, qf_dtype to, const seen *s)
{
    if (op == QF_OP_any)
        return s->any;
    if (op == QF_OP_amax || op == QF_OP_amin)
        return s->best;
    if (!ref_is_float(t))
        return s->whole;
    const double v = (double)(op == QF_OP_mean    ? s->sum / s->n
                              : op == QF_OP_norm2 ? sqrtl(s->sum)
                                                  : s->sum);
    return ref_from_real(to, to == QF_DT_f64 ? v : (double)(float)v);
}

static void reduce(qf_op op, const qf_attrs *a, const ref_tensor *in, ref_tensor *out)
{
    for (int64_t o = 0; o < out->n; o++) {
        seen s = { 0 };
        for (int64_t i = 0; i < in->n; i++) {
            int64_t at[QF_MAX_RANK], to[QF_MAX_RANK];
            int k = 0;
            ref_coordinates(&in->type, i, at);
            for (int d = 0; d < in->type.rank; d++)
                if (!(a->reduce.dims >> d & 1) || a->reduce.keep)
                    to[k++] = a->reduce.dims >> d & 1 ? 0 : at[d];
            if (ref_number(&out->type, to) == o)
                see(op, in->type.dtype, in->e[i][0], &s);
        }
        out->e[o][0] = result(op, in->type.dtype, out->type.dtype, &s);
    }
}

static void join(qf_op op, double v, uint64_t i, double *sum, uint64_t *whole)
{
    const int64_t a = (int64_t)*whole, b = (int64_t)i;

    if (op == QF_OP_cumsum || op == QF_OP_cumprod) {
        *sum = op == QF_OP_cumprod ? *sum * v : *sum + v;
        *whole = op == QF_OP_cumprod ? *whole * i : *whole + i;
        return;
    }
    const bool up = op == QF_OP_cummax;
    if (!isnan(*sum) && (isnan(v) || (up ? v >= *sum : v <= *sum)))
        *sum = v;
    *whole = (up ? b > a : b < a) ? i : *whole;
}

static void scan(qf_op op, const qf_attrs *a, const ref_tensor *in, ref_tensor *out)
{
    const qf_dtype t = in->type.dtype;
    const bool extreme = op == QF_OP_cummax || op == QF_OP_cummin;

    for (int64_t i = 0; i < out->n; i++) {
        int64_t at[QF_MAX_RANK];
        double sum = op == QF_OP_cumprod;
        uint64_t whole = op == QF_OP_cumprod;
        ref_coordinates(&out->type, i, at);
        const int64_t last = at[a->dim.dim];
        for (at[a->dim.dim] = 0; at[a->dim.dim] <= last; at[a->dim.dim]++) {
            const uint64_t bits = in->e[ref_number(&in->type, at)][0];
            const double real = ref_is_float(t) ? ref_real(t, bits) : 0;
            const uint64_t v = ref_is_float(t) ? 0 : (uint64_t)ref_int(t, bits);
            if (extreme && at[a->dim.dim] == 0) {
                sum = real;
                whole = v;
            }
            join(op, real, v, &sum, &whole);
        }
        if (!ref_is_float(t))
            out->e[i][0] = extreme ? ref_from_int(t, (int64_t)whole) : whole;
        else
            out->e[i][0] = ref_from_real(t, t == QF_DT_f64 ? sum : (double)(float)sum);
    }
}

bool ref_breaker(qf_op op, const qf_attrs *a, const ref_tensor *in, ref_tensor *out)
{
    if (op == QF_OP_matmul)
        matmul(in, out);
    else if (op == QF_OP_cumsum || op == QF_OP_cumprod || op == QF_OP_cummax || op == QF_OP_cummin)
        scan(op, a, in, out);
    else
        reduce(op, a, in, out);
    return true;
}
