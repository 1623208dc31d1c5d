/* Which operands stand in memory for a whole run: those that windows or breakers would read again
 * and again, or in runs too short for a disk or a system call. */
#include "dispatch/arith.h"
#include "dispatch/stream.h"

#define SHORT_RUN ((uint64_t)1 << 14)
#define RARE 8 /* data of a gather this much larger than what is picked are read where needed */

static void want(qfi_wants *w, const qfi_piece *piece, const qfi_operand *o)
{
    const uint64_t size = qfi_fetch_plan(o, piece->box.n_loop, piece->box.n).size;

    if (w->n == QFI_RESIDENTS || size > w->room || w->size > w->room - size)
        return;
    w->item[w->n++] = (qfi_want){ piece, o };
    w->size += qfi_lines(size);
}

static bool is_wanted(const qfi_wants *w, const qfi_operand *o)
{
    for (uint32_t i = 0; i < w->n; i++)
        if (w->item[i].operand == o)
            return true;
    return false;
}

static bool is_rare(const qfi_breaker *x, int i, uint64_t bytes)
{
    const bool picks = x->op == QF_OP_index_select || x->op == QF_OP_index || x->op == QF_OP_gather;
    uint64_t made;

    return picks && i == 0 && qf_type_bytes(&x->type, &made) && made < bytes / RARE;
}

static void want_operands(qfi_wants *w, const qfi_breaker *x, int number)
{
    const qfi_segment *s = x->in[number];

    for (uint32_t k = 0; k < s->n_piece; k++)
        for (int i = 0; i < s->piece[k]->n_operand; i++) {
            const qfi_operand *o = &s->piece[k]->operand[i];
            if (o->source == QFI_READ &&
                !is_rare(x, number,
                         qfi_fetch_plan(o, s->piece[k]->box.n_loop, s->piece[k]->box.n).size))
                want(w, s->piece[k], o);
        }
}

/* Steps of each loop that a window takes. */
static void window_steps(const qfi_piece *p, const int64_t *window, int64_t *n)
{
    for (int l = 0; l < p->box.n_loop; l++) {
        const int64_t reach = window[p->box.dim[l]] / p->box.pace[l];
        n[l] = reach < 1 ? 1 : reach < p->box.n[l] ? reach : p->box.n[l];
    }
}

/* Whether windows of n[l] steps read much more than the operand has: the same again, or gaps. */
static bool reads_again(const qfi_operand *o, const qfi_box *box, const int64_t *n)
{
    const uint64_t whole = qfi_fetch_plan(o, box->n_loop, box->n).size;
    uint64_t all = qfi_fetch_plan(o, box->n_loop, n).size;

    for (int l = 0; l < box->n_loop; l++)
        if (!qf_mul(all, (uint64_t)((box->n[l] + n[l] - 1) / n[l]), &all))
            return true;
    return all / 5 > whole / 4;
}

static void want_windows(qfi_wants *w, const qfi_segment *s, const qfi_walk *walk)
{
    int64_t lo[QFI_DIMS], window[QFI_DIMS], n[QFI_LOOPS];

    qfi_walk_at(walk, 0, lo, window);
    for (uint32_t k = 0; k < s->n_piece && k < QFI_RESIDENTS; k++) {
        const qfi_piece *p = s->piece[k];
        window_steps(p, window, n);
        for (int i = 0; i < p->n_operand; i++) {
            const qfi_operand *o = &p->operand[i];
            if (o->source == QFI_READ &&
                (reads_again(o, &p->box, n) || qfi_fetch_plan(o, p->box.n_loop, n).run < SHORT_RUN))
                want(w, p, o);
        }
    }
}

void qfi_wants_plan(const qf_ctx *ctx, const qf_pipe *pipe, uint64_t window, qfi_wants *out)
{
    const qfi_walk walk = qfi_segment_windows(pipe->result, window);
    const uint64_t taken =
        pipe->cost.scratch + pipe->cost.window + QFI_SLOT * pipe->n_slot * qfi_workers(ctx);

    out->room = ctx->memory > taken ? (ctx->memory - taken) / 2 : 0;
    out->size = 0;
    out->n = 0;
    for (uint32_t x = 0; x < pipe->n_breaker; x++)
        for (int i = 0; i < pipe->breaker[x]->n_in; i++)
            want_operands(out, pipe->breaker[x], i);
    if (walk.total > 1)
        want_windows(out, pipe->result, &walk);
}

bool qfi_wants_short(const qfi_wants *w, const qfi_segment *s, const qfi_walk *walk)
{
    int64_t lo[QFI_DIMS], window[QFI_DIMS], n[QFI_LOOPS];

    qfi_walk_at(walk, 0, lo, window);
    for (uint32_t k = 0; k < s->n_piece && k < QFI_RESIDENTS; k++) {
        const qfi_piece *p = s->piece[k];
        window_steps(p, window, n);
        for (int i = 0; i < p->n_operand; i++) {
            const qfi_operand *o = &p->operand[i];
            if (o->source == QFI_READ && !is_wanted(w, o) &&
                qfi_fetch_plan(o, p->box.n_loop, n).run < SHORT_RUN)
                return true;
        }
    }
    return false;
}

qf_status qfi_wants_hold(const qfi_wants *w, qfi_run *run, qfi_residents *to)
{
    static const int64_t zero[QFI_LOOPS];

    for (uint32_t i = 0; i < w->n; i++)
        QF_TRY(qfi_fetch_hold(run, w->item[i].piece, w->item[i].operand, zero,
                              w->item[i].piece->box.n, to));
    return QF_OK;
}
