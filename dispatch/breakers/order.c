/* Sorting: for each row along a dim, where its elements stand in order. Equal ones stay as they
 * stand. A task takes some rows, one after the other: it makes a row's keys, sorts them with their
 * places, and writes the places that are asked for. */
#include "dispatch/arith.h"
#include "dispatch/breakers/order_key.h"

#include <string.h>

#define TASK_ELEMENTS ((int64_t)1 << 12)
#define SORTED_RUN 12 /* elements that are inserted one by one; 8 to 16 are as good */

typedef struct entry {
    uint64_t key;
    int64_t at;
} entry;

/* Bytes that a task needs for a row of n elements. */
static uint64_t row_bytes(int64_t n)
{
    return (uint64_t)n * (8 + 2 * sizeof(entry)) + 3 * 64 + QFI_LEAST_FETCH;
}

qf_status qfi_order_make(qfi_builder *b, qfi_breaker *x)
{
    uint8_t order[QF_MAX_RANK];
    int n = 0;

    for (int d = 0; d < x->type.rank; d++)
        if (d != x->attrs.sort.dim)
            order[n++] = (uint8_t)d;
    order[n] = x->attrs.sort.dim;
    x->compute = qfi_order_dtype(x->in_type[0].dtype);
    x->run = qfi_order_run;
    x->work = row_bytes(x->in_type[0].dim[x->attrs.sort.dim]);
    return qfi_operand_segment(b, qfi_step(b, x->value)->in[0], order, x->compute, &x->in[0]);
}

/* The part of the result at hand: rows along all dims but one, in the operand's order.  row_lo,
 * row_stride: of those.  lo, n, step: of the sorted dim. */
typedef struct sorting {
    qfi_run *run;
    const qfi_breaker *x;
    char *dst, *work;
    uint64_t each;
    qfi_walk rows;
    int64_t row_lo[QFI_DIMS], row_stride[QFI_DIMS], lo, n, step, length;
} sorting;

static void insert_all(entry *e, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        const entry one = e[i];
        int64_t k = i;
        for (; k > 0 && e[k - 1].key > one.key; k--)
            e[k] = e[k - 1];
        e[k] = one;
    }
}

static void merge(const entry *a, int64_t n_a, const entry *b, int64_t n_b, entry *to)
{
    while (n_a > 0 && n_b > 0) {
        const bool second = b->key < a->key;
        *to++ = second ? *b : *a;
        a += !second;
        n_a -= !second;
        b += second;
        n_b -= second;
    }
    memcpy(to, n_a > 0 ? a : b, (size_t)(n_a + n_b) * sizeof *to);
}

/* Runs of one size are inserted in place, then merged from one array to the other and back. */
static const entry *sort_row(entry *e, entry *other, int64_t n)
{
    for (int64_t i = 0; i < n; i += SORTED_RUN)
        insert_all(e + i, qfi_min64(SORTED_RUN, n - i));
    for (int64_t run = SORTED_RUN; run < n; run *= 2) {
        for (int64_t i = 0; i < n; i += 2 * run) {
            const int64_t n_a = qfi_min64(run, n - i), n_b = qfi_min64(run, n - i - n_a);
            merge(e + i, n_a, e + i + n_a, n_b, other + i);
        }
        entry *swap = e;
        e = other;
        other = swap;
    }
    return e;
}

/* Whether equal elements come first, or share the last place. */
static bool has_equals(const entry *e, int64_t first, int64_t n)
{
    for (int64_t i = 0; i < first && i + 1 < n; i++)
        if (e[i].key == e[i + 1].key)
            return true;
    return false;
}

/* One row; lo: its coordinates in the box. */
static qf_status order_row(const sorting *s, qfi_run *run, const int64_t *lo)
{
    const qf_attrs *at = &s->x->attrs;
    const int n_row = s->x->in[0]->n_dim - 1;
    uint64_t *keys = qfi_area_get(&run->work, (uint64_t)s->length * sizeof *keys);
    entry *e = qfi_area_get(&run->work, (uint64_t)s->length * sizeof *e),
          *other = qfi_area_get(&run->work, (uint64_t)s->length * sizeof *e);
    int64_t from[QFI_DIMS], n[QFI_DIMS], to = 0;

    if (!keys || !e || !other)
        return QFI_TOO_LARGE;
    for (int d = 0; d < n_row; d++) {
        from[d] = s->row_lo[d] + lo[d];
        n[d] = 1;
        to += lo[d] * s->row_stride[d];
    }
    from[n_row] = 0;
    n[n_row] = s->length;
    QF_TRY(qfi_run_dense(run, s->x->in[0], from, n, (char *)keys));
    qfi_order_keys(s->x->compute, s->length, keys, UINT64_MAX,
                   at->sort.descending ? UINT64_MAX : 0);
    for (int64_t i = 0; i < s->length; i++)
        e[i] = (entry){ keys[i], i };
    const entry *sorted = sort_row(e, other, s->length);
    if (at->sort.distinct && has_equals(sorted, at->sort.n, s->length)) {
        __atomic_store_n(&run->fault->bad, 1, __ATOMIC_RELAXED);
        return QF_OK;
    }
    for (int64_t i = 0; i < s->n; i++)
        memcpy(s->dst + (to + i * s->step) * 8, &sorted[s->lo + i].at, 8);
    return QF_OK;
}

static void order_task(void *arg, uint32_t i, uint32_t worker)
{
    const sorting *s = arg;
    char *mine = s->work + s->each * (s->run->serial ? 0 : worker);
    qfi_run run = qfi_task_run(s->run, worker, (qfi_area){ .p = mine, .size = s->each });
    int64_t lo[QFI_DIMS] = { 0 }, n[QFI_DIMS], at[QFI_DIMS] = { 0 };
    const int64_t rows = qfi_walk_at(&s->rows, i, lo, n);
    qf_status st = QF_OK;

    for (int64_t r = 0; r < rows && st == QF_OK; r++) {
        int64_t rest = r;
        for (int d = s->rows.n_dim - 1; d >= 0; d--) {
            at[d] = lo[d] + rest % n[d];
            rest /= n[d];
        }
        run.work.used = 0;
        st = order_row(s, &run, at);
    }
    qfi_task_failed(s->run, i, st);
}

qf_status qfi_order_run(qfi_run *run, const qfi_breaker *x, const int64_t *lo, const int64_t *n,
                        char *dst, const int64_t *stride)
{
    const int dim = x->attrs.sort.dim;
    const uint64_t workers = run->serial ? 1 : qfi_workers(run->ctx);
    qfi_run alone = *run;
    sorting s = { .run = run,
                  .x = x,
                  .dst = dst,
                  .lo = lo[dim],
                  .n = n[dim],
                  .step = stride[dim],
                  .length = x->in_type[0].dim[dim] };
    int64_t rows[QFI_DIMS];
    int n_row = 0;

    for (int d = 0; d < x->type.rank; d++) {
        if (d == dim)
            continue;
        s.row_lo[n_row] = lo[d];
        s.row_stride[n_row] = stride[d];
        rows[n_row++] = n[d];
    }
    s.rows = qfi_walk_make(n_row, rows, qfi_max64(1, TASK_ELEMENTS / qfi_max64(1, s.length)));
    if (s.rows.total > INT32_MAX)
        return QFI_TOO_LARGE;
    s.each = qfi_lines(row_bytes(s.length));
    s.work = qfi_area_get(&run->work, s.each * workers);
    if (!s.work) {
        /* One after the other. */
        alone.serial = true;
        alone.worker = run->serial ? run->worker : 0;
        s.run = &alone;
        s.work = qfi_area_get(&run->work, s.each);
    }
    if (!s.work)
        return QFI_TOO_LARGE;
    qfi_run_tasks(s.run, (uint32_t)s.rows.total, order_task, &s);
    return run->fault->status;
}
