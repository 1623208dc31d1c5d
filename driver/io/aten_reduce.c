/* Builders of reductions, norms, and sums along a dim. */
#include "aten_build.h"

#include <math.h>

/* The dims that "dim" names; all of them if it is absent, None or (unless `none_is_none`) empty. */
static uint32_t reduced_dims(qfi_lowering *l, int rank, bool empty_is_none)
{
    const uint32_t all = rank > 0 ? (1u << rank) - 1 : 0;
    int64_t dims[QF_MAX_RANK];

    if (!qfi_arg_has(l, "dim"))
        return all;
    const uint32_t n = qfi_arg_ints(l, "dim", dims, QF_MAX_RANK);
    const uint32_t set = qfi_dim_set(l, dims, n, rank);
    return n || empty_is_none ? set & all : all;
}

static bool keeps_dims(qfi_lowering *l)
{
    return qfi_arg_has(l, "keepdim") && qfi_arg_bool(l, "keepdim");
}

static qfi_ref reduce(qfi_lowering *l, qf_op op, qfi_ref x, uint32_t dims, bool keep)
{
    const qf_attrs attrs = { .reduce = { dims, keep } };
    return dims ? qfi_append1(l, op, &attrs, x) : x;
}

/* ---- sum, mean, extremes, any, all ---- */

void qfi_build_sum(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, x);
    const bool is_float = qfi_class(type.dtype) == QF_CLASS_FLOAT;
    const qf_dtype dtype = qfi_arg_dtype(l, "dtype", is_float ? type.dtype : QF_DT_i64);
    const uint32_t dims = reduced_dims(l, type.rank, false);

    qfi_result(
        l, qfi_cast(l, reduce(l, QF_OP_sum, qfi_cast(l, x, dtype), dims, keeps_dims(l)), dtype));
}

void qfi_build_mean(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, x);
    const qf_dtype dtype = qfi_arg_dtype(l, "dtype", type.dtype);

    if (qfi_class(dtype) != QF_CLASS_FLOAT)
        qfi_refuse(l, QF_REASON_undefined, "the mean of integers");
    qfi_result(l, reduce(l, QF_OP_mean, qfi_cast(l, x, dtype), reduced_dims(l, type.rank, false),
                         keeps_dims(l)));
}

static void build_extreme(qfi_lowering *l, qf_op op)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    qfi_result(l, reduce(l, op, x, reduced_dims(l, qfi_type_of(l, x).rank, false), keeps_dims(l)));
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
    const uint32_t dims = reduced_dims(l, type.rank, true);
    qfi_ref truth = qfi_cast(l, x, QF_DT_b8);

    if (all)
        truth = qfi_append1(l, QF_OP_logical_not, NULL, truth);
    truth = reduce(l, QF_OP_any, truth, dims, keeps_dims(l));
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

/* ---- norms ---- */

static qfi_ref norm(qfi_lowering *l, qfi_ref x, double order, uint32_t dims, bool keep)
{
    if (qfi_class(qfi_type_of(l, x).dtype) != QF_CLASS_FLOAT)
        qfi_refuse(l, QF_REASON_undefined, "the norm of integers");
    if (order == 2.0 && dims)
        return reduce(l, QF_OP_norm2, x, dims, keep);
    const qfi_ref size = qfi_append1(l, QF_OP_abs, NULL, x);
    if (order == 2.0 || order == 1.0)
        return reduce(l, QF_OP_sum, size, dims, keep);
    if (isinf(order))
        return reduce(l, order > 0 ? QF_OP_amax : QF_OP_amin, size, dims, keep);
    qfi_refuse(l, QF_REASON_unsupported_argument, "a norm of order %g", order);
    return QFI_NONE;
}

void qfi_build_vector_norm(qfi_lowering *l)
{
    const qfi_ref self = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, self);
    const qfi_ref x = qfi_cast(l, self, qfi_arg_dtype(l, "dtype", type.dtype));
    const double order = qfi_number_double(qfi_arg_number(l, "ord"));

    qfi_result(l, norm(l, x, order, reduced_dims(l, type.rank, false), keeps_dims(l)));
}

void qfi_build_norm(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const double order = qfi_arg_has(l, "p") ? qfi_number_double(qfi_arg_number(l, "p")) : 2.0;

    qfi_result(l, norm(l, x, order, reduced_dims(l, qfi_type_of(l, x).rank, false), keeps_dims(l)));
}

/* v * (g / |v|), the norm over all dims but one. */
void qfi_build_weight_norm(qfi_lowering *l)
{
    const qfi_ref v = qfi_arg_tensor(l, "v"), g = qfi_arg_tensor(l, "g");
    const qf_type type = qfi_type_of(l, v);
    const int64_t dim = qfi_arg_int(l, "dim");
    const uint32_t all = type.rank > 0 ? (1u << type.rank) - 1 : 0;
    const uint32_t dims = dim == -1 ? all : all & ~(1u << qfi_dim(l, dim, type.rank));
    const qfi_ref length = norm(l, v, 2.0, dims, dim != -1);

    if (qfi_type_of(l, g).dtype != type.dtype)
        qfi_refuse(l, QF_REASON_unsupported_dtype, "a length of another dtype");
    qfi_result(l, qfi_append2(l, QF_OP_mul, v, qfi_append2(l, QF_OP_div, g, length)));
}

/* ---- along a dim ---- */

void qfi_build_cumsum(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, x);
    const bool keep_dtype = qfi_class(type.dtype) == QF_CLASS_FLOAT || l->row->effect == QFI_WRITE;
    const qf_dtype dtype = qfi_arg_dtype(l, "dtype", keep_dtype ? type.dtype : QF_DT_i64);
    const qf_attrs attrs = { .dim = { qfi_dim(l, qfi_arg_int(l, "dim"), type.rank) } };
    const qfi_ref from = qfi_cast(l, x, dtype);

    qfi_result(l,
               type.rank ? qfi_cast(l, qfi_append1(l, QF_OP_cumsum, &attrs, from), dtype) : from);
}

void qfi_build_diff(qfi_lowering *l)
{
    static const char *const ends[] = { "prepend", "append" };
    qfi_ref x = qfi_arg_tensor(l, "self");
    const uint8_t dim = qfi_dim(l, qfi_arg_int(l, "dim"), qfi_type_of(l, x).rank);
    const int64_t n = qfi_arg_int(l, "n");

    for (int i = 0; i < 2; i++) {
        if (!qfi_arg_has(l, ends[i]))
            continue;
        const qfi_ref end = qfi_arg_tensor(l, ends[i]);
        x = i ? qfi_cat(l, (const qfi_ref[]){ x, end }, 2, dim)
              : qfi_cat(l, (const qfi_ref[]){ end, x }, 2, dim);
    }
    const qf_type type = qfi_type_of(l, x);
    if (!type.rank || n < 0 || n > type.dim[dim] || n > QFI_ATEN_MAX_LIST)
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
    qfi_ref x = qfi_cast(l, qfi_cast(l, self, dtype), qfi_is_half(dtype) ? QF_DT_f32 : dtype);

    if (dtype == QF_DT_b8)
        qfi_refuse(l, QF_REASON_unsupported_dtype, "booleans");
    if (whole || !qfi_type_of(l, x).rank)
        x = qfi_flatten(l, x);
    const uint8_t dim = whole ? 0 : qfi_dim(l, qfi_arg_int(l, "dim"), qfi_type_of(l, x).rank);
    x = product_along(l, x, dim);
    const bool keep = keeps_dims(l) && qfi_type_of(l, self).rank;
    qfi_result(l, qfi_cast(l, keep ? x : qfi_squeeze(l, x, dim), dtype));
}

/* The mean square of the distance from the mean, over the count less a correction; in f64. */
static qfi_ref variance(qfi_lowering *l, qfi_ref x)
{
    const qf_type type = qfi_type_of(l, x);
    const uint32_t dims = reduced_dims(l, type.rank, false);
    const bool unbiased = !qfi_arg_has(l, "unbiased") || qfi_arg_bool(l, "unbiased");
    const double correction = qfi_arg_has(l, "correction")
                                  ? qfi_number_double(qfi_arg_number(l, "correction"))
                                  : unbiased;
    double n = 1;

    if (qfi_class(type.dtype) != QF_CLASS_FLOAT || !dims) {
        qfi_refuse(l, QF_REASON_unsupported_argument, "the variance of %s of rank %d",
                   qf_dtype_get(type.dtype)->name, type.rank);
        return QFI_NONE;
    }
    for (int i = 0; i < type.rank; i++)
        n *= dims & 1u << i ? (double)type.dim[i] : 1.0;
    const qfi_ref wide = qfi_cast(l, x, QF_DT_f64);
    const qfi_ref off = qfi_append2(l, QF_OP_sub, wide, reduce(l, QF_OP_mean, wide, dims, true));
    const qfi_ref squares = qfi_append2(l, QF_OP_mul, off, off);
    const qfi_ref count = qfi_scalar(l, QF_DT_f64, n > correction ? n - correction : 0);
    return qfi_append2(l, QF_OP_div, reduce(l, QF_OP_sum, squares, dims, keeps_dims(l)), count);
}

void qfi_build_var(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    qfi_result(l, qfi_cast(l, variance(l, x), qfi_type_of(l, x).dtype));
}

void qfi_build_std(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qfi_ref root = qfi_append1(l, QF_OP_sqrt, NULL, variance(l, x));
    qfi_result(l, qfi_cast(l, root, qfi_type_of(l, x).dtype));
}
