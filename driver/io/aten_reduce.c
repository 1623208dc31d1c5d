/* Builders of reductions, and of sums and products along a dim. */
#include "aten_build.h"

#include <math.h>

uint32_t qfi_reduced_dims(qfi_lowering *l, int rank, bool empty_is_none)
{
    const uint32_t all = rank > 0 ? (1u << rank) - 1 : 0;
    int64_t dims[QF_MAX_RANK];

    if (!qfi_arg_has(l, "dim"))
        return all;
    const uint32_t n = qfi_arg_ints(l, "dim", dims, QF_MAX_RANK);
    const uint32_t set = qfi_dim_set(l, dims, n, rank);
    return n || empty_is_none ? set & all : all;
}

bool qfi_keeps_dims(qfi_lowering *l)
{
    return qfi_arg_has(l, "keepdim") && qfi_arg_bool(l, "keepdim");
}

qfi_ref qfi_reduce(qfi_lowering *l, qf_op op, qfi_ref x, uint32_t dims, bool keep)
{
    const qf_attrs attrs = { .reduce = { dims, keep } };
    return dims ? qfi_append1(l, op, &attrs, x) : x;
}

/* x without a set of dims of size 1. */
static qfi_ref drop_dims(qfi_lowering *l, qfi_ref x, uint32_t dims)
{
    const qf_attrs attrs = { .mask = { dims } };
    return dims ? qfi_append1(l, QF_OP_squeeze, &attrs, x) : x;
}

/* ---- sum, mean, extremes, any, all ---- */

void qfi_build_sum(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, x);
    const bool is_float = qfi_class(type.dtype) == QF_CLASS_FLOAT;
    const qf_dtype dtype = qfi_arg_dtype(l, "dtype", is_float ? type.dtype : QF_DT_i64);
    const uint32_t dims = qfi_reduced_dims(l, type.rank, false);

    qfi_result(l,
               qfi_cast(l, qfi_reduce(l, QF_OP_sum, qfi_cast(l, x, dtype), dims, qfi_keeps_dims(l)),
                        dtype));
}

void qfi_build_mean(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, x);
    const qf_dtype dtype = qfi_arg_dtype(l, "dtype", type.dtype);

    if (qfi_class(dtype) != QF_CLASS_FLOAT)
        qfi_refuse(l, QF_REASON_undefined, "the mean of integers");
    qfi_result(l, qfi_reduce(l, QF_OP_mean, qfi_cast(l, x, dtype),
                             qfi_reduced_dims(l, type.rank, false), qfi_keeps_dims(l)));
}

static void build_extreme(qfi_lowering *l, qf_op op)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    qfi_result(l, qfi_reduce(l, op, x, qfi_reduced_dims(l, qfi_type_of(l, x).rank, false),
                             qfi_keeps_dims(l)));
}

void qfi_build_amax(qfi_lowering *l)
{
    build_extreme(l, QF_OP_amax);
}
void qfi_build_amin(qfi_lowering *l)
{
    build_extreme(l, QF_OP_amin);
}

/* Results are boolean, but for u8, which stays u8. */
static void build_truth(qfi_lowering *l, bool all)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, x);
    const uint32_t dims = qfi_reduced_dims(l, type.rank, true);
    qfi_ref truth = qfi_cast(l, x, QF_DT_b8);

    if (all)
        truth = qfi_append1(l, QF_OP_logical_not, NULL, truth);
    truth = qfi_reduce(l, QF_OP_any, truth, dims, qfi_keeps_dims(l));
    if (all)
        truth = qfi_append1(l, QF_OP_logical_not, NULL, truth);
    qfi_result(l, type.dtype == QF_DT_u8 ? qfi_cast(l, truth, QF_DT_u8) : truth);
}

void qfi_build_any(qfi_lowering *l)
{
    build_truth(l, false);
}
void qfi_build_all(qfi_lowering *l)
{
    build_truth(l, true);
}

/* log(sum(exp(x))), of what is left of each after the greatest is taken away; each step is rounded.
 */
void qfi_build_logsumexp(qfi_lowering *l)
{
    const qfi_ref self = qfi_arg_tensor(l, "self");
    const bool is_float = qfi_class(qfi_type_of(l, self).dtype) == QF_CLASS_FLOAT;
    const qfi_ref x = is_float ? self : qfi_cast(l, self, QF_DT_f32);
    const qf_type type = qfi_type_of(l, x);
    const uint32_t dims = qfi_reduced_dims(l, type.rank, false);
    const bool keep = qfi_keeps_dims(l);

    if (!qfi_elements_of(l, x)) {
        const qfi_ref none = qfi_reduce(l, QF_OP_sum, x, dims, keep);
        qfi_result(l, qfi_append1(l, QF_OP_log, NULL, none));
        return;
    }
    qfi_ref most = qfi_reduce(l, QF_OP_amax, x, dims, true);
    const qfi_ref infinite = qfi_append2(l, QF_OP_eq, qfi_append1(l, QF_OP_abs, NULL, most),
                                         qfi_scalar(l, type.dtype, INFINITY));

    most = qfi_append3(l, QF_OP_where, infinite, qfi_scalar(l, type.dtype, 0), most);
    const qfi_ref e = qfi_append1(l, QF_OP_exp, NULL, qfi_append2(l, QF_OP_sub, x, most));
    const qfi_ref sum = qfi_reduce(l, QF_OP_sum, e, dims, keep);
    const qfi_ref rest = qfi_append1(l, QF_OP_log, NULL, sum);
    if (!keep)
        most = drop_dims(l, most, dims);
    qfi_result(l, qfi_append2(l, QF_OP_add, rest, most));
}

/* ---- along a dim ---- */

static void build_scan(qfi_lowering *l, qf_op op)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, x);
    const bool keep_dtype = qfi_class(type.dtype) == QF_CLASS_FLOAT || l->row->effect == QFI_WRITE;
    const qf_dtype dtype = qfi_arg_dtype(l, "dtype", keep_dtype ? type.dtype : QF_DT_i64);
    const qf_attrs attrs = { .dim = { qfi_dim(l, qfi_arg_int(l, "dim"), type.rank) } };
    const qfi_ref from = qfi_cast(l, x, dtype);

    l->env->inexact |=
        qfi_is_half(dtype); /* torch adds and multiplies them in f32, here it is f64 */
    qfi_result(l, type.rank ? qfi_cast(l, qfi_append1(l, op, &attrs, from), dtype) : from);
}

void qfi_build_cumsum(qfi_lowering *l)
{
    build_scan(l, QF_OP_cumsum);
}
void qfi_build_cumprod(qfi_lowering *l)
{
    build_scan(l, QF_OP_cumprod);
}

void qfi_build_diff(qfi_lowering *l)
{
    static const char *const ends[] = { "prepend", "append" };
    qfi_ref x = qfi_arg_tensor(l, "self");
    const uint8_t dim = qfi_dim(l, qfi_arg_int(l, "dim"), qfi_type_of(l, x).rank);
    int64_t n = qfi_arg_int(l, "n");

    for (int i = 0; i < 2; i++) {
        if (!n || !qfi_arg_has(l, ends[i])) /* of order 0 torch ignores them */
            continue;
        const qfi_ref end = qfi_arg_tensor(l, ends[i]);
        x = i ? qfi_cat(l, (const qfi_ref[]){ x, end }, 2, dim)
              : qfi_cat(l, (const qfi_ref[]){ end, x }, 2, dim);
    }
    const qf_type type = qfi_type_of(l, x);
    if (type.rank && n > type.dim[dim])
        n = type.dim[dim];
    if (!type.rank || n < 0 || n > QFI_ATEN_MAX_LIST)
        qfi_refuse(l, QF_REASON_unsupported_argument, "differences of order %lld", (long long)n);
    for (int64_t i = 0; i < n && qfi_lowering_ok(l); i++) {
        const int64_t size = qfi_type_of(l, x).dim[dim];
        const qfi_ref after = qfi_slice(l, x, dim, 1, size - 1),
                      before = qfi_slice(l, x, dim, 0, size - 1);
        x = qfi_append2(l, type.dtype == QF_DT_b8 ? QF_OP_bit_xor : QF_OP_sub, after, before);
    }
    qfi_result(l, x);
}

/* ---- products, variances ---- */

/* Elements along dim multiplied one after the other; torch does not define the order of floats. */
static qfi_ref product_along(qfi_lowering *l, qfi_ref x, uint8_t dim)
{
    const qf_type type = qfi_type_of(l, x);
    qf_type one = type;
    qfi_ref product = QFI_NONE;

    if (type.dim[dim] > QFI_ATEN_MAX_LIST) {
        qfi_refuse(l, QF_REASON_unsupported_argument, "a product of %lld elements",
                   (long long)type.dim[dim]);
        return QFI_NONE;
    }
    for (int64_t i = 0; i < type.dim[dim]; i++) {
        const qfi_ref part = qfi_slice(l, x, dim, i, 1);
        product = i ? qfi_append2(l, QF_OP_mul, product, part) : part;
    }
    l->env->inexact |= qfi_class(type.dtype) == QF_CLASS_FLOAT && type.dim[dim] > 2;
    one.dim[dim] = 1;
    return type.dim[dim] ? product : qfi_expand_like(l, qfi_full_int(l, type.dtype, 1), one);
}

void qfi_build_prod(qfi_lowering *l)
{
    const qfi_ref self = qfi_arg_tensor(l, "self");
    const qf_dtype own = qfi_type_of(l, self).dtype;
    const qf_dtype fallback = qfi_class(own) == QF_CLASS_FLOAT ? own : QF_DT_i64;
    const qf_dtype dtype = qfi_arg_dtype(l, "dtype", fallback);
    const bool whole = !qfi_arg_has(l, "dim");
    /* Booleans are multiplied as integers of their size. */
    const qf_dtype work = qfi_is_half(dtype) ? QF_DT_f32 : dtype == QF_DT_b8 ? QF_DT_u8 : dtype;
    qfi_ref x = qfi_cast(l, qfi_cast(l, self, dtype), work);

    if (whole || !qfi_type_of(l, x).rank)
        x = qfi_flatten(l, x);
    const uint8_t dim = whole ? 0 : qfi_dim(l, qfi_arg_int(l, "dim"), qfi_type_of(l, x).rank);
    x = product_along(l, x, dim);
    const bool keep = qfi_keeps_dims(l) && qfi_type_of(l, self).rank;
    qfi_result(l, qfi_cast(l, keep ? x : qfi_squeeze(l, x, dim), dtype));
}

qfi_ref qfi_variance(qfi_lowering *l, qfi_ref x, uint32_t dims, double correction, bool keep,
                     qfi_ref *mean)
{
    const qf_type type = qfi_type_of(l, x);
    double n = 1;

    for (int i = 0; i < type.rank; i++)
        n *= dims & 1u << i ? (double)type.dim[i] : 1.0;
    const qfi_ref wide = qfi_cast(l, x, QF_DT_f64);
    *mean = qfi_reduce(l, QF_OP_mean, wide, dims, true);
    const qfi_ref off = qfi_append2(l, QF_OP_sub, wide, *mean);
    const qfi_ref squares = qfi_append2(l, QF_OP_mul, off, off);
    const qfi_ref count = qfi_scalar(l, QF_DT_f64, n > correction ? n - correction : 0);
    return qfi_append2(l, QF_OP_div, qfi_reduce(l, QF_OP_sum, squares, dims, keep), count);
}

/* The variance as result 0, or its root; the mean as result 1, where the node has one. */
static void build_spread(qfi_lowering *l, bool root)
{
    const qfi_ref self = qfi_arg_tensor(l, "self");
    const bool single = !qfi_type_of(l, self).rank;
    const qfi_ref x = single ? qfi_flatten(l, self) : self;
    const qf_type type = qfi_type_of(l, x);
    const uint32_t dims = single ? 1u : qfi_reduced_dims(l, type.rank, false);
    const bool unbiased = !qfi_arg_has(l, "unbiased") || qfi_arg_bool(l, "unbiased");
    const double correction = qfi_arg_has(l, "correction")
                                  ? qfi_number_double(qfi_arg_number(l, "correction"))
                                  : unbiased;
    const bool keep = !single && qfi_keeps_dims(l);
    qfi_ref mean;

    if (qfi_class(type.dtype) != QF_CLASS_FLOAT) {
        qfi_refuse(l, QF_REASON_unsupported_argument, "the variance of %s",
                   qf_dtype_get(type.dtype)->name);
        return;
    }
    qfi_ref spread = qfi_variance(l, x, dims, correction, keep, &mean);
    if (root)
        spread = qfi_append1(l, QF_OP_sqrt, NULL, spread);
    qfi_result(l, qfi_cast(l, spread, type.dtype));
    qfi_give(l, 1, qfi_cast(l, keep ? mean : drop_dims(l, mean, dims), type.dtype));
}

void qfi_build_var(qfi_lowering *l)
{
    build_spread(l, false);
}
void qfi_build_std(qfi_lowering *l)
{
    build_spread(l, true);
}

/* The sum of the main diagonal. */
void qfi_build_trace(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, x);
    const qf_attrs main = { .diagonal = { .dim0 = 0, .dim1 = 1 } };

    if (type.rank != 2) {
        qfi_refuse(l, QF_REASON_undefined, "a tensor of rank %d", type.rank);
        return;
    }
    const bool is_float = qfi_class(type.dtype) == QF_CLASS_FLOAT;
    const qfi_ref from = is_float ? x : qfi_cast(l, x, QF_DT_i64);
    qfi_result(l, qfi_reduce(l, QF_OP_sum, qfi_append1(l, QF_OP_diagonal, &main, from), 1, false));
}
