/* A box of a matrix product: its description, and who makes it. One chain of multiply-adds per
 * element, in order of k: neither parts nor threads change a bit. Many small products go several to
 * a task; a large one is cut into parts. */
#include "dispatch/arith.h"
#include "dispatch/breakers/product_box.h"

#define SMALL_PRODUCT ((int64_t)1 << 24) /* multiply-adds of one that may be a task */

char *qfi_product_place(const qfi_product *p, int64_t item, int64_t *batch)
{
    char *c = p->dst;

    for (int d = p->n_batch - 1; d >= 0; d--) {
        batch[d] = p->lo[d] + item % p->n[d];
        c += item % p->n[d] * p->stride[d] * p->out_size;
        item /= p->n[d];
    }
    return c;
}

static qf_status run_items(const qfi_product *p, uint64_t workers)
{
    char *at = qfi_area_get(&p->run->work, qfi_product_shared(p) + qfi_product_own(p) * workers);

    if (!at)
        return QFI_TOO_LARGE;
    for (int64_t item = 0; item < p->items; item++)
        QF_TRY(qfi_product_parts(p, p->run, at, item));
    return p->run->fault->status;
}

static qfi_product describe(qfi_run *run, const qfi_breaker *x, const int64_t *lo, const int64_t *n,
                            char *dst, const int64_t *stride)
{
    const qfk_row *g = x->kernel[QFI_PRODUCT_GEMM];
    int64_t from[QFI_DIMS], count[QFI_DIMS];
    qfi_product p = { .run = run,
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
    p.direct = x->compute == x->makes && (qfi_product_col_step(&p) == p.out_size || p.cols == 1);
    qfi_factor_box(x, 0, lo, n, from, count);
    p.a = qfi_factor_make(run, x, 0, from, count);
    qfi_factor_box(x, 1, lo, n, from, count);
    p.b = qfi_factor_make(run, x, 1, from, count);
    return p;
}

static bool is_small(int64_t m, int64_t n, int64_t k)
{
    return m * n <= SMALL_PRODUCT && m * n * k <= SMALL_PRODUCT;
}

uint64_t qfi_product_enough(const qfi_breaker *x)
{
    const qf_type *a = &x->in_type[0], *b = &x->in_type[1];
    const qfk_row *g = x->kernel[QFI_PRODUCT_GEMM];
    const int64_t size = qf_dtype_get(x->compute)->bits / 8;

    if (a->rank < 2 || b->rank < 2 || x->type.rank < 3)
        return 0;
    const int64_t k = a->dim[a->rank - 1], m = a->dim[a->rank - 2] + g->mr,
                  n = b->dim[b->rank - 1] + g->nr;
    if (!is_small(m, n, k))
        return 0;
    const int64_t panels = (m + n) * k, sums = m * n, group = QFI_GROUP_BYTES / size + g->nr;
    return qfi_lines((uint64_t)((panels + sums + group * k) * size));
}

qf_status qfi_product_run(qfi_run *run, const qfi_breaker *x, const int64_t *lo, const int64_t *n,
                          char *dst, const int64_t *stride)
{
    qfi_product p = describe(run, x, lo, n, dst, stride);
    const uint64_t workers = run->serial ? 1 : qfi_workers(run->ctx),
                   room = run->work.size - run->work.used;
    const size_t mark = run->work.used;
    qf_status st;

    if (p.items == 0 || p.m == 0 || p.cols == 0)
        return QF_OK;
    if (qfi_product_goes_to_blas(&p))
        return qfi_product_blas(&p);
    if (is_small(p.m, p.cols, p.k) && p.items > 1 &&
        qfi_product_cut(&p, (room / workers & ~(uint64_t)63), 1) && p.sm >= p.m && p.sn >= p.cols)
        st = qfi_product_batch(&p, workers);
    else
        st = qfi_product_cut(&p, room, workers) ? run_items(&p, workers) : QFI_TOO_LARGE;
    run->work.used = mark;
    return st;
}
