/* Builders of functions that torch computes with a rule of its own for signs, zeros or NaN. */
#include "aten_build.h"

#include <math.h>

/* Integers become f32. */
static qfi_ref float_arg(qfi_lowering *l, const char *name)
{
    const qfi_ref x = qfi_arg_tensor(l, name);
    return qfi_class(qfi_type_of(l, x).dtype) == QF_CLASS_FLOAT ? x : qfi_cast(l, x, QF_DT_f32);
}

/* Two operands in their common dtype, which is a float. */
static qf_dtype float_pair(qfi_lowering *l, qfi_ref x[2])
{
    const qfi_operand in[2] = { qfi_arg_operand(l, "self"), qfi_arg_operand(l, "other") };
    qf_dtype dtype = qfi_result_dtype(l, in, 2);

    if (qfi_class(dtype) != QF_CLASS_FLOAT)
        dtype = QF_DT_f32;
    for (int i = 0; i < 2; i++)
        x[i] = qfi_operand_as(l, &in[i], dtype);
    return dtype;
}

static qfi_ref is_nan(qfi_lowering *l, qfi_ref x)
{
    return qfi_append2(l, QF_OP_ne, x, x);
}

/* ---- signs ---- */

/* Whether the sign bit is set, of zeros and NaN too. */
static qfi_ref has_sign(qfi_lowering *l, qfi_ref x)
{
    static const struct {
        unsigned bits;
        qf_dtype dtype;
    } integers[] = { { 8, QF_DT_i8 }, { 16, QF_DT_i16 }, { 32, QF_DT_i32 }, { 64, QF_DT_i64 } };
    const qf_dtype dtype = qfi_type_of(l, x).dtype;

    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
        const qf_attrs as = { .cast = { integers[i].dtype } };
        if (qfi_class(dtype) == QF_CLASS_FLOAT && integers[i].bits == qf_dtype_get(dtype)->bits)
            return qfi_append2(l, QF_OP_lt, qfi_append1(l, QF_OP_bitcast, &as, x),
                               qfi_full_int(l, integers[i].dtype, 0));
    }
    return qfi_append2(l, QF_OP_lt, x, qfi_full_int(l, dtype, 0));
}

void qfi_build_signbit(qfi_lowering *l)
{
    qfi_result(l, has_sign(l, qfi_arg_tensor(l, "self")));
}

void qfi_build_copysign(qfi_lowering *l)
{
    qfi_ref x[2];

    float_pair(l, x);
    const qfi_ref size = qfi_append1(l, QF_OP_abs, NULL, x[0]);
    qfi_result(l, qfi_append3(l, QF_OP_where, has_sign(l, x[1]),
                              qfi_append1(l, QF_OP_neg, NULL, size), size));
}

/* 0 below zero, 1 above, the other operand at zero; of NaN 0. */
void qfi_build_heaviside(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self"), values = qfi_arg_tensor(l, "values");
    const qf_dtype dtype = qfi_type_of(l, x).dtype;
    const qfi_ref zero = qfi_full_int(l, dtype, 0);

    if (qfi_type_of(l, values).dtype != dtype)
        qfi_refuse(l, QF_REASON_undefined, "operands of two dtypes");
    const qfi_ref step = qfi_cast(l, qfi_append2(l, QF_OP_gt, x, zero), dtype);
    qfi_result(l, qfi_append3(l, QF_OP_where, qfi_append2(l, QF_OP_eq, x, zero), values, step));
}

/* ---- NaN as what is missing ---- */

static void build_known_extreme(qfi_lowering *l, qf_op op)
{
    const qfi_operand in[2] = { qfi_arg_operand(l, "self"), qfi_arg_operand(l, "other") };
    const qf_dtype dtype = qfi_result_dtype(l, in, 2);
    const qfi_ref a = qfi_operand_as(l, &in[0], dtype), b = qfi_operand_as(l, &in[1], dtype);
    const bool boolean = dtype == QF_DT_b8;
    const qf_op plain = !boolean ? op : op == QF_OP_maximum ? QF_OP_bit_or : QF_OP_bit_and;
    const qfi_ref both = qfi_append2(l, plain, a, b);

    if (qfi_class(dtype) != QF_CLASS_FLOAT) {
        qfi_result(l, both);
        return;
    }
    const qfi_ref known = qfi_append3(l, QF_OP_where, is_nan(l, b), a, both);
    qfi_result(l, qfi_append3(l, QF_OP_where, is_nan(l, a), b, known));
}

void qfi_build_fmax(qfi_lowering *l)
{
    build_known_extreme(l, QF_OP_maximum);
}
void qfi_build_fmin(qfi_lowering *l)
{
    build_known_extreme(l, QF_OP_minimum);
}

/* The sum of what is a number. */
void qfi_build_nansum(qfi_lowering *l)
{
    const qfi_ref self = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, self);
    const bool is_float = qfi_class(type.dtype) == QF_CLASS_FLOAT;
    const qf_dtype dtype = qfi_arg_dtype(l, "dtype", is_float ? type.dtype : QF_DT_i64);
    const qfi_ref known = is_float ? qfi_append3(l, QF_OP_where, is_nan(l, self),
                                                 qfi_full_int(l, type.dtype, 0), self)
                                   : self;
    const qfi_ref sum = qfi_reduce(l, QF_OP_sum, qfi_cast(l, known, dtype),
                                   qfi_reduced_dims(l, type.rank, false), qfi_keeps_dims(l));

    qfi_result(l, qfi_cast(l, sum, dtype));
}

/* ---- products that are 0 where the first factor is ---- */

/* x * log(y), each step rounded; NaN where y is. */
static void times_log(qfi_lowering *l, qf_op log)
{
    qfi_ref x[2];
    const qf_dtype dtype = float_pair(l, x);
    const qfi_ref zero = qfi_scalar(l, dtype, 0);
    const qfi_ref product = qfi_append2(l, QF_OP_mul, x[0], qfi_append1(l, log, NULL, x[1]));
    const qfi_ref known =
        qfi_append3(l, QF_OP_where, qfi_append2(l, QF_OP_eq, x[0], zero), zero, product);

    qfi_result(
        l, qfi_append3(l, QF_OP_where, is_nan(l, x[1]), qfi_scalar(l, dtype, (double)NAN), known));
}

void qfi_build_xlogy(qfi_lowering *l)
{
    times_log(l, QF_OP_log);
}
void qfi_build_xlog1py(qfi_lowering *l)
{
    times_log(l, QF_OP_log1p);
}

/* sin(pi x) / (pi x), each step rounded; 1 at 0. */
void qfi_build_sinc(qfi_lowering *l)
{
    const qfi_ref x = float_arg(l, "self");
    const qf_dtype dtype = qfi_type_of(l, x).dtype;
    const qf_dtype work = qfi_is_half(dtype) ? QF_DT_f32 : dtype;
    const qfi_ref wide = qfi_cast(l, x, work),
                  turn = qfi_append2(l, QF_OP_mul, wide, qfi_scalar(l, work, acos(-1.0))),
                  value = qfi_append2(l, QF_OP_div, qfi_append1(l, QF_OP_sin, NULL, turn), turn);

    qfi_result(l, qfi_cast(l,
                           qfi_append3(l, QF_OP_where,
                                       qfi_append2(l, QF_OP_eq, wide, qfi_scalar(l, work, 0)),
                                       qfi_scalar(l, work, 1), value),
                           dtype));
}

/* log(x / (1 - x)), of x clamped to [eps, 1 - eps], each step rounded. */
void qfi_build_logit(qfi_lowering *l)
{
    qfi_ref x = float_arg(l, "self");
    const qf_dtype dtype = qfi_type_of(l, x).dtype;
    const qfi_ref one = qfi_scalar(l, dtype, 1);

    if (qfi_arg_has(l, "eps")) {
        const qfi_ref eps = qfi_scalar(l, dtype, qfi_number_double(qfi_arg_number(l, "eps")));
        const qfi_ref end = qfi_append2(l, QF_OP_sub, one, eps);
        x = qfi_append2(l, QF_OP_minimum, qfi_append2(l, QF_OP_maximum, x, eps), end);
    }
    const qfi_ref odds = qfi_append2(l, QF_OP_div, x, qfi_append2(l, QF_OP_sub, one, x));
    qfi_result(l, qfi_append1(l, QF_OP_log, NULL, odds));
}

/* ---- scales ---- */

/* x * factor; half types multiply in f32. */
static void times(qfi_lowering *l, double factor)
{
    const qfi_ref x = float_arg(l, "self");
    const qf_dtype dtype = qfi_type_of(l, x).dtype;
    const qf_dtype work = qfi_is_half(dtype) ? QF_DT_f32 : dtype;

    qfi_result(
        l, qfi_cast(l, qfi_append2(l, QF_OP_mul, qfi_cast(l, x, work), qfi_scalar(l, work, factor)),
                    dtype));
}

void qfi_build_deg2rad(qfi_lowering *l)
{
    times(l, 0.017453292519943295769);
}
void qfi_build_rad2deg(qfi_lowering *l)
{
    times(l, 57.295779513082320877);
}

/* Rounded to so many digits behind the point; half types take all steps in f32. */
void qfi_build_round_decimals(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_dtype dtype = qfi_type_of(l, x).dtype;
    const qf_dtype work = qfi_is_half(dtype) ? QF_DT_f32 : dtype;
    const int64_t digits = qfi_arg_int(l, "decimals");
    const qf_op up = digits < 0 ? QF_OP_div : QF_OP_mul, down = digits < 0 ? QF_OP_mul : QF_OP_div;

    if (qfi_class(dtype) != QF_CLASS_FLOAT) {
        qfi_refuse(l, QF_REASON_unsupported_dtype, "%s", qf_dtype_get(dtype)->name);
        return;
    }
    const qfi_ref ten = qfi_scalar(l, work, pow(10.0, fabs((double)digits)));
    qfi_ref y = qfi_cast(l, x, work);
    if (digits != 0)
        y = qfi_append2(l, up, y, ten);
    y = qfi_append1(l, QF_OP_round, NULL, y);
    if (digits != 0)
        y = qfi_append2(l, down, y, ten);
    qfi_result(l, qfi_cast(l, y, dtype));
}

/* ---- gates ---- */

/* One half of the tensor times the sigmoid of the other. */
void qfi_build_glu(qfi_lowering *l)
{
    const qfi_ref x = float_arg(l, "self");
    const qf_type type = qfi_type_of(l, x);
    const uint8_t dim = qfi_dim(l, qfi_arg_int(l, "dim"), type.rank);
    const int64_t half = type.rank ? type.dim[dim] / 2 : 0;
    const qf_dtype work = qfi_is_half(type.dtype) ? QF_DT_f32 : type.dtype;

    if (!type.rank || type.dim[dim] % 2) {
        qfi_refuse(l, QF_REASON_undefined, "an odd number of elements is halved");
        return;
    }
    const qfi_ref a = qfi_cast(l, qfi_slice(l, x, dim, 0, half), work),
                  b = qfi_cast(l, qfi_slice(l, x, dim, half, half), work);
    qfi_result(l, qfi_cast(l, qfi_append2(l, QF_OP_mul, a, qfi_append1(l, QF_OP_sigmoid, NULL, b)),
                           type.dtype));
}

/* 0 from -lambd to lambd, else x, moved towards 0 by `by`. */
static void shrink(qfi_lowering *l, bool moves)
{
    const qfi_ref x = float_arg(l, "self");
    const qf_dtype dtype = qfi_type_of(l, x).dtype;
    const double lambd = qfi_number_double(qfi_arg_number(l, "lambd"));
    const qfi_ref end = qfi_scalar(l, dtype, lambd), start = qfi_scalar(l, dtype, -lambd),
                  zero = qfi_scalar(l, dtype, 0);
    const qfi_ref above = qfi_append2(l, QF_OP_gt, x, end),
                  below = qfi_append2(l, QF_OP_lt, x, start);

    if (!moves) {
        const qfi_ref within = qfi_append2(l, QF_OP_bit_and, qfi_append2(l, QF_OP_ge, x, start),
                                           qfi_append2(l, QF_OP_le, x, end));
        qfi_result(l, qfi_append3(l, QF_OP_where, within, zero, x));
        return;
    }
    const qfi_ref low = qfi_append3(l, QF_OP_where, below, qfi_append2(l, QF_OP_add, x, end),
                                    qfi_append2(l, QF_OP_mul, x, zero));
    qfi_result(l, qfi_append3(l, QF_OP_where, above, qfi_append2(l, QF_OP_sub, x, end), low));
}

void qfi_build_hardshrink(qfi_lowering *l)
{
    shrink(l, false);
}
void qfi_build_softshrink(qfi_lowering *l)
{
    shrink(l, true);
}
