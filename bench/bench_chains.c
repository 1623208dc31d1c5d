/* Programs through the pipe API, as the fold builds them:
 * chains/<chain>/<shape>[/threads:2][/in_place]. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include <math.h>

#define RANK 16 /* of a low-rank update */
#define HALF 64 /* of a rotary head */

/* m, n: of the weight.  to: dtype of the result.  always: variants that every form of the chain
 * is. */
typedef struct chain_case {
    const char *name;
    void (*build)(qfb_work *w, const struct chain_case *c);
    qf_dtype to;
    int64_t m, n;
    unsigned variants, always;
    qfb_against against;
} chain_case;

typedef struct chain_run {
    const chain_case *c;
    unsigned variant;
} chain_run;

static uint32_t step1(qfb_work *w, qf_op op, const qf_attrs *attrs, uint32_t a)
{
    return qfb_work_step(w, op, attrs, 1, &a);
}

static uint32_t step2(qfb_work *w, qf_op op, const qf_attrs *attrs, uint32_t a, uint32_t b)
{
    return qfb_work_step(w, op, attrs, 2, (const uint32_t[]){ a, b });
}

static uint32_t reshape(qfb_work *w, uint32_t a, int rank, const int64_t *dim)
{
    qf_attrs attrs = { .shape = { .rank = (uint8_t)rank } };
    memcpy(attrs.shape.dim, dim, (size_t)rank * sizeof *dim);
    return step1(w, QF_OP_reshape, &attrs, a);
}

static uint32_t permute(qfb_work *w, uint32_t a, int d0, int d1, int d2, int d3)
{
    return step1(w, QF_OP_permute,
                 &(qf_attrs){ .dims = { { (int8_t)d0, (int8_t)d1, (int8_t)d2, (int8_t)d3 } } }, a);
}

static uint32_t to_type(qfb_work *w, uint32_t a, qf_dtype from, qf_dtype to)
{
    return from == to ? a : step1(w, QF_OP_cast, &(qf_attrs){ .cast = { .dtype = to } }, a);
}

/* Rows of rotary heads, half by half, become pairs. */
static uint32_t heads(qfb_work *w, uint32_t a, int64_t m, int64_t n)
{
    const int64_t split[] = { m / (2 * HALF), 2, HALF, n }, joined[] = { m, n };
    a = permute(w, reshape(w, a, 4, split), 0, 2, 1, 3);
    return reshape(w, a, 2, joined);
}

/* i8 with a scale for each row, to f32. */
static uint32_t dequantized(qfb_work *w, int64_t m, int64_t n)
{
    const int64_t dim[] = { m, n }, grid[] = { m, 1 };
    const qf_attrs attrs = { .quant = { .dtype = QF_DT_f32, .block = { 1, n } } };
    qfb_work_in(w, QF_DT_i8, 2, dim);
    qfb_work_splat(w, 2, grid, 0.25f);
    qfb_work_splat(w, 2, grid, 3);
    return qfb_work_step(w, QF_OP_dequantize, &attrs, 3, (const uint32_t[]){ 0, 1, 2 });
}

/* The same dequantize that moves nothing, which what moves is measured against. */
static void against_plain(qfb_work *w, const chain_case *c, uint32_t dequantize)
{
    const uint32_t plain = to_type(w, dequantize, QF_DT_f32, c->to);
    qfb_work_other(w, plain, "x_dequantize", "dequantize alone");
}

static void dequantize_transpose(qfb_work *w, const chain_case *c)
{
    const uint32_t q = dequantized(w, c->m, c->n);
    to_type(w, permute(w, q, 1, 0, 0, 0), QF_DT_f32, c->to);
    qfb_work_build(w);
    against_plain(w, c, q);
}

static void dequantize_qk(qfb_work *w, const chain_case *c)
{
    const uint32_t q = dequantized(w, c->m, c->n);
    to_type(w, heads(w, q, c->m, c->n), QF_DT_f32, c->to);
    qfb_work_build(w);
    against_plain(w, c, q);
}

static void full_triu(qfb_work *w, const chain_case *c)
{
    const qf_attrs attrs = { .full = { .type = { c->to, 2, { c->m, c->n } },
                                       .value = { .f = -INFINITY } } };
    const uint32_t full = qfb_work_step(w, QF_OP_full, &attrs, 0, &(uint32_t){ 0 });
    step1(w, QF_OP_triu, &(qf_attrs){ .tri = { .diagonal = 1 } }, full);
    qfb_work_build(w);
}

/* W + s (B A), each step rounded in the type of W. */
static void lora(qfb_work *w, const chain_case *c)
{
    const int64_t dim[] = { c->m, c->n }, b[] = { c->m, RANK }, a[] = { RANK, c->n };
    const qf_attrs scale = { .full = { .type = { c->to, 0, { 0 } }, .value = { .f = 0x1p-10 } } };
    qfb_work_in(w, c->to, 2, dim);
    qfb_work_in(w, c->to, 2, b);
    qfb_work_in(w, c->to, 2, a);
    const uint32_t ba = step2(w, QF_OP_matmul, NULL, 1, 2);
    const uint32_t s = qfb_work_step(w, QF_OP_full, &scale, 0, &(uint32_t){ 0 });
    step2(w, QF_OP_add, NULL, 0, step2(w, QF_OP_mul, NULL, ba, s));
    qfb_work_build(w);
}

static void qk(qfb_work *w, const chain_case *c)
{
    const int64_t dim[] = { c->m, c->n };
    qfb_work_in(w, c->to, 2, dim);
    heads(w, 0, c->m, c->n);
    qfb_work_build(w);
}

/* bf16 to f32, transposed. */
static void transpose_cast(qfb_work *w, const chain_case *c)
{
    const int64_t dim[] = { c->m, c->n };
    qfb_work_in(w, QF_DT_bf16, 2, dim);
    to_type(w, permute(w, 0, 1, 0, 0, 0), QF_DT_bf16, c->to);
    qfb_work_build(w);
}

/* v * (g / |v|), a norm for each row. */
static void weight_norm(qfb_work *w, const chain_case *c)
{
    const int64_t dim[] = { c->m, c->n }, grid[] = { c->m, 1 };
    const qf_attrs rows = { .reduce = { .dims = 2, .keep = true } };
    qfb_work_in(w, c->to, 2, dim);
    qfb_work_in(w, c->to, 2, grid);
    const uint32_t norm = step1(w, QF_OP_norm2, &rows, 0);
    step2(w, QF_OP_mul, NULL, 0, step2(w, QF_OP_div, NULL, 1, norm));
    qfb_work_build(w);
}

#define LARGE 4096, 14336

static const chain_case cases[] = {
    { "dequantize_transpose_f32", dequantize_transpose, QF_DT_f32, LARGE, QFB_THREADS, 0, { 0 } },
    { "dequantize_transpose_bf16", dequantize_transpose, QF_DT_bf16, LARGE, 0, 0, { 0 } },
    { "dequantize_qk_f32", dequantize_qk, QF_DT_f32, LARGE, QFB_THREADS, 0, { 0 } },
    { "dequantize_qk_bf16", dequantize_qk, QF_DT_bf16, LARGE, 0, 0, { 0 } },
    { "full_triu", full_triu, QF_DT_f32, 8192, 8192, QFB_THREADS, 0, { QFB_WRITE, NULL, NULL } },
    { "full_triu_bf16", full_triu, QF_DT_bf16, 8192, 8192, 0, 0, { QFB_WRITE, NULL, NULL } },
    { "lora16_f32",
      lora,
      QF_DT_f32,
      LARGE,
      QFB_THREADS,
      QFB_IN_PLACE,
      { QFB_UPDATE, NULL, qfb_blas_update } },
    { "lora16_bf16",
      lora,
      QF_DT_bf16,
      LARGE,
      0,
      QFB_IN_PLACE,
      { QFB_UPDATE, NULL, qfb_blas_update } },
    { "qk_f32", qk, QF_DT_f32, LARGE, QFB_FRESH_OUTPUT, 0, { 0 } },
    { "qk_bf16", qk, QF_DT_bf16, LARGE, 0, 0, { 0 } },
    { "transpose_cast_f32", transpose_cast, QF_DT_f32, LARGE, 0, 0, { 0 } },
    { "weight_norm_f32", weight_norm, QF_DT_f32, LARGE, 0, 0, { 0 } },
};

static void run_chain(qfb_state *state, const void *argument)
{
    const chain_run *r = argument;
    qfb_against against = r->c->against;
    qfb_work w = { 0 };
    against.limits |= QFB_COPY;
    qfb_work_open(&w, r->variant | r->c->always);
    r->c->build(&w, r->c);
    qfb_run_work(state, &w, &against);
}

static void add_case(const void *row, unsigned variant)
{
    const chain_case *c = row;
    chain_run *r = malloc(sizeof *r);
    if (!r)
        abort();
    *r = (chain_run){ c, variant };
    qfb_add(run_chain, r, "chains/%s/%lldx%lld%s%s", c->name, (long long)c->m, (long long)c->n,
            qfb_variant_suffix(c->always), qfb_variant_suffix(variant));
}

void qfb_add_chains(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        qfb_each_variant(cases[i].variants, &cases[i], add_case);
}
