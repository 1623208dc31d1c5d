/* Producing a box of a segment: each piece's part of it, split further if working memory does not
 * do. */
#include "dispatch/run.h"

#include <stddef.h>
#include <string.h>

void qfi_run_tasks(const qfi_run *run, uint32_t n, qfi_task *task, void *arg)
{
    if (!run->serial) {
        qfi_parallel(run->ctx, n, task, arg);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        task(arg, i, run->worker);
}

void qfi_run_failed(const qfi_run *run, uint32_t task, qf_status status, const qf_diag *diag)
{
    qfi_fault *f = run->fault;

    while (__atomic_exchange_n(&f->lock, 1, __ATOMIC_ACQUIRE))
        ;
    if (f->status == QF_OK || task < f->task) {
        f->status = status;
        f->task = task;
        f->diag = *diag;
    }
    __atomic_store_n(&f->lock, 0, __ATOMIC_RELEASE);
}

qf_status qfi_run_status(const qfi_run *run, qf_diag *diag)
{
    qfi_fault *f = run->fault;

    if (f->status != QF_OK)
        return qf_fail_at(diag, f->status, f->diag.at, "%s",
                          f->diag.text[0] ? f->diag.text : "an operand cannot be read");
    if (__atomic_load_n(&f->bad, __ATOMIC_RELAXED))
        QF_FAIL(diag, QF_ERR_VALUE, "an element for which the operator is undefined");
    return QF_OK;
}

uint64_t qfi_bytes(uint64_t elements, unsigned bits)
{
    return bits < 8 ? (elements * bits + 7) / 8 : elements * (bits / 8);
}

typedef struct job {
    qfi_run *run;
    const qfi_segment *segment;
    const qfi_piece *piece;
    const int64_t *lo, *stride;
    char *dst;
    int64_t first;
} job;

/* Where the destination's elements are, as lane 0. */
static void place(const job *j, qfi_tiles *t, const int64_t *lo, const int64_t *n)
{
    const qfi_box *box = &j->piece->box;
    qfi_form *out = &t->nest.lane[0];

    t->nest.n_loop = box->n_loop;
    t->nest.n_lane = (uint8_t)(1 + j->piece->n_operand + j->piece->n_index);
    memcpy(t->nest.n, n, sizeof *n * box->n_loop);
    *out = (qfi_form){ .base = j->first };
    for (int d = 0; d < box->n_dim; d++)
        out->base += (box->lo[d] - j->lo[d]) * j->stride[d];
    for (int l = 0; l < box->n_loop; l++) {
        out->step[l] = box->pace[l] * j->stride[box->dim[l]];
        out->base += out->step[l] * lo[l];
    }
    for (int i = 0; i < j->piece->n_index; i++) {
        qfi_form *lane = &t->nest.lane[1 + j->piece->n_operand + i];
        *lane = j->piece->index[i];
        for (int l = 0; l < box->n_loop; l++)
            lane->base += lane->step[l] * lo[l];
    }
}

/* A breaker's result that is the value itself, each of its dims along its own part of the
 * destination, goes there directly. stride: per dim of the breaker. */
static bool panel_goes_direct(const qfi_tiles *t, const qfi_breaker *b, const qfi_operand *o,
                              const int64_t *n, int64_t *stride)
{
    uint64_t box = 1, steps = 1;

    for (int d = 0; d < b->type.rank; d++) {
        int64_t count = 1;
        stride[d] = 0;
        for (int l = 0; l < t->nest.n_loop; l++) {
            const int64_t step = o->row[d].step[l];
            if (step == 0 || n[l] == 1)
                continue;
            if (step < 0 || t->nest.lane[0].step[l] % step != 0)
                return false;
            const int64_t each = t->nest.lane[0].step[l] / step;
            if (stride[d] != 0 && stride[d] != each)
                return false;
            stride[d] = each;
            count += step * (n[l] - 1);
        }
        box *= (uint64_t)count;
    }
    for (int l = 0; l < t->nest.n_loop; l++)
        steps *= (uint64_t)n[l];
    return box == steps && t->segment->bits == qf_dtype_get(b->makes)->bits;
}

static qf_status run_panel(job *j, qfi_tiles *t, const int64_t *lo, const int64_t *n, bool *done)
{
    const qfi_operand *o = &j->piece->operand[0];
    int64_t stride[QF_MAX_RANK], from[QF_MAX_RANK], count[QF_MAX_RANK];

    *done = false;
    if (j->piece->n_stage > 0 || j->piece->root != 0 || o->source != QFI_PANEL ||
        j->segment->bits < 8)
        return QF_OK;
    const qfi_breaker *b = j->run->pipe->breaker[o->which];
    if (!panel_goes_direct(t, b, o, n, stride))
        return QF_OK;
    for (int d = 0; d < b->type.rank; d++) {
        from[d] = o->row[d].base;
        count[d] = 1;
        for (int l = 0; l < t->nest.n_loop; l++) {
            from[d] += o->row[d].step[l] * lo[l];
            count[d] += o->row[d].step[l] * (n[l] - 1);
        }
    }
    *done = true;
    const bool past = j->run->past;
    j->run->past = j->run->streams && j->segment == j->run->pipe->result;
    const qf_status st = b->run(j->run, b, from, count,
                                j->dst + t->nest.lane[0].base * (j->segment->bits / 8), stride);
    j->run->past = past;
    return st;
}

static qf_status run_box(void *arg, const int64_t *lo, const int64_t *n);

/* Halve the first loop of more than one step. */
static qf_status run_halves(job *j, const int64_t *lo, const int64_t *n)
{
    int64_t half_lo[QFI_LOOPS], half_n[QFI_LOOPS];
    int l = 0;

    while (l < j->piece->box.n_loop && n[l] == 1)
        l++;
    if (l == j->piece->box.n_loop)
        return QFI_TOO_LARGE;
    memcpy(half_lo, lo, sizeof half_lo);
    memcpy(half_n, n, sizeof half_n);
    half_n[l] = n[l] / 2;
    QF_TRY(run_box(j, half_lo, half_n));
    half_lo[l] += half_n[l];
    half_n[l] = n[l] - half_n[l];
    return run_box(j, half_lo, half_n);
}

static qf_status run_box(void *arg, const int64_t *lo, const int64_t *n)
{
    job *j = arg;
    qfi_tiles t;
    const size_t mark = j->run->work.used;
    bool done;

    memset(&t, 0, offsetof(qfi_tiles, nest));
    t.run = j->run;
    t.segment = j->segment;
    t.piece = j->piece;
    t.dst = j->dst;
    place(j, &t, lo, n);
    qf_status st = run_panel(j, &t, lo, n, &done);
    if (st == QF_OK && !done) {
        st = qfi_fetch(j->run, &t, lo, n);
        if (st == QF_OK)
            qfi_tiles_run(j->run, &t);
    }
    j->run->work.used = mark;
    return st == QFI_TOO_LARGE ? run_halves(j, lo, n) : st;
}

qf_status qfi_run_segment(qfi_run *run, const qfi_segment *s, const int64_t *lo, const int64_t *n,
                          char *dst, int64_t first, const int64_t *stride)
{
    job j = { .run = run, .segment = s, .lo = lo, .stride = stride, .dst = dst, .first = first };

    for (uint32_t i = 0; i < s->n_piece; i++) {
        j.piece = s->piece[i];
        QF_TRY(qfi_box_visit(&j.piece->box, lo, n, run_box, &j));
    }
    return QF_OK;
}

qf_status qfi_run_dense(qfi_run *run, const qfi_segment *s, const int64_t *lo, const int64_t *n,
                        char *dst)
{
    int64_t stride[QFI_DIMS];

    qfi_box_strides(s->n_dim, n, stride);
    return qfi_run_segment(run, s, lo, n, dst, 0, stride);
}
