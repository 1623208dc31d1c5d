/* Builders of functions of one tensor, and of powers. */
#include "aten_build.h"

/* ---- one operand ---- */

/* Integers become f32 first. */
static qfi_ref as_float(qfi_lowering *l, qfi_ref x)
{
    return qfi_class(qfi_type_of(l, x).dtype) == QF_CLASS_FLOAT ? x : qfi_cast(l, x, QF_DT_f32);
}

static void build_float(qfi_lowering *l, qf_op op)
{
    qfi_result(l, qfi_append1(l, op, NULL, as_float(l, qfi_arg_tensor(l, "self"))));
}

void qfi_build_reciprocal(qfi_lowering *l)
{
    build_float(l, QF_OP_reciprocal);
}
void qfi_build_sqrt(qfi_lowering *l)
{
    build_float(l, QF_OP_sqrt);
}
void qfi_build_rsqrt(qfi_lowering *l)
{
    build_float(l, QF_OP_rsqrt);
}
void qfi_build_sin(qfi_lowering *l)
{
    build_float(l, QF_OP_sin);
}
void qfi_build_cos(qfi_lowering *l)
{
    build_float(l, QF_OP_cos);
}
void qfi_build_exp(qfi_lowering *l)
{
    build_float(l, QF_OP_exp);
}
void qfi_build_exp2(qfi_lowering *l)
{
    build_float(l, QF_OP_exp2);
}
void qfi_build_log(qfi_lowering *l)
{
    build_float(l, QF_OP_log);
}
void qfi_build_tanh(qfi_lowering *l)
{
    build_float(l, QF_OP_tanh);
}
void qfi_build_erf(qfi_lowering *l)
{
    build_float(l, QF_OP_erf);
}
void qfi_build_erfc(qfi_lowering *l)
{
    build_float(l, QF_OP_erfc);
}
void qfi_build_sigmoid(qfi_lowering *l)
{
    build_float(l, QF_OP_sigmoid);
}

void qfi_build_expm1(qfi_lowering *l)
{
    build_float(l, QF_OP_expm1);
}
void qfi_build_log1p(qfi_lowering *l)
{
    build_float(l, QF_OP_log1p);
}
void qfi_build_log2(qfi_lowering *l)
{
    build_float(l, QF_OP_log2);
}
void qfi_build_log10(qfi_lowering *l)
{
    build_float(l, QF_OP_log10);
}
void qfi_build_sinh(qfi_lowering *l)
{
    build_float(l, QF_OP_sinh);
}
void qfi_build_cosh(qfi_lowering *l)
{
    build_float(l, QF_OP_cosh);
}
void qfi_build_tan(qfi_lowering *l)
{
    build_float(l, QF_OP_tan);
}
void qfi_build_asin(qfi_lowering *l)
{
    build_float(l, QF_OP_asin);
}
void qfi_build_acos(qfi_lowering *l)
{
    build_float(l, QF_OP_acos);
}
void qfi_build_atan(qfi_lowering *l)
{
    build_float(l, QF_OP_atan);
}
void qfi_build_asinh(qfi_lowering *l)
{
    build_float(l, QF_OP_asinh);
}
void qfi_build_acosh(qfi_lowering *l)
{
    build_float(l, QF_OP_acosh);
}
void qfi_build_atanh(qfi_lowering *l)
{
    build_float(l, QF_OP_atanh);
}

/* What truncation takes away; exact. */
void qfi_build_frac(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");

    if (qfi_class(qfi_type_of(l, x).dtype) != QF_CLASS_FLOAT)
        qfi_refuse(l, QF_REASON_undefined, "the fraction of integers");
    qfi_result(l, qfi_append2(l, QF_OP_sub, x, qfi_append1(l, QF_OP_trunc, NULL, x)));
}

/* Rounding leaves integers as they are. */
static void build_rounding(qfi_lowering *l, qf_op op)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_dtype_class kind = qfi_class(qfi_type_of(l, x).dtype);

    qfi_result(l, kind == QF_CLASS_FLOAT ? qfi_append1(l, op, NULL, x) : x);
}

void qfi_build_floor(qfi_lowering *l)
{
    build_rounding(l, QF_OP_floor);
}
void qfi_build_ceil(qfi_lowering *l)
{
    build_rounding(l, QF_OP_ceil);
}
void qfi_build_trunc(qfi_lowering *l)
{
    build_rounding(l, QF_OP_trunc);
}
void qfi_build_round(qfi_lowering *l)
{
    build_rounding(l, QF_OP_round);
}

static void build_plain(qfi_lowering *l, qf_op op)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");

    if (qfi_type_of(l, x).dtype == QF_DT_b8)
        qfi_refuse(l, QF_REASON_unsupported_dtype, "booleans");
    qfi_result(l, qfi_append1(l, op, NULL, x));
}

void qfi_build_neg(qfi_lowering *l)
{
    build_plain(l, QF_OP_neg);
}

void qfi_build_abs(qfi_lowering *l)
{
    if (qfi_class(qfi_type_of(l, qfi_arg_tensor(l, "self")).dtype) == QF_CLASS_UINT)
        qfi_build_copy_of(l);
    else
        build_plain(l, QF_OP_abs);
}

/* Of booleans themselves, of unsigned numbers 0 or 1. */
void qfi_build_sign(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_dtype dtype = qfi_type_of(l, x).dtype;

    if (qfi_class(dtype) == QF_CLASS_UINT || dtype == QF_DT_b8)
        qfi_result(l, qfi_cast(l, qfi_cast(l, x, QF_DT_b8), dtype));
    else
        build_plain(l, QF_OP_sign);
}

/* ---- powers ---- */

/* x^exponent of integers by squaring: wraps as repeated multiplication does. */
static qfi_ref integer_power(qfi_lowering *l, qfi_ref x, uint64_t exponent)
{
    qfi_ref result = QFI_NONE;

    for (bool first = true; exponent; exponent >>= 1) {
        if (exponent & 1) {
            result = first ? x : qfi_append2(l, QF_OP_mul, result, x);
            first = false;
        }
        if (exponent > 1)
            x = qfi_append2(l, QF_OP_mul, x, x);
    }
    return result;
}

static qfi_ref power_square(qfi_lowering *l, qfi_ref x)
{
    return qfi_append2(l, QF_OP_mul, x, x);
}
static qfi_ref power_root(qfi_lowering *l, qfi_ref x)
{
    return qfi_append1(l, QF_OP_sqrt, NULL, x);
}
static qfi_ref power_inverse(qfi_lowering *l, qfi_ref x)
{
    return qfi_append1(l, QF_OP_reciprocal, NULL, x);
}
static qfi_ref power_inverse_root(qfi_lowering *l, qfi_ref x)
{
    return qfi_append1(l, QF_OP_rsqrt, NULL, x);
}

static qfi_ref power_cube(qfi_lowering *l, qfi_ref x)
{
    return qfi_append2(l, QF_OP_mul, power_square(l, x), x);
}

static qfi_ref power_inverse_square(qfi_lowering *l, qfi_ref x)
{
    return power_inverse(l, power_square(l, x));
}

/* Exponents that torch computes without pow; those of f16 as it does in f16, in f32, or by pow all
 * the same, which has no sign for the roots of -0 and of -infinity. */
static const struct {
    double exponent;
    enum { AS_IS, WIDE, BY_POW } f16;
    qfi_ref (*build)(qfi_lowering *l, qfi_ref x);
} special_powers[] = {
    { 0.5, BY_POW, power_root },    { -0.5, BY_POW, power_inverse_root },
    { 2.0, AS_IS, power_square },   { 3.0, WIDE, power_cube },
    { -1.0, AS_IS, power_inverse }, { -2.0, WIDE, power_inverse_square },
};

static qfi_ref float_power(qfi_lowering *l, qfi_ref x, qfi_number exponent, qf_dtype dtype)
{
    const double v = qfi_number_double(exponent);

    for (size_t i = 0; i < sizeof special_powers / sizeof *special_powers; i++) {
        const bool f16 = dtype == QF_DT_f16;
        if (v != special_powers[i].exponent || (f16 && special_powers[i].f16 == BY_POW))
            continue;
        const qfi_ref from = f16 && special_powers[i].f16 == WIDE ? qfi_cast(l, x, QF_DT_f32) : x;
        return qfi_cast(l, special_powers[i].build(l, from), dtype);
    }
    return qfi_append2(l, QF_OP_pow, x, qfi_full(l, (qf_type){ .dtype = dtype }, exponent));
}

static void power(qfi_lowering *l, qfi_number exponent)
{
    const qfi_operand self = qfi_arg_operand(l, "self");
    const qfi_operand both[2] = { self,
                                  { .is_number = true, .number = exponent, .ref = QFI_NONE } };
    const qf_dtype dtype = qfi_result_dtype(l, both, 2);
    const qfi_ref x = qfi_operand_as(l, &self, dtype);
    const double v = qfi_number_double(exponent);
    qf_type ones = qfi_type_of(l, x);

    ones.dtype = dtype;
    if (v == 0.0)
        qfi_result(l,
                   qfi_full(l, ones, (qfi_number){ { .is_int = true, .i = 1 }, QFI_NUMBER_INT }));
    else if (v == 1.0)
        qfi_result(l, x);
    else if (qfi_class(dtype) == QF_CLASS_FLOAT)
        qfi_result(l, float_power(l, x, exponent, dtype));
    else if (v < 0 || dtype == QF_DT_b8)
        qfi_refuse(l, QF_REASON_undefined, "an integer to the power %g", v);
    else
        qfi_result(l, integer_power(l, x, (uint64_t)exponent.v.i));
}

void qfi_build_pow_scalar(qfi_lowering *l)
{
    power(l, qfi_arg_number(l, "exponent"));
}

void qfi_build_square(qfi_lowering *l)
{
    power(l, (qfi_number){ { .is_int = true, .i = 2 }, QFI_NUMBER_INT });
}

void qfi_build_pow_tensor(qfi_lowering *l)
{
    const qfi_operand x[2] = { qfi_arg_operand(l, "self"), qfi_arg_operand(l, "exponent") };
    const qf_dtype dtype = qfi_result_dtype(l, x, 2);

    qfi_result(l, qfi_append2(l, QF_OP_pow, qfi_operand_as(l, &x[0], dtype),
                              qfi_operand_as(l, &x[1], dtype)));
}

void qfi_build_float_power(qfi_lowering *l)
{
    const qfi_operand x[2] = { qfi_arg_operand(l, "self"), qfi_arg_operand(l, "exponent") };

    qfi_result(l, qfi_append2(l, QF_OP_pow, qfi_operand_as(l, &x[0], QF_DT_f64),
                              qfi_operand_as(l, &x[1], QF_DT_f64)));
}
