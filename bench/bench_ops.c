/* One operator through qf_eval: ops/<what>/<dtype>/<shape>[/threads:2][/in_place][/fresh]. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plain_c.h"

/* other: the order of dims, the dims of operand 1, or the blocks that share a scale.  variants:
 * those that are measured beside the plain one. */
typedef struct op_case {
    const char *name;
    void (*setup)(qfb_work *w, const struct op_case *c);
    qf_op op;
    qf_dtype from, to;
    int rank;
    int64_t dim[4], other[4];
    unsigned variants;
    qfb_against against;
} op_case;

typedef struct op_run {
    const op_case *c;
    unsigned variant;
} op_run;

static void permute(qfb_work *w, const op_case *c)
{
    qf_attrs attrs = { 0 };
    qfb_work_in(w, c->from, c->rank, c->dim);
    for (int d = 0; d < c->rank; d++)
        attrs.dims.dim[d] = (int8_t)c->other[d];
    qfb_work_op(w, QF_OP_permute, &attrs);
}

static void cast(qfb_work *w, const op_case *c)
{
    qfb_work_in(w, c->from, c->rank, c->dim);
    qfb_work_op(w, QF_OP_cast, &(qf_attrs){ .cast = { .dtype = c->to } });
}

/* dequantize and quantize: scale and zero point in f32, one for each block. */
static void quant(qfb_work *w, const op_case *c)
{
    qf_attrs attrs = { .quant = { .dtype = c->to, .qmin = -128, .qmax = 127 } };
    int64_t grid[4];
    for (int d = 0; d < c->rank; d++) {
        attrs.quant.block[d] = c->other[d];
        grid[d] = (c->dim[d] + c->other[d] - 1) / c->other[d];
    }
    qfb_work_in(w, c->from, c->rank, c->dim);
    qfb_work_splat(w, c->rank, grid, 0.25f);
    qfb_work_splat(w, c->rank, grid, 3);
    qfb_work_op(w, c->op, &attrs);
}

static void binary(qfb_work *w, const op_case *c)
{
    qfb_work_in(w, c->from, c->rank, c->dim);
    qfb_work_in(w, c->from, c->rank, c->other);
    qfb_work_op(w, c->op, NULL);
}

static void where(qfb_work *w, const op_case *c)
{
    uint8_t *mask = qfb_work_in(w, QF_DT_b8, c->rank, c->dim);
    for (size_t i = 0; mask && i < w->buffer[0].size; i++)
        mask[i] = (uint8_t)((uint32_t)(i * 2654435761u) >> 31);
    qfb_work_in(w, c->from, c->rank, c->dim);
    qfb_work_in(w, c->from, c->rank, c->dim);
    qfb_work_op(w, QF_OP_where, NULL);
}

static qf_type type_of(const op_case *c)
{
    qf_type type = { .dtype = c->to, .rank = (int8_t)c->rank };
    memcpy(type.dim, c->dim, sizeof c->dim);
    return type;
}

static void full(qfb_work *w, const op_case *c)
{
    qfb_work_op(w, QF_OP_full, &(qf_attrs){ .full = { type_of(c), { false, 0, 0.5 } } });
}

static void arange(qfb_work *w, const op_case *c)
{
    qfb_work_op(w, QF_OP_arange,
                &(qf_attrs){ .arange = { type_of(c), { true, 0, 0 }, { true, 1, 0 } } });
}

/* Two equal parts along dim other[0]. */
static void cat(qfb_work *w, const op_case *c)
{
    qfb_work_in(w, c->from, c->rank, c->dim);
    qfb_work_in(w, c->from, c->rank, c->dim);
    qfb_work_op(w, QF_OP_cat, &(qf_attrs){ .dim = { .dim = (uint8_t)c->other[0] } });
}

/* other[0] rows in a scattered order, as an embedding reads them. */
static void index_select(qfb_work *w, const op_case *c)
{
    qfb_work_in(w, c->from, c->rank, c->dim);
    int64_t *row = qfb_work_in(w, QF_DT_i64, 1, c->other);
    for (int64_t i = 0; row && i < c->other[0]; i++)
        row[i] = (int64_t)((uint64_t)i * 2654435761u % (uint64_t)c->dim[0]);
    qfb_work_op(w, QF_OP_index_select, &(qf_attrs){ .dim = { .dim = 0 } });
    w->read = w->written;
    w->moved = 2 * (double)w->written;
}

static void reduce(qfb_work *w, const op_case *c)
{
    qfb_work_in(w, c->from, c->rank, c->dim);
    qfb_work_op(w, c->op, &(qf_attrs){ .reduce = { .dims = (uint32_t)c->other[0], .keep = true } });
}

/* dim: m, n, k, or the number of products before them. */
static void matmul(qfb_work *w, const op_case *c)
{
    const int at = c->rank - 3;
    const int64_t m = c->dim[at], n = c->dim[at + 1], k = c->dim[at + 2],
                  batch = at ? c->dim[0] : 1;
    const int64_t a[] = { batch, m, k }, b[] = { batch, k, n };
    qfb_work_in(w, c->from, at ? 3 : 2, at ? a : a + 1);
    qfb_work_in(w, c->from, at ? 3 : 2, at ? b : b + 1);
    qfb_work_op(w, QF_OP_matmul, NULL);
    w->flops = 2 * (double)(batch * m * n) * (double)k;
}

/* The words of ops_cases.def. */
enum {
    NONE = 0,
    THREADS = QFB_THREADS,
    IN_PLACE = QFB_IN_PLACE,
    FRESH = QFB_FRESH_OUTPUT,
    COPY = QFB_COPY,
    WRITE = QFB_WRITE,
    READ = QFB_READ,
    UPDATE = QFB_UPDATE,
    COMBINE = QFB_COMBINE,
    ACCUMULATE = QFB_ACCUMULATE,
};

#define DIMS(...)                                                                                  \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define qfb_plain_none NULL
#define qfb_none NULL

static const op_case cases[] = {
#define QFB_OP(name, setup, op, from, to, rank, dims, other, variants, limits, plain, rival)       \
    { #name, setup, QF_OP_##op, QF_DT_##from, QF_DT_##to,                                          \
      rank,  dims,  other,      variants,     { limits, qfb_plain_##plain, qfb_##rival } },
#include "ops_cases.def"
#undef QFB_OP
};

static void run_op(qfb_state *state, const void *argument)
{
    const op_run *r = argument;
    qfb_work w = { 0 };
    qfb_work_open(&w, r->variant);
    r->c->setup(&w, r->c);
    qfb_run_work(state, &w, &r->c->against);
}

static void add_case(const void *row, unsigned variant)
{
    const op_case *c = row;
    char shape[80];
    size_t n = 0;
    for (int d = 0; d < c->rank; d++)
        n += (size_t)snprintf(shape + n, sizeof shape - n, "%s%lld", d ? "x" : "",
                              (long long)c->dim[d]);
    op_run *r = malloc(sizeof *r);
    if (!r)
        abort();
    *r = (op_run){ c, variant };
    qfb_add(run_op, r, "ops/%s/%s/%s%s", c->name, qf_dtype_get(c->from ? c->from : c->to)->name,
            shape, qfb_variant_suffix(variant));
}

void qfb_add_ops(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        qfb_each_variant(cases[i].variants, &cases[i], add_case);
}
