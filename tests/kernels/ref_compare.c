/* What the operators of the compare family mean. */
#include "kernel_ref.h"

/* -1, 0, 1, or 2 if the operands are not ordered. */
static int order(const ref_el *e)
{
    if (check_key_is_float(e->key)) {
        const double a = check_to_f64(e->key, e->in[0]), b = check_to_f64(e->key, e->in[1]);
        return a < b ? -1 : a > b ? 1 : a == b ? 0 : 2;
    }
    if (check_key_is_signed(e->key)) {
        const int64_t a = check_to_i64(e->key, e->in[0]), b = check_to_i64(e->key, e->in[1]);
        return (a > b) - (a < b);
    }
    return (e->in[0] > e->in[1]) - (e->in[0] < e->in[1]);
}

/* Every second element pair is made equal, which random values seldom are. */
static void equal_pairs(const ref_case *c, check_rng *rng)
{
    for (size_t i = 0; i < c->m; i++)
        for (size_t j = 0; j < c->n; j++)
            if (check_chance(rng, 50))
                ref_set(&c->in[1], i, j, ref_get(&c->in[0], i, j));
}

static uint64_t eq(const ref_el *e)
{
    return order(e) == 0;
}
static uint64_t ne(const ref_el *e)
{
    return order(e) != 0;
}
static uint64_t lt(const ref_el *e)
{
    return order(e) == -1;
}
static uint64_t le(const ref_el *e)
{
    return order(e) == -1 || order(e) == 0;
}

const ref_op ref_compare[] = {
    { .op = "eq", .x = QF_DT_b8, .element = eq, .values = equal_pairs },
    { .op = "ne", .x = QF_DT_b8, .element = ne, .values = equal_pairs },
    { .op = "lt", .x = QF_DT_b8, .element = lt, .values = equal_pairs },
    { .op = "le", .x = QF_DT_b8, .element = le, .values = equal_pairs },
    { 0 },
};
