/* Which operands stand in memory for a whole run: those that windows or breakers would read again
 * and again, or in runs too short for a disk or a system call. */
#include "dispatch/arith.h"
#include "dispatch/stream.h"

#define SHORT_RUN ((uint64_t)1 << 14)
/* What is turned in memory is read along runs of at least this, whose lines are asked for ahead: 32
 * MiB of 16 bits in 5.5 ms by 256 bytes, in 14.5 by 64, in 6.9 by 512 (Zen 3). */
#define SHORT_TURNED ((uint64_t)256)
#define RARE 8 /* data of a gather this much larger than what is picked are read where needed */

static uint64_t size_of(const qfi_piece *piece, const qfi_operand *o)
{
    return qfi_fetch_plan(o, piece->box.n_loop, piece->box.n).size;
}

static void want(qfi_wants *w, const qfi_piece *piece, const qfi_operand *o)
{
    const uint64_t size = size_of(piece, o);

    if (w->n == QFI_RESIDENTS || size > w->room || w->size > w->room - size)
        return;
    w->item[w->n++] = (qfi_want){ piece, o };
    w->size += qfi_lines(size);
}

bool qfi_wants_has(const qfi_wants *w, const qfi_operand *o)
{
    for (uint32_t i = 0; i < w->n; i++)
        if (w->item[i].operand == o)
            return true;
    return false;
}

void qfi_wants_drop(qfi_wants *w, const qfi_operand *o)
{
    for (uint32_t i = 0; i < w->n; i++)
        if (w->item[i].operand == o) {
            w->size -= qfi_lines(size_of(w->item[i].piece, o));
            w->item[i] = w->item[--w->n];
            return;
        }
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
            if (o->source == QFI_READ && !is_rare(x, number, size_of(s->piece[k], o)))
                want(w, s->piece[k], o);
        }
}

void qfi_window_steps(const qfi_piece *p, const int64_t *window, int64_t *n)
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

bool qfi_reads_short(const qfi_operand *o, int n_loop, const int64_t *n)
{
    return qfi_fetch_plan(o, n_loop, n).run < SHORT_RUN;
}

static void want_windows(qfi_wants *w, const qfi_segment *s, const qfi_walk *walk)
{
    int64_t lo[QFI_DIMS], window[QFI_DIMS], n[QFI_LOOPS];

    qfi_walk_at(walk, 0, lo, window);
    for (uint32_t k = 0; k < s->n_piece && k < QFI_RESIDENTS; k++) {
        const qfi_piece *p = s->piece[k];
        qfi_window_steps(p, window, n);
        for (int i = 0; i < p->n_operand; i++) {
            const qfi_operand *o = &p->operand[i];
            if (o->source == QFI_READ &&
                (reads_again(o, &p->box, n) || qfi_reads_short(o, p->box.n_loop, n)))
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

/* Runs of an operand that is read, or stands in memory: the least, over what they are. */
static uint64_t lack_of(const qfi_wants *w, const qfi_operand *o, int n_loop, const int64_t *n,
                        bool held)
{
    const bool is_held = o->source == QFI_MEMORY || o->source == QFI_KEPT || qfi_wants_has(w, o),
               is_read = o->source == QFI_READ && !is_held;

    if (held ? !is_held : !is_read)
        return 0;
    return ((held ? SHORT_TURNED : SHORT_RUN) - 1) / qfi_fetch_plan(o, n_loop, n).run;
}

uint64_t qfi_wants_lack(const qfi_wants *w, const qfi_segment *s, const qfi_walk *walk, bool held)
{
    int64_t lo[QFI_DIMS], window[QFI_DIMS], n[QFI_LOOPS];
    uint64_t most = 0;

    qfi_walk_at(walk, 0, lo, window);
    for (uint32_t k = 0; k < s->n_piece && k < QFI_RESIDENTS; k++) {
        const qfi_piece *p = s->piece[k];
        qfi_window_steps(p, window, n);
        for (int i = 0; i < p->n_operand; i++) {
            const uint64_t lack = lack_of(w, &p->operand[i], p->box.n_loop, n, held);
            most = lack > most ? lack : most;
        }
    }
    return most;
}

qf_status qfi_wants_hold(const qfi_wants *w, qfi_run *run, qfi_residents *to)
{
    static const int64_t zero[QFI_LOOPS];

    for (uint32_t i = 0; i < w->n; i++)
        QF_TRY(qfi_fetch_hold(run, w->item[i].piece, w->item[i].operand, zero,
                              w->item[i].piece->box.n, to));
    return QF_OK;
}
