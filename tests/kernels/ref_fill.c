/* What the operators of the fill family mean. */
#include "kernel_ref.h"

static uint64_t fill(const ref_el *e)
{
    return (uint64_t)e->p->i[0];
}

static uint64_t iota(const ref_el *e)
{
    return (uint64_t)e->p->i[0] + e->i * (uint64_t)e->p->i[1] + e->j * (uint64_t)e->p->i[2];
}

static uint64_t arange(const ref_el *e)
{
    return check_from_f64(e->key, e->p->f[0] + (double)(int64_t)iota(e) * e->p->f[1]);
}

static void parameters(ref_case *c, check_rng *rng)
{
    const bool far = check_chance(rng, 25);

    for (unsigned k = 0; k < 4; k++)
        c->p.i[k] = far ? (int64_t)check_random(rng) : (int64_t)check_below(rng, 2001) - 1000;
    c->p.f[0] = (double)((int64_t)check_below(rng, 2001) - 1000) / 8;
    c->p.f[1] = check_to_f64(QF_DT_f32, check_value(QF_DT_f32, rng));
}

const ref_op ref_fill[] = {
    { .op = "fill", .element = fill, .shape = parameters },
    { .op = "iota", .element = iota, .shape = parameters },
    { .op = "arange", .element = arange, .shape = parameters },
    { 0 },
};
