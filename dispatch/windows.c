/* Windows side by side: each worker makes whole windows, and whoever finishes the one that the
 * consumer waits for hands it on, with those after it that are ready. So writing goes on while the
 * next windows are made. Their memory is used in turns: nobody waits unless the consumer is all of
 * it behind.
 *
 * A large window that turns what it reads is made in strips, by all workers, and then handed on in
 * slices, while the next one is made. */
#include "dispatch/arith.h"
#include "dispatch/stream.h"

#include <pthread.h>

/* Bytes of a window made in strips that go to the consumer at once, from the second cache level.
 * 512 MiB were turned from file to file in 0.25 s by 256 KiB, 0.26 by 512 KiB, 0.29 by 128 KiB. */
#define SLICE ((uint64_t)256 << 10)

/* Memory of a window. end: the slices up to its last one.  made, failed: how many strips are, and
 * the lowest that failed, plus 1, with its failure. */
typedef struct frame {
    uint64_t bytes;
    int64_t end;
    uint32_t slices, made, failed;
    qf_status status;
    qfi_fault fault;
} frame;

/* What goes to the consumer at once. */
typedef struct pane {
    bool ready;
    const frame *frame;
    const char *data;
    uint64_t bytes;
    qf_digest note;
} pane;

/* window, part: what is begun next: the strips of a window, then its slices.  begun, taken: how
 * many slices were begun, and went to the consumer, busy: through somebody.  lock: of these, and of
 * what frames and panes have become; moved: that changed. */
typedef struct belt {
    qfi_session *session;
    const qfi_segment *segment;
    const qfi_plan *plan;
    qfi_walk walk;
    const qf_sink *sink;
    qf_diag *diag;
    pthread_mutex_t lock;
    pthread_cond_t moved;
    int64_t window, begun, taken;
    uint32_t part, strips, n_frame;
    bool busy;
    qf_status status;
    uint64_t work, sent; /* bytes of each worker's memory, and handed on */
    frame frame[QFI_SIDE_BY_SIDE];
    pane pane[QFI_SIDE_BY_SIDE];
} belt;

/* A strip of a window, or a slice, which has a number of its own. */
typedef struct item {
    int64_t window, slice;
    uint32_t part;
    bool is_slice;
} item;

static frame *frame_of(belt *b, int64_t window)
{
    return &b->frame[window % b->n_frame];
}

static pane *pane_of(belt *b, int64_t slice)
{
    return &b->pane[slice % QFI_SIDE_BY_SIDE];
}

static char *memory_of(const belt *b, int64_t window)
{
    return b->session->window + b->plan->window * (uint64_t)(window % b->n_frame);
}

/* Part `number` of a window; all of it if it has no strips. */
static void make_strip(belt *b, int64_t window, uint32_t number, uint32_t worker)
{
    const qfi_plan *plan = b->plan;
    qfi_run run = b->session->run;
    qfi_fault fault = { 0 };
    int64_t lo[QFI_DIMS], n[QFI_DIMS], stride[QFI_DIMS], first = 0;
    frame *f = frame_of(b, window);

    run.serial = true;
    run.worker = worker;
    run.work = (qfi_area){ .p = run.work.p + run.work.used + b->work * worker, .size = b->work };
    run.fault = &fault;
    qfi_walk_at(&b->walk, window, lo, n);
    qfi_box_strides(b->segment->n_dim, n, stride);
    if (b->strips > 0) {
        const int64_t from = number * plan->steps;
        lo[plan->dim] += from;
        n[plan->dim] = qfi_min64(plan->steps, n[plan->dim] - from);
        first = from * stride[plan->dim];
    }
    const qf_status st =
        f->bytes > plan->window
            ? QFI_TOO_LARGE
            : qfi_run_segment(&run, b->segment, lo, n, memory_of(b, window), first, stride);
    pthread_mutex_lock(&b->lock);
    if ((st != QF_OK || fault.status != QF_OK || fault.bad) &&
        (f->failed == 0 || number + 1 < f->failed)) {
        f->failed = number + 1;
        f->status = st;
        f->fault = fault;
    }
    if (++f->made == b->strips)
        pthread_cond_broadcast(&b->moved);
    pthread_mutex_unlock(&b->lock);
}

static void make_slice(belt *b, const item *x, uint32_t worker)
{
    frame *f = frame_of(b, x->window);
    pane *p = pane_of(b, x->slice);
    const uint64_t at = (x->part - b->strips) * SLICE;

    if (b->strips == 0)
        make_strip(b, x->window, 0, worker);
    p->frame = f;
    p->data = memory_of(b, x->window) + at;
    p->bytes = f->slices > 1 && f->bytes - at > SLICE ? SLICE : f->bytes - at;
    if (!f->failed && b->sink->digest)
        b->sink->digest(b->sink->user, p->data, (size_t)p->bytes, &p->note);
}

static qf_status hand_on(belt *b, const pane *p)
{
    qfi_session *s = b->session;

    s->fault = p->frame->fault;
    QF_TRY(qfi_session_status(s, p->frame->status, b->diag));
    QF_TRY(b->sink->take(b->sink->user, p->data, (size_t)p->bytes, &p->note, b->diag));
    b->sent += p->bytes;
    return qfi_stream_told(&s->ctx, b->sent, b->diag);
}

/* Hands on what is due, unless somebody does. */
static void hand_on_due(belt *b)
{
    while (!b->busy && b->status == QF_OK && b->taken < b->begun && pane_of(b, b->taken)->ready) {
        b->busy = true;
        pthread_mutex_unlock(&b->lock);
        const qf_status st = hand_on(b, pane_of(b, b->taken));
        pthread_mutex_lock(&b->lock);
        b->busy = false;
        b->status = st;
        b->taken++;
        pthread_cond_broadcast(&b->moved);
    }
}

/* Whether there is memory for what is next, and what it needs. */
static bool is_ready(belt *b)
{
    const frame *f = frame_of(b, b->window);

    if (b->part == 0 && b->taken < f->end)
        return false;
    if (b->part < b->strips)
        return true;
    return (b->strips == 0 || f->made == b->strips) && b->begun - b->taken < QFI_SIDE_BY_SIDE;
}

static void open_frame(belt *b)
{
    int64_t lo[QFI_DIMS], n[QFI_DIMS];
    const uint64_t bytes =
        qfi_bytes((uint64_t)qfi_walk_at(&b->walk, b->window, lo, n), b->segment->bits);
    const uint32_t slices = b->strips == 0 ? 1 : (uint32_t)((bytes + SLICE - 1) / SLICE);

    *frame_of(b, b->window) = (frame){ .bytes = bytes, .slices = slices, .end = b->begun + slices };
}

/* False: there is nothing more, or something failed. */
static bool begin(belt *b, item *x)
{
    while (b->status == QF_OK && b->window < b->walk.total && !is_ready(b))
        pthread_cond_wait(&b->moved, &b->lock);
    if (b->status != QF_OK || b->window == b->walk.total)
        return false;
    if (b->part == 0)
        open_frame(b);
    *x = (item){ b->window, b->begun, b->part, b->part >= b->strips };
    if (x->is_slice)
        *pane_of(b, b->begun++) = (pane){ 0 };
    if (++b->part == b->strips + frame_of(b, b->window)->slices) {
        b->part = 0;
        b->window++;
    }
    return true;
}

/* A worker. What it waits for was begun by others that run: one alone never waits. */
static void work_on(void *arg, uint32_t i, uint32_t worker)
{
    belt *b = arg;
    item x;

    (void)i;
    pthread_mutex_lock(&b->lock);
    while (begin(b, &x)) {
        pthread_mutex_unlock(&b->lock);
        if (x.is_slice)
            make_slice(b, &x, worker);
        else
            make_strip(b, x.window, x.part, worker);
        pthread_mutex_lock(&b->lock);
        if (x.is_slice)
            pane_of(b, x.slice)->ready = true;
        hand_on_due(b);
    }
    pthread_mutex_unlock(&b->lock);
}

qf_status qfi_stream_side_by_side(qfi_session *s, const qf_pipe *pipe, const qfi_plan *plan,
                                  const qf_sink *sink, qf_diag *diag)
{
    const uint32_t workers = qfi_workers(&s->ctx);
    const uint64_t most = s->window_size / plan->window, left = s->run.work.size - s->run.work.used;
    belt b = { .session = s,
               .segment = pipe->result,
               .plan = plan,
               .walk = qfi_segment_windows(pipe->result, plan->window),
               .sink = sink,
               .diag = diag,
               .lock = PTHREAD_MUTEX_INITIALIZER,
               .moved = PTHREAD_COND_INITIALIZER,
               .n_frame = (uint32_t)(most < QFI_SIDE_BY_SIDE ? most : QFI_SIDE_BY_SIDE),
               .work = left / workers & ~(uint64_t)63 };

    if (plan->steps > 0)
        b.strips = (uint32_t)qfi_parts(pipe->result->dim[plan->dim], plan->steps);
    qfi_parallel(&s->ctx, workers, work_on, &b);
    pthread_cond_destroy(&b.moved);
    pthread_mutex_destroy(&b.lock);
    return b.status;
}
