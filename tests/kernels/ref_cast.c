/* What the operators of the cast family mean: numbers through double and int64, NaNs by bits. */
#include "kernel_ref.h"

#include <math.h>

static unsigned mantissa_bits(unsigned key)
{
    static const unsigned bits[QF_DT_COUNT] = {
        [QF_DT_f64] = 52, [QF_DT_f32] = 23,   [QF_DT_f16] = 10,
        [QF_DT_bf16] = 7, [QF_DT_f8e4m3] = 3, [QF_DT_f8e5m2] = 2,
    };
    return bits[key];
}

/* A NaN keeps its sign and the top of its payload and becomes quiet, as processors do it. bf16 and
 * the 8-bit floats have one NaN (bf16 without a sign); widening bf16 only appends zeros. */
static uint64_t cast_nan(const ref_el *e)
{
    const unsigned from = e->in_key[0], to = e->x_key, have = mantissa_bits(from),
                   want = mantissa_bits(to);
    const uint64_t sign = e->in[0] >> (8 * check_key_size(from) - 1) & 1;
    const uint64_t payload = e->in[0] & ((1ull << have) - 1);
    const uint64_t moved = want > have ? payload << (want - have) : payload >> (have - want);
    const uint64_t infinity = to == QF_DT_f64   ? 0x7ff0000000000000
                              : to == QF_DT_f32 ? 0x7f800000
                                                : 0x7c00;

    if (to == QF_DT_bf16)
        return 0x7fc0;
    if (check_key_size(to) == 1)
        return sign << 7 | 0x7f;
    if (from == QF_DT_bf16)
        return e->in[0] << 16;
    return sign << (8 * check_key_size(to) - 1) | infinity | moved | 1ull << (want - 1);
}

/* An integer as a float with one rounding, half to even. */
static uint64_t cast_integer(const ref_el *e)
{
    const int64_t i = check_to_i64(e->in_key[0], e->in[0]);
    const bool negative = check_key_is_signed(e->in_key[0]) && i < 0;
    const unsigned keep = mantissa_bits(e->x_key) + 1;
    uint64_t u = negative ? 0 - (uint64_t)i : (uint64_t)i, dropped = 0;
    int shift = 0;

    while (u >> shift >> keep)
        shift++;
    if (shift) {
        const uint64_t half = 1ull << (shift - 1);
        dropped = u & (2 * half - 1);
        u >>= shift;
        u += dropped > half || (dropped == half && u % 2);
    }
    const double v = ldexp((double)u, shift);
    return check_from_f64(e->x_key, negative ? -v : v);
}

/* Truncation as x86 does it, which gives the least i32 (i64) if the value does not fit; then it
 * wraps. */
static uint64_t truncate(const ref_el *e)
{
    const double v = trunc(check_to_f64(e->in_key[0], e->in[0]));
    const size_t size = check_key_size(e->x_key);
    const bool is_signed = check_key_is_signed(e->x_key);

    if (size < 4 || (size == 4 && is_signed))
        return v >= -0x1p31 && v < 0x1p31 ? (uint64_t)(int64_t)v : (uint64_t)INT32_MIN;
    if (size == 8 && !is_signed && v >= 0x1p63)
        return v < 0x1p64 ? (uint64_t)(int64_t)(v - 0x1p63) + (1ull << 63) : 0;
    return v >= -0x1p63 && v < 0x1p63 ? (uint64_t)(int64_t)v : 1ull << 63;
}

static uint64_t cast(const ref_el *e)
{
    const bool from_float = check_key_is_float(e->in_key[0]),
               to_float = check_key_is_float(e->x_key);

    if (e->x_key == QF_DT_b8)
        return from_float ? !(check_to_f64(e->in_key[0], e->in[0]) == 0) : e->in[0] != 0;
    if (from_float && !to_float)
        return truncate(e);
    if (!from_float)
        return to_float ? cast_integer(e) : (uint64_t)check_to_i64(e->in_key[0], e->in[0]);
    if (check_is_nan(e->in_key[0], e->in[0]))
        return cast_nan(e);
    return check_from_f64(e->x_key, check_to_f64(e->in_key[0], e->in[0]));
}

static uint64_t join(const ref_el *e)
{
    return e->in[0] + e->in[1] * (UINT64_C(1) << 32);
}
static uint64_t low(const ref_el *e)
{
    return e->in[0] % (UINT64_C(1) << 32);
}
static uint64_t high(const ref_el *e)
{
    return e->in[0] / (UINT64_C(1) << 32);
}

const ref_op ref_cast[] = {
    { .op = "to_b8", .x = QF_DT_b8, .element = cast },
    { .op = "to_u8", .x = QF_DT_u8, .element = cast },
    { .op = "to_i8", .x = QF_DT_i8, .element = cast },
    { .op = "to_u16", .x = QF_DT_u16, .element = cast },
    { .op = "to_i16", .x = QF_DT_i16, .element = cast },
    { .op = "to_u32", .x = QF_DT_u32, .element = cast },
    { .op = "to_i32", .x = QF_DT_i32, .element = cast },
    { .op = "to_u64", .x = QF_DT_u64, .element = cast },
    { .op = "to_i64", .x = QF_DT_i64, .element = cast },
    { .op = "to_f16", .x = QF_DT_f16, .element = cast, .flags = REF_NAN_BITS },
    { .op = "to_bf16", .x = QF_DT_bf16, .element = cast, .flags = REF_NAN_BITS },
    { .op = "to_f32", .x = QF_DT_f32, .element = cast, .flags = REF_NAN_BITS },
    { .op = "to_f64", .x = QF_DT_f64, .element = cast, .flags = REF_NAN_BITS },
    { .op = "to_f8e4m3", .x = QF_DT_f8e4m3, .element = cast, .flags = REF_NAN_BITS },
    { .op = "to_f8e5m2", .x = QF_DT_f8e5m2, .element = cast, .flags = REF_NAN_BITS },
    { .op = "join", .x = QFK_KEY_x64, .element = join },
    { .op = "low", .x = QFK_KEY_x32, .element = low },
    { .op = "high", .x = QFK_KEY_x32, .element = high },
    { 0 },
};
