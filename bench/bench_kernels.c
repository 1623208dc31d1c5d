/* Every kernel row on tiles of shapes.def. What operands a row takes is asked from the tables of
 * the kernel tests, so there is no list of kernels here, and a new row has its benchmark at once.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tests/kernels/kernel_ref.h"

#define PAD 64
#define DEPTH ((size_t)256) /* of a packed product */

typedef struct kernel_case {
    const qfk_row *row;
    size_t m, n;
} kernel_case;

/* A dense tile of harmless numbers: small, positive, normal. Returns its bytes, 0 where memory is
 * short. */
static size_t make_tile(ref_tile *t, qfb_buffer *memory, unsigned slot)
{
    const size_t size = check_key_size(t->key);
    const size_t before = t->before + PAD, bytes = t->m * t->n * size;
    if (!qfb_buffer_get(memory, before + bytes + t->after + PAD, slot, QFB_REUSED))
        return 0;
    t->p = (unsigned char *)memory->p + before;
    if (!t->row && !t->col) {
        t->col = (ptrdiff_t)size;
        t->row = (ptrdiff_t)(t->n * size);
    }
    for (size_t k = 0; k < t->m * t->n; k++)
        ref_set(t, k / t->n, k % t->n,
                check_key_is_float(t->key) ? check_from_f64(t->key, 1 + (double)(k % 5)) : k % 2);
    return bytes;
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

/* A row at work: the call that is measured, and the operands under it. */
typedef struct tile_run {
    ref_case c;
    qfb_buffer memory[4]; /* the result's, then the operands' */
    qfk_in in[3];
    qfk_out x;
    qfk_tile *fn;
} tile_run;

static void call_tile(void *arg)
{
    const tile_run *r = arg;
    r->fn(r->c.m, r->c.n, r->in, r->x, &r->c.p);
}

/* The bytes of all operands; 0 without memory. */
static size_t make_tiles(tile_run *r)
{
    size_t bytes = make_tile(&r->c.x, &r->memory[0], 0);
    r->x = (qfk_out){ r->c.x.p, r->c.x.row };
    for (unsigned i = 0; i < r->c.n_in; i++) {
        ref_tile *in = &r->c.in[i];
        const size_t more = make_tile(in, &r->memory[i + 1], i + 1);
        r->in[i] = (qfk_in){ in->p, in->row, in->col };
        bytes = in->p && r->x.p ? bytes + more : 0;
    }
    return bytes;
}

static void run_tile(qfb_state *state, const void *argument)
{
    static qfb_race race;
    const kernel_case *k = argument;
    const ref_op *op = ref_find(k->row);
    qfb_limit_set limits = { 0 };
    tile_run r = { .fn = k->row->fn };
    check_rng rng = { 1 };
    prepare(&r.c, k, op);
    const size_t bytes = make_tiles(&r);
    if (bytes > 0 && op->values)
        op->values(&r.c, &rng);
    race = (qfb_race){ 0 };
    while (qfb_next(state)) {
        qfb_race_add(&race, (qfb_runner){ .label = "kernel", .run = call_tile, .arg = &r });
        if (bytes == 0 || !qfb_limits_add(&limits, &race,
                                          &(qfb_limit_terms){ .kind = QFB_COPY, .n = bytes / 2 })) {
            qfb_skip(state, "out of memory");
            break;
        }
        qfb_race_run(&race, qfb_budget);
        qfb_race_report(&race, state);
        qfb_counter(state, "bytes", (double)bytes);
        qfb_counter(state, "GB/s", (double)bytes / qfb_race_ratio(&race, NULL) * 1e-9);
    }
    for (size_t i = 0; i < sizeof r.memory / sizeof *r.memory; i++)
        qfb_buffer_free(&r.memory[i]);
}

/* One packed step, panels in cache: FLOP/s is what counts. */
typedef struct gemm_run {
    const qfk_row *row;
    char *a, *b, *c;
} gemm_run;

static void call_gemm(void *arg)
{
    const gemm_run *r = arg;
    const size_t row = r->row->nr * check_key_size(r->row->key);
    r->row->gemm(DEPTH, r->a, r->b, r->c, (ptrdiff_t)row, false);
}

static void run_gemm(qfb_state *state, const void *argument)
{
    static qfb_race race;
    const kernel_case *k = argument;
    const size_t size = check_key_size(k->row->key), mr = k->row->mr, nr = k->row->nr;
    gemm_run r = { .row = k->row,
                   .a = calloc(DEPTH * mr, size),
                   .b = calloc(DEPTH * nr, size),
                   .c = calloc(mr * nr, size) };
    race = (qfb_race){ 0 };
    while (qfb_next(state)) {
        if (!r.a || !r.b || !r.c) {
            qfb_skip(state, "out of memory");
            break;
        }
        qfb_race_add(&race, (qfb_runner){ .label = "kernel", .run = call_gemm, .arg = &r });
        qfb_race_run(&race, qfb_budget);
        qfb_race_report(&race, state);
        qfb_counter(state, "GFLOP/s",
                    2e-9 * (double)(DEPTH * mr * nr) / qfb_race_ratio(&race, NULL));
    }
    free(r.a);
    free(r.b);
    free(r.c);
}

static void add_case(const qfk_row *row, size_t m, size_t n)
{
    kernel_case *k = malloc(sizeof *k);
    if (!k)
        return;
    *k = (kernel_case){ .row = row, .m = m, .n = n };
    const char *isa = strrchr(row->name, '_') + 1;
    qfb_add(row->gemm ? run_gemm : run_tile, k, "kernels/%.*s/%zux%zu/%s",
            (int)(isa - 1 - row->name), row->name, m, n, isa);
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
