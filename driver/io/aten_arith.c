/* Builders of arithmetic on two operands. torch's rules of promotion and of the precision of
 * scalars stand here. */
#include "aten_build.h"

/* ---- add, sub, rsub ---- */

/* torch takes no fraction as alpha for integers. */
static void check_alpha(qfi_lowering *l, qfi_number alpha, qf_dtype dtype)
{
    if (qfi_class(dtype) != QF_CLASS_FLOAT && !alpha.v.is_int)
        qfi_refuse(l, QF_REASON_undefined, "a fractional alpha for integers");
}

/* a + alpha * b. Both operands are first rounded to the common dtype. Floats: one fused step; alpha
 * is rounded too. */
static qfi_ref add_scaled(qfi_lowering *l, const qfi_operand *a, const qfi_operand *b,
                          qfi_number alpha, qf_dtype dtype)
{
    const qfi_ref x = qfi_operand_as(l, a, dtype), y = qfi_operand_as(l, b, dtype);

    check_alpha(l, alpha, dtype);
    if (dtype == QF_DT_b8 && qfi_number_truth(alpha))
        return qfi_append2(l, QF_OP_bit_or, x, y);
    if (qfi_number_double(alpha) == 1.0)
        return qfi_append2(l, QF_OP_add, x, y);
    const qfi_ref factor = qfi_full(l, (qf_type){ .dtype = dtype }, alpha);
    if (qfi_class(dtype) == QF_CLASS_FLOAT)
        return qfi_append3(l, QF_OP_fma, y, factor, x);
    return qfi_append2(l, QF_OP_add, x, qfi_append2(l, QF_OP_mul, y, factor));
}

/* a - alpha * b */
static qfi_ref sub_scaled(qfi_lowering *l, const qfi_operand *a, const qfi_operand *b,
                          qfi_number alpha)
{
    const qf_dtype dtype = qfi_result_dtype(l, (const qfi_operand[]){ *a, *b }, 2);

    if (dtype == QF_DT_b8)
        qfi_refuse(l, QF_REASON_undefined, "subtraction of booleans");
    if (qfi_number_double(alpha) == 1.0)
        return qfi_append2(l, QF_OP_sub, qfi_operand_as(l, a, dtype), qfi_operand_as(l, b, dtype));
    if (alpha.v.is_int)
        alpha.v.i = (int64_t)(0 - (uint64_t)alpha.v.i);
    else
        alpha.v.f = -alpha.v.f;
    return add_scaled(l, a, b, alpha, dtype);
}

void qfi_build_add(qfi_lowering *l)
{
    const qfi_operand x[2] = { qfi_arg_operand(l, "self"), qfi_arg_operand(l, "other") };
    const qf_dtype dtype = qfi_result_dtype(l, x, 2);

    qfi_result(l, add_scaled(l, &x[0], &x[1], qfi_arg_number(l, "alpha"), dtype));
}

void qfi_build_sub(qfi_lowering *l)
{
    const qfi_operand a = qfi_arg_operand(l, "self"), b = qfi_arg_operand(l, "other");
    qfi_result(l, sub_scaled(l, &a, &b, qfi_arg_number(l, "alpha")));
}

void qfi_build_rsub(qfi_lowering *l)
{
    const qfi_operand a = qfi_arg_operand(l, "self"), b = qfi_arg_operand(l, "other");
    qfi_result(l, sub_scaled(l, &b, &a, qfi_arg_number(l, "alpha")));
}

/* ---- mul, div ---- */

/* Two operands of their common dtype in the dtype of the work. A single second one of a half type
 * keeps its own value; a first one is rounded to the type as tensors are. */
static void take_pair(qfi_lowering *l, const qfi_operand *x, qf_dtype dtype, qf_dtype work,
                      qfi_ref pair[2])
{
    const qf_dtype second = qfi_operand_single(l, &x[1]) ? work : dtype;

    pair[0] = qfi_cast(l, qfi_operand_as(l, &x[0], dtype), work);
    pair[1] = qfi_cast(l, qfi_operand_as(l, &x[1], second), work);
}

/* op(a, b) in the common dtype; in f32 and rounded once where a half type meets a single operand.
 */
static qfi_ref scale(qfi_lowering *l, qf_op op, const qfi_operand *x, qf_dtype dtype)
{
    const bool wide = qfi_is_half(dtype) && qfi_operand_single(l, &x[1]);
    qfi_ref pair[2];

    take_pair(l, x, dtype, wide ? QF_DT_f32 : dtype, pair);
    return qfi_cast(l, qfi_append2(l, op, pair[0], pair[1]), dtype);
}

static void multiply(qfi_lowering *l, const char *first, const char *second)
{
    const qfi_operand x[2] = { qfi_arg_operand(l, first), qfi_arg_operand(l, second) };

    if (qfi_any_complex(l, x)) {
        qfi_result(l, qfi_complex_mul(l, x));
        return;
    }
    const qf_dtype dtype = qfi_result_dtype(l, x, 2);

    qfi_result(l, scale(l, dtype == QF_DT_b8 ? QF_OP_bit_and : QF_OP_mul, x, dtype));
}

void qfi_build_mul(qfi_lowering *l)
{
    multiply(l, "self", "other");
}

/* In place, torch has the number first. */
void qfi_build_mul_number(qfi_lowering *l)
{
    multiply(l, "other", "self");
}

void qfi_build_div(qfi_lowering *l)
{
    const qfi_operand x[2] = { qfi_arg_operand(l, "self"), qfi_arg_operand(l, "other") };
    const qf_dtype dtype = qfi_result_dtype(l, x, 2);

    qfi_result(l, scale(l, QF_OP_div, x, qfi_class(dtype) == QF_CLASS_FLOAT ? dtype : QF_DT_f32));
}

/* x between two integers. */
static qfi_ref between(qfi_lowering *l, qfi_ref x, int64_t least, int64_t most)
{
    const qfi_ref above = qfi_append2(l, QF_OP_maximum, x, qfi_full_int(l, QF_DT_i64, least));
    return qfi_append2(l, QF_OP_minimum, above, qfi_full_int(l, QF_DT_i64, most));
}

/* 2^n in f64 for normal numbers, by the bits of its exponent. */
static qfi_ref power_of_two(qfi_lowering *l, qfi_ref n)
{
    const qf_attrs as = { .cast = { QF_DT_f64 } };
    const qfi_ref biased = qfi_append2(l, QF_OP_add, n, qfi_full_int(l, QF_DT_i64, 1023));

    return qfi_append1(
        l, QF_OP_bitcast, &as,
        qfi_append2(l, QF_OP_mul, biased, qfi_full_int(l, QF_DT_i64, INT64_C(1) << 52)));
}

/* x * 2^n of a float and an integer, rounded once: by as many normal powers as lead from the least
 * number to the largest; the one that takes most goes last. torch has the low 32 bits of n. */
static qfi_ref scaled_by_bits(qfi_lowering *l, qfi_ref x, qfi_ref n)
{
    enum { LEAST = -1022, MOST = 1023, N_POWER = 3 };
    const qf_dtype dtype = qfi_type_of(l, x).dtype;
    qfi_ref power[N_POWER];

    n = qfi_cast(l, qfi_cast(l, n, QF_DT_i32), QF_DT_i64);
    for (int i = N_POWER - 1; i >= 0; i--) {
        const qfi_ref part = between(l, n, LEAST, MOST);
        power[i] = power_of_two(l, part);
        n = qfi_append2(l, QF_OP_sub, n, part);
    }
    x = qfi_cast(l, x, QF_DT_f64);
    for (int i = 0; i < N_POWER; i++)
        x = qfi_append2(l, QF_OP_mul, x, power[i]);
    return qfi_cast(l, x, dtype);
}

/* self * 2^other: the power in the dtype of other, or in f32 where neither is a float. */
void qfi_build_ldexp(qfi_lowering *l)
{
    const qfi_ref self = qfi_arg_tensor(l, "self"), other = qfi_arg_tensor(l, "other");
    const qf_dtype own = qfi_type_of(l, other).dtype;
    const bool whole = qfi_class(own) != QF_CLASS_FLOAT;

    if (whole && qfi_class(qfi_type_of(l, self).dtype) == QF_CLASS_FLOAT) {
        qfi_result(l, scaled_by_bits(l, self, other));
        return;
    }
    const qf_dtype powers = whole ? QF_DT_f32 : own;
    const qfi_ref power =
        qfi_append2(l, QF_OP_pow, qfi_scalar(l, powers, 2), qfi_cast(l, other, powers));
    const qfi_operand x[2] = { qfi_arg_operand(l, "self"), { .ref = power } };

    qfi_result(l, scale(l, QF_OP_mul, x, qfi_result_dtype(l, x, 2)));
}

qfi_ref qfi_divide_by(qfi_lowering *l, qfi_ref x, double by)
{
    const qfi_ref wide = qfi_cast(l, x, QF_DT_f32);

    return qfi_cast(l, qfi_append2(l, QF_OP_div, wide, qfi_scalar(l, QF_DT_f32, by)),
                    qfi_type_of(l, x).dtype);
}

/* Floor of a quotient as torch has it: exact for the operands, unlike the floor of the rounded
 * quotient (1 / 0.1 is 9). */
static qfi_ref floor_quotient(qfi_lowering *l, qfi_ref a, qfi_ref b)
{
    const qf_dtype dtype = qfi_type_of(l, a).dtype;
    const qfi_ref zero = qfi_scalar(l, dtype, 0), one = qfi_scalar(l, dtype, 1);
    const qfi_ref plain = qfi_append2(l, QF_OP_div, a, b), rest = qfi_append2(l, QF_OP_fmod, a, b);
    const qfi_ref whole = qfi_append2(l, QF_OP_div, qfi_append2(l, QF_OP_sub, a, rest), b);
    const qfi_ref signs = qfi_append2(l, QF_OP_ne, qfi_append2(l, QF_OP_lt, b, zero),
                                      qfi_append2(l, QF_OP_lt, rest, zero));
    const qfi_ref below =
        qfi_append2(l, QF_OP_bit_and, qfi_append2(l, QF_OP_ne, rest, zero), signs);
    const qfi_ref down =
        qfi_append3(l, QF_OP_where, below, qfi_append2(l, QF_OP_sub, whole, one), whole);
    const qfi_ref floor = qfi_append1(l, QF_OP_floor, NULL, down);
    const qfi_ref over =
        qfi_append2(l, QF_OP_gt, qfi_append2(l, QF_OP_sub, down, floor), qfi_scalar(l, dtype, 0.5));
    const qfi_ref near =
        qfi_append3(l, QF_OP_where, over, qfi_append2(l, QF_OP_add, floor, one), floor);
    /* A quotient of 0 takes the sign of the true one. */
    const qfi_ref nonzero = qfi_append3(l, QF_OP_where, qfi_append2(l, QF_OP_ne, down, zero), near,
                                        qfi_append2(l, QF_OP_mul, plain, zero));

    return qfi_append3(l, QF_OP_where, qfi_append2(l, QF_OP_eq, b, zero), plain, nonzero);
}

static void divide_rounded(qfi_lowering *l, bool floor)
{
    const qfi_operand x[2] = { qfi_arg_operand(l, "self"), qfi_arg_operand(l, "other") };
    const qf_dtype dtype = qfi_result_dtype(l, x, 2);
    const bool half = qfi_is_half(dtype);
    qfi_ref pair[2];

    if (qfi_class(dtype) != QF_CLASS_FLOAT) {
        qfi_result(l,
                   qfi_append2(l, floor ? QF_OP_idiv_floor : QF_OP_idiv_trunc,
                               qfi_operand_as(l, &x[0], dtype), qfi_operand_as(l, &x[1], dtype)));
        return;
    }
    take_pair(l, x, dtype, half ? QF_DT_f32 : dtype, pair);
    if (floor) {
        qfi_result(l, qfi_cast(l, floor_quotient(l, pair[0], pair[1]), dtype));
        return;
    }
    /* Between half tensors the quotient itself is rounded before it loses its fraction. */
    const qfi_ref quotient = qfi_append2(l, QF_OP_div, pair[0], pair[1]);
    const bool once = !half || qfi_operand_single(l, &x[1]);
    const qfi_ref rounded = once ? quotient : qfi_cast(l, quotient, dtype);
    qfi_result(l, qfi_cast(l, qfi_append1(l, QF_OP_trunc, NULL, rounded), dtype));
}

void qfi_build_div_mode(qfi_lowering *l)
{
    const qfi_arg *mode = qfi_arg_get(l, "rounding_mode");

    if (mode->kind == QFI_ARG_NONE)
        qfi_build_div(l);
    else if (mode->kind == QFI_ARG_TEXT && qfi_str_is(mode->text, "floor"))
        divide_rounded(l, true);
    else if (mode->kind == QFI_ARG_TEXT && qfi_str_is(mode->text, "trunc"))
        divide_rounded(l, false);
    else
        qfi_refuse(l, QF_REASON_unsupported_argument, "argument rounding_mode");
}

void qfi_build_floor_divide(qfi_lowering *l)
{
    divide_rounded(l, true);
}

/* ---- the operators that have no rule of their own ---- */

static void build_promoted(qfi_lowering *l, qf_op op)
{
    const qfi_operand x[2] = { qfi_arg_operand(l, "self"), qfi_arg_operand(l, "other") };
    const qf_dtype dtype = qfi_result_dtype(l, x, 2);

    qfi_result(
        l, qfi_append2(l, op, qfi_operand_as(l, &x[0], dtype), qfi_operand_as(l, &x[1], dtype)));
}

void qfi_build_remainder(qfi_lowering *l)
{
    build_promoted(l, QF_OP_remainder);
}
void qfi_build_fmod(qfi_lowering *l)
{
    build_promoted(l, QF_OP_fmod);
}

/* The smaller or larger of two, the first of equal ones (which shows in zeros of both signs);
 * booleans are ordered too. */
static qfi_ref extreme(qfi_lowering *l, bool largest, qfi_ref a, qfi_ref b)
{
    if (qfi_type_of(l, a).dtype == QF_DT_b8)
        return qfi_append2(l, largest ? QF_OP_bit_or : QF_OP_bit_and, a, b);
    return qfi_append2(l, largest ? QF_OP_maximum : QF_OP_minimum, a, b);
}

/* Of equal ones torch's vector kernels give the second. */
static void build_extreme(qfi_lowering *l, bool largest)
{
    const qfi_operand x[2] = { qfi_arg_operand(l, "self"), qfi_arg_operand(l, "other") };
    const qf_dtype dtype = qfi_result_dtype(l, x, 2);

    qfi_result(
        l, extreme(l, largest, qfi_operand_as(l, &x[1], dtype), qfi_operand_as(l, &x[0], dtype)));
}

void qfi_build_minimum(qfi_lowering *l)
{
    build_extreme(l, false);
}
void qfi_build_maximum(qfi_lowering *l)
{
    build_extreme(l, true);
}

/* A bound that equals the value leaves it. */
void qfi_build_clamp(qfi_lowering *l)
{
    static const char *const bounds[] = { "min", "max" };
    qfi_operand x[3] = { qfi_arg_operand(l, "self") };
    bool largest[3] = { false };
    uint32_t n = 1;

    for (uint32_t i = 0; i < 2; i++)
        if (qfi_arg_has(l, bounds[i])) {
            largest[n] = i == 0;
            x[n++] = qfi_arg_operand(l, bounds[i]);
        }
    const qf_dtype dtype = qfi_result_dtype(l, x, n);
    qfi_ref ref = qfi_operand_as(l, &x[0], dtype);
    for (uint32_t i = 1; i < n; i++) {
        if (x[i].is_number && !qfi_number_fits(x[i].number, dtype, true))
            qfi_refuse(l, QF_REASON_undefined, "a bound does not fit %s",
                       qf_dtype_get(dtype)->name);
        ref = extreme(l, largest[i], ref, qfi_operand_as(l, &x[i], dtype));
    }
    qfi_result(l, ref);
}
