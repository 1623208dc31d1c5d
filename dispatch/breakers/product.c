/* Blocks of a matrix product.
 *
 *   for every part of the result, sn columns wide and sm rows high
 *       for every kc steps of k, in order
 *           pack sm x kc of A and kc x sn of B            one task per group of panels
 *           extend the chains of mc x nc elements of C    one task per block
 *       round to the type of the result                   one task per band of rows
 *
 * C is the destination itself where that can hold the sums, and the part's own memory otherwise.
 * Many small products go one to a task instead. One chain per element, in order of k: neither the
 * parts nor the number of threads change a bit. */
#include "dispatch/arith.h"
#include "dispatch/breakers/product.h"
#include "dispatch/providers/providers.h"

#include <string.h>

/* For Zen 3 (L1 32 K, L2 512 K, 98 GFLOP/s of f32).
 * DEPTH: a panel of B stays in the first cache level while panels of A pass by; 192 steps reach 81
 * to 91 GFLOP/s from packed operands, 256 to 384 steps 91 to 99.
 * BLOCK_A: a block of A stays in half of the second.
 * PART: A and B of a part stay in the last level. SUMS: likewise, of sums beside the result. */
#define DEPTH_BYTES ((int64_t)24 << 10)
#define BLOCK_A_BYTES ((int64_t)256 << 10)
#define BLOCK_COLUMNS 512
#define PART_BYTES ((int64_t)4 << 20)
#define SUMS_BYTES ((int64_t)4 << 20)
#define BLAS_ROWS 1024 /* panels that OpenBLAS makes; it packs the operands of each anew */
#define BLAS_COLUMNS 2048
#define SMALL_PRODUCT ((int64_t)1 << 24) /* multiply-adds of one that may be a task */
#define AS_IT_STANDS ((int64_t)24 << 10) /* bytes of B that stay in the first cache level */
#define TASK_PRODUCT ((int64_t)1 << 20)  /* of the products that make a task */

/* The part of the result at hand, and how it is cut. dst: where its first element goes. */
typedef struct product {
    qfi_run *run;
    const qfi_breaker *x;
    const int64_t *lo, *n, *stride;
    char *dst;
    int n_batch, row, col; /* dims of the result; -1: an operand of one dim has none */
    int64_t m0, m, n0, cols, k, items;
    qfi_factor a, b;
    int64_t size, out_size, mr, nr;
    bool direct; /* sums stand in the destination */
    int64_t sm, sn, kc, mc, nc;
    /* bytes: packed parts, sums; of each worker: what is made, the tile of an edge, reads */
    uint64_t pack_a, pack_b, sum, raw, edge, fetch;
    qfi_blas_product call;
} product;

static uint64_t shared_size(const product *p)
{
    return p->pack_a + p->pack_b + p->sum;
}

static uint64_t worker_size(const product *p)
{
    return p->raw + p->edge + p->fetch;
}

static uint64_t bytes_of(const product *p, int64_t elements)
{
    return qfi_lines((uint64_t)(elements * p->size));
}

static void measure(product *p)
{
    const uint64_t raw_a = qfi_factor_room(&p->a, p->kc, p->sm),
                   raw_b = qfi_factor_room(&p->b, p->kc, p->sn);

    p->pack_a = bytes_of(p, qfi_factor_packed(&p->a, p->kc, p->sm));
    p->pack_b = bytes_of(p, qfi_factor_packed(&p->b, p->kc, p->sn));
    p->sum = p->direct ? 0 : bytes_of(p, qfi_round_up(p->sm, p->mr) * qfi_round_up(p->sn, p->nr));
    p->raw = raw_a > raw_b ? raw_a : raw_b;
    p->edge = p->direct ? bytes_of(p, p->mr * p->nr) : 0;
    p->fetch = p->a.segment->reads || p->b.segment->reads ? QFI_LEAST_FETCH : 0;
}

/* An even share of n that is at most `most`, in units. */
static int64_t share(int64_t n, int64_t most, int64_t unit)
{
    const int64_t parts = qfi_max64(1, qfi_parts(n, most));
    return qfi_max64(unit, qfi_min64(qfi_round_up(qfi_parts(n, parts), unit), n));
}

static int64_t halve(int64_t n, int64_t unit)
{
    const int64_t half = qfi_round_up((n + 1) / 2, unit);
    return half < n ? half : unit;
}

/* Cut until the packed parts and what `workers` need fit into `room`. */
static bool choose_parts(product *p, uint64_t room, uint64_t workers)
{
    p->kc = qfi_max64(1, qfi_min64(DEPTH_BYTES / (p->nr * p->size), p->k));
    p->sm = share(p->m, PART_BYTES / (p->kc * p->size), p->mr);
    p->sn = share(p->cols, PART_BYTES / (p->kc * p->size), p->nr);
    while (!p->direct && p->sm * p->sn * p->size > SUMS_BYTES && (p->sm > p->mr || p->sn > p->nr))
        if (p->sm > p->sn)
            p->sm = halve(p->sm, p->mr);
        else
            p->sn = halve(p->sn, p->nr);
    for (measure(p); shared_size(p) + worker_size(p) * workers > room; measure(p)) {
        if (p->sm > p->mr && p->sm >= p->sn)
            p->sm = halve(p->sm, p->mr);
        else if (p->sn > p->nr)
            p->sn = halve(p->sn, p->nr);
        else if (p->kc > 1)
            p->kc = (p->kc + 1) / 2;
        else
            return false;
    }
    p->mc = share(p->sm, BLOCK_A_BYTES / (p->kc * p->size), p->mr);
    p->nc = share(p->sn, BLOCK_COLUMNS, p->nr);
    return true;
}

/* One part: coordinates, and k at hand. */
typedef struct part {
    const product *p;
    const qfi_run *run;
    char *a, *b, *sum, *mine;
    int64_t batch[QF_MAX_RANK], m0, n0, m, n, k0, kc;
    char *dst;
    int64_t groups_a, groups_b, blocks_m, blocks_n;
} part;

static int64_t row_step(const product *p)
{
    return p->row < 0 ? 0 : p->stride[p->row] * p->out_size;
}

static int64_t col_step(const product *p)
{
    return p->col < 0 ? p->out_size : p->stride[p->col] * p->out_size;
}

static char *worker_memory(const part *t, uint32_t worker)
{
    return t->mine + worker_size(t->p) * (t->run->serial ? 0 : worker);
}

static void pack_task(void *arg, uint32_t i, uint32_t worker)
{
    const part *t = arg;
    const product *p = t->p;
    const bool first = i < t->groups_a;
    const qfi_factor *f = first ? &p->a : &p->b;
    const int64_t group = qfi_factor_group(f), at = (first ? i : i - t->groups_a) * group,
                  n = first ? t->m : t->n;
    char *mine = worker_memory(t, worker);
    qfi_run run =
        qfi_task_run(t->run, worker, (qfi_area){ .p = mine + p->raw + p->edge, .size = p->fetch });
    const qfi_factor_part what = { .batch = t->batch,
                                   .n_batch = p->n_batch,
                                   .k0 = t->k0,
                                   .kc = t->kc,
                                   .x0 = (first ? t->m0 : t->n0) + at,
                                   .n = qfi_min64(group, n - at) };
    qfi_task_failed(
        t->run, i,
        qfi_factor_pack(&run, f, &what, (first ? t->a : t->b) + at * t->kc * p->size, mine));
}

/* A tile that reaches beyond the destination goes through memory of its own. */
static void multiply_edge(const part *t, const char *a, const char *b, char *c, int64_t c_row,
                          char *edge, int64_t rows, int64_t bytes)
{
    const product *p = t->p;
    const int64_t pitch = p->nr * p->size;

    for (int64_t r = 0; t->k0 > 0 && r < rows; r++)
        memcpy(edge + r * pitch, c + r * c_row, (size_t)bytes);
    p->x->kernel[QFI_PRODUCT_GEMM]->gemm((size_t)t->kc, a, b, edge, pitch, t->k0 > 0);
    for (int64_t r = 0; r < rows; r++)
        memcpy(c + r * c_row, edge + r * pitch, (size_t)bytes);
}

/* The next tile's rows, while this one is at work: a chain begins with what C holds. */
static void expect(const char *c, int64_t c_row, int64_t rows, int64_t bytes)
{
    for (int64_t r = 0; r < rows; r++) {
        __builtin_prefetch(c + r * c_row, 1);
        __builtin_prefetch(c + r * c_row + bytes - 1, 1);
    }
}

/* Rows i0 … i1 of the panel of B at column j. */
static void multiply_panel(const part *t, int64_t j, int64_t i0, int64_t i1, char *edge)
{
    const product *p = t->p;
    const int64_t c_row = p->direct ? row_step(p) : qfi_round_up(t->n, p->nr) * p->size,
                  bytes = (p->direct ? qfi_min64(p->nr, t->n - j) : p->nr) * p->size;
    const char *b = t->b + j * t->kc * p->size;
    char *c = (p->direct ? t->dst : t->sum) + j * p->size;
    qfk_gemm *gemm = p->x->kernel[QFI_PRODUCT_GEMM]->gemm;

    for (int64_t i = i0; i < i1; i += p->mr) {
        const char *a = t->a + i * t->kc * p->size;
        const int64_t rows = p->direct ? qfi_min64(p->mr, t->m - i) : p->mr;
        if (i + p->mr < i1)
            expect(c + (i + p->mr) * c_row, c_row, qfi_min64(p->mr, t->m - i - p->mr), bytes);
        if (rows == p->mr && bytes == p->nr * p->size)
            gemm((size_t)t->kc, a, b, c + i * c_row, c_row, t->k0 > 0);
        else
            multiply_edge(t, a, b, c + i * c_row, c_row, edge, rows, bytes);
    }
}

static void multiply_task(void *arg, uint32_t i, uint32_t worker)
{
    const part *t = arg;
    const product *p = t->p;
    const int64_t i0 = i / t->blocks_n * p->mc, j0 = i % t->blocks_n * p->nc,
                  i1 = qfi_min64(i0 + p->mc, t->m), j1 = qfi_min64(j0 + p->nc, t->n);

    for (int64_t j = j0; j < j1; j += p->nr)
        multiply_panel(t, j, i0, i1, worker_memory(t, worker) + p->raw);
}

/* Round a band of rows to the type of the result, to its place. Rows of the destination whose
 * columns are not adjacent go one by one. */
static void finish_task(void *arg, uint32_t i, uint32_t worker)
{
    const part *t = arg;
    const product *p = t->p;
    const int64_t i0 = i * p->mc, m = qfi_min64(p->mc, t->m - i0),
                  pitch = qfi_round_up(t->n, p->nr) * p->size,
                  width = col_step(p) == p->out_size ? t->n : 1;

    (void)worker;
    for (int64_t j = 0; j < t->n; j += width) {
        const qfk_in from = { t->sum + i0 * pitch + j * p->size, pitch, p->size };
        const qfk_out to = { t->dst + i0 * row_step(p) + j * col_step(p), row_step(p) };
        p->x->kernel[QFI_PRODUCT_FINAL]->fn((size_t)m, (size_t)width, &from, to, NULL);
    }
}

static qf_status run_part(part *t)
{
    const product *p = t->p;
    const int64_t group_a = qfi_factor_group(&p->a), group_b = qfi_factor_group(&p->b);

    t->groups_a = qfi_parts(t->m, group_a);
    t->groups_b = qfi_parts(t->n, group_b);
    t->blocks_m = qfi_parts(t->m, p->mc);
    t->blocks_n = qfi_parts(t->n, p->nc);
    t->dst = p->dst + (t->m0 - p->m0) * row_step(p) + (t->n0 - p->n0) * col_step(p);
    for (int d = 0; d < p->n_batch; d++)
        t->dst += (t->batch[d] - p->lo[d]) * p->stride[d] * p->out_size;
    t->k0 = 0;
    do {
        t->kc = qfi_min64(p->kc, p->k - t->k0);
        qfi_run_tasks(t->run, (uint32_t)(t->groups_a + t->groups_b), pack_task, t);
        QF_TRY(t->run->fault->status);
        qfi_run_tasks(t->run, (uint32_t)(t->blocks_m * t->blocks_n), multiply_task, t);
        t->k0 += t->kc;
    } while (t->k0 < p->k);
    if (!p->direct)
        qfi_run_tasks(t->run, (uint32_t)t->blocks_m, finish_task, t);
    return QF_OK;
}

/* Product number `item` of the batch, in memory from `at` on. */
static qf_status run_item(const product *p, const qfi_run *run, char *at, int64_t item)
{
    part t = { .p = p, .run = run, .a = at };

    t.b = t.a + p->pack_a;
    t.sum = t.b + p->pack_b;
    t.mine = t.sum + p->sum;
    for (int d = p->n_batch - 1; d >= 0; d--) {
        t.batch[d] = p->lo[d] + item % p->n[d];
        item /= p->n[d];
    }
    for (int64_t j = 0; j < p->cols; j += p->sn)
        for (int64_t i = 0; i < p->m; i += p->sm) {
            t.m0 = p->m0 + i;
            t.n0 = p->n0 + j;
            t.m = qfi_min64(p->sm, p->m - i);
            t.n = qfi_min64(p->sn, p->cols - j);
            QF_TRY(run_part(&t));
        }
    return QF_OK;
}

/* Whether a product is small enough to use its operands as they stand: B stays in the first cache
 * level, and nothing has to be converted. */
static bool fits_as_it_stands(const product *p)
{
    return p->x->kernel[QFI_PRODUCT_SMALL] && p->direct && p->row >= 0 && p->col >= 0 &&
           p->a.at.p && p->b.at.p && p->k * p->cols * p->size <= AS_IT_STANDS &&
           p->b.at.step[p->b.x_at] == p->size && p->cols % p->nr == 0;
}

/* Product number `item` of the batch by one call. */
static void small_item(const product *p, int64_t item)
{
    int64_t at[QF_MAX_RANK];
    char *c = p->dst;

    for (int d = p->n_batch - 1; d >= 0; d--) {
        at[d] = p->lo[d] + item % p->n[d];
        c += item % p->n[d] * p->stride[d] * p->out_size;
        item /= p->n[d];
    }
    const qfk_in in[] = { { qfi_factor_at(&p->a, at, p->n_batch) + p->m0 * p->a.at.step[p->a.x_at],
                            p->a.at.step[p->a.x_at], p->a.at.step[p->a.k_at] },
                          { qfi_factor_at(&p->b, at, p->n_batch) + p->n0 * p->b.at.step[p->b.x_at],
                            p->b.at.step[p->b.k_at], p->size } };
    const qfk_param steps = { .i = { p->k } };
    p->x->kernel[QFI_PRODUCT_SMALL]->fn((size_t)p->m, (size_t)p->cols, in,
                                        (qfk_out){ c, row_step(p) }, &steps);
}

/* Products of a batch that are a task each, or several of them. */
typedef struct batch {
    const product *p;
    char *at;
    int64_t per_task;
} batch;

static void batch_task(void *arg, uint32_t i, uint32_t worker)
{
    const batch *b = arg;
    const product *p = b->p;
    const int64_t first = i * b->per_task, end = qfi_min64(first + b->per_task, p->items);
    char *at = b->at + (shared_size(p) + worker_size(p)) * (p->run->serial ? 0 : worker);
    const qfi_run run = qfi_task_run(p->run, worker, (qfi_area){ 0 });

    if (fits_as_it_stands(p)) {
        for (int64_t item = first; item < end; item++)
            small_item(p, item);
        return;
    }
    for (int64_t item = first; item < end; item++)
        if (run_item(p, &run, at, item) != QF_OK)
            return;
}

static qf_status run_batch(product *p, uint64_t workers)
{
    const int64_t each = qfi_max64(1, p->m * p->cols * qfi_max64(1, p->k));
    batch b = { .p = p, .per_task = qfi_max64(1, TASK_PRODUCT / each) };

    b.at = qfi_area_get(&p->run->work, (shared_size(p) + worker_size(p)) * workers);
    if (!b.at)
        return QFI_TOO_LARGE;
    const int64_t tasks = qfi_parts(p->items, b.per_task);
    if (tasks > INT32_MAX)
        return QFI_TOO_LARGE;
    qfi_run_tasks(p->run, (uint32_t)tasks, batch_task, &b);
    return p->run->fault->status;
}

static qf_status run_items(product *p, uint64_t workers)
{
    char *at = qfi_area_get(&p->run->work, shared_size(p) + worker_size(p) * workers);

    if (!at)
        return QFI_TOO_LARGE;
    for (int64_t item = 0; item < p->items; item++)
        QF_TRY(run_item(p, p->run, at, item));
    return p->run->fault->status;
}

/* A fixed panel of the result by OpenBLAS, whose sums are in an order of its own. */
static void panel_task(void *arg, uint32_t i, uint32_t worker)
{
    const product *p = arg;
    const int64_t rows = qfi_parts(p->m, BLAS_ROWS), columns = qfi_parts(p->cols, BLAS_COLUMNS);
    const int64_t m0 = i / columns % rows * BLAS_ROWS, n0 = i % columns * BLAS_COLUMNS;
    qfi_blas_product call = p->call;
    int64_t item = i / columns / rows, at[QF_MAX_RANK];
    char *c = p->call.c;

    (void)worker;
    for (int d = p->n_batch - 1; d >= 0; d--) {
        at[d] = p->lo[d] + item % p->n[d];
        c += item % p->n[d] * p->stride[d] * p->out_size;
        item /= p->n[d];
    }
    call.m = qfi_min64(BLAS_ROWS, p->m - m0);
    call.n = qfi_min64(BLAS_COLUMNS, p->cols - n0);
    call.a = qfi_factor_at(&p->a, at, p->n_batch) + (p->m0 + m0) * p->a.at.step[p->a.x_at];
    call.b = qfi_factor_at(&p->b, at, p->n_batch) + (p->n0 + n0) * p->b.at.step[p->b.x_at];
    call.c = c + (m0 * p->call.c_row + n0) * p->size;
    qfi_blas_run(&call);
}

/* A step along a dim of n elements; one element has none, so any will do. */
static int64_t step_of(const qfi_factor *f, int dim, int64_t n, int64_t any)
{
    return n == 1 ? any : f->at.step[dim] / f->size;
}

/* Whether OpenBLAS may take the box, and can; p->call is what a panel starts from. */
static bool goes_to_blas(product *p)
{
    if (!(p->run->ctx->providers & QF_PROVIDER_BLAS) || !p->direct || !p->a.at.p || !p->b.at.p ||
        p->row < 0 || p->col < 0)
        return false;
    p->call = (qfi_blas_product){ .dtype = p->x->compute,
                                  .m = p->m,
                                  .n = p->cols,
                                  .k = p->k,
                                  .a_row = step_of(&p->a, p->a.x_at, p->m, p->k),
                                  .a_k = step_of(&p->a, p->a.k_at, p->k, 1),
                                  .b_k = step_of(&p->b, p->b.k_at, p->k, p->cols),
                                  .b_col = step_of(&p->b, p->b.x_at, p->cols, 1),
                                  .c_row = p->m == 1 ? p->cols : p->stride[p->row],
                                  .c = p->dst };
    return qfi_blas_takes(&p->call);
}

static qf_status run_panels(product *p)
{
    const int64_t panels = qfi_parts(p->m, BLAS_ROWS) * qfi_parts(p->cols, BLAS_COLUMNS);

    if (panels > INT32_MAX / p->items)
        return QFI_TOO_LARGE;
    qfi_run_tasks(p->run, (uint32_t)(panels * p->items), panel_task, p);
    return QF_OK;
}

static product describe(qfi_run *run, const qfi_breaker *x, const int64_t *lo, const int64_t *n,
                        char *dst, const int64_t *stride)
{
    const qfk_row *g = x->kernel[QFI_PRODUCT_GEMM];
    int64_t from[QFI_DIMS], count[QFI_DIMS];
    product p = { .run = run,
                  .x = x,
                  .lo = lo,
                  .n = n,
                  .stride = stride,
                  .dst = dst,
                  .row = -1,
                  .col = -1,
                  .n_batch = x->type.rank,
                  .items = 1,
                  .k = x->in_type[0].dim[x->in_type[0].rank - 1],
                  .size = qf_dtype_get(x->compute)->bits / 8,
                  .out_size = qf_dtype_get(x->makes)->bits / 8,
                  .mr = g->mr,
                  .nr = g->nr };

    if (x->in_type[1].rank > 1)
        p.col = --p.n_batch;
    if (x->in_type[0].rank > 1)
        p.row = --p.n_batch;
    p.m = p.row < 0 ? 1 : n[p.row];
    p.m0 = p.row < 0 ? 0 : lo[p.row];
    p.cols = p.col < 0 ? 1 : n[p.col];
    p.n0 = p.col < 0 ? 0 : lo[p.col];
    for (int d = 0; d < p.n_batch; d++)
        p.items *= n[d];
    p.direct = x->compute == x->makes && (col_step(&p) == p.out_size || p.cols == 1);
    qfi_factor_box(x, 0, lo, n, from, count);
    p.a = qfi_factor_make(run, x, 0, from, count);
    qfi_factor_box(x, 1, lo, n, from, count);
    p.b = qfi_factor_make(run, x, 1, from, count);
    return p;
}

qf_status qfi_product_run(qfi_run *run, const qfi_breaker *x, const int64_t *lo, const int64_t *n,
                          char *dst, const int64_t *stride)
{
    product p = describe(run, x, lo, n, dst, stride);
    const uint64_t workers = run->serial ? 1 : qfi_workers(run->ctx),
                   room = run->work.size - run->work.used;
    const size_t mark = run->work.used;
    const bool small = p.m * p.cols <= SMALL_PRODUCT && p.m * p.cols * p.k <= SMALL_PRODUCT;
    qf_status st;

    if (p.items == 0 || p.m == 0 || p.cols == 0)
        return QF_OK;
    if (goes_to_blas(&p))
        return run_panels(&p);
    if (small && p.items > 1 && choose_parts(&p, (room / workers & ~(uint64_t)63), 1) &&
        p.sm >= p.m && p.sn >= p.cols)
        st = run_batch(&p, workers);
    else
        st = choose_parts(&p, room, workers) ? run_items(&p, workers) : QFI_TOO_LARGE;
    run->work.used = mark;
    return st;
}
