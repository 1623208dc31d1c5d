/* What the operators of the unary family mean. Transcendental ones: libm in long double. */
#include "kernel_ref.h"

#include <math.h>

static uint64_t top_bit(unsigned key)
{
    return (uint64_t)1 << (8 * check_key_size(key) - 1);
}

static uint64_t neg(const ref_el *e)
{
    return check_key_is_float(e->key) ? e->in[0] ^ top_bit(e->key) : 0 - e->in[0];
}

static uint64_t abs_(const ref_el *e)
{
    if (check_key_is_float(e->key))
        return e->in[0] & ~top_bit(e->key);
    return e->in[0] & top_bit(e->key) ? 0 - e->in[0] : e->in[0];
}

static uint64_t sign(const ref_el *e)
{
    if (check_key_is_float(e->key)) {
        const double a = check_to_f64(e->key, e->in[0]);
        return check_from_f64(e->key, a > 0 ? 1 : a < 0 ? -1 : 0);
    }
    const int64_t a = check_to_i64(e->key, e->in[0]);
    return (uint64_t)(a > 0 ? 1 : a < 0 ? -1 : 0);
}

static uint64_t bit_not(const ref_el *e)
{
    return ~e->in[0];
}
static uint64_t logical_not(const ref_el *e)
{
    return !e->in[0];
}

/* The result of a function of long double, rounded to the key. */
static uint64_t through(const ref_el *e, long double (*function)(long double))
{
    return check_from_f64(e->key, (double)function(check_to_f64(e->key, e->in[0])));
}

static long double logistic(long double a)
{
    return 1 / (1 + expl(-a));
}

static uint64_t floor_(const ref_el *e)
{
    return through(e, floorl);
}
static uint64_t ceil_(const ref_el *e)
{
    return through(e, ceill);
}
static uint64_t trunc_(const ref_el *e)
{
    return through(e, truncl);
}
static uint64_t round_(const ref_el *e)
{
    return through(e, rintl);
}
static uint64_t sin_(const ref_el *e)
{
    return through(e, sinl);
}
static uint64_t cos_(const ref_el *e)
{
    return through(e, cosl);
}
static uint64_t exp_(const ref_el *e)
{
    return through(e, expl);
}
static uint64_t exp2_(const ref_el *e)
{
    return through(e, exp2l);
}
static uint64_t log_(const ref_el *e)
{
    return through(e, logl);
}
static uint64_t tanh_(const ref_el *e)
{
    return through(e, tanhl);
}
static uint64_t erf_(const ref_el *e)
{
    return through(e, erfl);
}
static uint64_t erfc_(const ref_el *e)
{
    return through(e, erfcl);
}
static uint64_t expm1_(const ref_el *e)
{
    return through(e, expm1l);
}
static uint64_t log1p_(const ref_el *e)
{
    return through(e, log1pl);
}
static uint64_t log2_(const ref_el *e)
{
    return through(e, log2l);
}
static uint64_t log10_(const ref_el *e)
{
    return through(e, log10l);
}
static uint64_t sinh_(const ref_el *e)
{
    return through(e, sinhl);
}
static uint64_t cosh_(const ref_el *e)
{
    return through(e, coshl);
}
static uint64_t tan_(const ref_el *e)
{
    return through(e, tanl);
}
static uint64_t asin_(const ref_el *e)
{
    return through(e, asinl);
}
static uint64_t acos_(const ref_el *e)
{
    return through(e, acosl);
}
static uint64_t atan_(const ref_el *e)
{
    return through(e, atanl);
}
static uint64_t asinh_(const ref_el *e)
{
    return through(e, asinhl);
}
static uint64_t acosh_(const ref_el *e)
{
    return through(e, acoshl);
}
static uint64_t atanh_(const ref_el *e)
{
    return through(e, atanhl);
}
static uint64_t sigmoid(const ref_el *e)
{
    return through(e, logistic);
}

/* Division and root in f64; rounding to f32 after that is innocuous. */
static uint64_t reciprocal(const ref_el *e)
{
    return check_from_f64(e->key, 1 / check_to_f64(e->key, e->in[0]));
}

static uint64_t sqrt_(const ref_el *e)
{
    return check_from_f64(e->key, sqrt(check_to_f64(e->key, e->in[0])));
}

static uint64_t rsqrt(const ref_el *e)
{
    ref_el root = *e;
    root.in[0] = sqrt_(e);
    return reciprocal(&root);
}

const ref_op ref_unary[] = {
    { .op = "neg", .element = neg },
    { .op = "abs", .element = abs_ },
    { .op = "sign", .element = sign },
    { .op = "bit_not", .element = bit_not },
    { .op = "logical_not", .element = logical_not },
    { .op = "floor", .element = floor_ },
    { .op = "ceil", .element = ceil_ },
    { .op = "trunc", .element = trunc_ },
    { .op = "round", .element = round_ },
    { .op = "reciprocal", .element = reciprocal },
    { .op = "sqrt", .element = sqrt_ },
    { .op = "rsqrt", .element = rsqrt },
    { .op = "sin", .element = sin_, .ulps_f64 = 1 },
    { .op = "cos", .element = cos_, .ulps_f64 = 1 },
    { .op = "exp", .element = exp_, .ulps_f64 = 1 },
    { .op = "exp2", .element = exp2_, .ulps_f64 = 1 },
    { .op = "log", .element = log_, .ulps_f64 = 1 },
    { .op = "tanh", .element = tanh_, .ulps_f64 = 1 },
    { .op = "erf", .element = erf_, .ulps_f64 = 1 },
    { .op = "erfc", .element = erfc_, .ulps_f64 = 3 },
    { .op = "sigmoid", .element = sigmoid, .ulps_f64 = 1 },
    { .op = "expm1", .element = expm1_, .ulps_f64 = 1 },
    { .op = "log1p", .element = log1p_, .ulps_f64 = 1 },
    { .op = "log2", .element = log2_, .ulps_f64 = 1 },
    { .op = "log10", .element = log10_, .ulps_f64 = 1 },
    { .op = "sinh", .element = sinh_, .ulps_f64 = 1 },
    { .op = "cosh", .element = cosh_, .ulps_f64 = 1 },
    { .op = "tan", .element = tan_, .ulps_f64 = 1 },
    { .op = "asin", .element = asin_, .ulps_f64 = 1 },
    { .op = "acos", .element = acos_, .ulps_f64 = 1 },
    { .op = "atan", .element = atan_, .ulps_f64 = 1 },
    { .op = "asinh", .element = asinh_, .ulps_f64 = 1 },
    { .op = "acosh", .element = acosh_, .ulps_f64 = 1 },
    { .op = "atanh", .element = atanh_, .ulps_f64 = 1 },
    { 0 },
};
