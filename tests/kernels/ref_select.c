/* What the operators of the select family mean. */
#include "kernel_ref.h"

__extension__ typedef __int128 wide;

static uint64_t where(const ref_el *e)
{
    return e->in[0] ? e->in[1] : e->in[2];
}

/* i[0] + i * i[1] + j * i[2], saturated. */
static int64_t position(const ref_el *e)
{
    const wide v = e->p->i[0] + (wide)e->i * e->p->i[1] + (wide)e->j * e->p->i[2];

    return v > INT64_MAX ? INT64_MAX : v < INT64_MIN ? INT64_MIN : (int64_t)v;
}

static uint64_t keep_ge(const ref_el *e)
{
    return position(e) >= e->p->i[3] ? e->in[0] : 0;
}
static uint64_t keep_le(const ref_el *e)
{
    return position(e) <= e->p->i[3] ? e->in[0] : 0;
}

/* Diagonals, slopes of any sign, and now and then the ends of the integers. */
static void diagonal(ref_case *c, check_rng *rng)
{
    const int64_t ends[] = { INT64_MIN, INT64_MIN + 1, INT64_MAX, INT64_MAX - 1, 0, -1 };
    const int64_t slopes[] = { -1, -1, 1, 1, 0, 2, -2, 3, -3, 7, -17 };

    c->p.i[0] = (int64_t)check_below(rng, 81) - 40;
    c->p.i[1] = slopes[check_below(rng, sizeof slopes / sizeof *slopes)];
    c->p.i[2] = slopes[check_below(rng, sizeof slopes / sizeof *slopes)];
    c->p.i[3] = (int64_t)check_below(rng, 81) - 40;
    for (unsigned k = 0; k < 4; k++)
        if (check_chance(rng, 12))
            c->p.i[k] = ends[check_below(rng, sizeof ends / sizeof *ends)];
}

const ref_op ref_select[] = {
    { .op = "where", .in = { QF_DT_b8 }, .element = where },
    { .op = "keep_ge", .element = keep_ge, .shape = diagonal },
    { .op = "keep_le", .element = keep_le, .shape = diagonal },
    { 0 },
};
