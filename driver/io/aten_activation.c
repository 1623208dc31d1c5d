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

/* ---- pieces of straight lines ---- */

/* The dtype of the steps and the operand in it, for the operators below: "self". */
typedef struct steps {
    qf_dtype dtype, work;
    qfi_ref x;
} steps;

static steps begin(qfi_lowering *l)
{
    steps s;

    s.x = activation_input(l, qfi_arg_tensor(l, "self"), &s.dtype);
    s.work = qfi_type_of(l, s.x).dtype;
    return s;
}

static void end(qfi_lowering *l, const steps *s, qfi_ref result)
{
    qfi_result(l, qfi_cast(l, result, s->dtype));
}

/* A number among the arguments, in the dtype of the steps. */
static qfi_ref factor(qfi_lowering *l, const steps *s, const char *name)
{
    return qfi_full(l, (qf_type){ .dtype = s->work }, qfi_arg_number(l, name));
}

/* x + 3, between 0 and 6 */
static qfi_ref ramp(qfi_lowering *l, const steps *s)
{
    const qfi_ref x = qfi_append2(l, QF_OP_add, s->x, qfi_scalar(l, s->work, 3));
    const qfi_ref up = qfi_append2(l, QF_OP_maximum, x, qfi_scalar(l, s->work, 0));
    return qfi_append2(l, QF_OP_minimum, up, qfi_scalar(l, s->work, 6));
}

void qfi_build_hardsigmoid(qfi_lowering *l)
{
    const steps s = begin(l);
    end(l, &s, qfi_append2(l, QF_OP_div, ramp(l, &s), qfi_scalar(l, s.work, 6)));
}

void qfi_build_hardswish(qfi_lowering *l)
{
    const steps s = begin(l);
    const qfi_ref product = qfi_append2(l, QF_OP_mul, s.x, ramp(l, &s));
    end(l, &s, qfi_append2(l, QF_OP_div, product, qfi_scalar(l, s.work, 6)));
}

/* x, below 0 times the slope. */
static void leak(qfi_lowering *l, const steps *s, qfi_ref slope)
{
    const qfi_ref above = qfi_append2(l, QF_OP_gt, s->x, qfi_scalar(l, s->work, 0));
    const qfi_ref by = qfi_append3(l, QF_OP_where, above, qfi_scalar(l, s->work, 1), slope);
    end(l, s, qfi_append2(l, QF_OP_mul, s->x, by));
}

void qfi_build_leaky_relu(qfi_lowering *l)
{
    const steps s = begin(l);
    leak(l, &s, factor(l, &s, "negative_slope"));
}

/* A slope per channel, dim 1; or one for all. prelu itself takes the slopes as a vector. */
void qfi_build_prelu(qfi_lowering *l)
{
    const steps s = begin(l);
    const qf_type type = qfi_type_of(l, s.x);
    qfi_ref slope = qfi_arg_tensor(l, "weight");
    int64_t dim[QF_MAX_RANK] = { 0 };

    if (qfi_type_of(l, slope).dtype != s.dtype)
        qfi_refuse(l, QF_REASON_unsupported_dtype, "slopes of another dtype");
    for (int i = 0; i < type.rank; i++)
        dim[i] = i == 1 ? qfi_elements_of(l, slope) : 1;
    if (qfi_type_of(l, slope).rank <= 1 && type.rank > 1)
        slope = qfi_reshape(l, slope, (uint32_t)type.rank, dim);
    leak(l, &s, qfi_cast(l, slope, s.work));
}

/* The bounds are rounded to the dtype of the operand, integers too. */
static void clamp_to(qfi_lowering *l, qfi_number low, qfi_number high)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_type one = { .dtype = qfi_type_of(l, x).dtype };

    if (one.dtype == QF_DT_b8)
        qfi_refuse(l, QF_REASON_undefined, "an activation of booleans");
    const qfi_ref up = qfi_append2(l, QF_OP_maximum, x, qfi_full(l, one, low));
    qfi_result(l, qfi_append2(l, QF_OP_minimum, up, qfi_full(l, one, high)));
}

void qfi_build_hardtanh(qfi_lowering *l)
{
    clamp_to(l, qfi_arg_number(l, "min_val"), qfi_arg_number(l, "max_val"));
}

void qfi_build_relu6(qfi_lowering *l)
{
    clamp_to(l, (qfi_number){ { .is_int = true, .i = 0 }, QFI_NUMBER_INT },
             (qfi_number){ { .is_int = true, .i = 6 }, QFI_NUMBER_INT });
}

/* The value where x is at or below the threshold; integers take both without their fraction. */
void qfi_build_threshold(qfi_lowering *l)
{
    const qfi_ref self = qfi_arg_tensor(l, "self");
    const qf_dtype dtype = qfi_type_of(l, self).dtype;
    const qf_type one = { .dtype = qfi_is_half(dtype) ? QF_DT_f32 : dtype };
    const qfi_ref x = qfi_cast(l, self, one.dtype);

    if (dtype == QF_DT_b8)
        qfi_refuse(l, QF_REASON_undefined, "an activation of booleans");
    const qfi_ref low =
        qfi_append2(l, QF_OP_le, x, qfi_full(l, one, qfi_arg_number(l, "threshold")));
    const qfi_ref value = qfi_full(l, one, qfi_arg_number(l, "value"));
    qfi_result(l, qfi_cast(l, qfi_append3(l, QF_OP_where, low, value, x), dtype));
}

/* ---- bent by exp ---- */

/* log(1 + exp(x)) */
static qfi_ref soft_ramp(qfi_lowering *l, qfi_ref x)
{
    return qfi_append1(l, QF_OP_log1p, NULL, qfi_append1(l, QF_OP_exp, NULL, x));
}

/* log(1 + exp(beta x)) / beta; x itself beyond the threshold */
void qfi_build_softplus(qfi_lowering *l)
{
    const steps s = begin(l);
    const qfi_ref beta = factor(l, &s, "beta");
    const qfi_ref scaled = qfi_append2(l, QF_OP_mul, s.x, beta);
    const qfi_ref beyond = qfi_append2(l, QF_OP_gt, scaled, factor(l, &s, "threshold"));
    const qfi_ref bent = qfi_append2(l, QF_OP_div, soft_ramp(l, scaled), beta);

    end(l, &s, qfi_append3(l, QF_OP_where, beyond, s.x, bent));
}

void qfi_build_mish(qfi_lowering *l)
{
    const steps s = begin(l);
    const qfi_ref bent = qfi_append1(l, QF_OP_tanh, NULL, soft_ramp(l, s.x));
    end(l, &s, qfi_append2(l, QF_OP_mul, s.x, bent));
}

/* scale x above 0, else (alpha scale) (exp(input_scale x) - 1) */
static void bend(qfi_lowering *l, const steps *s, qfi_ref alpha, qfi_ref scale, qfi_ref inner)
{
    const qfi_ref low = qfi_append2(l, QF_OP_le, s->x, qfi_scalar(l, s->work, 0));
    const qfi_ref e = qfi_append1(l, QF_OP_expm1, NULL, qfi_append2(l, QF_OP_mul, s->x, inner));
    const qfi_ref bent = qfi_append2(l, QF_OP_mul, e, qfi_append2(l, QF_OP_mul, alpha, scale));

    end(l, s, qfi_append3(l, QF_OP_where, low, bent, qfi_append2(l, QF_OP_mul, s->x, scale)));
}

void qfi_build_elu(qfi_lowering *l)
{
    const steps s = begin(l);
    bend(l, &s, factor(l, &s, "alpha"), factor(l, &s, "scale"), factor(l, &s, "input_scale"));
}

void qfi_build_selu(qfi_lowering *l)
{
    const steps s = begin(l);
    bend(l, &s, qfi_scalar(l, s.work, 1.6732632423543772848170429916717),
         qfi_scalar(l, s.work, 1.0507009873554804934193349852946), qfi_scalar(l, s.work, 1));
}

void qfi_build_celu(qfi_lowering *l)
{
    const steps s = begin(l);
    const double alpha = qfi_number_double(qfi_arg_number(l, "alpha"));

    if (alpha == 0)
        qfi_refuse(l, QF_REASON_undefined, "alpha is 0");
    bend(l, &s, qfi_scalar(l, s.work, alpha), qfi_scalar(l, s.work, 1),
         qfi_scalar(l, s.work, alpha == 0 ? 0 : 1 / alpha));
}

/* min(x, 0) - log(1 + exp(-|x|)); the second result, where there is one, is exp(-|x|). */
void qfi_build_log_sigmoid(qfi_lowering *l)
{
    const steps s = begin(l);
    const qfi_ref away = qfi_append1(l, QF_OP_neg, NULL, qfi_append1(l, QF_OP_abs, NULL, s.x));
    const qfi_ref e = qfi_append1(l, QF_OP_exp, NULL, away);
    const qfi_ref below = qfi_append2(l, QF_OP_minimum, s.x, qfi_scalar(l, s.work, 0));

    end(l, &s, qfi_append2(l, QF_OP_sub, below, qfi_append1(l, QF_OP_log1p, NULL, e)));
    qfi_give(l, 1, qfi_cast(l, e, s.dtype));
}

/* ---- softmax ---- */

/* The set of the argument dim; none for one number. */
static uint32_t softmax_dims(qfi_lowering *l, int rank)
{
    const uint8_t dim = qfi_dim(l, qfi_arg_int(l, "dim"), (uint8_t)rank);
    return rank ? 1u << dim : 0;
}

/* exp(x - max x) over its sum along dim; or the logarithm of that. */
static qfi_ref softmax(qfi_lowering *l, qfi_ref x, bool log)
{
    const uint32_t dims = softmax_dims(l, qfi_type_of(l, x).rank);

    if (!qfi_elements_of(l, x))
        return x;
    const qfi_ref below = qfi_append2(l, QF_OP_sub, x, qfi_reduce(l, QF_OP_amax, x, dims, true));
    const qfi_ref e = qfi_append1(l, QF_OP_exp, NULL, below);
    const qfi_ref sum = qfi_reduce(l, QF_OP_sum, e, dims, true);

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

/* Rows that are minus infinity throughout give 0. */
void qfi_build_safe_softmax(qfi_lowering *l)
{
    const qfi_ref self = qfi_arg_tensor(l, "self");
    qf_dtype dtype = qfi_arg_dtype(l, "dtype", qfi_type_of(l, self).dtype);
    const qfi_ref x = activation_input(l, qfi_cast(l, self, dtype), &dtype);
    const qf_type type = qfi_type_of(l, x);
    const qfi_ref open = qfi_append2(l, QF_OP_ne, x, qfi_scalar(l, type.dtype, -INFINITY));
    const qfi_ref any = qfi_reduce(l, QF_OP_any, open, softmax_dims(l, type.rank), true);
    const qfi_ref zero = qfi_scalar(l, type.dtype, 0);

    qfi_result(l, qfi_cast(l, qfi_append3(l, QF_OP_where, any, softmax(l, x, false), zero), dtype));
}

void qfi_build_softmax(qfi_lowering *l)
{
    build_softmax(l, false);
}
void qfi_build_log_softmax(qfi_lowering *l)
{
    build_softmax(l, true);
}
