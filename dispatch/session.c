/* Setting up a run.
 *
 *   arena block:  | kept values | slots, staging, per worker | window | operands that stay, work |
 *
 * Their sum never exceeds the context's memory. If the slots of all workers do not fit, one thread
 * runs alone. */
#include "dispatch/arith.h"
#include "dispatch/stream.h"

#include <stddef.h>
#include <string.h>

#define WORK_PER_WORKER ((uint64_t)4 << 20)
#define SLACK 128 /* for aligning what follows the window */

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static qf_status take_memory(qfi_session *s, const qf_pipe *pipe, qf_arena *arena,
                             const qfi_plan *plan, qf_diag *diag)
{
    const uint64_t memory = s->ctx.memory, slots = QFI_SLOT * pipe->n_slot,
                   scratch = pipe->cost.scratch;
    const uint64_t least = pipe->work, least_window = min_u64(plan->window, pipe->cost.window);
    uint64_t workers = qfi_workers(&s->ctx), left, staging = 0;

    if (memory < scratch || memory - scratch < slots + least + SLACK)
        QF_FAIL(diag, QF_ERR_LIMIT, "%llu bytes of memory are too few", (unsigned long long)memory);
    left = memory - scratch - SLACK;
    if (workers > 1 && (slots * workers + least_window + least * workers > left)) {
        s->ctx.parallel_for = NULL;
        workers = 1;
    }
    left -= slots * workers;
    /* Nobody reads at once what goes to the caller's memory, or to many windows made in strips. */
    if (plan->window == 0 || plan->steps > 0)
        s->run.streams = qfi_past_caches(&s->ctx, plan->window ? plan->window * plan->count
                                                               : pipe->cost.written);
    if ((s->run.streams || (pipe->result->turns && pipe->cost.written >= QFI_LEAST_STAGED)) &&
        QFI_STAGING * workers <= (left - least) / 4)
        staging = QFI_STAGING * workers;
    left -= staging;
    if (s->wants.size > (left - least) / 2)
        s->wants = (qfi_wants){ 0 };
    left -= s->wants.size;
    const uint64_t most_windows = plan->steps ? left / 4 * 3 : least ? left / 4 : left;
    s->window_size = min_u64(plan->window * plan->count, min_u64(most_windows, left - least));
    /* Little work needs little memory, however much there is: what is fresh has to be cleared. */
    const uint64_t payload = scratch + pipe->cost.read + pipe->cost.written;
    const uint64_t wanted = pipe->enough ? pipe->enough : WORK_PER_WORKER;
    const uint64_t small = min_u64(wanted, payload < wanted ? least + 4 * payload : wanted);
    const uint64_t at_once = plan->count > 1 || plan->steps > 0 ? workers : 1;
    const uint64_t most = plan->work * at_once + (workers + 2) * small + workers * least;
    const uint64_t work = least ? min_u64(left - s->window_size, most) + s->wants.size : 0;

    char *block =
        qfi_arena_block(arena, scratch + slots * workers + staging + s->window_size + work + SLACK);
    if (!block)
        QF_FAIL(diag, QF_ERR_NOMEM, "no memory to run a pipeline");
    s->run.kept = block;
    s->run.slots = block + scratch;
    s->run.staging = staging ? s->run.slots + slots * workers : NULL;
    s->window = s->run.slots + slots * workers + staging;
    s->run.work.p = s->window + qfi_lines(s->window_size);
    s->run.work.size = work;
    return QF_OK;
}

/* Prepare breakers that make tiles of the result. */
static qf_status hold_breakers(qfi_session *s, const qf_pipe *pipe)
{
    const uint32_t n = pipe->n_breaker;
    const void **held = n ? qfi_area_get(&s->run.work, n * sizeof *held) : NULL;

    if (!held)
        return QF_OK;
    memset(held, 0, n * sizeof *held);
    for (uint32_t k = 0; k < pipe->result->n_piece; k++)
        for (int i = 0; i < pipe->result->piece[k]->n_operand; i++) {
            const qfi_operand *o = &pipe->result->piece[k]->operand[i];
            const qfi_breaker *x = o->source == QFI_PANEL ? pipe->breaker[o->which] : NULL;
            if (x && x->tiles && !held[o->which])
                QF_TRY(x->tiles->hold(&s->run, x, qfi_made_pairs(pipe, o->which), &held[o->which]));
        }
    s->run.held = held;
    return QF_OK;
}

static qf_status make_kept(qfi_session *s, const qf_pipe *pipe)
{
    static const int64_t zero[QFI_DIMS];

    QF_TRY(qfi_wants_hold(&s->wants, &s->run, &s->residents));
    for (uint32_t k = 0; k < pipe->n_kept; k++)
        QF_TRY(qfi_run_dense(&s->run, pipe->kept[k].segment, zero, pipe->kept[k].segment->dim,
                             s->run.kept + pipe->kept[k].at));
    return hold_breakers(s, pipe);
}

qf_status qfi_session_status(qfi_session *s, qf_status st, qf_diag *diag)
{
    QF_TRY(qfi_run_status(&s->run, diag));
    if (st == QFI_TOO_LARGE)
        QF_FAIL(diag, QF_ERR_LIMIT, "%llu bytes of memory are too few for one step",
                (unsigned long long)s->ctx.memory);
    return st;
}

qf_status qfi_session_open(qfi_session *s, const qf_ctx *ctx, const qf_pipe *pipe, qf_arena *arena,
                           const qfi_wants *wants, const qfi_plan *plan, qf_diag *diag)
{
    static const qfi_plan none = { .count = 1 };

    memset(s, 0, offsetof(qfi_session, residents.item));
    s->wants = *wants;
    QF_TRY(qfi_ctx_make(ctx, &s->ctx, diag));
    if (!arena) {
        s->own = arena = qf_arena_new(&s->ctx);
        if (!arena)
            QF_FAIL(diag, QF_ERR_NOMEM, "no memory to run a pipeline");
    }
    s->run =
        (qfi_run){ .ctx = &s->ctx, .pipe = pipe, .residents = &s->residents, .fault = &s->fault };
    QF_TRY(take_memory(s, pipe, arena, plan ? plan : &none, diag));
    return qfi_session_status(s, make_kept(s, pipe), diag);
}

void qfi_session_close(qfi_session *s)
{
    qf_arena_free(s->own);
}
