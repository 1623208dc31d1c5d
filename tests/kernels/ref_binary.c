/* What the operators of the binary family mean, in 64-bit integers and doubles. */
#include "kernel_ref.h"

#include <math.h>

__extension__ typedef __int128 wide;

static double f(const ref_el *e, unsigned k)
{
    return check_to_f64(e->key, e->in[k]);
}
static int64_t i(const ref_el *e, unsigned k)
{
    return check_to_i64(e->key, e->in[k]);
}
static uint64_t float_bits(const ref_el *e, double v)
{
    return check_from_f64(e->key, v);
}
static unsigned width(const ref_el *e)
{
    return 8 * (unsigned)check_key_size(e->key);
}

static uint64_t add(const ref_el *e)
{
    return check_key_is_float(e->key) ? float_bits(e, f(e, 0) + f(e, 1)) : e->in[0] + e->in[1];
}

static uint64_t sub(const ref_el *e)
{
    return check_key_is_float(e->key) ? float_bits(e, f(e, 0) - f(e, 1)) : e->in[0] - e->in[1];
}

static uint64_t mul(const ref_el *e)
{
    return check_key_is_float(e->key) ? float_bits(e, f(e, 0) * f(e, 1)) : e->in[0] * e->in[1];
}

static uint64_t div_(const ref_el *e)
{
    return float_bits(e, f(e, 0) / f(e, 1));
}

/* An integer of the key as a wide one, so that nothing below can overflow. */
static wide value(const ref_el *e, unsigned k)
{
    return check_key_is_signed(e->key) ? (wide)i(e, k) : (wide)e->in[k];
}

/* Integer quotients; 0 where b is 0 or the quotient does not fit. */
static uint64_t quotient(const ref_el *e, bool to_floor)
{
    const wide a = value(e, 0), b = value(e, 1);

    if (b == 0)
        return 0;
    wide q = a / b;
    if (q > 0 && check_key_is_signed(e->key) && q >> (width(e) - 1))
        return 0;
    if (to_floor && q * b != a && (a < 0) != (b < 0))
        q--;
    return (uint64_t)q;
}

/* floor(a / b) of torch: rounding a / b to an integer upwards must not happen. */
static double float_floor(const ref_el *e)
{
    const double a = f(e, 0), b = f(e, 1);
    const bool narrow = e->key == QF_DT_f32;
    double r = fmod(a, b), q;

    if (b == 0)
        return a / b;
    q = narrow ? (double)((float)(a - r) / (float)b) : (a - r) / b;
    if (r != 0 && (b < 0) != (r < 0))
        q = narrow ? (double)(float)(q - 1) : q - 1;
    if (q == 0)
        return copysign(0, a / b);
    r = floor(q);
    return q - r > 0.5 ? r + 1 : r;
}

static uint64_t idiv_trunc(const ref_el *e)
{
    const uint64_t q = check_key_is_float(e->key) ? div_(e) : quotient(e, false);

    return check_key_is_float(e->key) ? float_bits(e, trunc(check_to_f64(e->key, q))) : q;
}

static uint64_t idiv_floor(const ref_el *e)
{
    return check_key_is_float(e->key) ? float_bits(e, float_floor(e)) : quotient(e, true);
}

static uint64_t fmod_(const ref_el *e)
{
    if (check_key_is_float(e->key))
        return float_bits(e, fmod(f(e, 0), f(e, 1)));
    return value(e, 1) ? (uint64_t)(value(e, 0) % value(e, 1)) : 0;
}

static uint64_t remainder_(const ref_el *e)
{
    if (!check_key_is_float(e->key)) {
        const wide b = value(e, 1), r = b ? value(e, 0) % b : 0;
        return (uint64_t)(r && (r < 0) != (b < 0) ? r + b : r);
    }
    const double b = f(e, 1), r = fmod(f(e, 0), b);
    return float_bits(e, r != 0 && (r < 0) != (b < 0) ? r + b : r);
}

static uint64_t pow_(const ref_el *e)
{
    if (check_key_is_float(e->key))
        return float_bits(e, pow(f(e, 0), f(e, 1)));
    const int64_t a = i(e, 0), b = i(e, 1);
    uint64_t x = 1;
    if (b < 0)
        return a == 1 || (a == -1 && b % 2 == 0) ? 1 : a == -1 ? ~(uint64_t)0 : 0;
    for (int bit = 62; bit >= 0; bit--) {
        x *= x;
        if ((uint64_t)b >> bit & 1)
            x *= (uint64_t)a;
    }
    return x;
}

static uint64_t atan2_(const ref_el *e)
{
    return float_bits(e, (double)atan2l(f(e, 0), f(e, 1)));
}

static uint64_t hypot_(const ref_el *e)
{
    return float_bits(e, (double)hypotl(f(e, 0), f(e, 1)));
}

static uint64_t minimum(const ref_el *e)
{
    if (!check_key_is_float(e->key))
        return value(e, 1) < value(e, 0) ? e->in[1] : e->in[0];
    if (isnan(f(e, 0)) || isnan(f(e, 1)))
        return float_bits(e, (double)NAN);
    return f(e, 1) < f(e, 0) ? e->in[1] : e->in[0];
}

static uint64_t maximum(const ref_el *e)
{
    if (!check_key_is_float(e->key))
        return value(e, 1) > value(e, 0) ? e->in[1] : e->in[0];
    if (isnan(f(e, 0)) || isnan(f(e, 1)))
        return float_bits(e, (double)NAN);
    return f(e, 1) > f(e, 0) ? e->in[1] : e->in[0];
}

static uint64_t bit_and(const ref_el *e)
{
    return e->in[0] & e->in[1];
}
static uint64_t bit_or(const ref_el *e)
{
    return e->in[0] | e->in[1];
}
static uint64_t bit_xor(const ref_el *e)
{
    return e->in[0] ^ e->in[1];
}

/* Shifts one place at a time. */
static uint64_t shl(const ref_el *e)
{
    uint64_t x = e->in[0];

    for (uint64_t n = e->in[1] < 64 ? e->in[1] : 64; n; n--)
        x *= 2;
    return x;
}

static uint64_t shr(const ref_el *e)
{
    wide x = value(e, 0), n = value(e, 1);

    for (n = n < 0 || n > 64 ? 64 : n; n; n--)
        x = (x - (x < 0)) / 2;
    return (uint64_t)x;
}

/* f32: the product is exact in double; the sum is rounded to odd there, and so correctly
 * afterwards. */
static uint64_t fma_(const ref_el *e)
{
    const double c = f(e, 2), p = f(e, 0) * f(e, 1), s = p + c, t = s - p,
                 error = (p - (s - t)) + (c - t);
    double odd = s;

    if (e->key == QF_DT_f64)
        return float_bits(e, fma(f(e, 0), f(e, 1), c));
    if (isfinite(s) && error != 0 && check_from_f64(QF_DT_f64, s) % 2 == 0)
        odd = nextafter(s, error > 0 ? (double)INFINITY : (double)-INFINITY);
    return float_bits(e, odd);
}

const ref_op ref_binary[] = {
    { .op = "add", .element = add },
    { .op = "sub", .element = sub },
    { .op = "mul", .element = mul },
    { .op = "div", .element = div_ },
    { .op = "idiv_trunc", .element = idiv_trunc },
    { .op = "idiv_floor", .element = idiv_floor },
    { .op = "fmod", .element = fmod_ },
    { .op = "remainder", .element = remainder_ },
    { .op = "pow", .element = pow_, .ulps_f32 = 1, .ulps_f64 = 1 },
    { .op = "atan2", .element = atan2_, .ulps_f64 = 1 },
    { .op = "hypot", .element = hypot_, .ulps_f64 = 1 },
    { .op = "minimum", .element = minimum },
    { .op = "maximum", .element = maximum },
    { .op = "bit_and", .element = bit_and },
    { .op = "bit_or", .element = bit_or },
    { .op = "bit_xor", .element = bit_xor },
    { .op = "shl", .element = shl },
    { .op = "shr", .element = shr },
    { .op = "fma", .element = fma_ },
    { 0 },
};
