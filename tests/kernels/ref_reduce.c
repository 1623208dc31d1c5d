/* What the operators of the reduce family mean. */
#include "kernel_ref.h"

#include <math.h>

/* The partial `s` (in the state's key) after it has met `a` (in the input's). */
typedef uint64_t meet(unsigned s_key, uint64_t s, unsigned a_key, uint64_t a);

static uint64_t add(unsigned s_key, uint64_t s, unsigned a_key, uint64_t a)
{
    if (!check_key_is_float(s_key))
        return s + a;
    return check_from_f64(s_key, check_to_f64(s_key, s) + check_to_f64(a_key, a));
}

static uint64_t add_square(unsigned s_key, uint64_t s, unsigned a_key, uint64_t a)
{
    const double v = check_to_f64(a_key, a);
    return add(s_key, s, QF_DT_f64, check_from_f64(QF_DT_f64, v * v));
}

/* Is a above s? Numbers of any key; a NaN is above every number. */
static bool above(unsigned key, uint64_t a, uint64_t s)
{
    if (check_key_is_float(key)) {
        if (check_is_nan(key, a) || check_is_nan(key, s))
            return !check_is_nan(key, s);
        return check_to_f64(key, a) > check_to_f64(key, s);
    }
    if (check_key_is_signed(key))
        return check_to_i64(key, a) > check_to_i64(key, s);
    return a > s;
}

static uint64_t greater(unsigned s_key, uint64_t s, unsigned a_key, uint64_t a)
{
    (void)a_key;
    return above(s_key, a, s) ? a : s;
}

static uint64_t lesser(unsigned s_key, uint64_t s, unsigned a_key, uint64_t a)
{
    (void)a_key;
    if (check_is_nan(s_key, a) || check_is_nan(s_key, s))
        return check_is_nan(s_key, s) ? s : a;
    return above(s_key, s, a) ? a : s;
}

static uint64_t either(unsigned s_key, uint64_t s, unsigned a_key, uint64_t a)
{
    (void)s_key, (void)a_key;
    return s || a;
}

/* The end of a key's values: greatest (sign 1) or least (sign -1). */
static uint64_t extreme(unsigned key, int way)
{
    const unsigned bits = 8 * (unsigned)check_key_size(key);
    const uint64_t ones = ~(uint64_t)0 >> (64 - bits);

    if (check_key_is_float(key))
        return check_from_f64(key, way * (double)INFINITY);
    if (check_key_is_signed(key))
        return way > 0 ? ones >> 1 : (ones >> 1) + 1;
    return way > 0 ? ones : 0;
}

static void accumulate(const ref_case *c, uint64_t start, meet *next)
{
    for (size_t i = 0; i < c->m; i++) {
        for (size_t t = 0; c->p.i[1] && t < 16; t++)
            ref_set(&c->x, i, t, start);
        for (size_t j = 0; j < c->n; j++) {
            const size_t t = ((size_t)c->p.i[0] + j) % 16;
            const uint64_t s = ref_get(&c->x, i, t), a = ref_get(&c->in[0], i, j);
            ref_set(&c->x, i, t, next(c->x.key, s, c->in[0].key, a));
        }
    }
}

/* The tree, from its root down: a node of width w at t joins those of width w / 2 at t and at
 * t + its distance; the leaves are the partials. */
static uint64_t joined(const ref_case *c, size_t i, size_t t, size_t apart, meet *next)
{
    if (apart == 16)
        return ref_get(&c->in[0], i, t);
    const uint64_t a = joined(c, i, t, 2 * apart, next);
    const uint64_t b = joined(c, i, t + apart, 2 * apart, next);
    return next(c->x.key, a, c->x.key, b);
}

static void join(const ref_case *c, meet *next)
{
    for (size_t i = 0; i < c->m; i++)
        ref_set(&c->x, i, 0, joined(c, i, 0, 1, next));
}

static void sum(const ref_case *c)
{
    accumulate(c, 0, add);
}
static void sumsq(const ref_case *c)
{
    accumulate(c, 0, add_square);
}
static void amax(const ref_case *c)
{
    accumulate(c, extreme(c->x.key, -1), greater);
}
static void amin(const ref_case *c)
{
    accumulate(c, extreme(c->x.key, 1), lesser);
}
static void any(const ref_case *c)
{
    accumulate(c, 0, either);
}
static void sum_end(const ref_case *c)
{
    join(c, add);
}
static void amax_end(const ref_case *c)
{
    join(c, greater);
}
static void amin_end(const ref_case *c)
{
    join(c, lesser);
}
static void any_end(const ref_case *c)
{
    join(c, either);
}

static void shape_state(ref_case *c, check_rng *rng)
{
    c->x.n = 16;
    c->p.i[0] = (int64_t)check_below(rng, 50);
    c->p.i[1] = check_chance(rng, 50);
}

static void shape_sum(ref_case *c, check_rng *rng)
{
    shape_state(c, rng);
    if (c->row->key == QF_DT_f32)
        c->x.key = QF_DT_f64;
}

static void shape_end(ref_case *c, check_rng *rng)
{
    const ptrdiff_t size = (ptrdiff_t)check_key_size(c->row->key);
    const ptrdiff_t pitch = 16 * size + (ptrdiff_t)check_below(rng, 40);

    c->n = c->x.n = 1;
    c->in[0].n = 16;
    c->in[0].col = size;
    c->in[0].row = check_chance(rng, 30) ? -pitch : pitch;
}

const ref_op ref_reduce[] = {
    { .op = "sum", .flags = REF_UPDATES, .tile = sum, .shape = shape_sum },
    { .op = "sumsq", .flags = REF_UPDATES, .tile = sumsq, .shape = shape_sum },
    { .op = "amax", .flags = REF_UPDATES, .tile = amax, .shape = shape_state },
    { .op = "amin", .flags = REF_UPDATES, .tile = amin, .shape = shape_state },
    { .op = "any", .flags = REF_UPDATES, .tile = any, .shape = shape_state },
    { .op = "sum_end", .tile = sum_end, .shape = shape_end },
    { .op = "sumsq_end", .tile = sum_end, .shape = shape_end },
    { .op = "amax_end", .tile = amax_end, .shape = shape_end },
    { .op = "amin_end", .tile = amin_end, .shape = shape_end },
    { .op = "any_end", .tile = any_end, .shape = shape_end },
    { 0 },
};
