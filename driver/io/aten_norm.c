/* Builders of norms, and of what is normalised: by length, spread, or recorded statistics. */
#include "aten_build.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A further result, where somebody uses it: torch records another dtype for the statistics of half
 * operands with f32 weights than it computes. */
static void give_used(qfi_lowering *l, uint32_t slot, qfi_ref ref)
{
    const qfi_node *node = &l->graph->node[l->node];

    if (slot < node->n_out && l->graph->value[node->first_out + slot].n_use)
        qfi_give(l, slot, ref);
}

/* ---- norms ---- */

/* The sum of powers of the magnitudes, and its root; of order 0 how many are not zero. */
static qfi_ref power_norm(qfi_lowering *l, qfi_ref size, double order, uint32_t dims, bool keep)
{
    const qf_dtype dtype = qfi_type_of(l, size).dtype;

    if (order == 0.0) {
        const qfi_ref some = qfi_append2(l, QF_OP_ne, size, qfi_scalar(l, dtype, 0));
        return qfi_reduce(l, QF_OP_sum, qfi_cast(l, some, dtype), dims, keep);
    }
    const qfi_ref powers =
        qfi_append2(l, QF_OP_pow, qfi_cast(l, size, QF_DT_f64), qfi_scalar(l, QF_DT_f64, order));
    const qfi_ref sum = qfi_reduce(l, QF_OP_sum, powers, dims, keep);

    return qfi_cast(l, qfi_append2(l, QF_OP_pow, sum, qfi_scalar(l, QF_DT_f64, 1 / order)), dtype);
}

static qfi_ref norm(qfi_lowering *l, qfi_ref x, double order, uint32_t dims, bool keep)
{
    if (qfi_class(qfi_type_of(l, x).dtype) != QF_CLASS_FLOAT)
        qfi_refuse(l, QF_REASON_undefined, "the norm of integers");
    if (order == 2.0 && dims)
        return qfi_reduce(l, QF_OP_norm2, x, dims, keep);
    const qfi_ref size = qfi_append1(l, QF_OP_abs, NULL, x);
    if (order == 2.0 || order == 1.0)
        return qfi_reduce(l, QF_OP_sum, size, dims, keep);
    if (isinf(order))
        return qfi_reduce(l, order > 0 ? QF_OP_amax : QF_OP_amin, size, dims, keep);
    return power_norm(l, size, order, dims, keep);
}

void qfi_build_vector_norm(qfi_lowering *l)
{
    const qfi_ref self = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, self);
    const qfi_ref x = qfi_cast(l, self, qfi_arg_dtype(l, "dtype", type.dtype));
    const double order = qfi_number_double(qfi_arg_number(l, "ord"));

    qfi_result(l, norm(l, x, order, qfi_reduced_dims(l, type.rank, false), qfi_keeps_dims(l)));
}

void qfi_build_norm(qfi_lowering *l)
{
    const qfi_ref self = qfi_arg_tensor(l, "self");
    const qfi_ref x = qfi_cast(l, self, qfi_arg_dtype(l, "dtype", qfi_type_of(l, self).dtype));
    const double order = qfi_arg_has(l, "p") ? qfi_number_double(qfi_arg_number(l, "p")) : 2.0;

    qfi_result(l, norm(l, x, order, qfi_reduced_dims(l, qfi_type_of(l, x).rank, false),
                       qfi_keeps_dims(l)));
}

/* v * (g / |v|), the norm over all dims but one; the second result, where there is one, is |v|. The
 * interface, which has it, computes half types in f32. */
void qfi_build_weight_norm(qfi_lowering *l)
{
    const qfi_ref v = qfi_arg_tensor(l, "v"), g = qfi_arg_tensor(l, "g");
    const qf_type type = qfi_type_of(l, v);
    const bool wide = l->graph->node[l->node].n_out > 1 && qfi_is_half(type.dtype);
    const qf_dtype work = wide ? QF_DT_f32 : type.dtype;
    const int64_t dim = qfi_arg_int(l, "dim");
    const uint32_t all = type.rank > 0 ? (1u << type.rank) - 1 : 0;
    const uint32_t dims = dim == -1 ? all : all & ~(1u << qfi_dim(l, dim, type.rank));
    const qfi_ref x = qfi_cast(l, v, work), length = norm(l, x, 2.0, dims, dim != -1);

    if (qfi_type_of(l, g).dtype != type.dtype)
        qfi_refuse(l, QF_REASON_unsupported_dtype, "a length of another dtype");
    const qfi_ref by = qfi_append2(l, QF_OP_div, qfi_cast(l, g, work), length);
    qfi_result(l, qfi_cast(l, qfi_append2(l, QF_OP_mul, x, by), type.dtype));
    give_used(l, 1, length);
}

/* ---- by mean and variance ---- */

/* A tensor argument that may be None, in f64 and a shape; QFI_NONE for None. */
static qfi_ref wide_arg(qfi_lowering *l, const char *name, uint32_t rank, const int64_t *dim)
{
    if (!qfi_arg_has(l, name))
        return QFI_NONE;
    return qfi_reshape(l, qfi_cast(l, qfi_arg_tensor(l, name), QF_DT_f64), rank, dim);
}

/* x * weight + bias, where they are. */
static qfi_ref affine(qfi_lowering *l, qfi_ref x, qfi_ref weight, qfi_ref bias)
{
    if (weight != QFI_NONE)
        x = qfi_append2(l, QF_OP_mul, x, weight);
    return bias != QFI_NONE ? qfi_append2(l, QF_OP_add, x, bias) : x;
}

/* Means and reciprocal deviations are of the operand's dtype, or f32 where the weights of half
 * operands are. */
static qf_dtype statistics_dtype(qfi_lowering *l, qf_dtype dtype)
{
    static const char *const parameters[] = { "weight", "bias", "running_mean" };

    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++)
        if (qfi_arg_has(l, parameters[i]))
            return qfi_type_of(l, qfi_arg_tensor(l, parameters[i])).dtype;
    return dtype;
}

typedef struct standard {
    qfi_ref x, mean, rstd; /* f64, all dims kept */
} standard;

/* x less its mean, over its deviation, both over a set of dims. */
static standard standardise(qfi_lowering *l, qfi_ref x, uint32_t dims)
{
    standard s;
    const double eps = qfi_number_double(qfi_arg_number(l, "eps"));
    const qfi_ref variance = qfi_variance(l, x, dims, 0, true, &s.mean);
    const qfi_ref off = qfi_append2(l, QF_OP_sub, qfi_cast(l, x, QF_DT_f64), s.mean);

    s.rstd = qfi_append1(l, QF_OP_rsqrt, NULL,
                         qfi_append2(l, QF_OP_add, variance, qfi_scalar(l, QF_DT_f64, eps)));
    s.x = qfi_append2(l, QF_OP_mul, off, s.rstd);
    return s;
}

/* How many of the last dims "normalized_shape" names, as a set. */
static uint32_t normalized_dims(qfi_lowering *l, qf_type type)
{
    int64_t shape[QF_MAX_RANK];
    const uint32_t n = qfi_arg_ints(l, "normalized_shape", shape, QF_MAX_RANK);
    const int first = type.rank - (int)n;

    if (!n || first < 0 || memcmp(shape, &type.dim[first < 0 ? 0 : first], n * sizeof *shape) != 0)
        qfi_refuse(l, QF_REASON_undefined, "the last dimensions are others");
    return n && first >= 0 ? ((1u << n) - 1) << first : 0;
}

static void require_float(qfi_lowering *l, qf_dtype dtype)
{
    if (qfi_class(dtype) != QF_CLASS_FLOAT)
        qfi_refuse(l, QF_REASON_undefined, "integers are not normalised");
}

/* In f64, rounded once: nearer to the exact value than torch's sums in f32. */
void qfi_build_layer_norm(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "input");
    const qf_type type = qfi_type_of(l, x);
    const uint32_t dims = normalized_dims(l, type);
    const int first = dims ? __builtin_ctz(dims) : 0;
    const uint32_t n = (uint32_t)(type.rank - first);
    const qf_dtype dtype = statistics_dtype(l, type.dtype);

    require_float(l, type.dtype);
    if (!dims || !qfi_lowering_ok(l))
        return;
    const standard s = standardise(l, x, dims);
    const qfi_ref weight = wide_arg(l, "weight", n, &type.dim[first]);
    const qfi_ref bias = wide_arg(l, "bias", n, &type.dim[first]);
    qfi_result(l, qfi_cast(l, affine(l, s.x, weight, bias), type.dtype));
    give_used(l, 1, qfi_cast(l, s.mean, dtype));
    give_used(l, 2, qfi_cast(l, s.rstd, dtype));
}

/* Groups of channels of [n, channels, rest], each with its own mean. */
static void group_norm(qfi_lowering *l, int64_t n, int64_t channels, int64_t rest, int64_t groups)
{
    const qfi_ref x = qfi_arg_tensor(l, "input");
    const qf_type type = qfi_type_of(l, x);
    const qf_dtype dtype = statistics_dtype(l, type.dtype);

    require_float(l, type.dtype);
    if (groups < 1 || channels % (groups < 1 ? 1 : groups) || n < 0 || rest < 0 ||
        qfi_elements_of(l, x) == 0)
        qfi_refuse(l, QF_REASON_undefined, "%lld channels in %lld groups", (long long)channels,
                   (long long)groups);
    if (!qfi_lowering_ok(l))
        return;
    const int64_t split[] = { n, groups, channels / groups * rest },
                  whole[] = { n, channels, rest };
    const standard s = standardise(l, qfi_reshape(l, x, 3, split), 4);
    const qfi_ref weight = wide_arg(l, "weight", 2, (const int64_t[]){ channels, 1 });
    const qfi_ref bias = wide_arg(l, "bias", 2, (const int64_t[]){ channels, 1 });
    const qfi_ref out = affine(l, qfi_reshape(l, s.x, 3, whole), weight, bias);
    qfi_result(l, qfi_reshape(l, qfi_cast(l, out, type.dtype), (uint32_t)type.rank, type.dim));
    give_used(l, 1, qfi_reshape(l, qfi_cast(l, s.mean, dtype), 2, split));
    give_used(l, 2, qfi_reshape(l, qfi_cast(l, s.rstd, dtype), 2, split));
}

void qfi_build_native_group_norm(qfi_lowering *l)
{
    group_norm(l, qfi_arg_int(l, "N"), qfi_arg_int(l, "C"), qfi_arg_int(l, "HxW"),
               qfi_arg_int(l, "group"));
}

void qfi_build_group_norm(qfi_lowering *l)
{
    const qf_type type = qfi_type_of(l, qfi_arg_tensor(l, "input"));
    int64_t rest = 1;

    if (type.rank < 2)
        qfi_refuse(l, QF_REASON_undefined, "a tensor of rank %d", type.rank);
    for (int i = 2; i < type.rank; i++)
        rest *= type.dim[i];
    group_norm(l, type.dim[0], type.dim[1], rest, qfi_arg_int(l, "num_groups"));
}

/* x * (1 / root(mean(x^2) + eps)) * weight, every step in f32 or f64. The second result, where
 * there is one, is the factor. */
void qfi_build_rms_norm(qfi_lowering *l)
{
    const qfi_ref self = qfi_arg_tensor(l, "input");
    const qf_type type = qfi_type_of(l, self);
    const uint32_t dims = normalized_dims(l, type);
    const qf_dtype work = qfi_is_half(type.dtype) ? QF_DT_f32 : type.dtype;
    const double least = work == QF_DT_f64 ? DBL_EPSILON : (double)FLT_EPSILON;
    const double eps = qfi_arg_has(l, "eps") ? qfi_number_double(qfi_arg_number(l, "eps")) : least;

    require_float(l, type.dtype);
    if (!dims || !qfi_lowering_ok(l))
        return;
    const qfi_ref x = qfi_cast(l, self, work);
    const qfi_ref mean = qfi_reduce(l, QF_OP_mean, qfi_append2(l, QF_OP_mul, x, x), dims, true);
    const qfi_ref factor = qfi_append1(l, QF_OP_rsqrt, NULL,
                                       qfi_append2(l, QF_OP_add, mean, qfi_scalar(l, work, eps)));
    qfi_ref out = qfi_append2(l, QF_OP_mul, x, factor);
    if (qfi_arg_has(l, "weight"))
        out = qfi_append2(l, QF_OP_mul, out, qfi_cast(l, qfi_arg_tensor(l, "weight"), work));
    qfi_result(l, qfi_cast(l, out, type.dtype));
    give_used(l, 1, factor);
}

/* ---- by recorded statistics ---- */

/* A vector over the channels, dim 1, in a dtype; a number where it is None. */
static qfi_ref per_channel(qfi_lowering *l, const char *name, qf_type type, qf_dtype dtype,
                           double otherwise)
{
    int64_t dim[QF_MAX_RANK];

    if (!qfi_arg_has(l, name))
        return qfi_scalar(l, dtype, otherwise);
    for (int i = 0; i < type.rank; i++)
        dim[i] = i == 1 ? type.dim[1] : 1;
    return qfi_reshape(l, qfi_cast(l, qfi_arg_tensor(l, name), dtype), (uint32_t)type.rank, dim);
}

/* fma(x, alpha, beta) with alpha = weight / root(var + eps) and beta = fma(-mean, alpha, bias),
 * half types in f32. What training would save is empty. */
void qfi_build_batch_norm(qfi_lowering *l)
{
    const qfi_ref self = qfi_arg_tensor(l, "input");
    const qf_type type = qfi_type_of(l, self);
    const qf_dtype work = qfi_is_half(type.dtype) ? QF_DT_f32 : type.dtype;
    const qf_dtype saved = statistics_dtype(l, type.dtype);
    const double eps = qfi_number_double(qfi_arg_number(l, "eps"));
    qf_type none = { .dtype = saved, .rank = 1 };

    require_float(l, type.dtype);
    if (qfi_arg_has(l, "training") && qfi_arg_bool(l, "training"))
        qfi_refuse(l, QF_REASON_training, "batch statistics");
    if (type.rank < 2 || !qfi_arg_has(l, "running_mean") || !qfi_arg_has(l, "running_var"))
        qfi_refuse(l, QF_REASON_unsupported_argument, "no recorded statistics");
    if (!qfi_lowering_ok(l))
        return;
    const qfi_ref variance = qfi_append2(l, QF_OP_add, per_channel(l, "running_var", type, work, 1),
                                         qfi_scalar(l, work, eps));
    const qfi_ref alpha = qfi_append2(l, QF_OP_mul, qfi_append1(l, QF_OP_rsqrt, NULL, variance),
                                      per_channel(l, "weight", type, work, 1));
    const qfi_ref mean = per_channel(l, "running_mean", type, work, 0);
    const qfi_ref beta = qfi_append3(l, QF_OP_fma, qfi_append1(l, QF_OP_neg, NULL, mean), alpha,
                                     per_channel(l, "bias", type, work, 0));
    const qfi_ref out = qfi_append3(l, QF_OP_fma, qfi_cast(l, self, work), alpha, beta);

    qfi_result(l, qfi_cast(l, out, type.dtype));
    for (uint32_t i = 1; i < l->graph->node[l->node].n_out; i++) {
        none.dtype = i == 3 ? QF_DT_u8 : saved;
        give_used(l, i, qfi_full(l, none, (qfi_number){ { .is_int = true }, QFI_NUMBER_INT }));
    }
}
