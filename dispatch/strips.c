/* Results that turn an operand, in large windows made in strips: each strip reads the operand along
 * its own long runs and stores the turned elements where they belong. So the operand passes through
 * memory once, and windows of any size read runs as long as memory allows. */
#include "dispatch/arith.h"
#include "dispatch/stream.h"

/* Read by one strip: what is turned comes from the second cache level, or has just left it. As much
 * of 4096 x 4096 words of 16 bits, read and turned in 8 ms by 1 MiB, in 8.5 by 512 KiB, in 14 by
 * 256 KiB (Zen 3); held in memory and turned in windows of 1 MiB, in 10. */
#define STRIP_BYTES ((uint64_t)1 << 20)
/* Of the destination, that a strip fills: whole lines, in runs worth storing past the caches. In
 * runs of 256 bytes, 32 MiB of 16 bits were turned in 4.5 ms, of 128 in 5.6, of 64 in 10.6. */
#define STRIP_RUN ((int64_t)256)
/* Runs of an operand from which on larger windows do not pay: reading and writing 512 MiB took the
 * system 0.19 s by runs of 8 KiB, 0.33 s by 4 KiB. The second: what a few strips make. */
#define LONG_RUN ((uint64_t)8 << 10)
#define LEAST_STRIPPED ((uint64_t)4 << 20)

/* The operand that windows of `walk` would read in short runs: all of it once, and nothing wider is
 * made of it. NULL: there is none, or one of them is not so. */
static const qfi_operand *find_turned(const qf_pipe *pipe, const qfi_wants *wants,
                                      const qfi_walk *walk)
{
    const qfi_piece *p = pipe->result->piece[0];
    const qfi_operand *turned = NULL;
    int64_t lo[QFI_DIMS], window[QFI_DIMS], n[QFI_LOOPS];

    qfi_walk_at(walk, 0, lo, window);
    qfi_window_steps(p, window, n);
    for (int i = 0; i < p->n_operand; i++) {
        const qfi_operand *o = &p->operand[i];
        if (o->source == QFI_PANEL)
            return NULL;
        if (o->source != QFI_READ || !qfi_reads_short(o, p->box.n_loop, n))
            continue;
        const uint64_t size = qfi_fetch_plan(o, p->box.n_loop, p->box.n).size;
        if (size >= pipe->cost.written / pipe->result->bits * o->bits &&
            o->bits >= pipe->result->bits && !turned)
            turned = o;
        else if (!qfi_wants_has(wants, o))
            return NULL;
    }
    return turned;
}

/* The loop of a window along which the operand takes its longest step. */
static int slowest_loop(const qfi_operand *o, const qfi_piece *p, const int64_t *n)
{
    int slowest = -1;

    for (int l = 0; l < p->box.n_loop; l++)
        if (n[l] > 1 &&
            (slowest < 0 || qfi_magnitude(o->at.step[l]) > qfi_magnitude(o->at.step[slowest])))
            slowest = l;
    return slowest;
}

/* Strips of windows of `size` bytes; *run: bytes of the runs that they read. False: they would be
 * parts of the window that follow each other. */
static bool cut_strips(const qf_pipe *pipe, const qfi_operand *o, uint64_t size, qfi_plan *plan,
                       uint64_t *run)
{
    const qfi_segment *s = pipe->result;
    const qfi_piece *p = s->piece[0];
    const qfi_walk walk = qfi_segment_windows(s, size);
    int64_t lo[QFI_DIMS], window[QFI_DIMS], n[QFI_LOOPS], stride[QFI_DIMS];
    const int64_t elements = qfi_walk_at(&walk, 0, lo, window);

    qfi_window_steps(p, window, n);
    const int loop = slowest_loop(o, p, n), dim = loop < 0 ? 0 : p->box.dim[loop];
    if (dim <= walk.split)
        return false;
    qfi_box_strides(s->n_dim, window, stride);
    const int64_t pace = p->box.pace[loop], step = stride[dim] * (s->bits / 8),
                  across = elements * (o->bits / 8) / window[dim],
                  steps = qfi_max64(qfi_parts(STRIP_RUN, step), (int64_t)STRIP_BYTES / across);
    *plan = (qfi_plan){ .window = qfi_lines((uint64_t)elements * (s->bits / 8)),
                        .dim = dim,
                        .steps = qfi_min64(qfi_round_up(steps, pace), window[dim]) };
    plan->work = (uint64_t)(plan->steps * across);
    window[dim] = plan->steps;
    qfi_window_steps(p, window, n);
    *run = qfi_fetch_plan(o, p->box.n_loop, n).run;
    return true;
}

bool qfi_strips_plan(const qf_ctx *ctx, const qf_pipe *pipe, qfi_wants *wants, qfi_plan *plan)
{
    const qfi_segment *s = pipe->result;
    const bool many = qfi_workers(ctx) > 1;
    /* One window, or two, in three quarters of the memory, of which half is the room. */
    const uint64_t all = pipe->cost.written, most = wants->room / 4 * (many ? 3 : 6);
    const qfi_walk walk = qfi_segment_windows(s, LEAST_STRIPPED / 4);
    uint64_t run = 0, size = LEAST_STRIPPED;
    qfi_plan next;

    if (!s->turns || s->bits < 8 || s->n_piece != 1 || walk.total <= 1)
        return false;
    const qfi_operand *o = find_turned(pipe, wants, &walk);
    if (!o)
        return false;
    plan->steps = 0;
    for (; run < LONG_RUN && size <= most; size *= 2)
        if (cut_strips(pipe, o, size, &next, &run))
            *plan = next;
    if (plan->steps == 0)
        return false;
    plan->count = all > plan->window && many ? 2 : 1;
    qfi_wants_drop(wants, o);
    return true;
}
