/* Windows side by side: each worker makes whole windows, and whoever finishes the one that the
 * consumer waits for hands it on, with those after it that are ready. So writing goes on while the
 * next windows are made, and nobody waits for anybody. */
#include "dispatch/stream.h"

/* A window and what became of it. bytes: its size. */
typedef struct pane {
    bool ready;
    uint64_t bytes;
    qf_digest note;
    qf_status status;
    qfi_fault fault;
} pane;

/* next: the pane that the consumer waits for.  busy: somebody hands panes on. */
typedef struct batch {
    qfi_session *session;
    const qfi_segment *segment;
    const qfi_walk *walk;
    const qf_sink *sink;
    qf_diag *diag;
    int64_t first;
    uint32_t n, next, lock;
    bool busy;
    qf_status status;
    uint64_t window, work; /* bytes of each window, and of each worker's memory */
    pane pane[QFI_SIDE_BY_SIDE];
} batch;

static void lock(batch *b)
{
    while (__atomic_exchange_n(&b->lock, 1, __ATOMIC_ACQUIRE))
        ;
}

static void unlock(batch *b)
{
    __atomic_store_n(&b->lock, 0, __ATOMIC_RELEASE);
}

static char *memory_of(const batch *b, uint32_t i)
{
    return b->session->window + b->window * i;
}

static void make_pane(batch *b, uint32_t i, uint32_t worker)
{
    const qfi_area work = {
        .p = b->session->run.work.p + b->session->run.work.used + b->work * worker, .size = b->work
    };
    qfi_run run = b->session->run;
    int64_t lo[QFI_DIMS], n[QFI_DIMS];
    pane *p = &b->pane[i];

    run.serial = true;
    run.worker = worker;
    run.work = work;
    run.fault = &p->fault;
    p->bytes = qfi_bytes((uint64_t)qfi_walk_at(b->walk, b->first + i, lo, n), b->segment->bits);
    p->status = p->bytes > b->window ? QFI_TOO_LARGE
                                     : qfi_run_dense(&run, b->segment, lo, n, memory_of(b, i));
    if (p->status == QF_OK && b->sink->digest)
        b->sink->digest(b->sink->user, memory_of(b, i), (size_t)p->bytes, &p->note);
}

static qf_status hand_on(batch *b, uint32_t i)
{
    pane *p = &b->pane[i];

    b->session->fault = p->fault;
    QF_TRY(qfi_session_status(b->session, p->status, b->diag));
    return b->sink->take(b->sink->user, memory_of(b, i), (size_t)p->bytes, &p->note, b->diag);
}

/* Pane i is made; hands on what is due, unless somebody does. */
static void finish_pane(batch *b, uint32_t i)
{
    lock(b);
    b->pane[i].ready = true;
    while (!b->busy && b->status == QF_OK && b->next < b->n && b->pane[b->next].ready) {
        b->busy = true;
        unlock(b);
        const qf_status st = hand_on(b, b->next);
        lock(b);
        b->busy = false;
        b->status = st;
        b->next++;
    }
    unlock(b);
}

static void pane_task(void *arg, uint32_t i, uint32_t worker)
{
    batch *b = arg;

    lock(b);
    const bool failed = b->status != QF_OK;
    unlock(b);
    if (failed)
        return;
    make_pane(b, i, worker);
    finish_pane(b, i);
}

qf_status qfi_stream_side_by_side(qfi_session *s, const qf_pipe *pipe, uint64_t window,
                                  const qf_sink *sink, qf_diag *diag)
{
    const qfi_walk walk = qfi_segment_windows(pipe->result, window);
    const uint32_t workers = qfi_workers(&s->ctx);
    const uint64_t most = s->window_size / window, left = s->run.work.size - s->run.work.used;
    batch b = { .session = s,
                .segment = pipe->result,
                .walk = &walk,
                .sink = sink,
                .diag = diag,
                .window = window,
                .work = left / workers & ~(uint64_t)63 };
    uint64_t sent = 0;

    for (b.first = 0; b.first < walk.total; b.first += b.n) {
        const int64_t rest = walk.total - b.first;
        b.n = (uint32_t)(most < QFI_SIDE_BY_SIDE ? most : QFI_SIDE_BY_SIDE);
        b.n = rest < b.n ? (uint32_t)rest : b.n;
        b.next = 0;
        for (uint32_t i = 0; i < b.n; i++)
            b.pane[i] = (pane){ 0 };
        qfi_parallel(&s->ctx, b.n, pane_task, &b);
        QF_TRY(b.status);
        for (uint32_t i = 0; i < b.n; i++)
            sent += b.pane[i].bytes;
        QF_TRY(qfi_stream_told(&s->ctx, sent, diag));
    }
    return QF_OK;
}
