/* Number formats the slow way, from one table: no bit tricks, so that it can judge code that has
 * them. */
#include "check.h"

#include <math.h>
#include <string.h>

/* A binary float format. top: the largest finite code without its sign.  nan: the default NaN.
 * inf: 0 if it has none. */
typedef struct float_format {
    int exponent_bits, mantissa_bits;
    uint64_t top, nan, inf;
} float_format;

typedef struct key_info {
    const char *name;
    unsigned bits;
    qf_dtype_class kind;
    float_format f;
} key_info;

#define NO_FLOAT                                                                                   \
    {                                                                                              \
        0, 0, 0, 0, 0                                                                              \
    }
#define F64                                                                                        \
    {                                                                                              \
        11, 52, 0x7fefffffffffffff, 0x7ff8000000000000, 0x7ff0000000000000                         \
    }

static const key_info keys[QFK_KEY_COUNT] = {
    [QF_DT_b8] = { "b8", 8, QF_CLASS_BOOL, NO_FLOAT },
    [QF_DT_u8] = { "u8", 8, QF_CLASS_UINT, NO_FLOAT },
    [QF_DT_i8] = { "i8", 8, QF_CLASS_INT, NO_FLOAT },
    [QF_DT_u16] = { "u16", 16, QF_CLASS_UINT, NO_FLOAT },
    [QF_DT_i16] = { "i16", 16, QF_CLASS_INT, NO_FLOAT },
    [QF_DT_u32] = { "u32", 32, QF_CLASS_UINT, NO_FLOAT },
    [QF_DT_i32] = { "i32", 32, QF_CLASS_INT, NO_FLOAT },
    [QF_DT_u64] = { "u64", 64, QF_CLASS_UINT, NO_FLOAT },
    [QF_DT_i64] = { "i64", 64, QF_CLASS_INT, NO_FLOAT },
    [QF_DT_f16] = { "f16", 16, QF_CLASS_FLOAT, { 5, 10, 0x7bff, 0x7e00, 0x7c00 } },
    [QF_DT_bf16] = { "bf16", 16, QF_CLASS_FLOAT, { 8, 7, 0x7f7f, 0x7fc0, 0x7f80 } },
    [QF_DT_f32] = { "f32", 32, QF_CLASS_FLOAT, { 8, 23, 0x7f7fffff, 0x7fc00000, 0x7f800000 } },
    [QF_DT_f64] = { "f64", 64, QF_CLASS_FLOAT, F64 },
    [QF_DT_f8e4m3] = { "f8e4m3", 8, QF_CLASS_FLOAT, { 4, 3, 0x7e, 0x7f, 0 } },
    [QF_DT_f8e5m2] = { "f8e5m2", 8, QF_CLASS_FLOAT, { 5, 2, 0x7b, 0x7f, 0x7c } },
    [QF_DT_u4] = { "u4", 4, QF_CLASS_UINT, NO_FLOAT },
    [QF_DT_i4] = { "i4", 4, QF_CLASS_INT, NO_FLOAT },
    [QFK_KEY_x4] = { "x4", 4, QF_CLASS_UINT, NO_FLOAT },
    [QFK_KEY_x8] = { "x8", 8, QF_CLASS_UINT, NO_FLOAT },
    [QFK_KEY_x16] = { "x16", 16, QF_CLASS_UINT, NO_FLOAT },
    [QFK_KEY_x32] = { "x32", 32, QF_CLASS_UINT, NO_FLOAT },
    [QFK_KEY_x64] = { "x64", 64, QF_CLASS_UINT, NO_FLOAT },
};

size_t check_key_size(unsigned key)
{
    return keys[key].bits / 8;
}
bool check_key_is_float(unsigned key)
{
    return keys[key].kind == QF_CLASS_FLOAT;
}
bool check_key_is_signed(unsigned key)
{
    return keys[key].kind == QF_CLASS_INT;
}
const char *check_key_name(unsigned key)
{
    return keys[key].name;
}

static uint64_t magnitude(const key_info *k, uint64_t bits)
{
    return bits & ((1ull << (k->bits - 1)) - 1);
}

bool check_is_nan(unsigned key, uint64_t bits)
{
    const key_info *k = &keys[key];

    return k->kind == QF_CLASS_FLOAT && magnitude(k, bits) > (k->f.inf ? k->f.inf : k->f.top);
}

double check_to_f64(unsigned key, uint64_t bits)
{
    const key_info *k = &keys[key];
    const uint64_t u = magnitude(k, bits);
    const uint64_t fraction = u & ((1ull << k->f.mantissa_bits) - 1);
    const int bias = (1 << (k->f.exponent_bits - 1)) - 1, exponent = (int)(u >> k->f.mantissa_bits);
    double v;

    if (check_is_nan(key, bits))
        v = (double)NAN;
    else if (k->f.inf && u == k->f.inf)
        v = (double)INFINITY;
    else if (exponent == 0)
        v = ldexp((double)fraction, 1 - bias - k->f.mantissa_bits);
    else
        v = ldexp((double)(fraction | 1ull << k->f.mantissa_bits),
                  exponent - bias - k->f.mantissa_bits);
    return bits >> (k->bits - 1) & 1 ? -v : v;
}

uint64_t check_from_f64(unsigned key, double value)
{
    const key_info *k = &keys[key];
    const uint64_t sign = (uint64_t)(signbit(value) != 0) << (k->bits - 1);
    const int bias = (1 << (k->f.exponent_bits - 1)) - 1;
    int exponent;

    if (isnan(value))
        return k->f.nan;
    if (isinf(value))
        return sign | (k->f.inf ? k->f.inf : k->f.top);
    (void)frexp(value, &exponent);
    exponent = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
    /* The value in units of its last place; nearbyint rounds half to even. */
    const double units = nearbyint(ldexp(fabs(value), k->f.mantissa_bits - exponent));
    const uint64_t code = (uint64_t)units + ((uint64_t)(exponent + bias - 1) << k->f.mantissa_bits);
    if (value == 0)
        return sign;
    if (code > k->f.top)
        return sign | (k->f.inf ? k->f.inf : k->f.top);
    return sign | code;
}

int64_t check_to_i64(unsigned key, uint64_t bits)
{
    const key_info *k = &keys[key];

    if (k->kind == QF_CLASS_INT && k->bits < 64 && bits >> (k->bits - 1))
        bits |= ~0ull << k->bits;
    return (int64_t)bits;
}

uint64_t check_ulps(unsigned key, uint64_t a, uint64_t b)
{
    const key_info *k = &keys[key];
    const uint64_t ma = magnitude(k, a), mb = magnitude(k, b);
    const bool nan_a = check_is_nan(key, a), nan_b = check_is_nan(key, b);

    if (nan_a || nan_b)
        return nan_a && nan_b ? 0 : UINT64_MAX;
    if ((a ^ b) >> (k->bits - 1) & 1)
        return ma + mb;
    return ma > mb ? ma - mb : mb - ma;
}
