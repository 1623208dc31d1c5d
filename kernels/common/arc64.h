/* tan atan atan2 asin acos hypot in double, under the promises of math64.h. */
#ifndef QFK_ARC64_H
#define QFK_ARC64_H

#include "kernels/common/math64.h"

#define QFK_PI (qfk_dd){ 0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53 }
#define QFK_HALF_PI (qfk_dd){ 0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54 }

/* ---- tan ---- */

/* sin(r) and cos(r), relative error below 2^-58, for 2^-30 < |r| <= pi/4. */
static inline qfk_dd qfk_sin_dd(qfk_dd r)
{
    static const double term[] = {
        1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800,
        -1.0 / 1307674368000, 1.0 / 355687428096000
    };
    const qfk_dd sixth = { -0x1.5555555555555p-3, -0x1.5555555555555p-57 };
    const qfk_dd z = qfk_dd_mul(r, r);
    const double tail = z.hi * QFK_HORNER64(z.hi, term);
    const qfk_dd p = qfk_dd_mul(z, qfk_dd_add(sixth, (qfk_dd){ tail, 0 }));
    return qfk_dd_add(r, qfk_dd_mul(r, p));
}

static inline qfk_dd qfk_cos_dd(qfk_dd r)
{
    static const double term[] = {
        1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600, -1.0 / 87178291200,
        1.0 / 20922789888000, -1.0 / 6402373705728000
    };
    const qfk_dd z = qfk_dd_mul(r, r);
    const double tail = z.hi * QFK_HORNER64(z.hi, term);
    const qfk_dd p = qfk_dd_mul(z, qfk_dd_add((qfk_dd){ -0.5, 0 }, (qfk_dd){ tail, 0 }));
    return qfk_dd_add((qfk_dd){ 1, 0 }, p);
}

static inline double qfk_tan64(double x)
{
    const double a = qfk_abs64(x);
    if (!(a < QFK_INF64))
        return x - x;
    if (a < 0x1p-20)
        return qfk_copysign64(a + a * (a * a) * (1.0 / 3), x);
    qfk_dd r = { x, 0 };
    unsigned q = 0;
    if (a > 0x1.921fb54442d18p-1)
        r = qfk_reduce_pio2(x, &q);
    const qfk_dd s = qfk_sin_dd(r), c = qfk_cos_dd(r);
    const qfk_dd t = q & 1 ? qfk_dd_div(qfk_dd_neg(c), s) : qfk_dd_div(s, c);
    return t.hi + t.lo;
}

/* ---- atan, atan2 ---- */

/* atan(t) for t in [0, 1]: with c, the nearest multiple of 1/16, atan(c) is in a table, and what
 * remains is the series of atan(d), d = (t - c)/(1 + t c). */
static inline qfk_dd qfk_atan_dd(qfk_dd t)
{
    static const qfk_dd at[17] = {
        { 0x0.0p+0, 0x0.0p+0 },
        { 0x1.ff55bb72cfdeap-5, -0x1.c934d86d23f1dp-60 },
        { 0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59 },
        { 0x1.7b97b4bce5b02p-3, 0x1.347b0b4f881cap-58 },
        { 0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57 },
        { 0x1.362773707ebccp-2, -0x1.963a544b672d8p-57 },
        { 0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56 },
        { 0x1.a64eec3cc23fdp-2, -0x1.24dec1b50b7ffp-56 },
        { 0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56 },
        { 0x1.0657e94db30d0p-1, -0x1.d5b495f6349e6p-56 },
        { 0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58 },
        { 0x1.345f01cce37bbp-1, 0x1.1021137c71102p-55 },
        { 0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56 },
        { 0x1.5d58987169b18p-1, 0x1.0028e4bc5e7cap-57 },
        { 0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56 },
        { 0x1.819d0b7158a4dp-1, -0x1.bf76229d3b917p-56 },
        { 0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55 },
    };
    static const double term[] = {
        -1.0 / 3, 1.0 / 5, -1.0 / 7, 1.0 / 9, -1.0 / 11, 1.0 / 13
    };
    const double step = qfk_nearest64(16 * t.hi), c = step * 0.0625;
    const qfk_dd over = qfk_dd_add(t, (qfk_dd){ -c, 0 });
    const qfk_dd under = qfk_dd_add((qfk_dd){ 1, 0 }, qfk_dd_mul(t, (qfk_dd){ c, 0 }));
    const qfk_dd d = step > 0 ? qfk_dd_div(over, under) : t;
    const double z = d.hi * d.hi, tail = d.hi * (z * QFK_HORNER64(z, term));
    return qfk_dd_add(at[(unsigned)step], qfk_dd_add(d, (qfk_dd){ tail, 0 }));
}

/* The angle of the point (x, y) for x, y >= 0, not both 0, neither below 2^-70 of the other unless
 * it is 0. */
static inline qfk_dd qfk_angle_dd(qfk_dd y, qfk_dd x)
{
    if (y.hi <= x.hi)
        return qfk_atan_dd(qfk_dd_div(y, x));
    return qfk_dd_add(QFK_HALF_PI, qfk_dd_neg(qfk_atan_dd(qfk_dd_div(x, y))));
}

/* The angle where one coordinate, both, or none is beyond reach of the other: along an axis, or on
 * a diagonal at infinity. False: it takes computing. */
static inline bool qfk_angle_known64(double y, double x, double *angle)
{
    const double ay = qfk_abs64(y), ax = qfk_abs64(x);
    const bool back = qfk_signbit64(x), corner = ay == QFK_INF64 && ax == QFK_INF64;

    if (x != x || y != y)
        *angle = x + y;
    else if (corner)
        *angle = back ? 0x1.2d97c7f3321d2p+1 : 0x1.921fb54442d18p-1;   /* 3/4 pi, pi/4 */
    else if (ay <= ax * 0x1p-60)
        *angle = back ? 0x1.921fb54442d18p+1 : ay == 0 ? 0 : ay / ax;
    else if (ax <= ay * 0x1p-60)
        *angle = 0x1.921fb54442d18p+0;
    else
        return false;
    return true;
}

static inline double qfk_atan2_64(double y, double x)
{
    double ay = qfk_abs64(y), ax = qfk_abs64(x), angle;

    if (qfk_angle_known64(y, x, &angle))
        return qfk_copysign64(angle, y);
    const double most = ay > ax ? ay : ax;
    const double scale = most > 0x1p500 ? 0x1p-600 : most < 0x1p-300 ? 0x1p600 : 1;
    ay *= scale;
    ax *= scale;
    qfk_dd a = qfk_angle_dd((qfk_dd){ ay, 0 }, (qfk_dd){ ax, 0 });
    if (x < 0)
        a = qfk_dd_add(QFK_PI, qfk_dd_neg(a));
    return qfk_copysign64(a.hi + a.lo, y);
}

static inline double qfk_atan64(double x) { return qfk_atan2_64(x, 1); }

/* ---- asin, acos: angles of (root(1 - x^2), x) and (x, root(1 - x^2)) ---- */

/* root((1 - a)(1 + a)) for 0 <= a < 1. */
static inline qfk_dd qfk_other_leg(double a)
{
    return qfk_dd_sqrt(qfk_dd_mul(qfk_two_sum(1, -a), qfk_two_sum(1, a)));
}

static inline double qfk_asin64(double x)
{
    const double a = qfk_abs64(x);
    if (!(a < 1))
        return x != x ? x : a == 1 ? qfk_copysign64(0x1.921fb54442d18p+0, x) : QFK_NAN64;
    if (a < 0x1p-20)
        return qfk_copysign64(a + a * (a * a) * (1.0 / 6), x);
    const qfk_dd angle = qfk_angle_dd((qfk_dd){ a, 0 }, qfk_other_leg(a));
    return qfk_copysign64(angle.hi + angle.lo, x);
}

static inline double qfk_acos64(double x)
{
    const double a = qfk_abs64(x);
    if (!(a < 1))
        return x != x ? x : x == 1 ? 0 : x == -1 ? 0x1.921fb54442d18p+1 : QFK_NAN64;
    if (a < 0x1p-60)
        return 0x1.921fb54442d18p+0;
    qfk_dd angle = qfk_angle_dd(qfk_other_leg(a), (qfk_dd){ a, 0 });
    if (x < 0)
        angle = qfk_dd_add(QFK_PI, qfk_dd_neg(angle));
    return angle.hi + angle.lo;
}

/* ---- hypot ---- */

static inline double qfk_hypot64(double x, double y)
{
    double a = qfk_abs64(x), b = qfk_abs64(y);

    if (a == QFK_INF64 || b == QFK_INF64)
        return QFK_INF64;
    if (x != x || y != y)
        return x + y;
    if (a < b) {
        const double swap = a;
        a = b;
        b = swap;
    }
    if (b <= a * 0x1p-60)
        return a;
    const double scale = a > 0x1p400 ? 0x1p-700 : a < 0x1p-300 ? 0x1p700 : 1;
    const qfk_dd sum = qfk_dd_add(qfk_two_prod(a * scale, a * scale),
                                  qfk_two_prod(b * scale, b * scale));
    const qfk_dd root = qfk_dd_sqrt(sum);
    return (root.hi + root.lo) * (1 / scale);
}

#endif
