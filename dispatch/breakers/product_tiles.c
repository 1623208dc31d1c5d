/* Products made tile by tile: both operands are packed once for a whole run, all of k deep, and a
 * tile is a few calls of the kernel. */
#include "dispatch/arith.h"
#include "dispatch/breakers/product.h"

#include <string.h>

/* Packed B of a strip of tiles stays in the second cache level while rows pass by: a quarter of
 * 512 K. */
#define STRIP_BYTES ((int64_t)128 << 10)

/* Of both operands: their panels, batch by batch; bytes of a batch; batch dims. */
typedef struct held {
    char *p[2];
    int64_t batch_size[2], k;
    int n_batch[2];
} held;

/* Packing operand i: tasks of one group of panels of one batch. */
typedef struct packing {
    const qfi_run *run;
    qfi_factor f;
    bool pairs; /* even columns of a panel first */
    int64_t k, n, groups, batch_size;
    uint64_t raw, fetch;
    char *to, *mine;
} packing;

#define MOST_COLUMNS 64 /* of a panel */

/* The even columns of rows of a panel, then the odd ones. */
static void pair_columns(char *panels, int64_t rows, int64_t width)
{
    float row[MOST_COLUMNS];

    for (int64_t i = 0; i < rows; i++, panels += width * (int64_t)sizeof *row) {
        memcpy(row, panels, (size_t)width * sizeof *row);
        for (int64_t j = 0; j < width; j++)
            memcpy(panels + (j % 2 * (width / 2) + j / 2) * (int64_t)sizeof *row, &row[j],
                   sizeof *row);
    }
}

static void pack_task(void *arg, uint32_t i, uint32_t worker)
{
    const packing *p = arg;
    const int64_t group = qfi_factor_group(&p->f), at = i % p->groups * group;
    int64_t batch[QFI_DIMS], rest = i / p->groups;
    char *mine = p->mine + (p->raw + p->fetch) * (p->run->serial ? 0 : worker);
    qfi_run run = qfi_task_run(p->run, worker, (qfi_area){ .p = mine + p->raw, .size = p->fetch });

    for (int d = p->f.n_batch - 1; d >= 0; d--) {
        batch[d] = rest % p->f.segment->dim[d];
        rest /= p->f.segment->dim[d];
    }
    const qfi_factor_part part = { .batch = batch,
                                   .n_batch = p->f.n_batch,
                                   .kc = p->k,
                                   .x0 = at,
                                   .n = qfi_min64(group, p->n - at) };
    char *to = p->to + i / p->groups * p->batch_size + at * p->k * p->f.size;
    const qf_status st = qfi_factor_pack(&run, &p->f, &part, to, mine);
    if (st == QF_OK && p->pairs)
        pair_columns(to, p->k * qfi_parts(part.n, p->f.width), p->f.width);
    qfi_task_failed(p->run, i, st);
}

/* Pack all of operand i. *done is false if there is no room. */
static qf_status hold_factor(qfi_run *run, const qfi_breaker *x, int i, bool pairs, held *h,
                             bool *done)
{
    static const int64_t zero[QFI_DIMS];
    const qfi_segment *s = x->in[i];
    packing p = { .run = run,
                  .f = qfi_factor_make(run, x, i, zero, s->dim),
                  .pairs = pairs && i == 1 };
    const uint64_t workers = run->serial ? 1 : qfi_workers(run->ctx);
    uint64_t all = 1;

    p.k = s->dim[p.f.k_at];
    p.n = s->dim[p.f.x_at];
    p.groups = qfi_parts(p.n, qfi_factor_group(&p.f));
    p.batch_size = qfi_factor_packed(&p.f, p.k, p.n) * p.f.size;
    p.raw = qfi_factor_room(&p.f, p.k, p.n);
    p.fetch = s->reads ? QFI_LEAST_FETCH : 0;
    for (int d = 0; d < p.f.n_batch; d++)
        all *= (uint64_t)s->dim[d];
    *done = false;
    if (all * (uint64_t)p.groups > INT32_MAX ||
        all * (uint64_t)p.batch_size > (run->work.size - run->work.used) / 4)
        return QF_OK;
    p.to = qfi_area_get(&run->work, all * (uint64_t)p.batch_size);
    const size_t mark = run->work.used;
    p.mine = qfi_area_get(&run->work, (p.raw + p.fetch) * workers);
    if (!p.to || !p.mine)
        return QF_OK;
    h->p[i] = p.to;
    h->batch_size[i] = p.batch_size;
    h->n_batch[i] = p.f.n_batch;
    h->k = p.k;
    *done = true;
    qfi_run_tasks(run, (uint32_t)(all * (uint64_t)p.groups), pack_task, &p);
    run->work.used = mark;
    return run->fault->status;
}

static qf_status hold(qfi_run *run, const qfi_breaker *x, bool pairs, const void **out)
{
    const size_t mark = run->work.used;
    held *h = qfi_area_get(&run->work, sizeof *h);
    bool done = h != NULL;

    *out = NULL;
    for (int i = 0; done && i < 2; i++)
        QF_TRY(hold_factor(run, x, i, pairs, h, &done));
    if (done)
        *out = h;
    else
        run->work.used = mark;
    return QF_OK;
}

/* Where operand i's panels for these batch coordinates begin. */
static const char *batch_of(const qfi_breaker *x, const held *h, int i, const int64_t *at)
{
    const int n_batch = x->type.rank - 2;
    int64_t number = 0;

    for (int d = 0; d < h->n_batch[i]; d++) {
        const int64_t n = x->in[i]->dim[d];
        number = number * n + (n == 1 ? 0 : at[n_batch - h->n_batch[i] + d]);
    }
    return h->p[i] + number * h->batch_size[i];
}

static void tile(const qfi_breaker *x, const void *state, const int64_t *at, size_t m, size_t n,
                 qfk_out out, const qfi_ahead *ahead)
{
    const held *h = state;
    const qfk_row *g = x->kernel[QFI_PRODUCT_GEMM];
    const int64_t size = qf_dtype_get(x->compute)->bits / 8, k = h->k;
    const char *a = batch_of(x, h, 0, at) + at[x->type.rank - 2] * k * size,
               *b = batch_of(x, h, 1, at) + at[x->type.rank - 1] * k * size;

    for (size_t j = 0; j < n; j += g->nr)
        for (size_t i = 0; i < m; i += g->mr) {
            for (size_t r = i; r < i + g->mr; r++)
                __builtin_prefetch(ahead->p + (ptrdiff_t)r * ahead->row + (ptrdiff_t)j * ahead->col,
                                   1);
            g->gemm((size_t)k, a + (int64_t)i * k * size, b + (int64_t)j * k * size,
                    (char *)out.p + (ptrdiff_t)i * out.row + (int64_t)j * size, out.row, false);
        }
}

static void update(const qfi_breaker *x, const void *state, const int64_t *at,
                   const qfi_update *how, const qfk_in *c, size_t m, size_t n, qfk_out out)
{
    const held *h = state;
    const qfk_row *g = x->kernel[QFI_PRODUCT_GEMM];
    const int64_t size = (int64_t)sizeof(float), row = at[x->type.rank - 2], above = row % g->mr;
    const qfk_in in[] = {
        { batch_of(x, h, 0, at) + ((row - above) * h->k + above) * size, g->mr * size, size },
        { batch_of(x, h, 1, at) + at[x->type.rank - 1] * h->k * size, g->nr * size, size },
        *c,
    };
    const qfk_param p = { .f = { how->p.f[0] },
                          .i = { h->k, g->nr, how->p.i[2], h->k * g->nr * size } };

    how->row->fn(m, n, in, out, &p);
}

static int64_t strip(const qfi_breaker *x)
{
    const int64_t k = x->in_type[0].dim[x->in_type[0].rank - 1];
    return STRIP_BYTES / ((k > 0 ? k : 1) * (qf_dtype_get(x->compute)->bits / 8));
}

const qfi_breaker_tiles qfi_product_tiles = { hold, tile, update, strip };
