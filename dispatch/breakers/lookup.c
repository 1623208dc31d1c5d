/* Picking from data that stand in memory: rows are moved, single elements gathered by a kernel. */
#include "dispatch/arith.h"
#include "dispatch/breakers/gather.h"
#include "dispatch/tiles.h"

#define TASK_BYTES ((int64_t)1 << 16)
#define LEAST_ROW 32                   /* bytes of a row from which on it is moved, not gathered */
#define STREAM_TASK ((int64_t)1 << 18) /* a store fence after each */
/* Bytes of the next row that are asked for; the hardware goes on from there. Without, or row and
 * next row in turns of 512 bytes, random rows of 2 and 4 KiB took 1.1 to 1.3 times as long (Zen 3).
 */
#define AHEAD 512
#define LINE 64

/* Places of an element: in the destination, in elements; in the data, in bytes, but for what its
 * index adds; its number among the indices. */
enum { TO, FROM, INDEX, LANES };

typedef struct lookup {
    const qfi_picking *p;
    qfi_nest nest;
    const char *data;
    const int64_t *index;
    int64_t by;                     /* bytes in the data that an index stands for */
    int64_t size, rows, cols, m, n; /* of an element; of the inner two loops and a tile of them */
    int64_t tiles_m, tiles_n, total, per_task;
    const qfk_row *move; /* of whole rows, or NULL: elements are gathered */
    bool streams;
} lookup;

static bool is_index_dim(const qfi_picking *p, int out)
{
    return out >= p->first && out < p->first + p->n_index;
}

/* Step of index operand i along dim `out` of the result, 0 where it is repeated. */
static int64_t index_step(const qfi_picking *p, int i, int out)
{
    const int rank = p->x->in[i]->n_dim, first = p->first + p->n_index - rank;
    int64_t step = 1;

    if (out < first || out >= p->first + p->n_index || p->index_n[i][out - first] == 1)
        return 0;
    for (int d = out - first + 1; d < rank; d++)
        step *= p->index_n[i][d];
    return step;
}

/* Several indices of a point as one, in bytes. */
static qf_status join_indices(lookup *t, const qfi_standing *data)
{
    const qfi_picking *p = t->p;
    const int last = p->first + p->n_index - 1;
    int64_t points = 1, step[QF_MAX_RANK + 1][QF_MAX_RANK], *joined;

    for (int k = p->first; k <= last; k++) {
        points *= p->n[k];
        for (int o = 1; o < p->x->n_in; o++)
            step[o][k] = index_step(p, o, k);
    }
    joined = qfi_area_get(&p->run->work, (uint64_t)points * sizeof *joined);
    if (!joined)
        return QFI_TOO_LARGE;
    for (int64_t i = 0; i < points; i++) {
        int64_t rest = i, number[QF_MAX_RANK + 1] = { 0 };
        for (int k = last; k >= p->first; k--) {
            for (int o = 1; o < p->x->n_in; o++)
                number[o] += rest % p->n[k] * step[o][k];
            rest /= p->n[k];
        }
        joined[i] = 0;
        for (int d = 0; d < p->x->in_type[0].rank; d++)
            if (p->of[d])
                joined[i] += p->index[p->of[d]][number[p->of[d]]] * data->step[d];
    }
    t->index = joined;
    t->by = 1;
    return QF_OK;
}

/* One index serves as it is. */
static void use_index(lookup *t, const qfi_standing *data)
{
    int d = 0;

    while (!t->p->of[d])
        d++;
    t->index = t->p->index[1];
    t->by = data->step[d];
}

static void list_loops(lookup *t, const qfi_standing *data)
{
    const qfi_picking *p = t->p;
    const int rank = p->x->type.rank, data_rank = p->x->in_type[0].rank;
    const int64_t parts = (int64_t)p->size / t->size; /* halves of a 128-bit element */
    qfi_nest *nest = &t->nest;
    int64_t step = 1;

    nest->n_loop = (uint8_t)(rank + (parts > 1));
    nest->n_lane = LANES;
    for (int d = rank - 1; d >= 0; d--) {
        nest->n[d] = p->n[d];
        nest->lane[TO].step[d] = p->stride[d] * parts;
        if (!is_index_dim(p, d))
            continue;
        nest->lane[INDEX].step[d] = p->x->n_in == 2 ? index_step(p, 1, d) : step;
        step *= p->n[d];
    }
    for (int d = 0; d < data_rank; d++) {
        if (p->of[d])
            continue;
        nest->lane[FROM].step[p->out[d]] = data->step[d];
        nest->lane[FROM].base += data->step[d] * p->lo[p->out[d]];
    }
    if (parts > 1) {
        nest->n[rank] = parts;
        nest->lane[TO].step[rank] = 1;
        nest->lane[FROM].step[rank] = data->step[data_rank];
    }
}

static void plan(lookup *t)
{
    qfi_nest *nest = &t->nest;
    const qfi_breaker *x = t->p->x;
    int64_t outer = 1;

    qfi_nest_tidy(nest);
    const int last = nest->n_loop - 1;
    nest->col = (int8_t)(last >= 0 && nest->lane[TO].step[last] == 1 ? last : -1);
    nest->row = (int8_t)(nest->col < 0 ? last : last - 1);
    for (int l = 0; l < nest->n_loop; l++)
        if (l != nest->col && l != nest->row)
            outer *= nest->n[l];
    t->rows = nest->row < 0 ? 1 : nest->n[nest->row];
    t->cols = nest->col < 0 ? 1 : nest->n[nest->col];
    if (t->cols * t->size >= LEAST_ROW && qfi_step_of(&nest->lane[INDEX], nest->col) == 0 &&
        qfi_step_of(&nest->lane[FROM], nest->col) == t->size) {
        t->streams = t->p->run->past && t->cols * t->size >= QFI_LEAST_RUN;
        t->move = x->kernel[t->streams ? QFI_GATHER_STREAM : QFI_GATHER_COPY];
    }
    const int64_t task = t->streams ? STREAM_TASK : TASK_BYTES;
    t->n = qfi_min64(t->cols, task / t->size);
    t->m = qfi_min64(t->rows, task / t->size / t->n);
    t->tiles_m = qfi_parts(t->rows, t->m);
    t->tiles_n = qfi_parts(t->cols, t->n);
    t->total = outer * t->tiles_m * t->tiles_n;
    t->per_task = qfi_max64(1, task / (t->m * t->n * t->size));
    if (t->total / t->per_task > 1 << 20)
        t->per_task = t->total >> 20;
}

/* Rows of n bytes; the next one is on its way while one is moved. */
static void move_rows(const lookup *t, int64_t m, int64_t n, const char *from, int64_t from_row,
                      const int64_t *index, int64_t index_row, qfk_out out)
{
    for (int64_t i = 0; i < m; i++) {
        const int64_t next = i + 1 < m ? i + 1 : i;
        const char *then = from + next * from_row + index[next * index_row] * t->by;
        const qfk_in in = { from + i * from_row + index[i * index_row] * t->by, n, 1 };
        for (int64_t b = 0; b < n && b < AHEAD; b += LINE)
            __builtin_prefetch(then + b);
        t->move->fn(1, (size_t)n, &in, (qfk_out){ (char *)out.p + i * out.row, n }, NULL);
    }
}

static void pick_tile(const lookup *t, int64_t number)
{
    const qfi_nest *nest = &t->nest;
    const int64_t plane = t->tiles_m * t->tiles_n, i = number % plane / t->tiles_n * t->m,
                  j = number % t->tiles_n * t->n, m = qfi_min64(t->m, t->rows - i),
                  n = qfi_min64(t->n, t->cols - j);
    int64_t at[LANES], row[LANES], col[LANES], rest = number / plane;

    for (int k = 0; k < LANES; k++) {
        row[k] = qfi_step_of(&nest->lane[k], nest->row);
        col[k] = qfi_step_of(&nest->lane[k], nest->col);
        at[k] = nest->lane[k].base + i * row[k] + j * col[k];
    }
    for (int l = nest->n_loop - 1; l >= 0; l--) {
        if (l == nest->row || l == nest->col)
            continue;
        for (int k = 0; k < LANES; k++)
            at[k] += rest % nest->n[l] * nest->lane[k].step[l];
        rest /= nest->n[l];
    }
    const qfk_out out = { t->p->dst + at[TO] * t->size, row[TO] * t->size };
    if (t->move) {
        move_rows(t, m, n * t->size, t->data + at[FROM], row[FROM], t->index + at[INDEX],
                  row[INDEX], out);
        return;
    }
    const qfk_in in[2] = { { t->data + at[FROM], row[FROM], col[FROM] },
                           { t->index + at[INDEX], row[INDEX] * 8, col[INDEX] * 8 } };
    const qfk_param by = { .i = { t->by } };
    t->p->x->kernel[QFI_GATHER]->fn((size_t)m, (size_t)n, in, out, &by);
}

static void lookup_task(void *arg, uint32_t i, uint32_t worker)
{
    const lookup *t = arg;

    (void)worker;
    for (int64_t k = i * t->per_task; k < (i + 1) * t->per_task && k < t->total; k++)
        pick_tile(t, k);
    if (t->streams)
        qfi_store_fence();
}

/* The box of the data that may be asked for. */
static qfi_standing find_data(const qfi_picking *p)
{
    const qfi_segment *s = p->x->in[0];
    int64_t lo[QFI_DIMS] = { 0 }, n[QFI_DIMS];

    for (int d = 0; d < s->n_dim; d++) {
        const bool whole = d >= p->x->in_type[0].rank || p->of[d];
        lo[d] = whole ? 0 : p->lo[p->out[d]];
        n[d] = whole ? s->dim[d] : p->n[p->out[d]];
    }
    return qfi_fetch_standing(p->run, s, lo, n);
}

qf_status qfi_lookup_run(const qfi_picking *p, bool *done)
{
    const qfi_standing data = find_data(p);
    lookup t = { .p = p, .data = data.p, .size = qfi_min64((int64_t)p->size, 8) };

    *done = data.p != NULL;
    if (!data.p)
        return QF_OK;
    if (p->x->n_in == 2)
        use_index(&t, &data);
    else
        QF_TRY(join_indices(&t, &data));
    list_loops(&t, &data);
    plan(&t);
    qfi_run_tasks(p->run, (uint32_t)qfi_parts(t.total, t.per_task), lookup_task, &t);
    return p->run->fault->status;
}
