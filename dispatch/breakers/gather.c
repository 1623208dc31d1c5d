/* Picking by index: index_select, index and gather.
 *
 * index_select and index pick slices: a point of the index dims gives a coordinate in each indexed
 * dim of the data, and the other dims are copied as a box. gather picks element by element. A
 * negative index counts from the end; one outside the dim is a fault. */
#include "dispatch/breakers/breaker.h"

#include <string.h>

#define LEAST_FETCH ((uint64_t)1 << 14)
#define TASK_BYTES ((int64_t)1 << 16)

enum { GATHER };

qf_status qfi_gather_make(qfi_builder *b, qfi_breaker *x)
{
    x->run = qfi_gather_run;
    QF_TRY(qfi_breaker_operand(b, x, 0, NULL, x->type.dtype));
    for (int i = 1; i < x->n_in; i++)
        QF_TRY(qfi_breaker_operand(b, x, i, NULL, QF_DT_i64));
    if (x->op == QF_OP_gather && qf_dtype_get(x->type.dtype)->bits <= 64)
        QF_TRY(qfi_breaker_kernel(b, x, GATHER, QFK_OP_gather, x->type.dtype));
    return QF_OK;
}

/* The part of the result at hand.
 * n_index, first: the index dims of the result, `first` and on.  of: for each dim of the data, the
 * number of its index operand (from 1), or 0.  out: for each other dim of the data, its dim in the
 * result. index: the index operands' part, dense; index_n: its shape. */
typedef struct picking {
    qfi_run *run;
    const qfi_breaker *x;
    const int64_t *lo, *n, *stride;
    char *dst, *work;
    int n_index, first;
    uint8_t of[QF_MAX_RANK], out[QF_MAX_RANK];
    int64_t *index[QF_MAX_RANK + 1], index_n[QF_MAX_RANK + 1][QF_MAX_RANK];
    uint64_t each;
    int64_t points, per_task;
    size_t size;
} picking;

/* Where torch puts the dims: see the operator's type. */
static void find_dims(picking *p)
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
}

/* The part of index operand i that the box needs, wrapped and checked. */
static qf_status load_index(picking *p, int i, int64_t size)
{
    const qfi_segment *s = p->x->in[i];
    int64_t lo[QFI_DIMS], count = 1;
    bool bad = false;

    for (int d = 0; d < s->n_dim; d++) {
        const int out = p->x->op == QF_OP_gather ? d : p->first + p->n_index - s->n_dim + d;
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
static qf_status pick_slice(const picking *p, qfi_run *run, int64_t number)
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
static qf_status pick_element(const picking *p, qfi_run *run, int64_t number)
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
    const picking *p = arg;
    char *mine = p->work + p->each * (p->run->serial ? 0 : worker);
    qfi_run run = qfi_task_run(p->run, worker, (qfi_area){ .p = mine, .size = p->each });
    const int64_t first = i * p->per_task,
                  end = first + p->per_task < p->points ? first + p->per_task : p->points;
    qf_status st = QF_OK;

    for (int64_t k = first; k < end && st == QF_OK; k++)
        st = p->x->op == QF_OP_gather ? pick_element(p, &run, k) : pick_slice(p, &run, k);
    qfi_task_failed(p->run, i, st);
}

/* gather whose data stand in memory with plain strides: rows of the last dim by one kernel call
 * each. */
typedef struct table {
    const picking *p;
    const char *data;
    int64_t stride[QF_MAX_RANK]; /* bytes, of the data */
} table;

static bool find_table(const picking *p, table *t)
{
    const qfi_segment *s = p->x->in[0];
    const qfi_piece *piece = s->n_piece == 1 ? s->piece[0] : NULL;

    if (!piece || !p->x->kernel[GATHER] || piece->n_stage > 0 || piece->n_operand != 1 ||
        piece->root != 0)
        return false;
    const qfi_operand *o = &piece->operand[0];
    if (o->source != QFI_MEMORY && o->source != QFI_KEPT)
        return false;
    *t =
        (table){ .p = p,
                 .data = o->source == QFI_MEMORY ? o->storage->data
                                                 : p->run->kept + p->run->pipe->kept[o->which].at };
    t->data += o->at.base * (int64_t)p->size;
    for (int l = 0; l < piece->box.n_loop; l++) {
        if (t->stride[piece->box.dim[l]] != 0 || piece->box.pace[l] != 1)
            return false;
        t->stride[piece->box.dim[l]] = o->at.step[l] * (int64_t)p->size;
    }
    return true;
}

static void table_task(void *arg, uint32_t i, uint32_t worker)
{
    const table *t = arg;
    const picking *p = t->p;
    const int last = p->x->type.rank - 1, dim = p->x->attrs.dim.dim;
    const int64_t size = (int64_t)p->size, n = p->n[last];
    const qfk_param by = { .i = { t->stride[dim] } };

    (void)worker;
    for (int64_t k = i * p->per_task; k < (i + 1) * p->per_task && k < p->points; k++) {
        const char *data = t->data;
        int64_t rest = k, to = 0;
        for (int d = last - 1; d >= 0; d--) {
            const int64_t c = rest % p->n[d];
            rest /= p->n[d];
            to += c * p->stride[d];
            data += d == dim ? 0 : (p->lo[d] + c) * t->stride[d];
        }
        data += last == dim ? 0 : p->lo[last] * t->stride[last];
        /* Elements of the destination that are not adjacent run down the rows of a tile of one
         * column. */
        const bool dense = p->stride[last] == 1;
        const int64_t step = last == dim ? 0 : t->stride[last];
        const qfk_in in[2] = { { data, dense ? 0 : step, dense ? step : 0 },
                               { p->index[1] + k * n, dense ? 0 : 8, dense ? 8 : 0 } };
        const qfk_out out = { p->dst + to * size, p->stride[last] * size };
        p->x->kernel[GATHER]->fn(dense ? 1 : (size_t)n, dense ? (size_t)n : 1, in, out, &by);
    }
}

static qf_status run_points(picking *p, int64_t bytes_each, qfi_task *task, void *arg)
{
    p->per_task = TASK_BYTES / (bytes_each > 0 ? bytes_each : 1);
    p->per_task = p->per_task < 1 ? 1 : p->per_task;
    const int64_t tasks = (p->points + p->per_task - 1) / p->per_task;
    if (tasks > INT32_MAX)
        return QFI_TOO_LARGE;
    qfi_run_tasks(p->run, (uint32_t)tasks, task, arg);
    return p->run->fault->status;
}

static qf_status load_all(picking *p)
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
    picking p = { .run = run, .x = x, .lo = lo, .n = n, .stride = stride, .dst = dst, .points = 1 };
    const uint64_t workers = run->serial ? 1 : qfi_workers(run->ctx);
    int64_t rest = 1;
    table t;

    p.size = qf_dtype_get(x->type.dtype)->bits / 8;
    find_dims(&p);
    QF_TRY(load_all(&p));
    p.each = x->in[0]->reads ? LEAST_FETCH : 0;
    p.work = qfi_area_get(&run->work, p.each * workers);
    if (!p.work)
        return QFI_TOO_LARGE;
    if (x->op == QF_OP_gather) {
        for (int d = 0; d < x->type.rank; d++)
            p.points *= n[d];
        if (!find_table(&p, &t))
            return run_points(&p, (int64_t)p.size, pick_task, &p);
        const int64_t row = n[x->type.rank - 1];
        p.points /= row;
        return run_points(&p, row * (int64_t)p.size, table_task, &t);
    }
    for (int d = 0; d < x->type.rank; d++)
        *(d >= p.first && d < p.first + p.n_index ? &p.points : &rest) *= n[d];
    return run_points(&p, rest * (int64_t)p.size, pick_task, &p);
}
