/* Arenas of lanes and of all threads never stand beside each other: together they would take twice
 * the memory. */
#include "makers.h"

#include <stdlib.h>

#include "../io/layout.h"

static uint64_t memory_of(const qf_ctx *ctx)
{
    return ctx->memory ? ctx->memory : QF_MEMORY_DEFAULT;
}

qf_status qfi_makers_open(qfi_makers *m, const qf_ctx *ctx, qf_diag *diag)
{
    *m = (qfi_makers){ .all.ctx = *ctx, .n_lane = ctx->workers };
    m->lane = calloc((size_t)m->n_lane + 1, sizeof *m->lane);
    if (!m->lane)
        QF_FAIL(diag, QF_ERR_NOMEM, "no memory for %u threads", m->n_lane);
    for (uint32_t i = 0; i < m->n_lane; i++) {
        m->lane[i].ctx = *ctx;
        m->lane[i].ctx.parallel_for = NULL;
        m->lane[i].ctx.memory = memory_of(ctx) / m->n_lane;
    }
    return QF_OK;
}

static uint64_t drop(qfi_maker *m)
{
    const uint64_t peak = m->arena ? qf_arena_peak(m->arena) : 0;

    qf_arena_free(m->arena);
    m->arena = NULL;
    return peak;
}

static void note_peak(qfi_makers *m, uint64_t peak)
{
    m->peak = peak > m->peak ? peak : m->peak;
}

static void drop_lanes(qfi_makers *m)
{
    uint64_t peak = 0;

    for (uint32_t i = 0; i < m->n_lane; i++)
        peak += drop(&m->lane[i]);
    note_peak(m, peak);
}

void qfi_makers_rest(qfi_makers *m)
{
    drop_lanes(m);
    note_peak(m, drop(&m->all));
}

const qfi_maker *qfi_makers_get(qfi_makers *m, uint32_t lane)
{
    qfi_maker *const maker = lane == QFI_NO_LANE ? &m->all : &m->lane[lane];

    if (maker->arena)
        return maker;
    if (lane == QFI_NO_LANE)
        drop_lanes(m);
    maker->arena = qf_arena_new(&maker->ctx);
    return maker->arena ? maker : NULL;
}

bool qfi_makers_fit(const qfi_makers *m, const qf_pipe *pipe, uint32_t n_lane)
{
    const qf_cost cost = qf_pipe_cost(pipe);
    const uint64_t room = memory_of(&m->all.ctx) / n_lane / 4 * 3,
                   most = cost.read > cost.written ? cost.read : cost.written;

    return most <= room && cost.scratch <= room - most;
}

void qfi_makers_free(qfi_makers *m)
{
    if (!m->lane)
        return;
    qfi_makers_rest(m);
    free(m->lane);
    m->lane = NULL;
}
