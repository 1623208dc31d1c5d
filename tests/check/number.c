/* Number formats the slow way, from one table: no bit tricks, so that it can judge code which uses them. */
#include "check.h"

#include <math.h>
#include <string.h>

/* A binary float format. top: the largest finite code without its sign.  nan: the default NaN.  inf: 0 if it has none. */
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

static const float_format formats[] = {
    [QF_DT_f64] = { 11, 52, 0x7fefffffffffffff, 0x7ff8000000000000, 0x7ff0000000000000 },
    [QF_DT_f32] = { 8, 23, 0x7f7fffff, 0x7fc00000, 0x7f800000 },
    [QF_DT_f16] = { 5, 10, 0x7bff, 0x7e00, 0x7c00 },
    [QF_DT_bf16] = { 8, 7, 0x7f7f, 0x7fc0, 0x7f80 },
    [QF_DT_f8e4m3] = { 4, 3, 0x7e, 0x7f, 0 },
    [QF_DT_f8e5m2] = { 5, 2, 0x7b, 0x7f, 0x7c },
    [QF_DT_COUNT] = { 0 },
};

static key_info key_info_of(unsigned key)
{
    static const key_info keys[QFK_KEY_COUNT] = {
#define QF_DTYPE(name, bits, kind, compute, torch, onnx, safetensors, gguf) [QF_DT_##name] = { #name, bits, QF_CLASS_##kind, { 0 } },
#include <qfold/dtype.def>
#undef QF_DTYPE
        [QFK_KEY_x4] = { "x4", 4, QF_CLASS_UINT, { 0 } },    [QFK_KEY_x8] = { "x8", 8, QF_CLASS_UINT, { 0 } },
        [QFK_KEY_x16] = { "x16", 16, QF_CLASS_UINT, { 0 } }, [QFK_KEY_x32] = { "x32", 32, QF_CLASS_UINT, { 0 } },
        [QFK_KEY_x64] = { "x64", 64, QF_CLASS_UINT, { 0 } },
    };
    key_info info = keys[key];

    if (key < QF_DT_COUNT)
        info.f = formats[key];
    return info;
}

size_t check_key_size(unsigned key) { return key_info_of(key).bits / 8; }
bool check_key_is_float(unsigned key) { return key_info_of(key).kind == QF_CLASS_FLOAT; }
bool check_key_is_signed(unsigned key) { return key_info_of(key).kind == QF_CLASS_INT; }
const char *check_key_name(unsigned key) { return key_info_of(key).name; }

static uint64_t magnitude(const key_info *k, uint64_t bits)
{
    return bits & ((1ull << (k->bits - 1)) - 1);
}

bool check_is_nan(unsigned key, uint64_t bits)
{
    const key_info k = key_info_of(key);

    return k.kind == QF_CLASS_FLOAT && magnitude(&k, bits) > (k.f.inf ? k.f.inf : k.f.top);
}

double check_to_f64(unsigned key, uint64_t bits)
{
    const key_info k = key_info_of(key);
    const uint64_t u = magnitude(&k, bits), fraction = u & ((1ull << k.f.mantissa_bits) - 1);
    const int bias = (1 << (k.f.exponent_bits - 1)) - 1, exponent = (int)(u >> k.f.mantissa_bits);
    double v;

    if (check_is_nan(key, bits))
        v = (double)NAN;
    else if (k.f.inf && u == k.f.inf)
        v = (double)INFINITY;
    else if (exponent == 0)
        v = ldexp((double)fraction, 1 - bias - k.f.mantissa_bits);
    else
        v = ldexp((double)(fraction | 1ull << k.f.mantissa_bits), exponent - bias - k.f.mantissa_bits);
    return bits >> (k.bits - 1) & 1 ? -v : v;
}

uint64_t check_from_f64(unsigned key, double value)
{
    const key_info k = key_info_of(key);
    const uint64_t sign = (uint64_t)(signbit(value) != 0) << (k.bits - 1);
    const int bias = (1 << (k.f.exponent_bits - 1)) - 1;
    int exponent;

    if (isnan(value))
        return k.f.nan;
    if (isinf(value))
        return sign | (k.f.inf ? k.f.inf : k.f.top);
    (void)frexp(value, &exponent);
    exponent = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
    /* The value in units of its last place; nearbyint rounds half to even. */
    const double units = nearbyint(ldexp(fabs(value), k.f.mantissa_bits - exponent));
    const uint64_t code = (uint64_t)units + ((uint64_t)(exponent + bias - 1) << k.f.mantissa_bits);
    if (value == 0)
        return sign;
    if (code > k.f.top)
        return sign | (k.f.inf ? k.f.inf : k.f.top);
    return sign | code;
}

int64_t check_to_i64(unsigned key, uint64_t bits)
{
    const key_info k = key_info_of(key);

    if (k.kind == QF_CLASS_INT && k.bits < 64 && bits >> (k.bits - 1))
        bits |= ~0ull << k.bits;
    return (int64_t)bits;
}

uint64_t check_ulps(unsigned key, uint64_t a, uint64_t b)
{
    const key_info k = key_info_of(key);
    const uint64_t ma = magnitude(&k, a), mb = magnitude(&k, b);
    const bool nan_a = check_is_nan(key, a), nan_b = check_is_nan(key, b);

    if (nan_a || nan_b)
        return nan_a && nan_b ? 0 : UINT64_MAX;
    if ((a ^ b) >> (k.bits - 1) & 1)
        return ma + mb;
    return ma > mb ? ma - mb : mb - ma;
}
