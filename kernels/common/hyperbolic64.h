/* expm1 log1p log2 log10 sinh cosh asinh acosh atanh in double, under the promises of math64.h. */
#ifndef QFK_HYPERBOLIC64_H
#define QFK_HYPERBOLIC64_H

#include "kernels/common/math64.h"

/* ---- from exp ---- */

/* exp(x) as a double-double, for |x| <= 64. */
static inline qfk_dd qfk_exp_near_dd(double x)
{
    int k;
    const qfk_dd m = qfk_exp_dd((qfk_dd){ x, 0 }, &k);
    return (qfk_dd){ m.hi * qfk_exp2i64(k), m.lo * qfk_exp2i64(k) };
}

/* exp(x) / 2 for x >= 0, which overflows later than exp. */
static inline double qfk_half_exp64(double x)
{
    int k;
    const qfk_dd m = qfk_exp_dd((qfk_dd){ x > 800 ? 800 : x, 0 }, &k);
    return qfk_scale64(m.hi + m.lo, k - 1);
}

static inline double qfk_expm164(double x)
{
    static const double term[] = {
        1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320
    };
    if (x != x)
        return x;
    if (qfk_abs64(x) < 0x1p-6)
        return qfk_copysign64(x + x * (x * QFK_HORNER64(x, term)), x);
    if (x > 60)
        return qfk_exp64(x);
    if (x < -60)
        return -1;
    const qfk_dd e = qfk_dd_add(qfk_exp_near_dd(x), (qfk_dd){ -1, 0 });
    return e.hi + e.lo;
}

/* (exp(a) + sign exp(-a)) / 2 for a in [0, 64]. */
static inline double qfk_half_exps(double a, double sign)
{
    const qfk_dd e = qfk_exp_near_dd(a), inverse = qfk_dd_div((qfk_dd){ sign, 0 }, e);
    const qfk_dd sum = qfk_dd_add(e, inverse);
    return 0.5 * (sum.hi + sum.lo);
}

static inline double qfk_sinh64(double x)
{
    static const double term[] = { 1.0 / 6, 1.0 / 120, 1.0 / 5040, 1.0 / 362880 };
    const double a = qfk_abs64(x), z = a * a;
    if (x != x)
        return x;
    if (a < 0x1p-6)
        return qfk_copysign64(a + a * (z * QFK_HORNER64(z, term)), x);
    return qfk_copysign64(a > 60 ? qfk_half_exp64(a) : qfk_half_exps(a, -1), x);
}

static inline double qfk_cosh64(double x)
{
    const double a = qfk_abs64(x);
    if (x != x)
        return x;
    return a > 60 ? qfk_half_exp64(a) : qfk_half_exps(a, 1);
}

/* ---- from log ---- */

/* Whether log of x is known without computing: NaN, infinity, zero, negative numbers. */
static inline bool qfk_log_known64(double x, double *log)
{
    *log = x != x || x == QFK_INF64 ? x : x == 0 ? -QFK_INF64 : QFK_NAN64;
    return !(x > 0 && x < QFK_INF64);
}

static inline double qfk_log2_64(double x)
{
    const qfk_dd per_log = { 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56 };   /* 1 / log 2 */
    double k, known;
    if (qfk_log_known64(x, &known))
        return known;
    const qfk_dd log_m = qfk_log_mantissa(x, &k);
    const qfk_dd l = qfk_dd_add((qfk_dd){ k, 0 }, qfk_dd_mul(log_m, per_log));
    return l.hi + l.lo;
}

static inline double qfk_log10_64(double x)
{
    const qfk_dd per_log = { 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57 };   /* 1 / log 10 */
    double known;
    if (qfk_log_known64(x, &known))
        return known;
    const qfk_dd l = qfk_dd_mul(qfk_log_dd(x), per_log);
    return l.hi + l.lo;
}

/* log(1 + x) for a finite x > -1 that is 0 or not tiny. Near 0 the series of s = x / (2 + x); else
 * the log of the sum's upper part, and what the lower part adds. */
static inline qfk_dd qfk_log1p_dd(qfk_dd x)
{
    if (x.hi > -0.25 && x.hi < 0.375)
        return qfk_log_series(qfk_dd_div(x, qfk_dd_add((qfk_dd){ 2, 0 }, x)));
    const qfk_dd sum = qfk_dd_add((qfk_dd){ 1, 0 }, x);
    return qfk_dd_add(qfk_log_dd(sum.hi), (qfk_dd){ sum.lo / sum.hi, 0 });
}

static inline double qfk_log1p64(double x)
{
    if (qfk_abs64(x) < 0x1p-54 || x != x || x == QFK_INF64)
        return x;
    if (x <= -1)
        return x == -1 ? -QFK_INF64 : QFK_NAN64;
    const qfk_dd l = qfk_log1p_dd((qfk_dd){ x, 0 });
    return l.hi + l.lo;
}

/* log(2 a) for a finite a >= 1, which may be too large to be doubled. */
static inline double qfk_log_twice64(double a)
{
    const qfk_dd log2 = { 0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56 };
    const qfk_dd l = qfk_dd_add(qfk_log_dd(a), log2);
    return l.hi + l.lo;
}

/* log(a + root(a^2 + 1)) = log1p(a + a^2 / (1 + root(a^2 + 1))). */
static inline double qfk_asinh64(double x)
{
    const qfk_dd one = { 1, 0 };
    const double a = qfk_abs64(x);
    if (!(a < QFK_INF64))
        return x;
    if (a < 0x1p-20)
        return qfk_copysign64(a - a * (a * a) * (1.0 / 6), x);
    if (a > 0x1p30)
        return qfk_copysign64(qfk_log_twice64(a), x);
    const qfk_dd square = qfk_two_prod(a, a);
    const qfk_dd root = qfk_dd_sqrt(qfk_dd_add(square, one));
    const qfk_dd rise = qfk_dd_div(square, qfk_dd_add(one, root));
    const qfk_dd l = qfk_log1p_dd(qfk_dd_add((qfk_dd){ a, 0 }, rise));
    return qfk_copysign64(l.hi + l.lo, x);
}

/* log(x + root(x^2 - 1)) = log1p(t + root(t (t + 2))), t = x - 1. */
static inline double qfk_acosh64(double x)
{
    if (!(x >= 1))
        return x != x ? x : QFK_NAN64;
    if (x == 1 || x == QFK_INF64)
        return x == 1 ? 0 : x;
    if (x > 0x1p30)
        return qfk_log_twice64(x);
    const qfk_dd t = qfk_two_sum(x, -1);
    const qfk_dd root = qfk_dd_sqrt(qfk_dd_mul(t, qfk_dd_add(t, (qfk_dd){ 2, 0 })));
    const qfk_dd l = qfk_log1p_dd(qfk_dd_add(t, root));
    return l.hi + l.lo;
}

/* log((1 + x)/(1 - x)) / 2: near 0 the series itself; else log1p(2a / (1 - a)). */
static inline double qfk_atanh64(double x)
{
    const double a = qfk_abs64(x);
    if (!(a < 1))
        return x != x ? x : a == 1 ? qfk_copysign64(QFK_INF64, x) : QFK_NAN64;
    if (a < 0x1p-30)
        return qfk_copysign64(a + a * (a * a) * (1.0 / 3), x);
    const qfk_dd l = a < 0.125
        ? qfk_log_series((qfk_dd){ a, 0 })
        : qfk_log1p_dd(qfk_dd_div((qfk_dd){ 2 * a, 0 }, qfk_two_sum(1, -a)));
    return qfk_copysign64(0.5 * (l.hi + l.lo), x);
}

#endif
