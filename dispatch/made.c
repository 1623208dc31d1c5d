/* Operands that a breaker makes tile by tile, where they are used: a product of few steps is made
 * in the first cache level, and what follows it is done there at once. */
#include "dispatch/run.h"

/* Whether tiles of the loops are tiles of the result's last two dims: columns of all of it, from a
 * column where a block begins, and rows. */
static bool suits(const qfi_tiles *t, int i, const qfi_made *made)
{
    const int row = made->breaker->type.rank - 2, col = row + 1;
    const qfk_row *kernel = made->breaker->kernel[0];
    qfi_nest nest = t->nest;
    const qfi_form *lane = &nest.lane[1 + i];

    qfi_nest_tidy(&nest);
    qfi_nest_tiles(&nest, t->piece->n_operand);
    return nest.row >= 0 && nest.col >= 0 && made->panel.from[col] % kernel->nr == 0 &&
           lane->step[nest.row] == made->panel.stride[row] && lane->step[nest.col] == 1 &&
           nest.n[nest.row] == made->panel.n[row] && nest.n[nest.col] == made->panel.n[col];
}

bool qfi_made_offer(const qfi_run *run, qfi_tiles *t, int i, const int64_t *lo, const int64_t *n)
{
    const qfi_operand *o = &t->piece->operand[i];
    qfi_made made = { .operand = (int8_t)i, .breaker = run->pipe->breaker[o->which] };

    made.held = run->held ? run->held[o->which] : NULL;
    if (!made.held || t->made.operand >= 0 ||
        !qfi_panel_box_of(run, o, &t->piece->box, lo, n, 1, &t->nest.lane[1 + i], &made.panel) ||
        !suits(t, i, &made))
        return false;
    made.skip = made.panel.from[made.breaker->type.rank - 2] % made.breaker->kernel[0]->mr;
    t->made = made;
    t->source[i] = NULL;
    return true;
}

qfk_in qfi_made_tile(const qfi_made *made, int64_t at, size_t m, size_t n, qfk_out out,
                     const qfi_ahead *ahead)
{
    const qfi_breaker *b = made->breaker;
    const ptrdiff_t size = qf_dtype_get(b->makes)->bits / 8;
    const int row = b->type.rank - 2;
    int64_t from[QF_MAX_RANK];

    for (int d = 0; d < b->type.rank; d++) {
        from[d] = made->panel.from[d] + at / made->panel.stride[d];
        at %= made->panel.stride[d];
    }
    const int64_t above = from[row] % b->kernel[0]->mr;
    from[row] -= above;
    b->tiles->tile(b, made->held, from, m + (size_t)above, n, out, ahead);
    return (qfk_in){ (char *)out.p + above * out.row, out.row, size };
}
