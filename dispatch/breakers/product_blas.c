/* Products by OpenBLAS, on request: panels of fixed size, so that threads do not change a bit. */
#include "dispatch/arith.h"
#include "dispatch/breakers/product_box.h"

#define BLAS_ROWS 1024 /* of a panel; the operands of each are packed anew */
#define BLAS_COLUMNS 2048

/* A fixed panel of the result by OpenBLAS, whose sums are in an order of its own. */
static void panel_task(void *arg, uint32_t i, uint32_t worker)
{
    const qfi_product *p = arg;
    const int64_t rows = qfi_parts(p->m, BLAS_ROWS), columns = qfi_parts(p->cols, BLAS_COLUMNS);
    const int64_t m0 = i / columns % rows * BLAS_ROWS, n0 = i % columns * BLAS_COLUMNS;
    qfi_blas_product call = p->call;
    int64_t at[QF_MAX_RANK];
    char *c = qfi_product_place(p, i / columns / rows, at);

    (void)worker;
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

bool qfi_product_goes_to_blas(qfi_product *p)
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

qf_status qfi_product_blas(qfi_product *p)
{
    const int64_t panels = qfi_parts(p->m, BLAS_ROWS) * qfi_parts(p->cols, BLAS_COLUMNS);

    if (panels > INT32_MAX / p->items)
        return QFI_TOO_LARGE;
    qfi_run_tasks(p->run, (uint32_t)(panels * p->items), panel_task, p);
    return QF_OK;
}
