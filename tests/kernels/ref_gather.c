/* What the operator of the gather family means. */
#include "kernel_ref.h"

enum { ENTRIES = 7 };

/* A table of ENTRIES elements per output element, i[0] bytes apart in either direction. It never
 * has the strides of the output, which may not lie on it. */
static void table(ref_case *c, check_rng *rng)
{
    const ptrdiff_t size = (ptrdiff_t)check_key_size(c->row->key), width = (ptrdiff_t)c->n * size;
    const ptrdiff_t apart[] = { size, -size, width, -width - 3, 0, 5 };
    const ptrdiff_t rows[] = { 0, width, size, -width - 1 };
    const ptrdiff_t between[] = { 0, 8, 16, -8 };
    const ptrdiff_t cols[] = { 2 * size, -size, ENTRIES * size, 0 };
    const ptrdiff_t step = apart[check_below(rng, 6)];
    const size_t reach = (ENTRIES - 1) * (size_t)(step < 0 ? -step : step);

    c->p.i[0] = step;
    c->in[0].before = step < 0 ? reach : 0;
    c->in[0].after = step < 0 ? 0 : reach;
    c->in[0].row = rows[check_below(rng, 4)];
    c->in[0].col = c->in[0].row ? cols[check_below(rng, 4)] : size;
    /* Rows of indices may be one row, but not overlap otherwise: half an index points anywhere. */
    c->in[1].key = QF_DT_i64;
    c->in[1].col = between[check_below(rng, 4)];
    c->in[1].row = c->in[1].col && check_chance(rng, 10) ? 0 : 16 * (ptrdiff_t)c->n + 8;
    c->in[1].row -= check_chance(rng, 20) ? 2 * c->in[1].row : 0;
}

static void indices(const ref_case *c, check_rng *rng)
{
    for (size_t i = 0; i < c->m; i++)
        for (size_t j = 0; j < c->n; j++)
            ref_set(&c->in[1], i, j, check_below(rng, ENTRIES));
}

static void gather(const ref_case *c)
{
    for (size_t i = 0; i < c->m; i++)
        for (size_t j = 0; j < c->n; j++) {
            ref_tile entry = c->in[0];
            entry.p += (ptrdiff_t)ref_get(&c->in[1], i, j) * c->p.i[0];
            ref_set(&c->x, i, j, ref_get(&entry, i, j));
        }
}

const ref_op ref_gather[] = {
    { .op = "gather", .tile = gather, .shape = table, .values = indices },
    { 0 },
};
