/* Picking by index: index_select, index and gather.
 *
 * index_select and index pick slices: a point of the index dims gives a coordinate in each indexed
 * dim of the data, and the other dims are copied as a box. gather picks element by element. A
 * negative index counts from the end; one outside the dim is a fault. */
#include "dispatch/arith.h"
#include "dispatch/breakers/gather.h"

#define TASK_BYTES ((int64_t)1 << 16)

qf_status qfi_gather_make(qfi_builder *b, qfi_breaker *x)
{
    x->run = qfi_gather_run;
    QF_TRY(qfi_breaker_operand(b, x, 0, NULL, x->type.dtype));
    for (int i = 1; i < x->n_in; i++)
        QF_TRY(qfi_breaker_operand(b, x, i, NULL, QF_DT_i64));
    const qf_dtype part = qf_dtype_get(x->type.dtype)->bits > 64 ? QF_DT_i64 : x->type.dtype;
    QF_TRY(qfi_breaker_kernel(b, x, QFI_GATHER, QFK_OP_gather, part));
    QF_TRY(qfi_breaker_kernel(b, x, QFI_GATHER_COPY, QFK_OP_copy, QF_DT_u8));
    return qfi_breaker_kernel(b, x, QFI_GATHER_STREAM, QFK_OP_stream, QF_DT_u8);
}

/* Points of the index dims, each made by a pipeline.  work: memory of the tasks, `each`
 * bytes a task. */
typedef struct points {
    const qfi_picking *p;
    char *work;
    uint64_t each;
    int64_t total, per_task;
} points;

/* Where torch puts the dims: see the operator's type. gather's index has all dims. */
static void find_dims(qfi_picking *p)
{
    const qfi_breaker *x = p->x;
    const int rank = x->in_type[0].rank;
    uint32_t dims = x->op == QF_OP_index ? x->attrs.index.dims : 1u << x->attrs.dim.dim;
    const int from = __builtin_ctz(dims);
    const bool together = ((dims >> from) & ((dims >> from) + 1)) == 0;
    int i = 1, to = 0;

    p->n_index = x->type.rank - (rank - __builtin_popcount(dims));
    p->first = together ? from : 0;
    for (int d = 0; d < rank; d++) {
        if (dims >> d & 1) {
            p->of[d] = (uint8_t)i++;
            continue;
        }
        if (to == p->first)
            to += p->n_index;
        p->out[d] = (uint8_t)to++;
    }
    if (x->op == QF_OP_gather) {
        p->first = 0;
        p->n_index = rank;
    }
}

/* The part of index operand i that the box needs, wrapped and checked. */
static qf_status load_index(qfi_picking *p, int i, int64_t size)
{
    const qfi_segment *s = p->x->in[i];
    int64_t lo[QFI_DIMS], count = 1;
    bool bad = false;

    for (int d = 0; d < s->n_dim; d++) {
        const int out = p->first + p->n_index - s->n_dim + d;
        lo[d] = s->dim[d] == 1 ? 0 : p->lo[out];
        p->index_n[i][d] = s->dim[d] == 1 ? 1 : p->n[out];
        count *= p->index_n[i][d];
    }
    p->index[i] = qfi_area_get(&p->run->work, (uint64_t)count * sizeof *p->index[i]);
    if (!p->index[i])
        return QFI_TOO_LARGE;
    QF_TRY(qfi_run_dense(p->run, s, lo, p->index_n[i], (char *)p->index[i]));
    if (p->run->fault->bad)
        return QF_ERR_VALUE;
    for (int64_t k = 0; k < count; k++) {
        int64_t *v = &p->index[i][k];
        *v += *v < 0 ? size : 0;
        bad |= *v < 0 || *v >= size;
    }
    if (bad)
        p->run->fault->bad = 1;
    return bad ? QF_ERR_VALUE : QF_OK;
}

/* One point of the index dims: the box of the other dims goes to its place. */
static qf_status pick_slice(const qfi_picking *p, qfi_run *run, int64_t number)
{
    const qf_type *data = &p->x->in_type[0];
    int64_t at[QF_MAX_RANK], lo[QFI_DIMS] = { 0 }, n[QFI_DIMS], stride[QFI_DIMS] = { 0 }, to = 0;
    const int halves = p->size == 16 ? 2 : 1;

    for (int k = p->n_index - 1; k >= 0; k--) {
        at[k] = number % p->n[p->first + k];
        number /= p->n[p->first + k];
        to += at[k] * p->stride[p->first + k];
    }
    for (int d = 0; d < data->rank; d++) {
        const int i = p->of[d];
        if (i == 0) {
            lo[d] = p->lo[p->out[d]];
            n[d] = p->n[p->out[d]];
            stride[d] = p->stride[p->out[d]] * halves;
            continue;
        }
        const int rank = p->x->in[i]->n_dim;
        int64_t k = 0;
        for (int e = 0; e < rank; e++)
            k = k * p->index_n[i][e] + (p->index_n[i][e] == 1 ? 0 : at[p->n_index - rank + e]);
        lo[d] = p->index[i][k];
        n[d] = 1;
    }
    lo[data->rank] = 0;
    n[data->rank] = 2;
    stride[data->rank] = 1;
    return qfi_run_segment(run, p->x->in[0], lo, n, p->dst, to * halves, stride);
}

/* gather from data that a pipeline must make: one element. */
static qf_status pick_element(const qfi_picking *p, qfi_run *run, int64_t number)
{
    const int rank = p->x->type.rank, halves = p->size == 16 ? 2 : 1;
    int64_t lo[QFI_DIMS] = { 0 }, n[QFI_DIMS], stride[QFI_DIMS] = { 0 }, rest = number, to = 0;

    for (int d = rank - 1; d >= 0; d--) {
        const int64_t c = rest % p->n[d];
        rest /= p->n[d];
        to += c * p->stride[d];
        lo[d] = d == p->x->attrs.dim.dim ? p->index[1][number] : p->lo[d] + c;
        n[d] = 1;
    }
    n[rank] = 2;
    stride[rank] = 1;
    return qfi_run_segment(run, p->x->in[0], lo, n, p->dst, to * halves, stride);
}

static void pick_task(void *arg, uint32_t i, uint32_t worker)
{
    const points *t = arg;
    const qfi_picking *p = t->p;
    char *mine = t->work + t->each * (p->run->serial ? 0 : worker);
    qfi_run run = qfi_task_run(p->run, worker, (qfi_area){ .p = mine, .size = t->each });
    const int64_t first = i * t->per_task, end = qfi_min64(first + t->per_task, t->total);
    qf_status st = QF_OK;

    for (int64_t k = first; k < end && st == QF_OK; k++)
        st = p->x->op == QF_OP_gather ? pick_element(p, &run, k) : pick_slice(p, &run, k);
    qfi_task_failed(p->run, i, st);
}

static qf_status run_points(const qfi_picking *p)
{
    const uint64_t workers = p->run->serial ? 1 : qfi_workers(p->run->ctx);
    points t = { .p = p, .total = 1 };
    int64_t rest = (int64_t)p->size;

    t.each = p->x->in[0]->reads ? QFI_LEAST_FETCH : 0;
    t.work = qfi_area_get(&p->run->work, t.each * workers);
    if (!t.work)
        return QFI_TOO_LARGE;
    for (int d = 0; d < p->x->type.rank; d++)
        *(d >= p->first && d < p->first + p->n_index ? &t.total : &rest) *= p->n[d];
    t.per_task = qfi_max64(1, TASK_BYTES / qfi_max64(1, rest));
    const int64_t tasks = qfi_parts(t.total, t.per_task);
    if (tasks > INT32_MAX)
        return QFI_TOO_LARGE;
    qfi_run_tasks(p->run, (uint32_t)tasks, pick_task, &t);
    return p->run->fault->status;
}

static qf_status load_all(qfi_picking *p)
{
    const qf_type *data = &p->x->in_type[0];

    for (int d = 0; d < data->rank; d++)
        if (p->of[d])
            QF_TRY(load_index(p, p->of[d], data->dim[d]));
    return QF_OK;
}

qf_status qfi_gather_run(qfi_run *run, const qfi_breaker *x, const int64_t *lo, const int64_t *n,
                         char *dst, const int64_t *stride)
{
    qfi_picking p = { .run = run, .x = x, .lo = lo, .n = n, .stride = stride, .dst = dst };
    bool done;

    p.size = qf_dtype_get(x->type.dtype)->bits / 8;
    find_dims(&p);
    QF_TRY(load_all(&p));
    QF_TRY(qfi_lookup_run(&p, &done));
    return done ? QF_OK : run_points(&p);
}
