/* math64.h, hyperbolic64.h and arc64.h against libm in long double, on special values, and bit for
 * bit against the digests below: the bits may not depend on the compiler, its options or the CPU.
 */
#include "check.h"

#include "kernels/common/arc64.h"
#include "kernels/common/hyperbolic64.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

typedef double unary(double);
typedef double binary(double, double);
typedef long double binary_long(long double, long double);
typedef long double unary_long(long double);
typedef double draw(check_rng *rng);

static double uniform(check_rng *rng, double low, double high)
{
    return low + (double)(check_random(rng) >> 11) * 0x1p-53 * (high - low);
}

static double any(check_rng *rng)
{
    const double x = check_to_f64(QF_DT_f64, check_random(rng));
    return isfinite(x) ? x : 0;
}

static double positive(check_rng *rng)
{
    return fabs(any(rng));
}
static double unit(check_rng *rng)
{
    return uniform(rng, -1, 1);
}
static double ten(check_rng *rng)
{
    return uniform(rng, -10, 10);
}
static double angle(check_rng *rng)
{
    return uniform(rng, -1e6, 1e6);
}
static double exponent(check_rng *rng)
{
    return uniform(rng, -746, 710);
}

/* A number of [-1, 1), scaled by 2^0 to 2^-(n-1). One draw after the other, in any compiler. */
static double scaled(check_rng *rng, size_t n)
{
    const int e = (int)check_below(rng, n);
    return ldexp(unit(rng), -e);
}

static double tiny(check_rng *rng)
{
    return scaled(rng, 1000);
}
static double near_one(check_rng *rng)
{
    return 1 + scaled(rng, 50) / 2;
}

/* From 1 on, often close to it. */
static double from_one(check_rng *rng)
{
    const double above = fabs(scaled(rng, 50));
    return 1 + (check_chance(rng, 20) ? above * 0x1p60 : above);
}

static double near_minus_one(check_rng *rng)
{
    return fabs(scaled(rng, 50)) - 1;
}

/* Next to a multiple of pi/2, where a reduction loses all the digits that it does not carry. */
static double near_quarter(check_rng *rng)
{
    return rint(0x1p60 * scaled(rng, 60)) * 0x1.921fb54442d18p+0;
}

static long double logistic(long double x)
{
    return 1 / (1 + expl(-x));
}

enum { DRAWS = 7, COUNT = 20000 };

/* Where erfc is one minus a sum, the last bits of the sum count for more. */
#define ERFC_ULPS 3.0

/* draws: distributions of arguments, up to the first NULL. digest: of the bits of the results. */
static const struct function {
    const char *name;
    unary *ours;
    unary_long *exact;
    draw *draws[DRAWS];
    uint64_t digest;
} functions[] = {
    { "sin", qfk_sin64, sinl, { unit, ten, angle, any, tiny, near_quarter }, 0x209bc963a1cef3da },
    { "cos", qfk_cos64, cosl, { unit, ten, angle, any, tiny, near_quarter }, 0xd78681d150940a15 },
    { "exp", qfk_exp64, expl, { unit, ten, exponent, tiny }, 0x97ba15745f2c3b23 },
    { "log", qfk_log64, logl, { positive, near_one }, 0x3f0cfeb84cad79cc },
    { "tanh", qfk_tanh64, tanhl, { unit, ten, any, tiny }, 0xf67f50a3a01faa05 },
    { "erf", qfk_erf64, erfl, { unit, ten, any, tiny }, 0x68b960f0384e7fbd },
    { "erfc", qfk_erfc64, erfcl, { unit, ten, tiny }, 0xf8c20889b6204723 },
    { "sigmoid", qfk_sigmoid64, logistic, { unit, ten, exponent, tiny }, 0x40a5fdd57ec7eaeb },
    { "expm1", qfk_expm164, expm1l, { unit, ten, exponent, tiny }, 0x57c3b8f7e4a1e63a },
    { "sinh", qfk_sinh64, sinhl, { unit, ten, exponent, tiny }, 0x2298ac62e6453d03 },
    { "cosh", qfk_cosh64, coshl, { unit, ten, exponent, tiny }, 0xc9325a12b45e1f03 },
    { "log1p",
      qfk_log1p64,
      log1pl,
      { positive, near_one, unit, tiny, near_minus_one },
      0x8df9c2b22e7379e4 },
    { "log2", qfk_log2_64, log2l, { positive, near_one }, 0xf7b2bacc396ad28d },
    { "log10", qfk_log10_64, log10l, { positive, near_one }, 0x4eeb2fa79549aeb2 },
    { "asinh", qfk_asinh64, asinhl, { unit, ten, any, tiny }, 0xbdf57e877db65c04 },
    { "acosh", qfk_acosh64, acoshl, { from_one, positive }, 0xf209289b7d0b1554 },
    { "atanh", qfk_atanh64, atanhl, { unit, tiny, near_minus_one }, 0x2e14df482290c934 },
    { "tan", qfk_tan64, tanl, { unit, ten, angle, any, tiny, near_quarter }, 0x78e95c9474f55899 },
    { "atan", qfk_atan64, atanl, { unit, ten, any, tiny }, 0x6278d24384501bf4 },
    { "asin", qfk_asin64, asinl, { unit, tiny, near_minus_one }, 0x9ea9577d871ff62c },
    { "acos", qfk_acos64, acosl, { unit, tiny, near_minus_one }, 0x6b3424862f549d0a },
};

/* Distance of `got` from the exact value in units of the last place of a double. */
static double ulps(double got, long double exact)
{
    int e;
    const double rounded = (double)exact;

    if (isnan(got) || isnan(rounded) || isinf(got) || isinf(rounded))
        return got == rounded || (isnan(got) && isnan(rounded)) ? 0 : INFINITY;
    (void)frexpl(exact, &e);
    return (double)ldexpl(fabsl(got - exact), 53 - (e < -1021 ? -1021 : e));
}

static uint64_t digest(uint64_t sum, double x)
{
    return (sum ^ check_from_f64(QF_DT_f64, x)) * 0x100000001b3 + (sum >> 29);
}

/* Is the result good? With a long double of 64 bits or more, it lies within 0.8 ulp (1 ulp where it
 * is subnormal), or `most`. */
static bool near(const char *name, double x, double y, double got, long double exact, double most)
{
    const double far = most > 0 ? most : fabs(got) < DBL_MIN ? 1.001 : 0.8;

    if (LDBL_MANT_DIG < 64 || ulps(got, exact) <= far)
        return true;
    printf("FAILED %s(%a, %a) = %a, %.3f ulp off\n", name, x, y, got, ulps(got, exact));
    return false;
}

static bool test_function(const struct function *f)
{
    check_rng rng = { 12345 };
    uint64_t sum = 0;
    bool ok = true;

    for (size_t d = 0; d < DRAWS && f->draws[d]; d++)
        for (size_t i = 0; ok && i < COUNT; i++) {
            const double x = f->draws[d](&rng), got = f->ours(x);
            ok = near(f->name, x, 0, got, f->exact(x), f->exact == erfcl ? ERFC_ULPS : 0);
            sum = digest(sum, got);
        }
    if (ok && sum != f->digest)
        printf("FAILED %s: digest %#llx\n", f->name, (unsigned long long)sum);
    return ok && sum == f->digest;
}

/* Bases and exponents with results of every size. */
static void draw_pow(check_rng *rng, double *x, double *y)
{
    const double logarithm = uniform(rng, -745, 710);

    *x = check_chance(rng, 50) ? near_one(rng) : positive(rng);
    *y = check_chance(rng, 20) ? (double)check_below(rng, 21) - 10 : logarithm / qfk_log64(*x);
    if (check_chance(rng, 10))
        *y = any(rng);
}

/* Coordinates of every size, mostly within reach of one another. */
static void draw_point(check_rng *rng, double *x, double *y)
{
    *x = any(rng);
    *y = ldexp(*x, (int)check_below(rng, 130) - 65);
    *y *= ten(rng);
    if (check_chance(rng, 10) || !isfinite(*y))
        *y = any(rng);
}

static const struct function2 {
    const char *name;
    binary *ours;
    binary_long *exact;
    void (*draw)(check_rng *rng, double *x, double *y);
    uint64_t digest;
} functions2[] = {
    { "pow", qfk_pow64, powl, draw_pow, 0x4cb135b2ce2800dd },
    { "atan2", qfk_atan2_64, atan2l, draw_point, 0x635e617396a568f8 },
    { "hypot", qfk_hypot64, hypotl, draw_point, 0x98100822ea372649 },
};

static bool test_function2(const struct function2 *f)
{
    check_rng rng = { 54321 };
    uint64_t sum = 0;
    bool ok = true;

    for (size_t i = 0; ok && i < 4 * COUNT; i++) {
        double x, y;
        f->draw(&rng, &x, &y);
        const double got = f->ours(x, y);
        ok = near(f->name, x, y, got, f->exact(x, y), 0);
        sum = digest(sum, got);
    }
    if (ok && sum != f->digest)
        printf("FAILED %s: digest %#llx\n", f->name, (unsigned long long)sum);
    return ok && sum == f->digest;
}

/* C99 annex F, and values that must come out exact. */
static const struct special {
    unary *ours;
    double x, want;
} specials[] = {
    { qfk_sin64, 0.0, 0.0 },
    { qfk_sin64, -0.0, -0.0 },
    { qfk_sin64, INFINITY, NAN },
    { qfk_sin64, -INFINITY, NAN },
    { qfk_sin64, NAN, NAN },
    { qfk_sin64, 0x1p-1074, 0x1p-1074 },
    { qfk_cos64, -0.0, 1.0 },
    { qfk_cos64, INFINITY, NAN },
    { qfk_cos64, NAN, NAN },
    { qfk_cos64, 0x1p-1074, 1.0 },
    { qfk_cos64, 0x1.6ac5b262ca1ffp+849,
      -0x1.14ae72e6ba22fp-61 }, /* the hardest double to reduce */
    { qfk_exp64, 0.0, 1.0 },
    { qfk_exp64, -0.0, 1.0 },
    { qfk_exp64, INFINITY, INFINITY },
    { qfk_exp64, -INFINITY, 0.0 },
    { qfk_exp64, NAN, NAN },
    { qfk_exp64, 1e300, INFINITY },
    { qfk_exp64, -1e300, 0.0 },
    { qfk_exp64, 0x1p-1074, 1.0 },
    { qfk_log64, 0.0, -INFINITY },
    { qfk_log64, -0.0, -INFINITY },
    { qfk_log64, 1.0, 0.0 },
    { qfk_log64, -1.0, NAN },
    { qfk_log64, INFINITY, INFINITY },
    { qfk_log64, -INFINITY, NAN },
    { qfk_log64, NAN, NAN },
    { qfk_tanh64, 0.0, 0.0 },
    { qfk_tanh64, -0.0, -0.0 },
    { qfk_tanh64, INFINITY, 1.0 },
    { qfk_tanh64, -INFINITY, -1.0 },
    { qfk_tanh64, NAN, NAN },
    { qfk_tanh64, 0x1p-1074, 0x1p-1074 },
    { qfk_erf64, 0.0, 0.0 },
    { qfk_erf64, -0.0, -0.0 },
    { qfk_erf64, INFINITY, 1.0 },
    { qfk_erf64, -INFINITY, -1.0 },
    { qfk_erf64, NAN, NAN },
    { qfk_erf64, 0x1p-1074, 0x1p-1074 },
    { qfk_sigmoid64, 0.0, 0.5 },
    { qfk_sigmoid64, INFINITY, 1.0 },
    { qfk_sigmoid64, -INFINITY, 0.0 },
    { qfk_sigmoid64, NAN, NAN },
    { qfk_sigmoid64, -1000.0, 0.0 },
    { qfk_expm164, 0.0, 0.0 },
    { qfk_expm164, -0.0, -0.0 },
    { qfk_expm164, INFINITY, INFINITY },
    { qfk_expm164, -INFINITY, -1.0 },
    { qfk_expm164, NAN, NAN },
    { qfk_expm164, 1000.0, INFINITY },
    { qfk_expm164, -1000.0, -1.0 },
    { qfk_expm164, -0x1p-1074, -0x1p-1074 },
    { qfk_sinh64, -0.0, -0.0 },
    { qfk_sinh64, 0.0, 0.0 },
    { qfk_sinh64, INFINITY, INFINITY },
    { qfk_sinh64, -INFINITY, -INFINITY },
    { qfk_sinh64, NAN, NAN },
    { qfk_sinh64, -1000.0, -INFINITY },
    { qfk_sinh64, 0x1p-1074, 0x1p-1074 },
    { qfk_cosh64, -0.0, 1.0 },
    { qfk_cosh64, -INFINITY, INFINITY },
    { qfk_cosh64, NAN, NAN },
    { qfk_cosh64, -1000.0, INFINITY },
    { qfk_cosh64, 0x1p-1074, 1.0 },
    { qfk_log1p64, 0.0, 0.0 },
    { qfk_log1p64, -0.0, -0.0 },
    { qfk_log1p64, -1.0, -INFINITY },
    { qfk_log1p64, -1.5, NAN },
    { qfk_log1p64, INFINITY, INFINITY },
    { qfk_log1p64, -INFINITY, NAN },
    { qfk_log1p64, NAN, NAN },
    { qfk_log1p64, -0x1p-1074, -0x1p-1074 },
    { qfk_log2_64, -0.0, -INFINITY },
    { qfk_log2_64, 1.0, 0.0 },
    { qfk_log2_64, -1.0, NAN },
    { qfk_log2_64, INFINITY, INFINITY },
    { qfk_log2_64, -INFINITY, NAN },
    { qfk_log2_64, NAN, NAN },
    { qfk_log2_64, 0x1p-1074, -1074.0 },
    { qfk_log2_64, 0x1p1023, 1023.0 },
    { qfk_log10_64, 0.0, -INFINITY },
    { qfk_log10_64, 1.0, 0.0 },
    { qfk_log10_64, -1.0, NAN },
    { qfk_log10_64, INFINITY, INFINITY },
    { qfk_log10_64, NAN, NAN },
    { qfk_log10_64, 1000.0, 3.0 },
    { qfk_log10_64, 1e22, 22.0 },
    { qfk_asinh64, 0.0, 0.0 },
    { qfk_asinh64, -0.0, -0.0 },
    { qfk_asinh64, -INFINITY, -INFINITY },
    { qfk_asinh64, NAN, NAN },
    { qfk_asinh64, 0x1p-1074, 0x1p-1074 },
    { qfk_acosh64, 1.0, 0.0 },
    { qfk_acosh64, 0.5, NAN },
    { qfk_acosh64, -INFINITY, NAN },
    { qfk_acosh64, INFINITY, INFINITY },
    { qfk_acosh64, NAN, NAN },
    { qfk_atanh64, 0.0, 0.0 },
    { qfk_atanh64, -0.0, -0.0 },
    { qfk_atanh64, 1.0, INFINITY },
    { qfk_atanh64, -1.0, -INFINITY },
    { qfk_atanh64, 1.5, NAN },
    { qfk_atanh64, INFINITY, NAN },
    { qfk_atanh64, NAN, NAN },
    { qfk_atanh64, -0x1p-1074, -0x1p-1074 },
    { qfk_tan64, 0.0, 0.0 },
    { qfk_tan64, -0.0, -0.0 },
    { qfk_tan64, INFINITY, NAN },
    { qfk_tan64, -INFINITY, NAN },
    { qfk_tan64, NAN, NAN },
    { qfk_tan64, 0x1p-1074, 0x1p-1074 },
    { qfk_tan64, 0x1.921fb54442d18p+0, 0x1.d02967c31cdb5p+53 },
    { qfk_atan64, 0.0, 0.0 },
    { qfk_atan64, -0.0, -0.0 },
    { qfk_atan64, INFINITY, 0x1.921fb54442d18p+0 },
    { qfk_atan64, -INFINITY, -0x1.921fb54442d18p+0 },
    { qfk_atan64, NAN, NAN },
    { qfk_atan64, -0x1p-1074, -0x1p-1074 },
    { qfk_asin64, 0.0, 0.0 },
    { qfk_asin64, -0.0, -0.0 },
    { qfk_asin64, 1.0, 0x1.921fb54442d18p+0 },
    { qfk_asin64, -1.0, -0x1.921fb54442d18p+0 },
    { qfk_asin64, 1.5, NAN },
    { qfk_asin64, -INFINITY, NAN },
    { qfk_asin64, NAN, NAN },
    { qfk_asin64, 0x1p-1074, 0x1p-1074 },
    { qfk_acos64, 1.0, 0.0 },
    { qfk_acos64, -1.0, 0x1.921fb54442d18p+1 },
    { qfk_acos64, 0.0, 0x1.921fb54442d18p+0 },
    { qfk_acos64, 1.5, NAN },
    { qfk_acos64, INFINITY, NAN },
    { qfk_acos64, NAN, NAN },
};

#define PI 0x1.921fb54442d18p+1

static const struct special2 {
    binary *ours;
    double x, y, want;
} specials2[] = {
    { qfk_atan2_64, 0, 1, 0 },
    { qfk_atan2_64, -0.0, 1, -0.0 },
    { qfk_atan2_64, 0, 0, 0 },
    { qfk_atan2_64, -0.0, 0, -0.0 },
    { qfk_atan2_64, 0, -0.0, PI },
    { qfk_atan2_64, -0.0, -0.0, -PI },
    { qfk_atan2_64, 0, -1, PI },
    { qfk_atan2_64, -0.0, -1, -PI },
    { qfk_atan2_64, 1, 0, PI / 2 },
    { qfk_atan2_64, -1, -0.0, -PI / 2 },
    { qfk_atan2_64, 1, INFINITY, 0 },
    { qfk_atan2_64, -1, INFINITY, -0.0 },
    { qfk_atan2_64, 1, -INFINITY, PI },
    { qfk_atan2_64, -1, -INFINITY, -PI },
    { qfk_atan2_64, INFINITY, 1, PI / 2 },
    { qfk_atan2_64, -INFINITY, -1, -PI / 2 },
    { qfk_atan2_64, INFINITY, INFINITY, PI / 4 },
    { qfk_atan2_64, -INFINITY, INFINITY, -PI / 4 },
    { qfk_atan2_64, INFINITY, -INFINITY, 0x1.2d97c7f3321d2p+1 },
    { qfk_atan2_64, -INFINITY, -INFINITY, -0x1.2d97c7f3321d2p+1 },
    { qfk_atan2_64, NAN, 1, NAN },
    { qfk_atan2_64, 1, NAN, NAN },
    { qfk_atan2_64, 0x1p-1074, 0x1p-1074, PI / 4 },
    { qfk_atan2_64, DBL_MAX, -DBL_MAX, 0x1.2d97c7f3321d2p+1 },
    { qfk_atan2_64, 0x1p-1074, 1, 0x1p-1074 },
    { qfk_hypot64, 3, -4, 5 },
    { qfk_hypot64, -0.0, 0, 0 },
    { qfk_hypot64, INFINITY, NAN, INFINITY },
    { qfk_hypot64, NAN, -INFINITY, INFINITY },
    { qfk_hypot64, NAN, 1, NAN },
    { qfk_hypot64, DBL_MAX, DBL_MAX, INFINITY },
    { qfk_hypot64, 0x1.8p1022, 0x1p1023, 0x1.4p1023 },
    { qfk_hypot64, 0x1.8p-1073, 0x1p-1072, 0x1.4p-1072 },
    { qfk_hypot64, 0, -0x1p-1074, 0x1p-1074 },
    { qfk_pow64, 0, 3, 0 },
    { qfk_pow64, -0.0, 3, -0.0 },
    { qfk_pow64, -0.0, 2, 0 },
    { qfk_pow64, 0, -3, INFINITY },
    { qfk_pow64, -0.0, -3, -INFINITY },
    { qfk_pow64, -0.0, -2, INFINITY },
    { qfk_pow64, 0, INFINITY, 0 },
    { qfk_pow64, 0, -INFINITY, INFINITY },
    { qfk_pow64, -1, INFINITY, 1 },
    { qfk_pow64, -1, -INFINITY, 1 },
    { qfk_pow64, 1, NAN, 1 },
    { qfk_pow64, 1, INFINITY, 1 },
    { qfk_pow64, NAN, 0, 1 },
    { qfk_pow64, NAN, -0.0, 1 },
    { qfk_pow64, NAN, 1, NAN },
    { qfk_pow64, 2, NAN, NAN },
    { qfk_pow64, -2, 0.5, NAN },
    { qfk_pow64, -1, 0.5, NAN },
    { qfk_pow64, -INFINITY, 3, -INFINITY },
    { qfk_pow64, 0.5, -INFINITY, INFINITY },
    { qfk_pow64, 0.5, INFINITY, 0 },
    { qfk_pow64, 2, -INFINITY, 0 },
    { qfk_pow64, 2, INFINITY, INFINITY },
    { qfk_pow64, -INFINITY, -3, -0.0 },
    { qfk_pow64, -INFINITY, -2, 0 },
    { qfk_pow64, -INFINITY, 2, INFINITY },
    { qfk_pow64, INFINITY, -1, 0 },
    { qfk_pow64, INFINITY, 0.5, INFINITY },
    { qfk_pow64, -INFINITY, 0.5, INFINITY },
    { qfk_pow64, -2, 3, -8 },
    { qfk_pow64, -2, -3, -0.125 },
    { qfk_pow64, 3, 2, 9 },
    { qfk_pow64, 10, 22, 1e22 },
    { qfk_pow64, 2, -1074, 0x1p-1074 },
    { qfk_pow64, 2, -1075, 0 },
    { qfk_pow64, 2, 1023, 0x1p1023 },
    { qfk_pow64, 2, 1024, INFINITY },
    { qfk_pow64, 9, 0.5, 3 },
    { qfk_pow64, 0x1p-1074, -1, INFINITY },
    { qfk_pow64, 0x1p-1074, 0.5, 0x1p-537 },
    { qfk_pow64, -0x1.fffffffffffffp52, 1, -0x1.fffffffffffffp52 },
    { qfk_pow64, -1, 0x1p53, 1 },
    { qfk_pow64, -1, 0x1.fffffffffffffp52, -1 },
    { qfk_pow64, 1.5, 1e300, INFINITY },
    { qfk_pow64, 1.5, -1e300, 0 },
    { qfk_pow64, 0x1.fffffffffffffp-1, 0x1p80, 0 },
};

/* Equal bits; any NaN will do. */
static bool equal(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

static bool test_specials(void)
{
    bool ok = true;

    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++) {
        const struct special *s = &specials[i];
        const double got = s->ours(s->x);
        if (!equal(got, s->want)) {
            printf("FAILED special %zu: f(%a) = %a, expected %a\n", i, s->x, got, s->want);
            ok = false;
        }
    }
    for (size_t i = 0; i < sizeof specials2 / sizeof *specials2; i++) {
        const struct special2 *s = &specials2[i];
        const double got = s->ours(s->x, s->y);
        if (!equal(got, s->want)) {
            printf("FAILED special %zu: f(%a, %a) = %a, expected %a\n", i, s->x, s->y, got,
                   s->want);
            ok = false;
        }
    }
    return ok;
}

int main(void)
{
#if defined(__AVX2__)
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
        puts("skipped: built for AVX2, which this CPU lacks");
        return 77;
    }
#endif
    bool ok = test_specials();

    for (size_t i = 0; i < sizeof functions2 / sizeof *functions2; i++)
        ok &= test_function2(&functions2[i]);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        ok &= test_function(&functions[i]);
    puts(ok ? "ok" : "FAILED");
    return !ok;
}
