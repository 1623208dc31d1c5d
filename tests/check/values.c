/* The values that tests put into operands: special ones per key, mixed with small numbers and
 * random bits. */
#include "check.h"

static const uint64_t f64_values[] = {
    0x0000000000000000, 0x8000000000000000,
    0x3ff0000000000000, 0xbff0000000000000, /* 0 and 1 */
    0x0000000000000001, 0x8000000000000001,
    0x000fffffffffffff, 0x0010000000000000, /* subnormals */
    0x7fefffffffffffff, 0xffefffffffffffff,
    0x7ff0000000000000, 0xfff0000000000000, /* extremes */
    0x7ff8000000000000, 0xfff8000000000000,
    0x7ff0000000000001, 0x7ffc000012345678, /* NaNs */
    0x3fe0000000000000, 0xbfe0000000000000,
    0x3ff8000000000000, 0x4004000000000000, /* 0.5, 1.5, 2.5 */
    0x3fdfffffffffffff, 0x4330000000000000,
    0x4320000000000001, 0x4340000000000000, /* 2^52, 2^53 */
    0x43dfffffffffffff, 0x43e0000000000000,
    0xc3e0000000000000, 0x43f0000000000000, /* 2^63, 2^64 */
    0x41dfffffffc00000, 0x41e0000000000000,
    0xc1e0000000000000, 0xc1e0000000200000, /* 2^31 */
    0x47efffffe0000000, 0x47efffffefffffff,
    0x47effffff0000000, 0x36a0000000000000, /* ends of float */
    0x3690000000000000, 0x3690000000000001,
    0x3ff0000010000000, 0x3ff0000030000000, /* ties for float */
    0x4060000000000000, 0xc060000000000000,
    0x406fe00000000000, 0x4070000000000000, /* 128, 255, 256 */
};

static const uint64_t f32_values[] = {
    0x00000000, 0x80000000, 0x3f800000, 0xbf800000,
    0x00000001, 0x80000001, 0x007fffff, 0x00800000, /* 0, 1, subnormals */
    0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
    0x7fc00000, 0xffc00000, 0x7f800001, 0xffbfffff, /* extremes, NaNs */
    0x7fabcdef, 0x3f000000, 0xbf000000, 0x3fc00000,
    0x40200000, 0xc0200000, 0x3effffff, 0x4b000000, /* halves, 2^23 */
    0x4b000001, 0x4a800001, 0x4b800000, 0x4effffff,
    0x4f000000, 0xcf000000, 0xcf000001, 0x4f800000, /* 2^31, 2^32 */
    0x5effffff, 0x5f000000, 0xdf000000, 0x5f800000,
    0x43000000, 0xc3000000, 0x437f0000, 0x43800000, /* 2^63, 128, 256 */
    0x477fe000, 0x477fefff, 0x477ff000, 0x477ff001,
    0x33000000, 0x33000001, 0x33800000, 0x33c00000, /* ends of f16 */
    0x387fc000, 0x387fe000, 0x387fffff, 0x38800000,
    0x38801000, 0x38803000, 0x3f801000, 0x3f803000, /* ties of f16 */
    0x3f808000, 0x3f818000, 0x3f807fff, 0x7f7f7fff,
    0x7f7f8000, 0x00008000, 0x00018000, 0x00010000, /* bf16 */
    0x43e00000, 0x43e7ffff, 0x43e80000, 0x43e80001,
    0x43f00000, 0x3a800000, 0x3a800001, 0x3b400000, /* e4m3 */
    0x3c700000, 0x3c780000, 0x3c800000, 0x3c880000,
    0x3f880000, 0x3f980000, 0x3b000000, 0xbb000000, /* e4m3 ties */
    0x47600000, 0x476fffff, 0x47700000, 0x47700001,
    0x37000000, 0x37000001, 0x37800000, 0x37c00000, /* e5m2 */
    0x3f900000, 0x3fb00000, 0x38600000, 0x38700000,
    0x41400000, 0xc1200000, 0x40490fdb, 0x42c80000, /* e5m2 ties */
};

static const uint64_t f16_values[] = { 0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400,
                                       0x3c00, 0xbc00, 0x7bff, 0xfbff, 0x7c00, 0xfc00,
                                       0x7e00, 0xfe00, 0x7c01, 0xfdff, 0x7fff };

static const uint64_t bf16_values[] = { 0x0000, 0x8000, 0x0001, 0x8001, 0x007f, 0x0080,
                                        0x3f80, 0xbf80, 0x7f7f, 0xff7f, 0x7f80, 0xff80,
                                        0x7fc0, 0xffc0, 0x7f81, 0xff81, 0x7fff };

static const struct {
    const uint64_t *v;
    size_t n;
} specials[QF_DT_COUNT] = {
    [QF_DT_f64] = { f64_values, sizeof f64_values / sizeof *f64_values },
    [QF_DT_f32] = { f32_values, sizeof f32_values / sizeof *f32_values },
    [QF_DT_f16] = { f16_values, sizeof f16_values / sizeof *f16_values },
    [QF_DT_bf16] = { bf16_values, sizeof bf16_values / sizeof *bf16_values },
};

uint64_t check_random(check_rng *rng)
{
    /* xorshift64*. */
    rng->state ^= rng->state >> 12;
    rng->state ^= rng->state << 25;
    rng->state ^= rng->state >> 27;
    return rng->state * 0x2545f4914f6cdd1d;
}

size_t check_below(check_rng *rng, size_t n)
{
    return (size_t)((check_random(rng) >> 32) * n >> 32);
}
bool check_chance(check_rng *rng, unsigned percent)
{
    return check_below(rng, 100) < percent;
}

static uint64_t integer_value(size_t size, check_rng *rng)
{
    const uint64_t ones = ~(uint64_t)0 >> (64 - 8 * size), top = (uint64_t)1 << (8 * size - 1);
    const uint64_t values[] = {
        0, 1, 2, ones, ones - 1, top, top - 1, top + 1, ones / 3, ones / 5
    };

    if (check_chance(rng, 33))
        return values[check_below(rng, sizeof values / sizeof *values)];
    if (check_chance(rng, 50))
        return (uint64_t)((int64_t)check_below(rng, 41) - 20) & ones;
    return check_random(rng) & ones;
}

uint64_t check_value(unsigned key, check_rng *rng)
{
    const size_t size = check_key_size(key);

    if (key == QF_DT_b8)
        return check_random(rng) >> 63;
    if (size == 1 && check_key_is_float(key))
        return check_random(rng) >> 56;
    if (!check_key_is_float(key))
        return integer_value(size, rng);
    if (check_chance(rng, 33))
        return specials[key].v[check_below(rng, specials[key].n)];
    if (check_chance(rng, 50))
        return check_from_f64(key, (double)((int64_t)check_below(rng, 4001) - 2000) / 64);
    return check_random(rng) & (~(uint64_t)0 >> (64 - 8 * size));
}
