/* Batches of small products, which are a task each, or several of them. */
#include "dispatch/arith.h"
#include "dispatch/breakers/product_box.h"

/* Bytes of a product, operands and result: less than half of the second cache level. On Zen 3
 * products of 64 to 128 a side run at 88 to 91 GFLOP/s as they stand, at 64 to 75 if packed. */
#define AS_IT_STANDS ((int64_t)192 << 10)
#define TASK_PRODUCT ((int64_t)1 << 20) /* multiply-adds of a task */

/* Whether a product is small enough to use its operands as they stand: they stay in the second
 * cache level together with the next ones, and nothing has to be converted. */
static bool fits_as_it_stands(const qfi_product *p)
{
    return p->x->kernel[QFI_PRODUCT_SMALL] && p->direct && p->row >= 0 && p->col >= 0 &&
           p->a.at.p && p->b.at.p &&
           (p->k * (p->m + p->cols) + p->m * p->cols) * p->size <= AS_IT_STANDS &&
           p->b.at.step[p->b.x_at] == p->size && p->cols % p->nr == 0;
}

/* Where one product of a batch is. */
typedef struct place {
    const char *a, *b;
    char *c;
} place;

static place place_of(const qfi_product *p, int64_t item)
{
    int64_t at[QF_MAX_RANK];
    char *c = qfi_product_place(p, item, at);

    return (place){ qfi_factor_at(&p->a, at, p->n_batch) + p->m0 * p->a.at.step[p->a.x_at],
                    qfi_factor_at(&p->b, at, p->n_batch) + p->n0 * p->b.at.step[p->b.x_at], c };
}

/* Products `first` … `end` - 1 as their operands stand, those of the next asked for meanwhile. */
static void multiply_items(const qfi_product *p, int64_t first, int64_t end)
{
    place at = place_of(p, first);

    for (int64_t item = first; item < end; item++) {
        const place next = item + 1 < p->items ? place_of(p, item + 1) : at;
        const qfk_in in[] = { { at.a, p->a.at.step[p->a.x_at], p->a.at.step[p->a.k_at] },
                              { at.b, p->b.at.step[p->b.k_at], p->size } };
        const qfk_param param = { .i = { p->k, next.a - at.a, next.b - at.b, next.c - at.c } };

        p->x->kernel[QFI_PRODUCT_SMALL]->fn((size_t)p->m, (size_t)p->cols, in,
                                            (qfk_out){ at.c, qfi_product_row_step(p) }, &param);
        at = next;
    }
}

/* Products of a batch that are a task each, or several of them. */
typedef struct batch {
    const qfi_product *p;
    char *at;
    int64_t per_task;
} batch;

static void batch_task(void *arg, uint32_t i, uint32_t worker)
{
    const batch *b = arg;
    const qfi_product *p = b->p;
    const int64_t first = i * b->per_task, end = qfi_min64(first + b->per_task, p->items);
    char *at = b->at + (qfi_product_shared(p) + qfi_product_own(p)) * (p->run->serial ? 0 : worker);
    const qfi_run run = qfi_task_run(p->run, worker, (qfi_area){ 0 });

    if (fits_as_it_stands(p)) {
        multiply_items(p, first, end);
        return;
    }
    for (int64_t item = first; item < end; item++)
        if (qfi_product_parts(p, &run, at, item) != QF_OK)
            return;
}

qf_status qfi_product_batch(const qfi_product *p, uint64_t workers)
{
    const int64_t each = qfi_max64(1, p->m * p->cols * qfi_max64(1, p->k));
    batch b = { .p = p, .per_task = qfi_max64(1, TASK_PRODUCT / each) };

    b.at = qfi_area_get(&p->run->work, (qfi_product_shared(p) + qfi_product_own(p)) * workers);
    if (!b.at)
        return QFI_TOO_LARGE;
    const int64_t tasks = qfi_parts(p->items, b.per_task);
    if (tasks > INT32_MAX)
        return QFI_TOO_LARGE;
    qfi_run_tasks(p->run, (uint32_t)tasks, batch_task, &b);
    return p->run->fault->status;
}
