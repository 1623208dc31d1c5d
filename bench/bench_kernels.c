/* Every kernel row on tiles of shapes.def. What operands a row takes is asked from the tables of
 * the kernel tests, so there is no list of kernels here, and a new row has its benchmark at once.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tests/kernels/kernel_ref.h"

#define PAD 64

typedef struct kernel_case {
    const qfk_row *row;
    size_t m, n;
} kernel_case;

/* A dense tile of harmless numbers: small, positive, normal; 0 where memory is short. Returns its
 * bytes. */
static size_t make_tile(ref_tile *t, bool fill)
{
    const size_t size = check_key_size(t->key);
    const size_t before = t->before + PAD, bytes = t->m * t->n * size;
    unsigned char *memory = calloc(1, before + bytes + t->after + PAD);
    if (!memory)
        return 0;
    t->p = memory + before;
    if (!t->row && !t->col) {
        t->col = (ptrdiff_t)size;
        t->row = (ptrdiff_t)(t->n * size);
    }
    for (size_t k = 0; fill && k < t->m * t->n; k++)
        ref_set(t, k / t->n, k % t->n,
                check_key_is_float(t->key) ? check_from_f64(t->key, 1 + (double)(k % 5)) : k % 2);
    return bytes;
}

static void free_tile(const ref_tile *t)
{
    if (t->p)
        free(t->p - t->before - PAD);
}

static void prepare(ref_case *c, const kernel_case *k, const ref_op *op)
{
    check_rng rng = { 1 };
    size_t n_ops;
    const qfk_op_info *info = qfk_ops(&n_ops) + k->row->op_id;
    *c = (ref_case){ .row = k->row, .m = k->m, .n = k->n, .n_in = info->n_in };
    for (unsigned i = 0; i < c->n_in; i++)
        c->in[i] = (ref_tile){ .m = k->m, .n = k->n, .key = op->in[i] ? op->in[i] : k->row->key };
    c->x = (ref_tile){ .m = k->m, .n = k->n, .key = op->x ? op->x : k->row->key };
    c->p.bad = &c->bad;
    if (op->shape)
        op->shape(c, &rng);
}

static void run_tile(qfb_state *state, const void *argument)
{
    const kernel_case *k = argument;
    const ref_op *op = ref_find(k->row);
    ref_case c;
    prepare(&c, k, op);
    check_rng rng = { 1 };
    size_t bytes = make_tile(&c.x, true);
    qfk_in in[3] = { 0 };
    for (unsigned i = 0; i < c.n_in; i++) {
        bytes += make_tile(&c.in[i], true);
        in[i] = (qfk_in){ c.in[i].p, c.in[i].row, c.in[i].col };
    }
    if (op->values)
        op->values(&c, &rng);
    const qfk_out x = { c.x.p, c.x.row };
    k->row->fn(c.m, c.n, in, x, &c.p);
    const size_t faults = qfb_minor_faults();
    while (qfb_next(state))
        k->row->fn(c.m, c.n, in, x, &c.p);
    qfb_count_bytes(state, bytes, qfb_minor_faults() - faults);
    for (unsigned i = 0; i < c.n_in; i++)
        free_tile(&c.in[i]);
    free_tile(&c.x);
}

/* One packed step, panels in cache: FLOP/s is what counts. */
static void run_gemm(qfb_state *state, const void *argument)
{
    const kernel_case *k = argument;
    const size_t depth = 256, size = check_key_size(k->row->key), mr = k->row->mr, nr = k->row->nr;
    char *a = calloc(depth * mr, size), *b = calloc(depth * nr, size), *c = calloc(mr * nr, size);
    if (!a || !b || !c) {
        qfb_skip(state, "out of memory");
    } else {
        while (qfb_next(state))
            k->row->gemm(depth, a, b, c, (ptrdiff_t)(nr * size), false);
        const double seconds = qfb_seconds_per_iteration(state);
        qfb_counter(state, "GFLOP/s", seconds > 0 ? 2e-9 * (double)(depth * mr * nr) / seconds : 0);
    }
    free(a);
    free(b);
    free(c);
}

static void add_case(const qfk_row *row, size_t m, size_t n)
{
    kernel_case *k = malloc(sizeof *k);
    char name[160];
    if (!k)
        return;
    *k = (kernel_case){ .row = row, .m = m, .n = n };
    const char *isa = strrchr(row->name, '_') + 1;
    snprintf(name, sizeof name, "kernels/%.*s/%zux%zu/%s", (int)(isa - 1 - row->name), row->name, m,
             n, isa);
    qfb_add(false, row->gemm ? run_gemm : run_tile, k, "%s", name);
}

void qfb_add_kernels(void)
{
    static const struct {
        size_t m, n;
    } shapes[] = {
#define QFB_SHAPE(rows, columns) { rows, columns },
#include "shapes.def"
#undef QFB_SHAPE
    };
    const qf_caps caps = qf_caps_detect();
    size_t n_rows;
    const qfk_row *rows = qfk_rows(&n_rows);
    for (const qfk_row *row = rows; row < rows + n_rows; row++) {
        if ((row->needs & caps) != row->needs)
            continue;
        if (row->gemm)
            add_case(row, row->mr, row->nr);
        else if (ref_find(row) && !ref_find(row)->whole)
            for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
                add_case(row, shapes[s].m, shapes[s].n);
    }
}
