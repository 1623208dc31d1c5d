/* One element of each pointwise operator. */
#include "ref.h"

#include <math.h>

static double sign_of(double a)
{
    return a > 0 ? 1 : a < 0 ? -1 : 0;
}
static double sigmoid_of(double a)
{
    return 1 / (1 + exp(-a));
}
static double reciprocal_of(double a)
{
    return 1 / a;
}

/* One operand, functions that are exact or are computed in double and rounded once. */
static const struct {
    qf_op op;
    double (*f)(double);
} unary[] = {
    { QF_OP_abs, fabs },
    { QF_OP_sign, sign_of },
    { QF_OP_floor, floor },
    { QF_OP_ceil, ceil },
    { QF_OP_trunc, trunc },
    { QF_OP_round, rint },
    { QF_OP_sqrt, sqrt },
    { QF_OP_sin, sin },
    { QF_OP_cos, cos },
    { QF_OP_exp, exp },
    { QF_OP_exp2, exp2 },
    { QF_OP_log, log },
    { QF_OP_tanh, tanh },
    { QF_OP_erf, erf },
    { QF_OP_erfc, erfc },
    { QF_OP_sigmoid, sigmoid_of },
    { QF_OP_reciprocal, reciprocal_of },
    { QF_OP_expm1, expm1 },
    { QF_OP_log1p, log1p },
    { QF_OP_log2, log2 },
    { QF_OP_log10, log10 },
    { QF_OP_sinh, sinh },
    { QF_OP_cosh, cosh },
    { QF_OP_tan, tan },
    { QF_OP_asin, asin },
    { QF_OP_acos, acos },
    { QF_OP_atan, atan },
    { QF_OP_asinh, asinh },
    { QF_OP_acosh, acosh },
    { QF_OP_atanh, atanh },
};

static double minimum(double a, double b)
{
    return isnan(a) ? a : isnan(b) ? b : b < a ? b : a;
}
static double maximum(double a, double b)
{
    return isnan(a) ? a : isnan(b) ? b : b > a ? b : a;
}

static double remainder_of(double a, double b)
{
    const double r = fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/* torch's floor division, which is the floor of the exact quotient: what is left over decides, not
 * a rounded quotient. */
static double floor_division(bool single, double a, double b)
{
    if (b == 0)
        return a / b;
    const double left = fmod(a, b);
    double q = single ? (double)(float)((double)(float)(a - left) / b) : (a - left) / b;
    if (left != 0 && (b < 0) != (left < 0))
        q -= 1;
    if (q == 0)
        return copysign(0, a / b);
    return floor(q) + (q - floor(q) > 0.5);
}

/* Two roundings to float are one here: double has more than twice the bits that float has. */
static bool real_binary(qf_op op, bool single, double a, double b, double *x)
{
    switch (op) {
    case QF_OP_add:
        *x = a + b;
        break;
    case QF_OP_sub:
        *x = a - b;
        break;
    case QF_OP_mul:
        *x = a * b;
        break;
    case QF_OP_div:
        *x = a / b;
        break;
    case QF_OP_idiv_trunc:
        *x = trunc(single ? (double)(float)(a / b) : a / b);
        break;
    case QF_OP_idiv_floor:
        *x = floor_division(single, a, b);
        break;
    case QF_OP_fmod:
        *x = fmod(a, b);
        break;
    case QF_OP_remainder:
        *x = remainder_of(a, b);
        break;
    case QF_OP_minimum:
        *x = minimum(a, b);
        break;
    case QF_OP_maximum:
        *x = maximum(a, b);
        break;
    case QF_OP_pow:
        *x = pow(a, b);
        break;
    case QF_OP_atan2:
        *x = atan2(a, b);
        break;
    case QF_OP_hypot:
        *x = hypot(a, b);
        break;
    default:
        return false;
    }
    return true;
}

static bool real_unary(qf_op op, bool single, double a, double *x)
{
    if (op == QF_OP_neg || op == QF_OP_rsqrt) {
        *x = op == QF_OP_neg ? -a : 1 / (single ? (double)(float)sqrt(a) : sqrt(a));
        return true;
    }
    for (size_t i = 0; i < sizeof unary / sizeof *unary; i++)
        if (unary[i].op == op) {
            *x = unary[i].f(a);
            return true;
        }
    return false;
}

static bool real_compare(qf_op op, double a, double b, uint64_t *out)
{
    switch (op) {
    case QF_OP_eq:
        *out = a == b;
        return true;
    case QF_OP_ne:
        *out = a != b;
        return true;
    case QF_OP_lt:
        *out = a < b;
        return true;
    case QF_OP_le:
        *out = a <= b;
        return true;
    case QF_OP_gt:
        *out = a > b;
        return true;
    case QF_OP_ge:
        *out = a >= b;
        return true;
    case QF_OP_logical_not:
        *out = a == 0;
        return true;
    default:
        return false;
    }
}

static bool real_point(qf_op op, qf_dtype t, const uint64_t *in, uint64_t *out)
{
    const bool single = t != QF_DT_f64;
    const double a = ref_real(t, in[0]), b = ref_real(t, in[1]);
    double x = 0;

    if (real_compare(op, a, b, out))
        return true;
    if (op == QF_OP_fma)
        x = single ? (double)fmaf((float)a, (float)b, (float)ref_real(t, in[2]))
                   : fma(a, b, ref_real(t, in[2]));
    else if (!real_unary(op, single, a, &x))
        (void)real_binary(op, single, a, b, &x);
    *out = ref_from_real(t, single ? (double)(float)x : x);
    return true;
}

/* Whole numbers of any 64-bit type, without overflow. */
__extension__ typedef __int128 whole;

static whole widen(qf_dtype t, uint64_t bits)
{
    return t == QF_DT_u64 ? (whole)bits : (whole)ref_int(t, bits);
}

static whole floor_quotient(whole a, whole b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static uint64_t power(uint64_t a, int64_t n, bool is_signed)
{
    uint64_t x = 1;

    if (n < 0 && is_signed)
        return a == 1 ? 1 : a == UINT64_MAX ? (n % 2 ? UINT64_MAX : 1) : 0;
    for (uint64_t k = (uint64_t)n; k; k >>= 1) {
        if (k & 1)
            x *= a;
        a *= a;
    }
    return x;
}

static bool divides(qf_dtype t, whole a, whole b)
{
    const qf_dtype_info *d = qf_dtype_get(t);
    return b != 0 && !(d->kind == QF_CLASS_INT && b == -1 && a == -((whole)1 << (d->bits - 1)));
}

/* Operators that are undefined for some operands; *known: whether this is one of them. */
static bool whole_checked(qf_op op, qf_dtype t, whole a, whole b, whole *x, bool *known)
{
    const bool shifts = op == QF_OP_shl || op == QF_OP_shr;

    *known = shifts || (op >= QF_OP_idiv_trunc && op <= QF_OP_remainder);
    if (!*known)
        return true;
    if (shifts ? b < 0 || b >= qf_dtype_get(t)->bits : !divides(t, a, b))
        return false;
    if (shifts)
        *x = op == QF_OP_shr ? a >> (int)b : (whole)((uint64_t)a << (int)b);
    else if (op == QF_OP_idiv_trunc || op == QF_OP_idiv_floor)
        *x = op == QF_OP_idiv_trunc ? a / b : floor_quotient(a, b);
    else
        *x = op == QF_OP_fmod ? a % b : a - b * floor_quotient(a, b);
    return true;
}

static whole whole_compare(qf_op op, whole a, whole b)
{
    switch (op) {
    case QF_OP_eq:
        return a == b;
    case QF_OP_ne:
        return a != b;
    case QF_OP_lt:
        return a < b;
    case QF_OP_le:
        return a <= b;
    case QF_OP_gt:
        return a > b;
    case QF_OP_ge:
        return a >= b;
    default:
        return a == 0;
    }
}

static whole whole_value(qf_op op, qf_dtype t, whole a, whole b, whole c)
{
    const bool is_signed = qf_dtype_get(t)->kind == QF_CLASS_INT;

    switch (op) {
    case QF_OP_add:
        return a + b;
    case QF_OP_sub:
        return a - b;
    case QF_OP_mul:
        return (whole)((uint64_t)a * (uint64_t)b);
    case QF_OP_fma:
        return (whole)((uint64_t)a * (uint64_t)b + (uint64_t)c);
    case QF_OP_pow:
        return (whole)power((uint64_t)a, (int64_t)b, is_signed);
    case QF_OP_minimum:
        return b < a ? b : a;
    case QF_OP_maximum:
        return b > a ? b : a;
    case QF_OP_bit_and:
        return a & b;
    case QF_OP_bit_or:
        return a | b;
    case QF_OP_bit_xor:
        return a ^ b;
    case QF_OP_neg:
        return -a;
    case QF_OP_abs:
        return a < 0 ? -a : a;
    case QF_OP_sign:
        return (a > 0) - (a < 0);
    case QF_OP_bit_not:
        return ~a;
    default:
        return whole_compare(op, a, b);
    }
}

static bool whole_point(qf_op op, qf_dtype t, const uint64_t *in, uint64_t *out)
{
    const whole a = widen(t, in[0]), b = widen(t, in[1]), c = widen(t, in[2]);
    whole x = 0;
    bool known;

    if (!whole_checked(op, t, a, b, &x, &known))
        return false;
    if (!known)
        x = whole_value(op, t, a, b, c);
    *out = ref_from_int(t, (int64_t)(uint64_t)x);
    return true;
}

static uint64_t bool_point(qf_op op, bool a, bool b)
{
    switch (op) {
    case QF_OP_add:
    case QF_OP_maximum:
    case QF_OP_bit_or:
        return a || b;
    case QF_OP_mul:
    case QF_OP_minimum:
    case QF_OP_bit_and:
        return a && b;
    case QF_OP_bit_xor:
    case QF_OP_ne:
        return a != b;
    case QF_OP_eq:
        return a == b;
    case QF_OP_lt:
        return !a && b;
    case QF_OP_le:
        return !a || b;
    case QF_OP_gt:
        return a && !b;
    case QF_OP_ge:
        return a || !b;
    default:
        return !a;
    }
}

/* Complex numbers from their parts, and back. */
static bool parts(qf_op op, const uint64_t *in, uint64_t *out)
{
    switch (op) {
    case QF_OP_complex:
        *out = in[0] + (in[1] << 32);
        return true;
    case QF_OP_real:
        *out = in[0] & UINT32_MAX;
        return true;
    case QF_OP_imag:
        *out = in[0] >> 32;
        return true;
    default:
        return false;
    }
}

bool ref_point(qf_op op, qf_dtype t, const uint64_t *in, uint64_t *out)
{
    if (parts(op, in, out))
        return true;
    if (t == QF_DT_b8) {
        *out = bool_point(op, in[0] != 0, in[1] != 0);
        return true;
    }
    return ref_is_float(t) ? real_point(op, t, in, out) : whole_point(op, t, in, out);
}
