/* Matrix products.
 *
 * The result is cut into blocks, one task each. A task walks k in steps of kc: it takes a kc x mc
 * part of A and a kc x nc part of B from the operands' pipelines (converted to the type of
 * accumulation), packs them into panels of MR and NR, and lets the kernel extend the chains of C,
 * which stays in the task's memory until k is done. One chain per element, in order of k: neither
 * the blocks nor the number of threads change a bit. */
#include "dispatch/breakers/breaker.h"

#include <string.h>

enum { GEMM, PACK, FINAL };

#define BLOCK_M 240
#define BLOCK_N 480
#define BLOCK_K 256
#define LEAST_FETCH ((uint64_t)1 << 14) /* for operands that are read */

static qf_dtype accumulator(qf_dtype t)
{
    if (qf_dtype_get(t)->kind != QF_CLASS_FLOAT)
        return QF_DT_i64;
    return t == QF_DT_f64 ? QF_DT_f64 : QF_DT_f32;
}

/* Operands in the order batch, k, row or column: panels are slices of their last dim. */
qf_status qfi_matmul_make(qfi_builder *b, qfi_breaker *x)
{
    const int rank = x->in_type[0].rank;
    uint8_t order[QF_MAX_RANK] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    int used;

    if (rank > 1) {
        order[rank - 2] = (uint8_t)(rank - 1);
        order[rank - 1] = (uint8_t)(rank - 2);
    }
    x->run = qfi_matmul_run;
    x->compute = accumulator(x->type.dtype);
    QF_TRY(qfi_breaker_operand(b, x, 0, order, x->compute));
    QF_TRY(qfi_breaker_operand(b, x, 1, NULL, x->compute));
    QF_TRY(qfi_breaker_kernel(b, x, GEMM, QFK_OP_gemm, x->compute));
    QF_TRY(qfi_breaker_kernel(b, x, PACK, QFK_OP_copy, x->compute));
    QF_TRY(qfi_breaker_kernel(b, x, FINAL, QFK_OP_copy, x->compute));
    return qfi_breaker_cast(b, x, FINAL, x->compute, x->type.dtype, &used);
}

/* The part of the result at hand, and how it is cut. */
typedef struct product {
    qfi_run *run;
    const qfi_breaker *x;
    const int64_t *lo, *n, *stride;
    char *dst, *work;
    int n_batch, row, col; /* dims of the result; -1: an operand of one dim has none */
    int64_t m, cols, k, m0, n0, mc, nc, kc;
    int64_t tiles_m, tiles_n;
    uint64_t each, raw, pack_a, pack_b, sum; /* bytes of a task's memory, and of its parts */
    size_t size, out_size;
    bool reads;
} product;

static int64_t round_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b * b;
}

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static uint64_t aligned(int64_t elements, size_t size)
{
    return ((uint64_t)elements * size + 63) & ~(uint64_t)63;
}

static void measure(product *p)
{
    const int64_t mr = p->x->kernel[GEMM]->mr, nr = p->x->kernel[GEMM]->nr;
    const int64_t ma = round_up(p->mc, mr), nb = round_up(p->nc, nr);

    p->raw = aligned(p->kc * (p->mc > p->nc ? p->mc : p->nc), p->size);
    p->pack_a = aligned(p->kc * ma, p->size);
    p->pack_b = aligned(p->kc * nb, p->size);
    p->sum = aligned(ma * nb, p->size);
    p->each = p->raw + p->pack_a + p->pack_b + p->sum + (p->reads ? LEAST_FETCH : 0);
}

/* Halve what is largest until every worker's part fits. */
static bool choose_blocks(product *p, uint64_t room)
{
    const int64_t mr = p->x->kernel[GEMM]->mr, nr = p->x->kernel[GEMM]->nr;

    p->mc = min64(round_up(BLOCK_M, mr), p->m);
    p->nc = min64(round_up(BLOCK_N, nr), p->cols);
    p->kc = min64(BLOCK_K, p->k > 0 ? p->k : 1);
    for (measure(p); p->each > room; measure(p)) {
        if (p->mc > mr && p->mc >= p->kc)
            p->mc = round_up((p->mc + 1) / 2, mr) < p->mc ? round_up((p->mc + 1) / 2, mr) : mr;
        else if (p->nc > nr && p->nc >= p->kc)
            p->nc = round_up((p->nc + 1) / 2, nr) < p->nc ? round_up((p->nc + 1) / 2, nr) : nr;
        else if (p->kc > 1)
            p->kc = (p->kc + 1) / 2;
        else
            return false;
    }
    return true;
}

/* One task: a block of the result. */
typedef struct block {
    const product *p;
    qfi_run run;
    char *raw, *a, *b, *sum;
    int64_t batch[QF_MAX_RANK], m0, n0, mc, nc;
} block;

/* Pack `n` columns of a kc x n part into panels of `width`, the last one filled up with zeros. */
static void pack(const block *t, char *to, int64_t kc, int64_t n, int64_t width)
{
    const int64_t size = (int64_t)t->p->size;

    for (int64_t j = 0; j < n; j += width) {
        const int64_t have = min64(width, n - j);
        const qfk_in from = { t->raw + j * size, n * size, size };
        const qfk_out panel = { to + j * kc * size, width * size };
        if (have < width)
            memset(panel.p, 0, (size_t)(kc * width * size));
        t->p->x->kernel[PACK]->fn((size_t)kc, (size_t)have, &from, panel, NULL);
    }
}

/* Part k0 … of operand i: its batch dims, then k, then `n` rows or columns from n0. */
static qf_status take(block *t, int i, int64_t k0, int64_t kc, int64_t n0, int64_t n)
{
    const product *p = t->p;
    const qfi_segment *s = p->x->in[i];
    const int lead = s->n_dim > 2 ? s->n_dim - 2 : 0;
    int64_t lo[QFI_DIMS], count[QFI_DIMS];

    for (int d = 0; d < lead; d++) {
        lo[d] = s->dim[d] == 1 ? 0 : t->batch[p->n_batch - lead + d];
        count[d] = 1;
    }
    lo[lead] = k0;
    count[lead] = kc;
    if (s->n_dim > 1) {
        lo[lead + 1] = n0;
        count[lead + 1] = n;
    }
    const size_t mark = t->run.work.used;
    const qf_status st = qfi_run_dense(&t->run, s, lo, count, t->raw);
    t->run.work.used = mark;
    return st;
}

static void multiply(const block *t, int64_t kc, bool add)
{
    const qfk_row *g = t->p->x->kernel[GEMM];
    const int64_t size = (int64_t)t->p->size, nb = round_up(t->nc, g->nr);

    for (int64_t j = 0; j < t->nc; j += g->nr)
        for (int64_t i = 0; i < t->mc; i += g->mr)
            g->gemm((size_t)kc, t->a + i * kc * size, t->b + j * kc * size,
                    t->sum + (i * nb + j) * size, nb * size, add);
}

/* Round to the type of the result, to its place. Rows of the destination whose columns are not
 * adjacent go one by one. */
static void finish(const block *t)
{
    const product *p = t->p;
    const int64_t size = (int64_t)p->size, out = (int64_t)p->out_size,
                  nb = round_up(t->nc, p->x->kernel[GEMM]->nr);
    const int64_t row = p->row < 0 ? 0 : p->stride[p->row],
                  col = p->col < 0 ? 0 : p->stride[p->col];
    int64_t at = (t->m0 - p->m0) * row + (t->n0 - p->n0) * col;

    for (int d = 0; d < p->n_batch; d++)
        at += (t->batch[d] - p->lo[d]) * p->stride[d];
    char *dst = p->dst + at * out;
    const int64_t width = col == 1 || t->nc == 1 ? t->nc : 1;
    for (int64_t j = 0; j < t->nc; j += width) {
        const qfk_in from = { t->sum + j * size, nb * size, size };
        const qfk_out to = { dst + j * col * out, row * out };
        p->x->kernel[FINAL]->fn((size_t)t->mc, (size_t)width, &from, to, NULL);
    }
}

static qf_status run_block(block *t)
{
    const product *p = t->p;
    const qfk_row *g = p->x->kernel[GEMM];

    if (p->k == 0)
        memset(t->sum, 0, (size_t)p->sum);
    for (int64_t k0 = 0; k0 < p->k; k0 += p->kc) {
        const int64_t kc = min64(p->kc, p->k - k0);
        QF_TRY(take(t, 0, k0, kc, t->m0, t->mc));
        pack(t, t->a, kc, t->mc, g->mr);
        QF_TRY(take(t, 1, k0, kc, t->n0, t->nc));
        pack(t, t->b, kc, t->nc, g->nr);
        multiply(t, kc, k0 > 0);
    }
    finish(t);
    return QF_OK;
}

static void block_task(void *arg, uint32_t i, uint32_t worker)
{
    const product *p = arg;
    char *mine = p->work + p->each * (p->run->serial ? 0 : worker);
    block t = { .p = p, .raw = mine, .a = mine + p->raw };
    int64_t rest = i / (p->tiles_m * p->tiles_n);
    const qf_diag none = { .at = -1 };

    t.b = t.a + p->pack_a;
    t.sum = t.b + p->pack_b;
    t.run = qfi_task_run(p->run, worker,
                         (qfi_area){ .p = t.sum + p->sum, .size = p->reads ? LEAST_FETCH : 0 });
    t.m0 = p->m0 + i / p->tiles_n % p->tiles_m * p->mc;
    t.n0 = p->n0 + i % p->tiles_n * p->nc;
    t.mc = min64(p->mc, p->m0 + p->m - t.m0);
    t.nc = min64(p->nc, p->n0 + p->cols - t.n0);
    for (int d = p->n_batch - 1; d >= 0; d--) {
        t.batch[d] = p->lo[d] + rest % p->n[d];
        rest /= p->n[d];
    }
    const qf_status st = run_block(&t);
    if (st != QF_OK && p->run->fault->status == QF_OK)
        qfi_run_failed(p->run, i, st == QFI_TOO_LARGE ? QF_ERR_LIMIT : st, &none);
}

static qf_status run_blocks(qfi_run *run, const qfi_breaker *x, const int64_t *lo, const int64_t *n,
                            char *dst, const int64_t *stride)
{
    const qf_type *a = &x->in_type[0], *b = &x->in_type[1];
    product p = { .run = run,
                  .x = x,
                  .lo = lo,
                  .n = n,
                  .stride = stride,
                  .dst = dst,
                  .row = -1,
                  .col = -1,
                  .m = 1,
                  .cols = 1 };
    int dims = x->type.rank;
    uint64_t tasks = 1;

    if (b->rank > 1)
        p.col = --dims;
    if (a->rank > 1)
        p.row = --dims;
    p.n_batch = dims;
    p.m = p.row < 0 ? 1 : n[p.row];
    p.m0 = p.row < 0 ? 0 : lo[p.row];
    p.cols = p.col < 0 ? 1 : n[p.col];
    p.n0 = p.col < 0 ? 0 : lo[p.col];
    p.k = a->dim[a->rank - 1];
    p.size = qf_dtype_get(x->compute)->bits / 8;
    p.out_size = qf_dtype_get(x->type.dtype)->bits / 8;
    p.reads = x->in[0]->reads || x->in[1]->reads;
    const uint64_t workers = run->serial ? 1 : qfi_workers(run->ctx);
    if (!choose_blocks(&p, (run->work.size - run->work.used) / workers & ~(uint64_t)63))
        return QFI_TOO_LARGE;
    p.work = qfi_area_get(&run->work, p.each * workers);
    if (!p.work)
        return QFI_TOO_LARGE;
    p.tiles_m = (p.m + p.mc - 1) / p.mc;
    p.tiles_n = (p.cols + p.nc - 1) / p.nc;
    for (int d = 0; d < p.n_batch; d++)
        tasks *= (uint64_t)n[d];
    tasks *= (uint64_t)p.tiles_m * (uint64_t)p.tiles_n;
    if (tasks > INT32_MAX)
        return QFI_TOO_LARGE;
    qfi_run_tasks(run, (uint32_t)tasks, block_task, &p);
    return run->fault->status;
}

/* The part of operand i that a box of the result needs: its batch dims, all of k, its rows or
 * columns. Returns its bytes. */
static uint64_t operand_part(const qfi_breaker *x, int i, const int64_t *lo, const int64_t *n,
                             int64_t *from, int64_t *count)
{
    const qfi_segment *s = x->in[i];
    const int lead = s->n_dim > 2 ? s->n_dim - 2 : 0, rank = x->type.rank,
              n_batch = rank - (x->in_type[0].rank > 1 ? 1 : 0) - (x->in_type[1].rank > 1 ? 1 : 0);
    const int own = i == 1 ? rank - 1 : n_batch;
    uint64_t all = 1;

    for (int d = 0; d < s->n_dim; d++) {
        const int out = d < lead ? n_batch - lead + d : d == lead ? -1 : own;
        const bool whole = out < 0 || s->dim[d] == 1;
        from[d] = whole ? 0 : lo[out];
        count[d] = whole ? s->dim[d] : n[out];
        all *= (uint64_t)count[d];
    }
    return all * (qf_dtype_get(x->in_type[i].dtype)->bits + 7) / 8;
}

/* Which dim of the box to halve so that operands that have to be read fit into `room`: one that
 * makes the larger of them smaller; -1 if they fit or nothing helps. */
static int dim_to_halve(const qfi_run *run, const qfi_breaker *x, const int64_t *lo,
                        const int64_t *n, uint64_t room)
{
    const int rank = x->type.rank, mr = x->kernel[GEMM]->mr, nr = x->kernel[GEMM]->nr;
    int64_t from[QFI_DIMS], count[QFI_DIMS];
    uint64_t size[2] = { 0 };
    int dims = rank, row = -1, col = -1;

    for (int i = 0; i < 2; i++)
        if (qfi_fetch_reads(run, x->in[i]))
            size[i] = operand_part(x, i, lo, n, from, count);
    if (size[0] + size[1] <= room)
        return -1;
    if (x->in_type[1].rank > 1)
        col = --dims;
    if (x->in_type[0].rank > 1)
        row = --dims;
    for (int d = 0; d < dims; d++)
        if (n[d] > 1)
            return d;
    if (row >= 0 && n[row] > mr && (size[0] >= size[1] || col < 0 || n[col] <= nr))
        return row;
    return col >= 0 && n[col] > nr && size[1] > 0 ? col : -1;
}

/* Operands that have to be read are read for a large part of the result at once, as far as they
 * fit; blocks read the rest themselves. */
static qf_status run_part(qfi_run *run, const qfi_breaker *x, const int64_t *lo, const int64_t *n,
                          char *dst, const int64_t *stride)
{
    int64_t from[QFI_DIMS], count[QFI_DIMS];
    qfi_residents here = { .outer = run->residents };
    qfi_run part = *run;

    for (int i = 0; i < 2; i++) {
        operand_part(x, i, lo, n, from, count);
        const size_t mark = part.work.used;
        const qf_status st = qfi_fetch_segment(&part, x->in[i], from, count, &here);
        if (st == QFI_TOO_LARGE && here.n == 0)
            part.work.used = mark;
        else if (st != QFI_TOO_LARGE)
            QF_TRY(st);
    }
    part.residents = &here;
    return run_blocks(&part, x, lo, n, dst, stride);
}

qf_status qfi_matmul_run(qfi_run *run, const qfi_breaker *x, const int64_t *lo, const int64_t *n,
                         char *dst, const int64_t *stride)
{
    const uint64_t room = (run->work.size - run->work.used) / 2;
    int64_t half_lo[QF_MAX_RANK], half_n[QF_MAX_RANK];
    const int d = x->in[0]->reads || x->in[1]->reads ? dim_to_halve(run, x, lo, n, room) : -1;

    if (d < 0)
        return run_part(run, x, lo, n, dst, stride);
    memcpy(half_lo, lo, sizeof *lo * (size_t)x->type.rank);
    memcpy(half_n, n, sizeof *n * (size_t)x->type.rank);
    half_n[d] = n[d] / 2;
    QF_TRY(qfi_matmul_run(run, x, half_lo, half_n, dst, stride));
    half_lo[d] += half_n[d];
    half_n[d] = n[d] - half_n[d];
    return qfi_matmul_run(run, x, half_lo, half_n,
                          dst + (int64_t)(qf_dtype_get(x->type.dtype)->bits / 8) * stride[d] *
                                    (half_lo[d] - lo[d]),
                          stride);
}
