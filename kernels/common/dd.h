/* Double-double arithmetic: a value as the unevaluated sum hi + lo, about 106 bits. Plain double
 * operations only, no fused multiply-add, so every instruction set and compiler computes the same
 * bits. Holds while no factor or product is beyond 2^+-960. */
#ifndef QFK_DD_H
#define QFK_DD_H

#include <math.h>

typedef struct qfk_dd {
    double hi, lo;
} qfk_dd;

/* a + b, exact. */
static inline qfk_dd qfk_two_sum(double a, double b)
{
    const double s = a + b;
    const double t = s - a;
    return (qfk_dd){ s, (a - (s - t)) + (b - t) };
}

/* a + b, exact, for |a| >= |b| or a == 0. */
static inline qfk_dd qfk_fast_sum(double a, double b)
{
    const double s = a + b;
    return (qfk_dd){ s, b - (s - a) };
}

/* The leading 26 bits of a, so that products of halves are exact. */
static inline double qfk_upper_half(double a)
{
    const double t = 0x1.0000002p27 * a;
    return t - (t - a);
}

/* a * b, exact. */
static inline qfk_dd qfk_two_prod(double a, double b)
{
    const double p = a * b;
    const double a1 = qfk_upper_half(a), b1 = qfk_upper_half(b);
    const double a2 = a - a1, b2 = b - b1;
    return (qfk_dd){ p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2 };
}

static inline qfk_dd qfk_dd_add(qfk_dd a, qfk_dd b)
{
    const qfk_dd s = qfk_two_sum(a.hi, b.hi);
    return qfk_fast_sum(s.hi, s.lo + (a.lo + b.lo));
}

static inline qfk_dd qfk_dd_mul(qfk_dd a, qfk_dd b)
{
    const qfk_dd p = qfk_two_prod(a.hi, b.hi);
    return qfk_fast_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

static inline qfk_dd qfk_dd_div(qfk_dd a, qfk_dd b)
{
    const double q = a.hi / b.hi;
    const qfk_dd p = qfk_two_prod(q, b.hi);
    const double rest = ((a.hi - p.hi) - p.lo) + (a.lo - q * b.lo);
    return qfk_fast_sum(q, rest / b.hi);
}

static inline qfk_dd qfk_dd_neg(qfk_dd a) { return (qfk_dd){ -a.hi, -a.lo }; }

/* The root of a > 0. */
static inline qfk_dd qfk_dd_sqrt(qfk_dd a)
{
    const double r = sqrt(a.hi);
    const qfk_dd p = qfk_two_prod(r, r);
    return qfk_fast_sum(r, (((a.hi - p.hi) - p.lo) + a.lo) / (2 * r));
}

#endif
