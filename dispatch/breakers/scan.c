/* Prefix sums: rows along the scanned dim, each summed in f64 or i64 in order, every prefix rounded
 * to the result's type. */
#include "dispatch/breakers/breaker.h"

#include <string.h>

#define CHUNK 2048
#define LEAST_FETCH ((uint64_t)1 << 14)

qf_status qfi_scan_make(qfi_builder *b, qfi_breaker *x)
{
    const bool is_float = qf_dtype_get(x->type.dtype)->kind == QF_CLASS_FLOAT;
    uint8_t order[QF_MAX_RANK];
    int n = 0, used;

    for (int d = 0; d < x->type.rank; d++)
        if (d != x->attrs.dim.dim)
            order[n++] = (uint8_t)d;
    order[n] = x->attrs.dim.dim;
    x->compute = is_float ? QF_DT_f64 : QF_DT_i64;
    x->run = qfi_scan_run;
    QF_TRY(qfi_operand_segment(b, qfi_step(b, x->value)->in[0], order, x->compute, &x->in[0]));
    return qfi_breaker_cast(b, x, 0, x->compute, x->type.dtype, &used);
}

typedef struct scan {
    qfi_run *run;
    const qfi_breaker *x;
    const int64_t *lo, *n, *stride;
    char *dst, *work;
    uint64_t each;
    qfi_walk rows;
} scan;

static void add_up(const qfi_breaker *x, char *values, int64_t n, double *real, uint64_t *whole)
{
    for (int64_t i = 0; i < n; i++, values += 8) {
        double f;
        uint64_t u;
        if (x->compute == QF_DT_f64) {
            memcpy(&f, values, sizeof f);
            *real += f;
            memcpy(values, real, sizeof *real);
        } else {
            memcpy(&u, values, sizeof u);
            *whole += u;
            memcpy(values, whole, sizeof *whole);
        }
    }
}

static char *rounded(const qfi_breaker *x, int64_t n, char *a, char *b)
{
    int64_t size = 8;

    for (int k = 0; k < 2 && x->kernel[k]; k++) {
        char *swap = a;
        const qfk_in in = { a, n * size, size };
        size = x->bits[k] / 8;
        x->kernel[k]->fn(1, (size_t)n, &in, (qfk_out){ b, n * size }, &(qfk_param){ 0 });
        a = b;
        b = swap;
    }
    return a;
}

/* One row from its start to the end of the box; what is before the box is added up only. */
static qf_status run_row(const scan *s, qfi_run *run, char *mine, int64_t number)
{
    const qfi_segment *in = s->x->in[0];
    const int dim = s->x->attrs.dim.dim, last = in->n_dim - 1;
    const int64_t size = qf_dtype_get(s->x->type.dtype)->bits / 8, end = s->lo[dim] + s->n[dim];
    int64_t at[QFI_DIMS], n[QFI_DIMS], to = 0;
    double real = 0;
    uint64_t whole = 0;

    qfi_walk_at(&s->rows, number, at, n);
    for (int d = 0, k = 0; d < s->x->type.rank; d++) {
        if (d == dim)
            continue;
        to += at[k] * s->stride[d];
        at[k++] += s->lo[d];
    }
    for (int64_t j = 0; j < end; j += CHUNK) {
        const int64_t count = end - j < CHUNK ? end - j : CHUNK,
                      skip = j < s->lo[dim] ? s->lo[dim] - j : 0;
        at[last] = j;
        n[last] = count;
        QF_TRY(qfi_run_dense(run, in, at, n, mine));
        add_up(s->x, mine, count, &real, &whole);
        if (skip >= count)
            continue;
        const char *from = rounded(s->x, count, mine, mine + CHUNK * 8);
        const int64_t rest = count - skip;
        qfi_scatter(from + skip * size, 1, &rest,
                    s->dst + (to + (j + skip - s->lo[dim]) * s->stride[dim]) * size,
                    &s->stride[dim], (size_t)size);
    }
    return QF_OK;
}

static void row_task(void *arg, uint32_t i, uint32_t worker)
{
    const scan *s = arg;
    char *mine = s->work + s->each * (s->run->serial ? 0 : worker);
    qfi_run run = qfi_task_run(s->run, worker,
                               (qfi_area){ .p = mine + CHUNK * 16, .size = s->each - CHUNK * 16 });
    const qf_diag none = { .at = -1 };

    const qf_status st = run_row(s, &run, mine, i);
    if (st != QF_OK && s->run->fault->status == QF_OK)
        qfi_run_failed(s->run, i, st == QFI_TOO_LARGE ? QF_ERR_LIMIT : st, &none);
}

qf_status qfi_scan_run(qfi_run *run, const qfi_breaker *x, const int64_t *lo, const int64_t *n,
                       char *dst, const int64_t *stride)
{
    scan s = { .run = run, .x = x, .lo = lo, .n = n, .stride = stride, .dst = dst };
    const uint64_t workers = run->serial ? 1 : qfi_workers(run->ctx);
    int64_t others[QFI_DIMS];
    int k = 0;

    for (int d = 0; d < x->type.rank; d++)
        if (d != x->attrs.dim.dim)
            others[k++] = n[d];
    s.rows = qfi_walk_make(k, others, 1);
    s.each = CHUNK * 16 + (x->in[0]->reads ? LEAST_FETCH : 0);
    s.work = qfi_area_get(&run->work, s.each * workers);
    if (!s.work || s.rows.total > INT32_MAX)
        return QFI_TOO_LARGE;
    qfi_run_tasks(run, (uint32_t)s.rows.total, row_task, &s);
    return run->fault->status;
}
