/* Builders of activation functions: what networks apply to whole tensors between products. Half
 * types take all steps in f32 and are rounded once, as in torch. */
#include "aten_build.h"

#include <math.h>

/* The operand in the dtype of the steps; its own dtype in *dtype. Integers are refused, as in
 * torch. */
static qfi_ref activation_input(qfi_lowering *l, qfi_ref x, qf_dtype *dtype)
{
    *dtype = qfi_type_of(l, x).dtype;
    if (qfi_class(*dtype) != QF_CLASS_FLOAT)
        qfi_refuse(l, QF_REASON_undefined, "an activation of integers");
    return qfi_is_half(*dtype) ? qfi_cast(l, x, QF_DT_f32) : x;
}

/* A zero keeps its sign. */
void qfi_build_relu(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_dtype dtype = qfi_type_of(l, x).dtype;

    if (dtype == QF_DT_b8)
        qfi_refuse(l, QF_REASON_undefined, "an activation of booleans");
    qfi_result(l, qfi_append2(l, QF_OP_maximum, x, qfi_full_int(l, dtype, 0)));
}

/* x / (1 + exp(-x)) */
void qfi_build_silu(qfi_lowering *l)
{
    qf_dtype dtype;
    const qfi_ref x = activation_input(l, qfi_arg_tensor(l, "self"), &dtype);
    const qfi_ref one = qfi_scalar(l, qfi_type_of(l, x).dtype, 1);
    const qfi_ref e = qfi_append1(l, QF_OP_exp, NULL, qfi_append1(l, QF_OP_neg, NULL, x));

    qfi_result(l,
               qfi_cast(l, qfi_append2(l, QF_OP_div, x, qfi_append2(l, QF_OP_add, one, e)), dtype));
}

/* erf(x / sqrt 2), or its approximation tanh(sqrt(2 / pi) * (x + 0.044715 x^3)) */
static qfi_ref gelu_inner(qfi_lowering *l, qfi_ref x, bool approximate)
{
    const qf_dtype work = qfi_type_of(l, x).dtype;

    if (!approximate)
        return qfi_append1(l, QF_OP_erf, NULL,
                           qfi_append2(l, QF_OP_mul, x, qfi_scalar(l, work, sqrt(0.5))));
    const qfi_ref cube = qfi_append2(l, QF_OP_mul, qfi_append2(l, QF_OP_mul, x, x), x);
    const qfi_ref bend = qfi_append2(l, QF_OP_mul, cube, qfi_scalar(l, work, 0.044715));
    const qfi_ref sum = qfi_append2(l, QF_OP_add, x, bend);
    const double factor = 0.79788456080286535588; /* sqrt(2 / pi) */

    return qfi_append1(l, QF_OP_tanh, NULL,
                       qfi_append2(l, QF_OP_mul, sum, qfi_scalar(l, work, factor)));
}

/* x / 2 * (1 + inner(x)) */
void qfi_build_gelu(qfi_lowering *l)
{
    qf_dtype dtype;
    const qfi_ref x = activation_input(l, qfi_arg_tensor(l, "self"), &dtype);
    const qf_dtype work = qfi_type_of(l, x).dtype;
    const qfi_arg *kind = qfi_arg_get(l, "approximate");
    const bool approximate = qfi_str_is(kind->text, "tanh");

    if (kind->kind != QFI_ARG_TEXT || (!approximate && !qfi_str_is(kind->text, "none")))
        qfi_refuse(l, QF_REASON_unsupported_argument, "argument approximate");
    const qfi_ref half = qfi_append2(l, QF_OP_mul, x, qfi_scalar(l, work, 0.5));
    const qfi_ref rise =
        qfi_append2(l, QF_OP_add, gelu_inner(l, x, approximate), qfi_scalar(l, work, 1));
    qfi_result(l, qfi_cast(l, qfi_append2(l, QF_OP_mul, half, rise), dtype));
}

/* exp(x - max x) over its sum along dim; or the logarithm of that. */
static qfi_ref softmax(qfi_lowering *l, qfi_ref x, bool log)
{
    const qf_type type = qfi_type_of(l, x);
    const qf_attrs along = { .reduce = { 1u << qfi_dim(l, qfi_arg_int(l, "dim"), type.rank),
                                         true } };

    if (type.rank < 1)
        qfi_refuse(l, QF_REASON_unsupported_rank, "rank 0");
    const qfi_ref below = qfi_append2(l, QF_OP_sub, x, qfi_append1(l, QF_OP_amax, &along, x));
    const qfi_ref e = qfi_append1(l, QF_OP_exp, NULL, below);
    const qfi_ref sum = qfi_append1(l, QF_OP_sum, &along, e);

    if (!log)
        return qfi_append2(l, QF_OP_div, e, sum);
    return qfi_append2(l, QF_OP_sub, below, qfi_append1(l, QF_OP_log, NULL, sum));
}

/* In the dtype that is asked for, by name or as f32 for a half operand. */
static void build_softmax(qfi_lowering *l, bool log)
{
    const qfi_ref self = qfi_arg_tensor(l, "self");
    const bool widens = qfi_arg_has(l, "half_to_float") && qfi_arg_bool(l, "half_to_float");
    const qf_dtype own = qfi_type_of(l, self).dtype;
    qf_dtype dtype = qfi_arg_dtype(l, "dtype", widens ? QF_DT_f32 : own);
    const qfi_ref x = activation_input(l, qfi_cast(l, self, dtype), &dtype);

    qfi_result(l, qfi_cast(l, softmax(l, x, log), dtype));
}

void qfi_build_softmax(qfi_lowering *l)
{
    build_softmax(l, false);
}
void qfi_build_log_softmax(qfi_lowering *l)
{
    build_softmax(l, true);
}
