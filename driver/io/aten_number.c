/* Builders of numbers: item, sizes and python arithmetic on them; assertions; dropout, which is the
 * identity in inference. */
#include "aten_build.h"

#include <math.h>

/* ---- from tensors to numbers ---- */

static qfi_ref number_tensor(qfi_lowering *l, qfi_number number)
{
    static const qf_dtype dtypes[] = {
        [QFI_NUMBER_BOOL] = QF_DT_b8, [QFI_NUMBER_INT] = QF_DT_i64, [QFI_NUMBER_FLOAT] = QF_DT_f64
    };
    return qfi_full(l, (qf_type){ .dtype = dtypes[number.kind] }, number);
}

static void give_number(qfi_lowering *l, qfi_number number)
{
    qfi_result(l, number_tensor(l, number));
}

static qfi_number int_number(int64_t v)
{
    return (qfi_number){ { .is_int = true, .i = v }, QFI_NUMBER_INT };
}
static qfi_number float_number(double v)
{
    return (qfi_number){ { .f = v }, QFI_NUMBER_FLOAT };
}
static qfi_number bool_number(bool v)
{
    return (qfi_number){ { .is_int = true, .i = v }, QFI_NUMBER_BOOL };
}

void qfi_build_item(qfi_lowering *l)
{
    static const qf_dtype dtypes[] = {
        [QF_CLASS_NONE] = QF_DT_none, [QF_CLASS_BOOL] = QF_DT_b8,   [QF_CLASS_UINT] = QF_DT_i64,
        [QF_CLASS_INT] = QF_DT_i64,   [QF_CLASS_FLOAT] = QF_DT_f64, [QF_CLASS_COMPLEX] = QF_DT_none
    };
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_dtype dtype = dtypes[qfi_class(qfi_type_of(l, x).dtype)];

    if (dtype == QF_DT_none || qfi_elements_of(l, x) != 1)
        qfi_refuse(l, QF_REASON_undefined, "not one real number");
    qfi_result(l, qfi_cast(l, qfi_reshape(l, x, 0, (const int64_t[]){ 0 }), dtype));
}

void qfi_build_sym_size(qfi_lowering *l)
{
    const qf_type type = qfi_type_of(l, qfi_arg_tensor(l, "self"));
    const uint8_t dim = qfi_dim(l, qfi_arg_int(l, "dim"), type.rank);

    if (!type.rank)
        qfi_refuse(l, QF_REASON_undefined, "a tensor of rank 0");
    give_number(l, int_number(type.rank ? type.dim[dim] : 0));
}

void qfi_build_sym_numel(qfi_lowering *l)
{
    give_number(l, int_number(qfi_elements_of(l, qfi_arg_tensor(l, "self"))));
}

/* ---- python arithmetic ---- */

typedef struct pair {
    bool ints; /* i, else f */
    int64_t i[2];
    double f[2];
} pair;

static pair operands(qfi_lowering *l)
{
    const qfi_number a = qfi_arg_number(l, "a"), b = qfi_arg_number(l, "b");

    return (pair){ .ints = a.v.is_int && b.v.is_int,
                   .i = { a.v.is_int ? a.v.i : 0, b.v.is_int ? b.v.i : 0 },
                   .f = { qfi_number_double(a), qfi_number_double(b) } };
}

static void refuse_overflow(qfi_lowering *l)
{
    qfi_refuse(l, QF_REASON_undefined, "an integer beyond 64 bits");
}

static void give_int(qfi_lowering *l, bool overflow, int64_t v)
{
    if (overflow)
        refuse_overflow(l);
    give_number(l, int_number(v));
}

void qfi_build_sym_add(qfi_lowering *l)
{
    const pair x = operands(l);
    int64_t v = 0;
    const bool overflow = __builtin_add_overflow(x.i[0], x.i[1], &v);

    if (x.ints)
        give_int(l, overflow, v);
    else
        give_number(l, float_number(x.f[0] + x.f[1]));
}

void qfi_build_sym_sub(qfi_lowering *l)
{
    const pair x = operands(l);
    int64_t v = 0;
    const bool overflow = __builtin_sub_overflow(x.i[0], x.i[1], &v);

    if (x.ints)
        give_int(l, overflow, v);
    else
        give_number(l, float_number(x.f[0] - x.f[1]));
}

void qfi_build_sym_mul(qfi_lowering *l)
{
    const pair x = operands(l);
    int64_t v = 0;
    const bool overflow = __builtin_mul_overflow(x.i[0], x.i[1], &v);

    if (x.ints)
        give_int(l, overflow, v);
    else
        give_number(l, float_number(x.f[0] * x.f[1]));
}

/* Whether b divides; python raises for 0, and the least integer has no negative. */
static bool divides(qfi_lowering *l, const pair *x)
{
    if (x->ints ? x->i[1] == 0 : x->f[1] == 0)
        qfi_refuse(l, QF_REASON_undefined, "division by zero");
    else if (x->ints && x->i[0] == INT64_MIN && x->i[1] == -1)
        refuse_overflow(l);
    else if (!x->ints && !(isfinite(x->f[0]) && isfinite(x->f[1])))
        qfi_refuse(l, QF_REASON_unsupported_argument, "an infinite number");
    return qfi_lowering_ok(l);
}

/* The remainder with the sign of the divisor. */
static int64_t int_mod(int64_t a, int64_t b)
{
    const int64_t r = a % b;
    return r && (r < 0) != (b < 0) ? r + b : r;
}

static double float_mod(double a, double b)
{
    const double r = fmod(a, b);

    if (r == 0)
        return copysign(0.0, b);
    return (r < 0) != (b < 0) ? r + b : r;
}

void qfi_build_sym_mod(qfi_lowering *l)
{
    const pair x = operands(l);

    if (divides(l, &x))
        give_number(l, x.ints ? int_number(int_mod(x.i[0], x.i[1]))
                              : float_number(float_mod(x.f[0], x.f[1])));
}

void qfi_build_sym_floordiv(qfi_lowering *l)
{
    const pair x = operands(l);

    if (!divides(l, &x))
        return;
    if (x.ints) {
        give_number(l, int_number((x.i[0] - int_mod(x.i[0], x.i[1])) / x.i[1]));
        return;
    }
    const double whole = (x.f[0] - float_mod(x.f[0], x.f[1])) / x.f[1], down = floor(whole);
    give_number(l, float_number(whole - down > 0.5 ? down + 1.0 : down));
}

void qfi_build_sym_truediv(qfi_lowering *l)
{
    const pair x = operands(l);

    if (x.ints && (fabs(x.f[0]) >= 0x1p53 || fabs(x.f[1]) >= 0x1p53))
        qfi_refuse(l, QF_REASON_unsupported_argument, "a quotient of integers beyond 2^53");
    if (divides(l, &x))
        give_number(l, float_number(x.f[0] / x.f[1]));
}

void qfi_build_sym_pow(qfi_lowering *l)
{
    const pair x = operands(l);
    int64_t v = 1;

    if (!x.ints || x.i[1] < 0 || x.i[1] > 64) {
        qfi_refuse(l, QF_REASON_unsupported_argument, "a power of numbers");
        return;
    }
    for (int64_t i = 0; i < x.i[1]; i++)
        if (__builtin_mul_overflow(v, x.i[0], &v)) {
            refuse_overflow(l);
            return;
        }
    give_number(l, int_number(v));
}

/* A truth value becomes an integer. */
void qfi_build_sym_pos(qfi_lowering *l)
{
    const qfi_number a = qfi_arg_number(l, "a");

    give_number(l, a.v.is_int ? int_number(a.v.i) : float_number(a.v.f));
}

void qfi_build_sym_sqrt(qfi_lowering *l)
{
    const double a = qfi_number_double(qfi_arg_number(l, "a"));

    if (!(a >= 0))
        qfi_refuse(l, QF_REASON_undefined, "the root of a negative number");
    give_number(l, float_number(sqrt(a)));
}

/* Integers and a count of bits, which python refuses to be negative. */
static bool shifts(qfi_lowering *l, const pair *x)
{
    if (!x->ints || x->i[1] < 0)
        qfi_refuse(l, QF_REASON_undefined, "a shift by a negative count, or of floats");
    return qfi_lowering_ok(l);
}

void qfi_build_sym_lshift(qfi_lowering *l)
{
    const pair x = operands(l);
    int64_t v = 0;

    if (!shifts(l, &x))
        return;
    const bool far = x.i[0] && x.i[1] > 62;
    const bool overflow = far || __builtin_mul_overflow(x.i[0], INT64_C(1) << (x.i[1] & 63), &v);
    give_int(l, overflow, v);
}

void qfi_build_sym_rshift(qfi_lowering *l)
{
    const pair x = operands(l);

    if (shifts(l, &x))
        give_number(l, int_number(x.i[0] >> (x.i[1] > 63 ? 63 : x.i[1])));
}

void qfi_build_sym_neg(qfi_lowering *l)
{
    const qfi_number a = qfi_arg_number(l, "a");

    if (a.v.is_int)
        give_int(l, a.v.i == INT64_MIN, a.v.i == INT64_MIN ? 0 : -a.v.i);
    else
        give_number(l, float_number(-a.v.f));
}

/* -1, 0, 1, or 2 where one is not a number. */
static int order(const pair *x)
{
    if (x->ints)
        return x->i[0] < x->i[1] ? -1 : x->i[0] > x->i[1];
    return x->f[0] < x->f[1] ? -1 : x->f[0] > x->f[1] ? 1 : x->f[0] == x->f[1] ? 0 : 2;
}

#define COMPARE(symbol, condition)                                                                 \
    void symbol(qfi_lowering *l)                                                                   \
    {                                                                                              \
        const pair x = operands(l);                                                                \
        const int o = order(&x);                                                                   \
        give_number(l, bool_number(condition));                                                    \
    }

COMPARE(qfi_build_sym_lt, o == -1)
COMPARE(qfi_build_sym_le, o == -1 || o == 0)
COMPARE(qfi_build_sym_gt, o == 1)
COMPARE(qfi_build_sym_ge, o == 1 || o == 0)
COMPARE(qfi_build_sym_eq, o == 0)
COMPARE(qfi_build_sym_ne, o != 0)

static void build_choice(qfi_lowering *l, int want)
{
    const qfi_number a = qfi_arg_number(l, "a"), b = qfi_arg_number(l, "b");
    const pair x = operands(l);
    qfi_number pick = order(&x) == want ? a : b;

    /* The result is a float if either is. */
    if (!x.ints)
        pick = float_number(qfi_number_double(pick));
    give_number(l, pick);
}

void qfi_build_sym_max(qfi_lowering *l)
{
    build_choice(l, 1);
}
void qfi_build_sym_min(qfi_lowering *l)
{
    build_choice(l, -1);
}

static void build_bits(qfi_lowering *l, bool both)
{
    const qfi_number a = qfi_arg_number(l, "a"), b = qfi_arg_number(l, "b");
    const bool truth = a.kind == QFI_NUMBER_BOOL && b.kind == QFI_NUMBER_BOOL;
    const pair x = operands(l);
    const int64_t v = both ? x.i[0] & x.i[1] : x.i[0] | x.i[1];

    if (!x.ints)
        qfi_refuse(l, QF_REASON_undefined, "bits of floats");
    give_number(l, truth ? bool_number(v != 0) : int_number(v));
}

void qfi_build_sym_and(qfi_lowering *l)
{
    build_bits(l, true);
}
void qfi_build_sym_or(qfi_lowering *l)
{
    build_bits(l, false);
}

void qfi_build_sym_float(qfi_lowering *l)
{
    give_number(l, float_number(qfi_number_double(qfi_arg_number(l, "a"))));
}

static void give_integer(qfi_lowering *l, qfi_number a)
{
    if (!a.v.is_int && !(fabs(a.v.f) < 0x1p63)) {
        refuse_overflow(l);
        return;
    }
    give_number(l, int_number(a.v.is_int ? a.v.i : (int64_t)a.v.f));
}

void qfi_build_sym_int(qfi_lowering *l)
{
    give_integer(l, qfi_arg_number(l, "a"));
}
void qfi_build_sym_trunc(qfi_lowering *l)
{
    give_integer(l, qfi_arg_number(l, "x"));
}

void qfi_build_sym_not(qfi_lowering *l)
{
    give_number(l, bool_number(!qfi_number_truth(qfi_arg_number(l, "a"))));
}

void qfi_build_sym_ite(qfi_lowering *l)
{
    give_number(l, qfi_arg_number(l, qfi_number_truth(qfi_arg_number(l, "b")) ? "t" : "f"));
}

/* ---- assertions ---- */

void qfi_build_assert_scalar(qfi_lowering *l)
{
    l->env->holds = qfi_number_truth(qfi_arg_number(l, "self"));
}

static void assert_between(qfi_lowering *l, int64_t least)
{
    const int64_t v = qfi_arg_int(l, "size");
    const int64_t min = qfi_arg_has(l, "min") ? qfi_arg_int(l, "min") : INT64_MIN;

    l->env->holds =
        v >= least && v >= min && (!qfi_arg_has(l, "max") || v <= qfi_arg_int(l, "max"));
}

void qfi_build_assert_range(qfi_lowering *l)
{
    assert_between(l, INT64_MIN);
}
void qfi_build_assert_size(qfi_lowering *l)
{
    assert_between(l, 0);
}

/* Strides are those that the program records; the device is not part of a constant's value. */
void qfi_build_assert_metadata(qfi_lowering *l)
{
    const qf_type type = qfi_type_of(l, qfi_arg_tensor(l, "a"));
    const qfi_arg *arg = qfi_arg_get(l, "a");
    int64_t v[QFI_ATEN_MAX_LIST];
    bool holds = qfi_arg_dtype(l, "dtype", type.dtype) == type.dtype;

    if (qfi_arg_has(l, "size")) {
        const uint32_t n = qfi_arg_ints(l, "size", v, QFI_ATEN_MAX_LIST);
        holds = holds && (int)n == type.rank;
        for (int i = 0; i < type.rank && holds; i++)
            holds = v[i] == type.dim[i];
    }
    if (qfi_arg_has(l, "stride") && qfi_lowering_ok(l)) {
        const qfi_value *value = &l->graph->value[arg->value];
        const uint32_t n = qfi_arg_ints(l, "stride", v, QFI_ATEN_MAX_LIST);
        if (!value->strided)
            qfi_refuse(l, QF_REASON_assertion, "strides are not recorded");
        holds = holds && (int)n == type.rank;
        for (int i = 0; i < type.rank && holds; i++)
            holds = v[i] == value->stride[i];
    }
    l->env->holds = holds;
}

/* ---- dropout ---- */

static bool is_training(qfi_lowering *l)
{
    if (!qfi_arg_has(l, "train") || qfi_arg_bool(l, "train"))
        qfi_refuse(l, QF_REASON_random, "dropout in training mode");
    return !qfi_lowering_ok(l);
}

void qfi_build_dropout(qfi_lowering *l)
{
    if (!is_training(l))
        qfi_result(l, qfi_arg_tensor(l, "input"));
}

/* Its second result is the mask of what was kept: everything. */
void qfi_build_native_dropout(qfi_lowering *l)
{
    if (is_training(l))
        return;
    const qfi_ref x = qfi_arg_tensor(l, "input");
    qf_type mask = qfi_type_of(l, x);

    mask.dtype = QF_DT_b8;
    qfi_give(l, 0, x);
    qfi_give(l, 1, qfi_full(l, mask, bool_number(true)));
}
