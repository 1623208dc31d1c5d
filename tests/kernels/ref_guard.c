/* What the operators of the guard family mean. */
#include "kernel_ref.h"

#include <math.h>

static uint64_t guard_div(const ref_el *e)
{
    const uint64_t ones = ~(uint64_t)0 >> (64 - 8 * check_key_size(e->key));
    if (e->in[1] == 0)
        return true;
    return check_key_is_signed(e->key) && e->in[1] == ones && e->in[0] == (ones >> 1) + 1;
}

/* Whether trunc(a) is outside of the integers of `bits` bits, or just above them; long double holds
 * all of their bounds. */
static bool above(const ref_el *e, int bits, bool has_sign)
{
    return !(truncl(check_to_f64(e->key, e->in[0])) < ldexpl(1, has_sign ? bits - 1 : bits));
}

static bool outside(const ref_el *e, int bits, bool has_sign)
{
    const long double low = has_sign ? -ldexpl(1, bits - 1) : 0;
    return above(e, bits, has_sign) || truncl(check_to_f64(e->key, e->in[0])) < low;
}

static uint64_t guard_to_i8(const ref_el *e)
{
    return outside(e, 8, true);
}
static uint64_t guard_to_i16(const ref_el *e)
{
    return outside(e, 16, true);
}
static uint64_t guard_to_i32(const ref_el *e)
{
    return above(e, 32, true);
}
static uint64_t guard_to_i64(const ref_el *e)
{
    return above(e, 64, true);
}
static uint64_t guard_to_u8(const ref_el *e)
{
    return outside(e, 8, false);
}
static uint64_t guard_to_u16(const ref_el *e)
{
    return outside(e, 16, false);
}
static uint64_t guard_to_u32(const ref_el *e)
{
    return outside(e, 32, false);
}
static uint64_t guard_to_u64(const ref_el *e)
{
    return outside(e, 64, false);
}

static uint64_t guard_range(const ref_el *e)
{
    const int64_t a = check_to_i64(e->key, e->in[0]);
    if (a < 0 && !check_key_is_signed(e->key))
        return true; /* 2^63 or more is above any i[1] */
    return a < e->p->i[0] || a >= e->p->i[1];
}

static uint64_t guard_powneg(const ref_el *e)
{
    return check_to_i64(e->key, e->in[0]) < 0;
}

static void range(ref_case *c, check_rng *rng)
{
    const int64_t starts[] = { 0, -10, 5, INT64_MIN }, ends[] = { 100, 10, INT64_MAX, 1 };
    c->p.i[0] = starts[check_below(rng, 4)];
    c->p.i[1] = ends[check_below(rng, 4)];
}

const ref_op ref_guard[] = {
    { .op = "guard_div", .flags = REF_GUARD, .element = guard_div },
    { .op = "guard_to_i8", .flags = REF_GUARD, .element = guard_to_i8 },
    { .op = "guard_to_i16", .flags = REF_GUARD, .element = guard_to_i16 },
    { .op = "guard_to_i32", .flags = REF_GUARD, .element = guard_to_i32 },
    { .op = "guard_to_i64", .flags = REF_GUARD, .element = guard_to_i64 },
    { .op = "guard_to_u8", .flags = REF_GUARD, .element = guard_to_u8 },
    { .op = "guard_to_u16", .flags = REF_GUARD, .element = guard_to_u16 },
    { .op = "guard_to_u32", .flags = REF_GUARD, .element = guard_to_u32 },
    { .op = "guard_to_u64", .flags = REF_GUARD, .element = guard_to_u64 },
    { .op = "guard_range", .flags = REF_GUARD, .element = guard_range, .shape = range },
    { .op = "guard_powneg", .flags = REF_GUARD, .element = guard_powneg },
    { 0 },
};
