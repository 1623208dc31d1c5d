/* sin cos exp log pow tanh erf sigmoid in double: nearer than 0.72 ulp (subnormal results: 1 ulp;
 * erfc: 3 ulp),
 * special values as in C99 annex F, and the same bits on every instruction set and compiler, which
 * no libm promises. Plain double and integer arithmetic; where 53 bits are too few, dd.h. */
#ifndef QFK_MATH64_H
#define QFK_MATH64_H

#include "kernels/common/dd.h"
#include "kernels/common/element.h"

#define QFK_INF64 (qfk_float64(0x7ff0000000000000u))
#define QFK_NAN64 (qfk_float64(0x7ff8000000000000u))

static inline bool qfk_signbit64(double x) { return qfk_bits64(x) >> 63 != 0; }

static inline double qfk_abs64(double x)
{
    return qfk_float64(qfk_bits64(x) & 0x7fffffffffffffffu);
}

static inline double qfk_copysign64(double magnitude, double sign)
{
    return qfk_float64((qfk_bits64(magnitude) & 0x7fffffffffffffffu) |
                       (qfk_bits64(sign) & 0x8000000000000000u));
}

/* Nearest integer, ties to even, for |x| < 2^51. */
static inline double qfk_nearest64(double x) { return (x + 0x1.8p52) - 0x1.8p52; }

/* c[0] + c[1] x + ... + c[n-1] x^(n-1). */
static inline double qfk_horner64(double x, const double *c, size_t n)
{
    double sum = c[n - 1];
    for (size_t i = n - 1; i-- > 0;)
        sum = c[i] + x * sum;
    return sum;
}

#define QFK_HORNER64(x, c) qfk_horner64(x, c, sizeof(c) / sizeof *(c))

/* 2^k for a normal result. */
static inline double qfk_exp2i64(int k) { return qfk_float64((uint64_t)(k + 1023) << 52); }

/* x * 2^k, rounded once, for x near 1 and |k| < 2000. */
static inline double qfk_scale64(double x, int k)
{
    return x * qfk_exp2i64(k / 2) * qfk_exp2i64(k - k / 2);
}

/* ---- exp ---- */

/* exp(x) = m * 2^*k with m in [1, 2.1), relative error below 2^-64, for |x| < 1100.
 * x = (16 k + j) ln2/16 + r: a table gives 2^(j/16), a short series exp(r). */
static inline qfk_dd qfk_exp_dd(qfk_dd x, int *k)
{
    static const double term[] = {
        1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320
    };
    static const qfk_dd root[16] = {
        { 0x1.0000000000000p+0, 0x0.0p+0 },
        { 0x1.0b5586cf9890fp+0, 0x1.8a62e4adc610bp-54 },
        { 0x1.172b83c7d517bp+0, -0x1.19041b9d78a76p-55 },
        { 0x1.2387a6e756238p+0, 0x1.9b07eb6c70573p-54 },
        { 0x1.306fe0a31b715p+0, 0x1.6f46ad23182e4p-55 },
        { 0x1.3dea64c123422p+0, 0x1.ada0911f09ebcp-55 },
        { 0x1.4bfdad5362a27p+0, 0x1.d4397afec42e2p-56 },
        { 0x1.5ab07dd485429p+0, 0x1.6324c054647adp-54 },
        { 0x1.6a09e667f3bcdp+0, -0x1.bdd3413b26456p-54 },
        { 0x1.7a11473eb0187p+0, -0x1.41577ee04992fp-55 },
        { 0x1.8ace5422aa0dbp+0, 0x1.6e9f156864b27p-54 },
        { 0x1.9c49182a3f090p+0, 0x1.c7c46b071f2bep-56 },
        { 0x1.ae89f995ad3adp+0, 0x1.7a1cd345dcc81p-54 },
        { 0x1.c199bdd85529cp+0, 0x1.11065895048ddp-55 },
        { 0x1.d5818dcfba487p+0, 0x1.2ed02d75b3707p-55 },
        { 0x1.ea4afa2a490dap+0, -0x1.e9c23179c2893p-54 },
    };
    const double n = qfk_nearest64(x.hi * 0x1.71547652b82fep+4);
    const int i = (int)n;
    const qfk_dd r = qfk_two_sum(x.hi - n * 0x1.62e42fefap-5, x.lo - n * 0x1.cf79abc9e3b3ap-44);
    const double z = r.hi;
    const double tail = z * z * QFK_HORNER64(z, term);
    const qfk_dd e = qfk_fast_sum(z, r.lo + tail);       /* exp(r) - 1 */
    const qfk_dd t = root[i & 15];
    const qfk_dd p = qfk_two_prod(t.hi, e.hi);
    const qfk_dd s = qfk_fast_sum(t.hi, p.hi);
    *k = (i - (i & 15)) / 16;
    return qfk_fast_sum(s.hi, s.lo + (p.lo + (t.hi * e.lo + (t.lo + t.lo * e.hi))));
}

/* exp of a double-double, rounded. Beyond ±800 the result is 0 or infinite by itself. */
static inline double qfk_exp_round(qfk_dd x)
{
    int k;
    if (x.hi > 800 || x.hi < -800)
        x = (qfk_dd){ x.hi > 0 ? 800 : -800, 0 };
    const qfk_dd m = qfk_exp_dd(x, &k);
    return qfk_scale64(m.hi + m.lo, k);
}

static inline double qfk_exp64(double x)
{
    if (x != x)
        return x;
    return qfk_exp_round((qfk_dd){ x, 0 });
}

/* exp(-x) as a double-double, for 0 <= x <= 64. */
static inline qfk_dd qfk_exp_minus_dd(double x)
{
    int k;
    const qfk_dd m = qfk_exp_dd((qfk_dd){ -x, 0 }, &k);
    return (qfk_dd){ m.hi * qfk_exp2i64(k), m.lo * qfk_exp2i64(k) };
}

/* 1 / (1 + exp(-x)). */
static inline double qfk_sigmoid64(double x)
{
    if (x != x)
        return x;
    if (x < -60)
        return qfk_exp64(x);
    if (x > 60)
        return 1;
    const qfk_dd one = { 1, 0 };
    const qfk_dd e = qfk_exp_minus_dd(qfk_abs64(x));
    const qfk_dd q = qfk_dd_div(x < 0 ? e : one, qfk_dd_add(one, e));
    return q.hi + q.lo;
}

static inline double qfk_tanh64(double x)
{
    const double a = qfk_abs64(x), z = x * x;
    if (x != x)
        return x;
    if (a > 22)
        return qfk_copysign64(1, x);
    if (a < 0x1p-6) {
        static const double term[] = { -1.0 / 3, 2.0 / 15, -17.0 / 315, 62.0 / 2835 };
        return qfk_copysign64(a + a * (z * QFK_HORNER64(z, term)), x);
    }
    const qfk_dd one = { 1, 0 };
    const qfk_dd e = qfk_exp_minus_dd(2 * a);
    const qfk_dd q = qfk_dd_div(qfk_dd_add(one, (qfk_dd){ -e.hi, -e.lo }), qfk_dd_add(one, e));
    return qfk_copysign64(q.hi + q.lo, x);
}

/* ---- log, pow ---- */

/* log((1 + s)/(1 - s)) = 2s + 2s^3/3 + 2s^5/5 + ..., relative error below 2^-68, for |s| < 0.18. */
static inline qfk_dd qfk_log_series(qfk_dd s)
{
    static const double term[] = {
        1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23,
        1.0 / 25, 1.0 / 27
    };
    const qfk_dd z = qfk_dd_mul(s, s);
    const double t = z.hi;
    const double tail = t * QFK_HORNER64(t, term);
    const qfk_dd third = { 0x1.5555555555555p-2, 0x1.5555555555555p-56 };
    const qfk_dd fifth = { 0x1.999999999999ap-3, -0x1.999999999999ap-57 };
    qfk_dd p = qfk_dd_mul(z, qfk_dd_add(fifth, (qfk_dd){ tail, 0 }));
    p = qfk_dd_mul(s, qfk_dd_mul(z, qfk_dd_add(third, p)));
    p = qfk_dd_add(s, p);
    return (qfk_dd){ 2 * p.hi, 2 * p.lo };
}

/* x = 2^*k m with sqrt(1/2) <= m < sqrt(2): log(m), relative error below 2^-68, for finite x > 0.
 * log m is the series of s = (m - 1)/(m + 1). */
static inline qfk_dd qfk_log_mantissa(double x, double *k)
{
    const bool tiny = x < 0x1p-1022;
    const uint64_t u = qfk_bits64(tiny ? x * 0x1p54 : x);
    const uint64_t above = (u & 0xfffffffffffffu) >= 0x6a09e667f3bcdu;  /* sqrt(2) */
    const double m = qfk_float64((u & 0xfffffffffffffu) | (1023 - above) << 52);

    *k = (double)((int)(u >> 52) - 1023 + (int)above - (tiny ? 54 : 0));
    return qfk_log_series(qfk_dd_div((qfk_dd){ m - 1, 0 }, qfk_two_sum(m, 1)));
}

/* log(x), relative error below 2^-68, for finite x > 0. */
static inline qfk_dd qfk_log_dd(double x)
{
    double k;
    const qfk_dd log_m = qfk_log_mantissa(x, &k);
    return qfk_dd_add((qfk_dd){ k * 0x1.62e42fefa2p-1, k * 0x1.9ef35793c7673p-41 }, log_m);
}

static inline double qfk_log64(double x)
{
    if (x != x || x == QFK_INF64)
        return x;
    if (x == 0)
        return -QFK_INF64;
    if (x < 0)
        return QFK_NAN64;
    const qfk_dd l = qfk_log_dd(x);
    return l.hi + l.lo;
}

/* Whether y is an odd integer. */
static inline bool qfk_is_odd64(double y)
{
    const double a = qfk_abs64(y);
    if (!(a < 0x1p53) || a < 1)
        return false;
    const uint64_t n = (uint64_t)a;
    return (double)n == a && (n & 1) != 0;
}

static inline bool qfk_is_integer64(double y)
{
    const double a = qfk_abs64(y);
    return a >= 0x1p52 || (double)(uint64_t)a == a;
}

/* |x|^y for x > 0, x != 1, finite. From 2^64 on, y decides nothing but the direction. */
static inline double qfk_pow_positive64(double x, double y)
{
    const double most = 0x1p64;
    const double e = y > most ? most : y < -most ? -most : y;
    return qfk_exp_round(qfk_dd_mul(qfk_log_dd(x), (qfk_dd){ e, 0 }));
}

static inline double qfk_pow64(double x, double y)
{
    if (y == 0 || x == 1)
        return 1;
    if (x != x || y != y)
        return x + y;
    const double a = qfk_abs64(x);
    const double sign = qfk_signbit64(x) && qfk_is_odd64(y) ? -1 : 1;
    if (a == 1 && (qfk_abs64(y) == QFK_INF64 || qfk_is_integer64(y)))
        return sign;
    if (qfk_abs64(y) == QFK_INF64)
        return (a > 1) == (y > 0) ? QFK_INF64 : 0;
    if (a == 0 || a == QFK_INF64)
        return (a == 0) == (y > 0) ? sign * 0 : sign * QFK_INF64;
    if (x < 0 && !qfk_is_integer64(y))
        return QFK_NAN64;
    return sign * qfk_pow_positive64(a, y);
}

/* ---- sin, cos ---- */

/* The low 64 bits and the high 64 bits of a * b. */
static inline uint64_t qfk_mul_wide(uint64_t a, uint64_t b, uint64_t *high)
{
    const uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    const uint64_t low = a0 * b0, mid = a1 * b0 + (low >> 32);
    const uint64_t mid2 = a0 * b1 + (uint32_t)mid;
    *high = a1 * b1 + (mid >> 32) + (mid2 >> 32);
    return mid2 << 32 | (uint32_t)low;
}

/* 64 bits of the big-endian bit string `word` from bit `at` on. */
static inline uint64_t qfk_bits_at(const uint64_t *word, unsigned at)
{
    const unsigned i = at / 64, shift = at % 64;
    return shift ? word[i] << shift | word[i + 1] >> (64 - shift) : word[i];
}

/* x = q pi/2 + r for finite |x| > pi/4: returns r, |r| <= pi/4, and q mod 4.
 * x = M 2^e with an integer M. Of the digits of 2/pi, those that only add multiples of 4 to
 * x * 2/pi are skipped; the next 192, times M, leave 2 integer bits and 190 fraction bits. No
 * double is nearer than 2^-62 to a multiple of pi/2, so at least 75 good bits remain. */
static inline qfk_dd qfk_reduce_pio2(double x, unsigned *q)
{
    static const uint64_t two_over_pi[20] = {   /* 64 zero bits, then the digits after the point */
        0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
        0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e,
        0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
        0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
        0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
    };
    const uint64_t u = qfk_bits64(x);
    const uint64_t mant = (u & 0xfffffffffffffu) | 0x10000000000000u;
    const unsigned at = (unsigned)(u >> 52 & 0x7ff) - 1013;   /* e - 2 after the 64 in front */

    uint64_t h1, h0;
    const uint64_t p0 = qfk_mul_wide(mant, qfk_bits_at(two_over_pi, at + 128), &h0);
    const uint64_t m1 = qfk_mul_wide(mant, qfk_bits_at(two_over_pi, at + 64), &h1);
    const uint64_t p1 = m1 + h0;
    const uint64_t p2 = mant * qfk_bits_at(two_over_pi, at) + h1 + (p1 < h0);

    /* The fraction as 192 bits, top first; from 1/2 on it is negative in the next quadrant. */
    uint64_t f1 = p2 << 2 | p1 >> 62, f0 = p1 << 2 | p0 >> 62, f = p0 << 2;
    const bool up = f1 >> 63 != 0;
    *q = (unsigned)(p2 >> 62) + up;
    if (up) {
        f = ~f + 1;
        f0 = ~f0 + (f == 0);
        f1 = ~f1 + (f == 0 && f0 == 0);
    }
    const uint64_t digits[3] = { f1, f0, f };
    const int zeros = __builtin_clzll(f1 | 1);
    const uint64_t hi = qfk_bits_at(digits, (unsigned)zeros);
    const uint64_t lo = qfk_bits_at(digits, (unsigned)zeros + 64);
    const qfk_dd turn = qfk_fast_sum((double)(hi & ~(uint64_t)0x7ff) * 0x1p-64,
                                     (double)(hi & 0x7ff) * 0x1p-64 + (double)lo * 0x1p-128);
    const qfk_dd r = qfk_dd_mul(turn, (qfk_dd){ 0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54 });
    const double scale = qfk_copysign64(qfk_exp2i64(-zeros), up == qfk_signbit64(x) ? 1 : -1);
    if (qfk_signbit64(x))
        *q = 0u - *q;
    return (qfk_dd){ r.hi * scale, r.lo * scale };
}

/* sin(r), cos(r) for |r| <= pi/4. */
static inline double qfk_sin_small(qfk_dd r)
{
    static const double term[] = {
        1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800,
        -1.0 / 1307674368000, 1.0 / 355687428096000
    };
    const double x = r.hi, z = x * x;
    const double tail = z * QFK_HORNER64(z, term);
    const double y = x + (x * (z * (-1.0 / 6 + tail)) + r.lo * (1 - 0.5 * z));
    return qfk_copysign64(y, x); /* of a zero, too */
}

static inline double qfk_cos_small(qfk_dd r)
{
    static const double term[] = {
        1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600, -1.0 / 87178291200,
        1.0 / 20922789888000, -1.0 / 6402373705728000
    };
    const qfk_dd z = qfk_two_prod(r.hi, r.hi);
    const double t = z.hi;
    const double tail = t * t * QFK_HORNER64(t, term);
    const qfk_dd s = qfk_fast_sum(1, -0.5 * t);
    return s.hi + (s.lo + (tail - (0.5 * z.lo + r.hi * r.lo)));
}

/* sin(x + quarter * pi/2). */
static inline double qfk_sin_shifted64(double x, unsigned quarter)
{
    if (!(qfk_abs64(x) < QFK_INF64))
        return x - x;
    qfk_dd r = { x, 0 };
    unsigned q = 0;
    if (qfk_abs64(x) > 0x1.921fb54442d18p-1)
        r = qfk_reduce_pio2(x, &q);
    q += quarter;
    const double y = q & 1 ? qfk_cos_small(r) : qfk_sin_small(r);
    return q & 2 ? -y : y;
}

static inline double qfk_sin64(double x) { return qfk_sin_shifted64(x, 0); }
static inline double qfk_cos64(double x) { return qfk_sin_shifted64(x, 1); }

/* ---- erf ---- */

/* erf(x) for 0 <= x <= 1/2: its power series, the leading term 2x/sqrt(pi) in double-double. */
static inline double qfk_erf_small(double x)
{
    static const double term[] = {
        -1.0 / 3, 1.0 / 10, -1.0 / 42, 1.0 / 216, -1.0 / 1320, 1.0 / 9360, -1.0 / 75600,
        1.0 / 685440, -1.0 / 6894720, 1.0 / 76204800, -1.0 / 918086400, 1.0 / 11975040000
    };
    /* The product of a tiny x would lose its low part to underflow. */
    const bool tiny = x < 0x1p-300;
    const double y = tiny ? x * 0x1p600 : x, z = x * x;
    const double c = 0x1.20dd750429b6dp+0;
    const double tail = QFK_HORNER64(z, term);
    const qfk_dd p = qfk_two_prod(y, c);
    const double e = p.hi + (p.lo + y * (0x1.1ae3a914fed80p-56 + c * (z * tail)));
    return tiny ? e * 0x1p-600 : e;
}

/* erf(a), or 1 - erf(a), for 1/2 < a < 6: a Taylor series about c, the nearest multiple of
 * 1/8. It integrates erf'(c + h) = erf'(c) exp(-2ch - h^2), where the terms t[n] of the
 * exponential's own series obey (n + 1) t[n+1] = -2ch t[n] - 2h^2 t[n-1]. */
static inline double qfk_erf_table(double a, bool complement)
{
    static const struct { qfk_dd erf; double slope; } at[44] = {   /* c = 4/8, 5/8, ... */
        { { 0x1.0a7ef5c18edd2p-1, 0x1.5e809f1a31a28p-56 }, 0x1.c1efca49a5011p-1 },
        { { 0x1.3f196dcd0f135p-1, -0x1.f25f4f6fdf70bp-56 }, 0x1.86e9694134b9ep-1 },
        { { 0x1.6c1c9759d0e5fp-1, 0x1.b1432f2cbc455p-55 }, 0x1.492e42d78d2c5p-1 },
        { { 0x1.91724951b8fc6p-1, -0x1.27912dd352f8bp-55 }, 0x1.0cab61f084b93p-1 },
        { { 0x1.af767a741088bp-1, -0x1.c97f778122797p-56 }, 0x1.a911f096fbc26p-2 },
        { { 0x1.c6dad2829ec62p-1, -0x1.ab76d4cba3d05p-57 }, 0x1.45e99bcbb7915p-2 },
        { { 0x1.d8865d98abe01p-1, -0x1.fcec4afb974d9p-55 }, 0x1.e4652fadcb6b2p-3 },
        { { 0x1.e5768c3b4a3fcp-1, 0x1.8b62674f89890p-57 }, 0x1.5ce595c455b0ap-3 },
        { { 0x1.eea5557137ae0p-1, -0x1.385e445f2c96dp-55 }, 0x1.e723726b824a9p-4 },
        { { 0x1.f4f693b67bd77p-1, -0x1.3a1ee1406c356p-56 }, 0x1.499d478bca735p-4 },
        { { 0x1.f92d077f8d56dp-1, 0x1.8b55ef493fce7p-56 }, 0x1.b055303221015p-5 },
        { { 0x1.fbe61eef4cf6ap-1, 0x1.15ded88667618p-55 }, 0x1.12ceb37ff9bc3p-5 },
        { { 0x1.fd9ae142795e3p-1, 0x1.972801904b9a3p-56 }, 0x1.529b9e8cf9a1ep-6 },
        { { 0x1.fea4218d6594ap-1, -0x1.e3333d8f7d98cp-58 }, 0x1.94624e78e0fafp-7 },
        { { 0x1.ff404760319b4p-1, 0x1.f142071432025p-56 }, 0x1.d4143a9dfe965p-8 },
        { { 0x1.ff9960f3eb327p-1, -0x1.08b1ca6e97f80p-56 }, 0x1.06918b6355624p-8 },
        { { 0x1.ffcaa8f4c9beap-1, 0x1.b0cee160116f9p-55 }, 0x1.1d83170fbf6fbp-9 },
        { { 0x1.ffe514bbdc197p-1, -0x1.cd963345b5c6dp-58 }, 0x1.2ce898809244ep-10 },
        { { 0x1.fff2cfb0453d9p-1, 0x1.9a913686042a3p-55 }, 0x1.3360ccd23db3ap-11 },
        { { 0x1.fff9ba420e834p-1, 0x1.1379ec5aa630ep-56 }, 0x1.30538fbb77ecdp-12 },
        { { 0x1.fffd1ac4135f9p-1, 0x1.eeafa1ecd6cefp-55 }, 0x1.2408e9ba3327fp-13 },
        { { 0x1.fffeb3ebb267bp-1, 0x1.e47f697047cbap-57 }, 0x1.0f9e1b4dd36dfp-14 },
        { { 0x1.ffff6f9f67e55p-1, 0x1.e1e4483ba034bp-55 }, 0x1.e9b5e8d00ce77p-16 },
        { { 0x1.ffffc316d9ed0p-1, -0x1.8b32f44f46b3bp-55 }, 0x1.abe09e9144b5ep-17 },
        { { 0x1.ffffe710d565ep-1, 0x1.c9ea52d76dc04p-55 }, 0x1.6a597219a93dap-18 },
        { { 0x1.fffff618c3da6p-1, -0x1.19309ce23aa3ep-58 }, 0x1.296a70f414053p-19 },
        { { 0x1.fffffc2f171e3p-1, 0x1.85edd0395f475p-55 }, 0x1.d9371e2ff7c35p-21 },
        { { 0x1.fffffe92ced93p-1, -0x1.d2db2ecfe14aep-55 }, 0x1.6ce1aa3fd7bddp-22 },
        { { 0x1.ffffff7b91176p-1, 0x1.0b2865615db40p-56 }, 0x1.10b1488aeb235p-23 },
        { { 0x1.ffffffd169d0cp-1, 0x1.70a2bfb068e6fp-55 }, 0x1.8b0cfce0579e0p-25 },
        { { 0x1.fffffff01a8b6p-1, 0x1.23370eca5ca6ap-60 }, 0x1.155a09065d4f7p-26 },
        { { 0x1.fffffffabd229p-1, -0x1.4dbe49bec3ef2p-57 }, 0x1.7974e743dea3dp-28 },
        { { 0x1.fffffffe4fa30p-1, 0x1.d166bcb681c7bp-57 }, 0x1.f1e3523b41d7dp-30 },
        { { 0x1.ffffffff79626p-1, 0x1.5fbc52d650a89p-55 }, 0x1.3e44e45301b92p-31 },
        { { 0x1.ffffffffd759dp-1, 0x1.f7bee7eb23420p-55 }, 0x1.8a61745ec7d1dp-33 },
        { { 0x1.fffffffff4188p-1, 0x1.7a2cb3d056eacp-55 }, 0x1.d9a880f306bd8p-35 },
        { { 0x1.fffffffffc9e8p-1, -0x1.a759f7738935fp-56 }, 0x1.13af4f04f9998p-36 },
        { { 0x1.ffffffffff11ap-1, -0x1.3eafccbc6e8b7p-56 }, 0x1.370ab8327af5ep-38 },
        { { 0x1.ffffffffffc05p-1, 0x1.07ba96a6b2e1ap-55 }, 0x1.5422ef5d8949dp-40 },
        { { 0x1.ffffffffffef8p-1, 0x1.14be6226402c7p-56 }, 0x1.68823e52970bep-42 },
        { { 0x1.fffffffffffbep-1, -0x1.182b326b228dcp-55 }, 0x1.7258610b3b233p-44 },
        { { 0x1.ffffffffffff0p-1, -0x1.20ef3618f2d54p-56 }, 0x1.70beaf9c7ffb6p-46 },
        { { 0x1.ffffffffffffcp-1, 0x1.8115fd1b12786p-56 }, 0x1.63daf8b4b1e0cp-48 },
        { { 0x1.fffffffffffffp-1, 0x1.0439397b5f70ap-56 }, 0x1.4cd9c04158cd7p-50 },
    };
    const double step = qfk_nearest64(8 * a), c = step * 0.125, h = a - c;
    const unsigned i = (unsigned)step - 4;
    const double ch = -2 * c * h, hh = -2 * h * h;
    double term = 1, before = 0, sum = 0;
    for (int n = 1; n <= 16; n++) {
        const double next = (ch * term + hh * before) / n;
        before = term;
        term = next;
        sum += next / (n + 1);
    }
    const double rest = at[i].erf.lo + (h + h * sum) * at[i].slope;
    return complement ? (1 - at[i].erf.hi) - rest : at[i].erf.hi + rest;
}

static inline double qfk_erf64(double x)
{
    const double a = qfk_abs64(x);
    if (x != x)
        return x;
    return qfk_copysign64(a <= 0.5 ? qfk_erf_small(a) : a < 5.9375 ? qfk_erf_table(a, false) : 1,
                          x);
}

/* erfc(a) for a > 5.9: exp(-a^2) over a continued fraction. */
static inline double qfk_erfc_tail(double a)
{
    const qfk_dd square = qfk_two_prod(a, a);
    double below = a;
    for (int k = 16; k > 0; k--)
        below = a + 0.5 * k / below;
    return qfk_exp_round((qfk_dd){ -square.hi, -square.lo }) * (0x1.20dd750429b6dp-1 / below);
}

static inline double qfk_erfc64(double x)
{
    const double a = qfk_abs64(x);
    if (x != x)
        return x;
    if (a <= 0.5)
        return 1 - qfk_copysign64(qfk_erf_small(a), x);
    const double tail = a > 27.5 ? 0 : a < 5.9375 ? qfk_erf_table(a, true) : qfk_erfc_tail(a);
    return x < 0 ? 2 - tail : tail;
}

#endif
