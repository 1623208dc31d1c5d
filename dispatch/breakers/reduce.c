/* Reductions.
 *
 * The operand's dims are ordered kept, then reduced, so that an element of the result is a row of
 * the operand, in row-major order of the reduced dims. A task takes a block of rows and walks their
 * columns in chunks: column j goes to partial j % 16, so the order of additions depends on the
 * shape alone. */
#include "dispatch/breakers/breaker.h"

#include <stdlib.h>
#include <string.h>

enum { STEP, END, POST, CAST };

/* Rows and columns that a task takes at a time: long rows one by one, or, where the operand is
 * adjacent along its rows' dim rather than along the columns, many rows of a few columns. */
#define CHUNK 2048
#define ROWS 64
#define TALL_ROWS 512
#define TALL_CHUNK 64
#define STATE 128 /* bytes of 16 partials */
#define LEAST_FETCH ((uint64_t)1 << 14)

static const struct {
    qf_op op;
    uint16_t step, end;
    bool wide; /* the state is f64 or i64 */
} rows[] = {
    { QF_OP_sum, QFK_OP_sum, QFK_OP_sum_end, true },
    { QF_OP_mean, QFK_OP_sum, QFK_OP_sum_end, true },
    { QF_OP_norm2, QFK_OP_sumsq, QFK_OP_sumsq_end, true },
    { QF_OP_amax, QFK_OP_amax, QFK_OP_amax_end, false },
    { QF_OP_amin, QFK_OP_amin, QFK_OP_amin_end, false },
    { QF_OP_any, QFK_OP_any, QFK_OP_any_end, false },
};

/* Type in which the operand arrives, and type of the state. */
static void choose_types(const qfi_breaker *x, bool wide, qf_dtype *in, qf_dtype *state)
{
    const qf_dtype dtype = x->in_type[0].dtype;
    const bool is_float = qf_dtype_get(dtype)->kind == QF_CLASS_FLOAT;

    *in = qf_dtype_get(dtype)->compute;
    if (x->op == QF_OP_any)
        *in = QF_DT_b8;
    else if (*in == QF_DT_b8)
        *in = QF_DT_u8; /* booleans are ordered as 0 and 1 */
    if (wide && !is_float)
        *in = QF_DT_i64;
    *state = wide ? (is_float ? QF_DT_f64 : QF_DT_i64) : *in;
}

static bool is_reduced(const qfi_breaker *x, int d)
{
    return x->attrs.reduce.dims >> d & 1;
}

/* Whether some operand in memory runs along the last kept dim in shorter steps than along the last
 * reduced one. */
static bool is_tall(const qfi_segment *s, int n_kept)
{
    const qfi_piece *p = s->n_piece > 0 ? s->piece[0] : NULL;

    for (int i = 0; p && i < p->n_operand; i++) {
        int64_t kept = INT64_MAX, reduced = INT64_MAX;
        for (int l = 0; l < p->box.n_loop; l++) {
            const int64_t step = llabs(p->operand[i].at.step[l]);
            int64_t *least = p->box.dim[l] < n_kept ? &kept : &reduced;
            if (step > 0 && step < *least)
                *least = step;
        }
        if (p->operand[i].source <= QFI_KEPT && kept < reduced)
            return true;
    }
    return false;
}

qf_status qfi_reduce_make(qfi_builder *b, qfi_breaker *x)
{
    uint8_t order[QF_MAX_RANK];
    int n = 0, used;
    size_t i = 0;
    qf_dtype in, state;

    while (rows[i].op != x->op)
        i++;
    choose_types(x, rows[i].wide, &in, &state);
    for (int pass = 0; pass < 2; pass++)
        for (int d = 0; d < x->in_type[0].rank; d++)
            if (is_reduced(x, d) == (pass == 1))
                order[n++] = (uint8_t)d;
    x->compute = state;
    x->run = qfi_reduce_run;
    QF_TRY(qfi_operand_segment(b, qfi_step(b, x->value)->in[0], order, in, &x->in[0]));
    QF_TRY(qfi_breaker_kernel(b, x, STEP, rows[i].step, in));
    QF_TRY(qfi_breaker_kernel(b, x, END, rows[i].end, state));
    if (x->op == QF_OP_mean)
        QF_TRY(qfi_breaker_kernel(b, x, POST, QFK_OP_div, state));
    if (x->op == QF_OP_norm2)
        QF_TRY(qfi_breaker_kernel(b, x, POST, QFK_OP_sqrt, state));
    return qfi_breaker_cast(
        b, x, CAST, state,
        x->op == QF_OP_amax || x->op == QF_OP_amin ? x->in_type[0].dtype : x->type.dtype, &used);
}

/* The part of the result at hand. kept: dims of the operand that the result has, and where they are
 * in it. */
typedef struct reduction {
    qfi_run *run;
    const qfi_breaker *x;
    const int64_t *lo, *n, *stride;
    char *dst, *work;
    int n_kept;
    int64_t kept_n[QFI_DIMS], kept_lo[QFI_DIMS], kept_stride[QFI_DIMS];
    int64_t columns;
    qfi_walk rows, chunks;
    uint64_t each, buffer,
        state; /* bytes of a task's memory: all, elements, partials and results */
    size_t in_size, state_size;
} reduction;

static void find_kept(reduction *r)
{
    const qfi_breaker *x = r->x;
    int out = 0;

    for (int d = 0; d < x->in_type[0].rank; d++) {
        if (!is_reduced(x, d)) {
            r->kept_n[r->n_kept] = r->n[out];
            r->kept_lo[r->n_kept] = r->lo[out];
            r->kept_stride[r->n_kept++] = r->stride[out];
        }
        out += !is_reduced(x, d) || x->attrs.reduce.keep;
    }
}

/* Partials to elements, rounded once. `a` holds the partials, `b` has room for the rows; both are
 * used in turn. */
static char *finish(const reduction *r, int64_t n, char *a, char *b)
{
    const qfi_breaker *x = r->x;
    const int64_t size = (int64_t)r->state_size;
    const double count = (double)r->columns;
    qfk_in in[2] = { { a, 16 * size, size }, { &count, 0, 0 } };
    unsigned bits = (unsigned)size * 8;

    x->kernel[END]->fn((size_t)n, 1, in, (qfk_out){ b, size }, &(qfk_param){ 0 });
    if (x->kernel[POST]) {
        in[0] = (qfk_in){ b, n * size, size };
        x->kernel[POST]->fn(1, (size_t)n, in, (qfk_out){ b, n * size }, &(qfk_param){ 0 });
    }
    for (int k = CAST; k < CAST + 2 && x->kernel[k]; k++) {
        char *swap = a;
        in[0] = (qfk_in){ b, n * bits / 8, bits / 8 };
        bits = x->bits[k];
        x->kernel[k]->fn(1, (size_t)n, in, (qfk_out){ a, n * bits / 8 }, &(qfk_param){ 0 });
        a = b;
        b = swap;
    }
    return b;
}

static qf_status run_rows(const reduction *r, qfi_run *run, char *mine, int64_t number)
{
    const qfi_segment *s = r->x->in[0];
    int64_t lo[QFI_DIMS], n[QFI_DIMS], block[QFI_DIMS], to = 0, column = 0;
    char *state = mine + r->buffer;
    const int64_t count = qfi_walk_at(&r->rows, number, block, n);

    for (int d = 0; d < r->n_kept; d++) {
        lo[d] = r->kept_lo[d] + block[d];
        to += block[d] * r->kept_stride[d];
    }
    for (int64_t c = 0; c < (r->chunks.total ? r->chunks.total : 1); c++) {
        int64_t width = 0;
        if (r->chunks.total) {
            width = qfi_walk_at(&r->chunks, c, lo + r->n_kept, n + r->n_kept);
            QF_TRY(qfi_run_dense(run, s, lo, n, mine));
        }
        const qfk_in in = { mine, width * (int64_t)r->in_size, (int64_t)r->in_size };
        const qfk_param p = { .i = { column, c == 0 } };
        r->x->kernel[STEP]->fn((size_t)count, (size_t)width, &in,
                               (qfk_out){ state, 16 * (int64_t)r->state_size }, &p);
        column += width;
    }
    const size_t size = qf_dtype_get(r->x->type.dtype)->bits / 8;
    const char *result = finish(r, count, state, state + count * STATE);
    qfi_scatter(result, r->n_kept, n, r->dst + to * (int64_t)size, r->kept_stride, size);
    return QF_OK;
}

static void rows_task(void *arg, uint32_t i, uint32_t worker)
{
    const reduction *r = arg;
    char *mine = r->work + r->each * (r->run->serial ? 0 : worker);
    const uint64_t own = r->buffer + r->state;
    qfi_run run =
        qfi_task_run(r->run, worker, (qfi_area){ .p = mine + own, .size = r->each - own });
    const qf_diag none = { .at = -1 };

    const qf_status st = run_rows(r, &run, mine, i);
    if (st != QF_OK && r->run->fault->status == QF_OK)
        qfi_run_failed(r->run, i, st == QFI_TOO_LARGE ? QF_ERR_LIMIT : st, &none);
}

/* How much a task takes at a time, and the memory of all workers for it. */
static bool plan_blocks(reduction *r, bool tall, uint64_t workers)
{
    const qfi_segment *s = r->x->in[0];
    const int64_t most = tall ? TALL_CHUNK : CHUNK;
    const int64_t chunk = r->columns < most ? r->columns : most;
    /* Short rows are taken many at a time. */
    int64_t height = (tall ? TALL_ROWS * TALL_CHUNK : CHUNK) / (chunk > 0 ? chunk : 1), all = 1;

    for (int d = 0; d < r->n_kept; d++)
        all *= r->kept_n[d];
    height = height > (tall ? TALL_ROWS : ROWS) ? (tall ? TALL_ROWS : ROWS) : height;
    height = height > all ? all : height;
    height = height < 1 ? 1 : height;
    r->chunks = qfi_walk_make(s->n_dim - r->n_kept, s->dim + r->n_kept, most);
    r->rows = qfi_walk_make(r->n_kept, r->kept_n, height);
    r->buffer = ((uint64_t)(height * chunk) * r->in_size + 63) & ~(uint64_t)63;
    r->state = ((uint64_t)height * (STATE + 16) + 63) & ~(uint64_t)63;
    r->each = r->buffer + r->state + (s->reads ? r->buffer + LEAST_FETCH : 0);
    r->work = qfi_area_get(&r->run->work, r->each * workers);
    return r->work != NULL && r->rows.total <= INT32_MAX;
}

qf_status qfi_reduce_run(qfi_run *run, const qfi_breaker *x, const int64_t *lo, const int64_t *n,
                         char *dst, const int64_t *stride)
{
    const qfi_segment *s = x->in[0];
    reduction r = {
        .run = run, .x = x, .lo = lo, .n = n, .stride = stride, .dst = dst, .columns = 1
    };
    const uint64_t workers = run->serial ? 1 : qfi_workers(run->ctx);

    find_kept(&r);
    for (int d = r.n_kept; d < s->n_dim; d++)
        r.columns *= s->dim[d];
    r.in_size = s->bits / 8;
    r.state_size = qf_dtype_get(x->compute)->bits / 8;
    if (!(is_tall(s, r.n_kept) && plan_blocks(&r, true, workers)) &&
        !plan_blocks(&r, false, workers))
        return QFI_TOO_LARGE;
    qfi_run_tasks(run, (uint32_t)r.rows.total, rows_task, &r);
    return run->fault->status;
}
