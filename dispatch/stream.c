/* qf_pipe_stream and qf_pipe_run: the result in windows, boxes of its dims that are consecutive in
 * its layout. */
#include "dispatch/stream.h"

#include <string.h>

/* A window that one worker makes stays in its second cache level on the way to the consumer: 1 GiB
 * permuted from file to file in 0.47 s by 256 KiB, 0.60 s by 512 KiB and 2 MiB. One that all
 * workers make together stays in the last level. */
enum manner { PLAIN, LIGHT, COMMON };
static const uint64_t windows[] = { (uint64_t)256 << 10, (uint64_t)1 << 20, (uint64_t)4 << 20 };
#define ALL_WINDOWS ((uint64_t)16 << 20) /* of those side by side: half of a last level */
#define RUN_WINDOW ((uint64_t)16 << 20)  /* into the caller's memory */
#define MOST_TURNED ((uint64_t)4 << 20)  /* grown for the sake of runs in memory */
#define LIGHT_FACTOR ((uint64_t)1 << 20)

qfi_walk qfi_segment_windows(const qfi_segment *s, uint64_t size)
{
    return qfi_walk_make(s->n_dim, s->dim,
                         (int64_t)(s->bits < 8 ? size * 8 / s->bits : size / (s->bits / 8u)));
}

/* The smallest windows of `size` bytes, doubled as often as `most` allows, whose runs lack the
 * least. */
static uint64_t grow(const qf_pipe *pipe, const qfi_wants *wants, bool held, uint64_t size,
                     uint64_t most)
{
    uint64_t best = UINT64_MAX, chosen = size;

    for (; best > 0; size *= 2) {
        const qfi_walk walk = qfi_segment_windows(pipe->result, size);
        const uint64_t lack = qfi_wants_lack(wants, pipe->result, &walk, held);
        if (lack < best) {
            best = lack;
            chosen = size;
        }
        if (walk.total <= 1 || size > most / 2)
            break;
    }
    return chosen;
}

/* Larger windows where reads would come in runs too short for a disk or a system call, or where
 * runs in memory would be too short to be asked for ahead. */
static uint64_t choose_size(const qf_ctx *ctx, const qf_pipe *pipe, const qfi_wants *wants,
                            uint64_t least)
{
    const uint64_t all = pipe->cost.written,
                   most = (ctx->memory - pipe->cost.scratch - wants->size) / 8,
                   turned = most < MOST_TURNED ? most : MOST_TURNED;
    const uint64_t size = grow(pipe, wants, true, grow(pipe, wants, false, least, most), turned);

    return size < all ? size : all;
}

qf_status qfi_stream_told(const qf_ctx *ctx, uint64_t done, qf_diag *diag)
{
    if (ctx->progress && !ctx->progress(ctx->progress_user, done))
        QF_FAIL(diag, QF_ERR_CANCELLED, "cancelled after %llu bytes", (unsigned long long)done);
    return QF_OK;
}

qf_status qf_sink_write(const qf_sink *sink, const void *data, size_t n, qf_diag *diag)
{
    qf_digest note = { 0 };
    if (sink->digest)
        sink->digest(sink->user, data, n, &note);
    return sink->take(sink->user, data, n, &note, diag);
}

/* 4-bit results: a window may end inside a byte, which then opens the next one. */
static qf_status stream_windows(qfi_session *s, const qf_pipe *pipe, const qf_sink *sink,
                                qf_diag *diag)
{
    const qfi_segment *r = pipe->result;
    const qfi_walk w = qfi_segment_windows(r, r->bits < 8 ? s->window_size - 1 : s->window_size);
    uint64_t sent = 0, first = 0;

    if (r->bits < 8)
        memset(s->window, 0, s->window_size);
    for (int64_t i = 0; i < w.total; i++) {
        int64_t lo[QFI_DIMS], n[QFI_DIMS], stride[QFI_DIMS];
        const uint64_t end = first + (uint64_t)qfi_walk_at(&w, i, lo, n);
        if (qfi_bytes(end, r->bits) > s->window_size)
            QF_FAIL(diag, QF_ERR_LIMIT, "%llu bytes of memory are too few",
                    (unsigned long long)s->ctx.memory);
        qfi_box_strides(r->n_dim, n, stride);
        QF_TRY(qfi_session_status(
            s, qfi_run_segment(&s->run, r, lo, n, s->window, (int64_t)first, stride), diag));
        const uint64_t ready = i + 1 < w.total ? end * r->bits / 8 : qfi_bytes(end, r->bits);
        QF_TRY(qf_sink_write(sink, s->window, (size_t)ready, diag));
        if (r->bits < 8 && (first = end & 1) != 0)
            s->window[0] = s->window[ready];
        sent += ready;
        QF_TRY(qfi_stream_told(&s->ctx, sent, diag));
    }
    return QF_OK;
}

/* A product of small factors, such as an update of low rank: each worker packs them for itself. */
static bool is_light(const qfi_breaker *x)
{
    uint64_t a, b;

    return x->op == QF_OP_matmul && qf_type_bytes(&x->in_type[0], &a) &&
           qf_type_bytes(&x->in_type[1], &b) && a <= LIGHT_FACTOR && b <= LIGHT_FACTOR;
}

/* How a result is made: window by window, each by one worker (PLAIN; LIGHT with a product inside),
 * or, where a breaker has much to prepare and where neighbours share a byte, by all together. */
static enum manner manner_of(const qf_pipe *pipe)
{
    const qfi_segment *s = pipe->result;
    enum manner manner = s->bits < 8 ? COMMON : PLAIN;

    for (uint32_t k = 0; k < s->n_piece; k++)
        for (int i = 0; i < s->piece[k]->n_operand; i++) {
            const qfi_operand *o = &s->piece[k]->operand[i];
            if (o->source == QFI_PANEL && manner != COMMON)
                manner = is_light(pipe->breaker[o->which]) ? LIGHT : COMMON;
        }
    return manner;
}

static qfi_plan make_plan(const qf_ctx *ctx, const qf_pipe *pipe, qfi_wants *wants)
{
    const enum manner manner = manner_of(pipe);
    const uint64_t least = windows[manner];
    const bool many = manner != COMMON && qfi_workers(ctx) > 1 && pipe->cost.written > least;
    qfi_plan plan;

    qfi_wants_plan(ctx, pipe, least, wants);
    if (manner == PLAIN && qfi_strips_plan(ctx, pipe, wants, &plan))
        return plan;
    const uint64_t size = choose_size(ctx, pipe, wants, least);
    const uint32_t count = many && size < ALL_WINDOWS ? (uint32_t)(ALL_WINDOWS / size) : 1;
    /* A window of 4-bit elements may begin with the half byte that the one before it left. */
    const uint64_t window = size + (pipe->result->bits < 8 ? 8 : 0);
    return (qfi_plan){ .window = window, .count = count, .work = 8 * window };
}

/* Windows by each worker need memory for two; strips for one. */
static bool goes_side_by_side(const qfi_session *s, const qfi_plan *plan)
{
    if (plan->steps > 0)
        return s->window_size >= plan->window;
    return plan->count > 1 && qfi_workers(&s->ctx) > 1 && s->window_size >= 2 * plan->window;
}

qf_status qf_pipe_stream(const qf_ctx *user_ctx, const qf_pipe *pipe, qf_arena *arena,
                         const qf_sink *sink, qf_diag *diag)
{
    qfi_session s;
    qfi_wants wants;
    qf_ctx ctx;
    qf_status st;

    QF_TRY(qfi_ctx_make(user_ctx, &ctx, diag));
    if (pipe->cost.written == 0)
        return QF_OK;
    if (ctx.memory < pipe->cost.scratch)
        QF_FAIL(diag, QF_ERR_LIMIT, "%llu bytes of memory are too few",
                (unsigned long long)ctx.memory);
    const qfi_plan plan = make_plan(&ctx, pipe, &wants);
    st = qfi_session_open(&s, &ctx, pipe, arena, &wants, &plan, diag);
    if (st == QF_OK)
        st = goes_side_by_side(&s, &plan) ? qfi_stream_side_by_side(&s, pipe, &plan, sink, diag)
                                          : stream_windows(&s, pipe, sink, diag);
    qfi_session_close(&s);
    return st;
}

/* Whether the result goes to memory that an input stands in. */
static bool goes_in_place(const qf_pipe *pipe, const char *dst)
{
    for (uint32_t i = 0; i < pipe->n_input; i++) {
        const qf_storage *s = pipe->input[i].storage;
        const char *p = s ? s->data : NULL;
        if (p && dst < p + s->size && p < dst + pipe->cost.written)
            return true;
    }
    return false;
}

/* At once if all is in memory and nobody is told how far it is: the threads are woken once. */
static qf_status run_windows(qfi_session *s, const qf_pipe *pipe, char *dst, qf_diag *diag)
{
    const qfi_segment *r = pipe->result;
    const bool parts = s->ctx.progress || pipe->n_breaker > 0 || qfi_fetch_reads(&s->run, r);
    const qfi_walk w = qfi_segment_windows(r, parts ? RUN_WINDOW : pipe->cost.written);
    uint64_t done = 0;

    if (r->bits < 8)
        dst[pipe->cost.written - 1] = 0;
    for (int64_t i = 0; i < w.total; i++) {
        int64_t lo[QFI_DIMS], n[QFI_DIMS], stride[QFI_DIMS];
        const int64_t count = qfi_walk_at(&w, i, lo, n);
        qfi_box_strides(r->n_dim, n, stride);
        QF_TRY(qfi_session_status(s, qfi_run_segment(&s->run, r, lo, n, dst, (int64_t)done, stride),
                                  diag));
        done += (uint64_t)count;
        QF_TRY(qfi_stream_told(&s->ctx, qfi_bytes(done, r->bits), diag));
    }
    return QF_OK;
}

qf_status qf_pipe_run(const qf_ctx *user_ctx, const qf_pipe *pipe, qf_arena *arena, void *dst,
                      qf_diag *diag)
{
    qfi_session s;
    qfi_wants wants;
    qf_ctx ctx;

    QF_TRY(qfi_ctx_make(user_ctx, &ctx, diag));
    if (pipe->cost.written == 0)
        return QF_OK;
    qfi_wants_plan(&ctx, pipe, RUN_WINDOW, &wants);
    qf_status st = qfi_session_open(&s, &ctx, pipe, arena, &wants, NULL, diag);
    /* What was just read is in the cache: it is overwritten there. */
    if (goes_in_place(pipe, dst))
        s.run.streams = false;
    if (st == QF_OK)
        st = run_windows(&s, pipe, dst, diag);
    qfi_session_close(&s);
    return st;
}
