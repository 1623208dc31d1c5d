/* What the operators of the quant family mean: f32 arithmetic, done in f64 and rounded after each
 * step (exact: a sum or product of two f32 survives that double rounding). */
#include "kernel_ref.h"

#include <math.h>

static double f32(double value)
{
    return check_to_f64(QF_DT_f32, check_from_f64(QF_DT_f32, value));
}

static double operand(const ref_el *e, unsigned k)
{
    return check_to_f64(QF_DT_f32, e->in[k]);
}

/* The least and the greatest f32 that a value of the key can be. */
static void key_range(unsigned key, double *low, double *high)
{
    const int bits = (int)check_key_size(key) * 8 - check_key_is_signed(key);
    *low = check_key_is_signed(key) ? -ldexp(1, bits) : 0;
    *high = bits > 24 ? ldexp(1, bits) - ldexp(1, bits - 24) : ldexp(1, bits) - 1;
}

static uint64_t quantize(const ref_el *e)
{
    double low, high;
    const double v = f32(rint(f32(operand(e, 0) * operand(e, 1))) + operand(e, 2));

    key_range(e->key, &low, &high);
    low = fmax(low, e->p->f[0]);
    high = fmin(high, e->p->f[1]);
    if (isnan(v))
        return 0;
    return (uint64_t)(int64_t)(v > high ? high : v < low ? low : v);
}

static bool is_nibble(unsigned key)
{
    return key == QF_DT_i4 || key == QF_DT_u4;
}

static void dequantize(const ref_case *c)
{
    const unsigned key = c->row->key, held = key == QF_DT_i4   ? QF_DT_i8
                                             : key == QF_DT_u4 ? QF_DT_u8
                                                               : key;

    for (size_t i = 0; i < c->m; i++)
        for (size_t j = 0; j < c->n; j++) {
            const uint64_t bits = is_nibble(key) ? ref_nibble(c, i, j) : ref_get(&c->in[0], i, j);
            const double q = f32((double)check_to_i64(held, bits)),
                         scale = check_to_f64(QF_DT_f32, ref_get(&c->in[1], i, j)),
                         zero = check_to_f64(QF_DT_f32, ref_get(&c->in[2], i, j));
            ref_set(&c->x, i, j, check_from_f64(c->x.key, f32(f32(q - zero) * scale)));
        }
}

static void shape_dequantize(ref_case *c, check_rng *rng)
{
    if (is_nibble(c->row->key))
        ref_shape_nibbles(c, rng);
}

/* The difference wraps, and is rounded once. */
static uint64_t dequantize_i64(const ref_el *e)
{
    const int64_t q = (int64_t)((uint64_t)check_to_i64(e->key, e->in[0]) - e->in[2]);
    return check_from_f64(QF_DT_f32, f32((double)(float)q * operand(e, 1)));
}

/* Zero points inside and outside of what floats hold exactly. */
static void zeros(const ref_case *c, check_rng *rng)
{
    static const int64_t some[] = { 0,        3,          -128,          255,
                                    1 << 23,  -(1 << 23), (1 << 23) + 1, INT64_MAX,
                                    INT64_MIN };
    const size_t kinds = check_chance(rng, 50) ? 4 : sizeof some / sizeof *some;

    for (size_t i = 0; i < c->m; i++)
        for (size_t j = 0; j < c->n; j++)
            ref_set(&c->in[2], i, j, (uint64_t)some[check_below(rng, (unsigned)kinds)]);
}

/* Bounds: those of the type, narrower, or wider than it can hold. */
static void bounds(ref_case *c, check_rng *rng)
{
    double low, high;

    key_range(c->row->key, &low, &high);
    const double lows[] = { low, low / 2, low - 1000, -INFINITY, -7 };
    const double highs[] = { high, high + 1, 15, 7, INFINITY };
    const size_t at = check_below(rng, 5);
    c->p.f[0] = lows[at];
    c->p.f[1] = highs[at];
}

/* Factors and zero points with which most results are inside the range, and many are ties. */
static void usual(const ref_case *c, check_rng *rng)
{
    for (size_t i = 0; i < c->m; i++)
        for (size_t j = 0; j < c->n; j++) {
            const double factor = (double)(1 + check_below(rng, 64)) / 16;
            const double zero = (double)check_below(rng, 256) - 128;
            if (check_chance(rng, 80))
                ref_set(&c->in[1], i, j, check_from_f64(QF_DT_f32, factor));
            if (check_chance(rng, 80))
                ref_set(&c->in[2], i, j, check_from_f64(QF_DT_f32, zero));
        }
}

const ref_op ref_quant[] = {
    { .op = "quantize",
      .in = { QF_DT_f32, QF_DT_f32, QF_DT_f32 },
      .element = quantize,
      .shape = bounds,
      .values = usual },
    { .op = "dequantize",
      .in = { 0, QF_DT_f32, QF_DT_f32 },
      .x = QF_DT_f32,
      .tile = dequantize,
      .shape = shape_dequantize,
      .values = usual },
    { .op = "dequantize_f16",
      .in = { 0, QF_DT_f32, QF_DT_f32 },
      .x = QF_DT_f16,
      .tile = dequantize,
      .shape = shape_dequantize,
      .values = usual },
    { .op = "dequantize_bf16",
      .in = { 0, QF_DT_f32, QF_DT_f32 },
      .x = QF_DT_bf16,
      .tile = dequantize,
      .shape = shape_dequantize,
      .values = usual },
    { .op = "dequantize_i64",
      .in = { 0, QF_DT_f32, QF_DT_i64 },
      .x = QF_DT_f32,
      .element = dequantize_i64,
      .values = zeros },
    { .op = "dequantize_turned",
      .in = { 0, QF_DT_f32, QF_DT_f32 },
      .x = QF_DT_f32,
      .tile = dequantize,
      .values = usual,
      .flags = REF_RUNS_DOWN },
    { .op = "dequantize_turned_f16",
      .in = { 0, QF_DT_f32, QF_DT_f32 },
      .x = QF_DT_f16,
      .tile = dequantize,
      .values = usual,
      .flags = REF_RUNS_DOWN },
    { .op = "dequantize_turned_bf16",
      .in = { 0, QF_DT_f32, QF_DT_f32 },
      .x = QF_DT_bf16,
      .tile = dequantize,
      .values = usual,
      .flags = REF_RUNS_DOWN },
    { 0 },
};
