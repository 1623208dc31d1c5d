/* The values that suit are taken from the largest to the smallest, so that all threads end at about
 * the same time; what would be left for a few of them is not taken. */
#include "lanes.h"

#include <pthread.h>
#include <stdlib.h>

#include "crc.h"

/* Bytes of a value below which many are one write, and a write of its own costs more than its
 * bytes: a system call takes as long as copying 4 KiB. */
#define LEAST_VALUE ((uint64_t)64 << 10)

/* A value. extent: its number. at: where it belongs. */
typedef struct item {
    size_t extent;
    uint64_t at, size;
} item;

/* next: what is taken next.  lock: of reports and of what failed: the first extent that did. */
typedef struct job {
    const qfi_lanes *lanes;
    const item *item;
    size_t n, next, failed;
    pthread_mutex_t lock;
    qf_status status;
    qf_diag diag;
} job;

/* A value on its way. left: bytes that the producer still owes. */
typedef struct value {
    job *job;
    uint64_t at, left;
    qfi_crc crc;
} value;

static qf_status take_window(void *user, const void *data, size_t n, const qf_digest *note,
                             qf_diag *diag)
{
    value *v = user;
    const qfi_lanes *lanes = v->job->lanes;

    if (n > v->left)
        QF_FAIL(diag, QF_ERR_INTERNAL, "a value has more bytes than its layout says");
    QF_TRY(qfi_temp_put(lanes->temp, v->at, data, n, diag));
    v->at += n;
    v->left -= n;
    qfi_crc_append(&v->crc, (uint32_t)note->word[0], n);
    pthread_mutex_lock(&v->job->lock);
    const qf_status st = qfi_layout_told(lanes->layout, lanes->options, lanes->temp, diag);
    pthread_mutex_unlock(&v->job->lock);
    return st;
}

static qf_status make_value(job *j, const item *x, uint32_t lane, qf_diag *diag)
{
    const qfi_lanes *lanes = j->lanes;
    const qfi_write_options *options = lanes->options;
    value v = { .job = j, .at = x->at, .left = x->size };
    const qf_sink sink = { .digest = qfi_crc_digest, .take = take_window, .user = &v };

    QF_TRY(qfi_temp_reserve(lanes->temp, x->at, x->size, diag));
    QF_TRY(options->produce(options->user, (uint32_t)lanes->layout->extent[x->extent].source, lane,
                            &sink, diag));
    if (v.left)
        QF_FAIL(diag, QF_ERR_INTERNAL, "a value lacks %llu of its %llu bytes",
                (unsigned long long)v.left, (unsigned long long)x->size);
    lanes->crc[x->extent] = v.crc.sum;
    lanes->done[x->extent] = true;
    return QF_OK;
}

static bool take_item(job *j, const item **out)
{
    pthread_mutex_lock(&j->lock);
    const bool any = j->status == QF_OK && j->next < j->n;
    if (any)
        *out = &j->item[j->next++];
    pthread_mutex_unlock(&j->lock);
    return any;
}

static void fail_item(job *j, const item *x, qf_status st, const qf_diag *diag)
{
    pthread_mutex_lock(&j->lock);
    if (j->status == QF_OK || x->extent < j->failed) {
        j->status = st;
        j->failed = x->extent;
        j->diag = *diag;
    }
    pthread_mutex_unlock(&j->lock);
}

static void run_lane(void *arg, uint32_t i, uint32_t worker)
{
    job *j = arg;
    const item *x;

    (void)worker;
    while (take_item(j, &x)) {
        qf_diag diag = { 0 };
        const qf_status st = make_value(j, x, i, &diag);
        if (st != QF_OK)
            fail_item(j, x, st, &diag);
    }
}

static int from_largest(const void *a, const void *b)
{
    const item *x = a, *y = b;

    if (x->size != y->size)
        return x->size < y->size ? 1 : -1;
    return x->extent < y->extent ? -1 : 1;
}

/* The values that suit, in *out, in the order in which they are made. */
static size_t choose_items(const qfi_lanes *lanes, uint32_t n_lane, item *out)
{
    const qfi_write_options *options = lanes->options;
    uint64_t at = 0;
    size_t n = 0;

    for (size_t i = 0; i < lanes->layout->n; i++) {
        const qfi_extent *e = &lanes->layout->extent[i];
        if (e->kind == QFI_VALUE && e->size >= LEAST_VALUE &&
            options->fits(options->user, (uint32_t)e->source, n_lane))
            out[n++] = (item){ i, at, e->size };
        at += e->size;
    }
    qsort(out, n, sizeof *out, from_largest);
    return n - n % n_lane;
}

qf_status qfi_lanes_write(const qfi_lanes *lanes, qf_diag *diag)
{
    const qf_ctx *threads = lanes->options->threads;
    job j = { .lanes = lanes, .lock = PTHREAD_MUTEX_INITIALIZER };
    qfi_pool pool = { 0 };

    if (!threads || !threads->parallel_for || threads->workers < 2)
        return QF_OK;
    item *items = qfi_pool_alloc(&pool, lanes->layout->n, sizeof *items);
    if (!items)
        QF_FAIL(diag, QF_ERR_NOMEM, "%s: out of memory for writing", lanes->temp->target);
    j.item = items;
    j.n = choose_items(lanes, threads->workers, items);
    if (j.n > 0)
        threads->parallel_for(threads->pool, threads->workers, run_lane, &j);
    pthread_mutex_destroy(&j.lock);
    qfi_pool_free(&pool);
    if (j.status != QF_OK && diag)
        *diag = j.diag;
    return j.status;
}
