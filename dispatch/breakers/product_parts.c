/* A product in parts.
 *
 *   for every part of the result, sn columns wide and sm rows high
 *       for every kc steps of k, in order
 *           pack sm x kc of A and kc x sn of B            one task per group of panels
 *           extend the chains of mc x nc elements of C    one task per block
 *       round to the type of the result                   one task per band of rows
 *
 * C is the destination itself where that can hold the sums, and the part's own memory otherwise. */
#include "dispatch/arith.h"
#include "dispatch/breakers/product_box.h"

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

static uint64_t bytes_of(const qfi_product *p, int64_t elements)
{
    return qfi_lines((uint64_t)(elements * p->size));
}

static void measure(qfi_product *p)
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

bool qfi_product_cut(qfi_product *p, uint64_t room, uint64_t workers)
{
    p->kc = qfi_max64(1, qfi_min64(DEPTH_BYTES / (p->nr * p->size), p->k));
    p->sm = share(p->m, PART_BYTES / (p->kc * p->size), p->mr);
    p->sn = share(p->cols, PART_BYTES / (p->kc * p->size), p->nr);
    while (!p->direct && p->sm * p->sn * p->size > SUMS_BYTES && (p->sm > p->mr || p->sn > p->nr))
        if (p->sm > p->sn)
            p->sm = halve(p->sm, p->mr);
        else
            p->sn = halve(p->sn, p->nr);
    for (measure(p); qfi_product_shared(p) + qfi_product_own(p) * workers > room; measure(p)) {
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

/* One part: coordinates, and k at hand. item: where its product begins in the destination. */
typedef struct part {
    const qfi_product *p;
    const qfi_run *run;
    char *a, *b, *sum, *mine;
    int64_t batch[QF_MAX_RANK], m0, n0, m, n, k0, kc;
    char *item, *dst;
    int64_t groups_a, groups_b, blocks_m, blocks_n;
} part;

static char *worker_memory(const part *t, uint32_t worker)
{
    return t->mine + qfi_product_own(t->p) * (t->run->serial ? 0 : worker);
}

static void pack_task(void *arg, uint32_t i, uint32_t worker)
{
    const part *t = arg;
    const qfi_product *p = t->p;
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
    const qfi_product *p = t->p;
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
    const qfi_product *p = t->p;
    const int64_t c_row = p->direct ? qfi_product_row_step(p) : qfi_round_up(t->n, p->nr) * p->size,
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
    const qfi_product *p = t->p;
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
    const qfi_product *p = t->p;
    const int64_t i0 = i * p->mc, m = qfi_min64(p->mc, t->m - i0),
                  pitch = qfi_round_up(t->n, p->nr) * p->size,
                  width = qfi_product_col_step(p) == p->out_size ? t->n : 1;

    (void)worker;
    for (int64_t j = 0; j < t->n; j += width) {
        const qfk_in from = { t->sum + i0 * pitch + j * p->size, pitch, p->size };
        const qfk_out to = { t->dst + i0 * qfi_product_row_step(p) + j * qfi_product_col_step(p),
                             qfi_product_row_step(p) };
        p->x->kernel[QFI_PRODUCT_FINAL]->fn((size_t)m, (size_t)width, &from, to, NULL);
    }
}

static qf_status run_part(part *t)
{
    const qfi_product *p = t->p;
    const int64_t group_a = qfi_factor_group(&p->a), group_b = qfi_factor_group(&p->b);

    t->groups_a = qfi_parts(t->m, group_a);
    t->groups_b = qfi_parts(t->n, group_b);
    t->blocks_m = qfi_parts(t->m, p->mc);
    t->blocks_n = qfi_parts(t->n, p->nc);
    t->dst = t->item + (t->m0 - p->m0) * qfi_product_row_step(p) +
             (t->n0 - p->n0) * qfi_product_col_step(p);
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

qf_status qfi_product_parts(const qfi_product *p, const qfi_run *run, char *at, int64_t item)
{
    part t = { .p = p, .run = run, .a = at };

    t.b = t.a + p->pack_a;
    t.sum = t.b + p->pack_b;
    t.mine = t.sum + p->sum;
    t.item = qfi_product_place(p, item, t.batch);
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
