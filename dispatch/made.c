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
    /* Panels of paired columns serve updates of bf16 alone, and others the rest. */
    const qfi_update *update = t->piece->update;
    if (update && update->panel == i &&
        (update->row->key == QFK_KEY_bf16) == qfi_made_pairs(run->pipe, o->which))
        made.update = update;
    made.skip = made.panel.from[made.breaker->type.rank - 2] % made.breaker->kernel[0]->mr;
    t->made = made;
    t->source[i] = NULL;
    return true;
}

bool qfi_made_pairs(const qf_pipe *pipe, uint32_t which)
{
    for (uint32_t k = 0; k < pipe->result->n_piece; k++) {
        const qfi_piece *p = pipe->result->piece[k];
        const qfi_update *u = p->update;
        for (int i = 0; i < p->n_operand; i++)
            if (p->operand[i].source == QFI_PANEL && p->operand[i].which == which &&
                (!u || u->panel != i || u->row->key != QFK_KEY_bf16))
                return false;
    }
    return true;
}

/* Coordinates of element `at` of the lane. */
static void coordinates(const qfi_made *made, int64_t at, int64_t *from)
{
    for (int d = 0; d < made->breaker->type.rank; d++) {
        from[d] = made->panel.from[d] + at / made->panel.stride[d];
        at %= made->panel.stride[d];
    }
}

void qfi_made_update(const qfi_made *made, int64_t at, const qfk_in *c, size_t m, size_t n,
                     qfk_out out)
{
    int64_t from[QF_MAX_RANK];

    coordinates(made, at, from);
    made->breaker->tiles->update(made->breaker, made->held, from, made->update, c, m, n, out);
}

qfk_in qfi_made_tile(const qfi_made *made, int64_t at, size_t m, size_t n, qfk_out out,
                     const qfi_ahead *ahead)
{
    const qfi_breaker *b = made->breaker;
    const ptrdiff_t size = qf_dtype_get(b->makes)->bits / 8;
    const int row = b->type.rank - 2;
    int64_t from[QF_MAX_RANK];

    coordinates(made, at, from);
    const int64_t above = from[row] % b->kernel[0]->mr;
    from[row] -= above;
    b->tiles->tile(b, made->held, from, m + (size_t)above, n, out, ahead);
    return (qfk_in){ (char *)out.p + above * out.row, out.row, size };
}
