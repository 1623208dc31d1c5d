/* Calls every hot kernel row once per case, between requests to callgrind, which counts the
 * instructions of the call; instructions.py runs it. Without valgrind it counts nothing.
 *
 * A row is hot if its operator and key have one for vectors, or if it only moves data. Which
 * operands it takes the tables of tests/kernels say; `usual` sets the strides and parameters that
 * models have. */
#include "../kernels/kernel_ref.h"

#include <stdio.h>
#include <string.h>
#include <valgrind/callgrind.h>

#define OPERAND ((size_t)1 << 20) /* bytes: the largest shape in the widest type, and some more */
#define DEPTH ((size_t)256)       /* k of a matrix product */
#define PANEL ((size_t)16)        /* columns of its panels */
#define VALUES ((size_t)320)      /* elements of an operand before they repeat */

/* A tile of a pipeline's slots; the same with inputs (but the first) of one value per row; and for
 * vectors one that ends in tails, and one beyond the first-level cache. */
static const struct shape {
    size_t m, n;
    bool splat;
} shapes[] = { { 16, 64, false }, { 16, 64, true }, { 13, 77, false }, { 128, 512, false } };
enum { SHAPES = sizeof shapes / sizeof *shapes, SCALAR_SHAPES = 2 };

static _Alignas(4096) unsigned char memory[4][OPERAND];

/* Small positive numbers, bytes of any nibbles, indices into a small table. */
static uint64_t usual_value(unsigned key, size_t k)
{
    if (check_key_is_float(key))
        return check_from_f64(key, 1 + (double)(k % 5));
    return key == QF_DT_b8 || key == QF_DT_i64 ? k % 5 % 2 : k * 37 % 128;
}

/* A dense tile at p of `key`, or of bytes where that is shorter. */
static ref_tile dense_tile(unsigned key, size_t m, size_t n, unsigned char *p)
{
    const unsigned whole = check_key_size(key) ? key : QF_DT_u8;
    const size_t size = check_key_size(whole);

    for (size_t k = 0; k < VALUES; k++)
        check_store(p + k * size, size, usual_value(whole, k));
    for (size_t have = VALUES; have < m * n; have *= 2)
        memcpy(p + have * size, p, (have < m * n - have ? have : m * n - have) * size);
    return (ref_tile){
        .p = p, .row = (ptrdiff_t)(n * size), .col = (ptrdiff_t)size, .m = m, .n = n, .key = whole
    };
}

/* Rows of a table for one index per row, else elements that lie n apart. */
static void usual_gather(ref_case *c)
{
    const ptrdiff_t size = c->in[0].col, col = c->in[1].col;

    c->in[0].row = 0;
    c->in[0].col = col ? 0 : size;
    c->in[1] = dense_tile(QF_DT_i64, c->m, c->n, memory[1]);
    c->in[1].col = col ? c->in[1].col : 0;
    c->p.i[0] = (int64_t)c->n * size;
}

static void usual_transpose(ref_case *c)
{
    c->in[0].row = c->in[0].col;
    c->in[0].col *= (ptrdiff_t)c->m;
}

/* What a matrix product packs: few columns, which lie one behind the other. */
static void usual_panel(ref_case *c)
{
    const size_t size = check_key_size(c->row->key), n = c->n % 2 ? 6 : 16, m = c->m * c->n / n;

    c->m = m;
    c->n = n;
    c->in[0].row = (ptrdiff_t)size;
    c->in[0].col = (ptrdiff_t)(m * size);
    c->x.row = (ptrdiff_t)(n * size);
}

/* Rows of whole bytes, for keys of 4 bits. */
static void usual_nibbles(ref_case *c)
{
    c->p.i[1] = (int64_t)(c->n + c->n % 2);
    c->p.i[2] = 1;
}

/* Numbers from 0 on. */
static void usual_index(ref_case *c)
{
    c->p.i[1] = (int64_t)c->n;
    c->p.i[2] = 1;
    c->p.f[1] = 1;
}

/* triu(1), tril(1). */
static void usual_keep(ref_case *c)
{
    c->p.i[1] = -1;
    c->p.i[2] = c->p.i[3] = 1;
}

static void usual_quantize(ref_case *c)
{
    c->p.f[0] = check_key_is_signed(c->row->key) ? -128 : 0;
    c->p.f[1] = 127;
}

static void usual_sum(ref_case *c)
{
    c->x = dense_tile(c->row->key == QF_DT_f32 ? QF_DT_f64 : c->row->key, c->m, 16, memory[3]);
    c->p.i[1] = 1;
}

/* DEPTH / 16 steps, as low-rank updates have them, and b in panels as the vectors want them. */
static void usual_update(ref_case *c)
{
    const size_t k = DEPTH / 16, panels = (c->n + PANEL - 1) / PANEL;

    c->in[0] = dense_tile(QF_DT_f32, k, c->m, memory[0]);
    c->in[1] = dense_tile(QF_DT_f32, k * panels, PANEL, memory[1]);
    c->p.f[0] = 0.5;
    c->p.i[0] = (int64_t)k;
    c->p.i[1] = PANEL;
    c->p.i[2] = c->row->key == QF_DT_f32 ? 0 : 2;
    c->p.i[3] = (int64_t)(k * PANEL * sizeof(float));
}

static void usual_multiply(ref_case *c)
{
    const size_t k = DEPTH / 16;

    c->in[0] = dense_tile(QF_DT_f32, c->m, k, memory[0]);
    c->in[1] = dense_tile(QF_DT_f32, k, c->n, memory[1]);
    c->p.i[0] = (int64_t)k;
}

static const struct {
    const char *op;
    void (*set)(ref_case *c);
} usual[] = {
    { "arange", usual_index },        { "fill", usual_index },    { "gather", usual_gather },
    { "iota", usual_index },          { "keep_ge", usual_keep },  { "keep_le", usual_keep },
    { "multiply", usual_multiply },   { "update", usual_update }, { "panel", usual_panel },
    { "quantize", usual_quantize },   { "sum", usual_sum },       { "sumsq", usual_sum },
    { "transpose", usual_transpose }, { "dequantize_turned", usual_transpose },
    { "dequantize_turned_f16", usual_transpose },
    { "dequantize_turned_bf16", usual_transpose },
};

/* Every call is counted with the instructions around it; those of the kernel `nothing` are
 * subtracted by the reader. */
static void count_tile(qfk_tile *fn, const ref_case *c, const char *name)
{
    qfk_in in[3];

    for (unsigned k = 0; k < 3; k++)
        in[k] = (qfk_in){ c->in[k].p, c->in[k].row, c->in[k].col };
    const qfk_out x = { c->x.p, c->x.row };
    fn(c->m, c->n, in, x, &c->p); /* once before: symbols are bound, and pages are there */
    CALLGRIND_TOGGLE_COLLECT;
    fn(c->m, c->n, in, x, &c->p);
    CALLGRIND_TOGGLE_COLLECT;
    CALLGRIND_DUMP_STATS_AT(name);
}

static void count_row(const qfk_row *row, const struct shape *shape)
{
    const ref_op *op = ref_find(row);
    size_t n_ops;
    const size_t m = shape->m, n = shape->n;
    ref_case c = { .row = row, .m = m, .n = n, .n_in = qfk_ops(&n_ops)[row->op_id].n_in };
    char name[80];

    if (op->whole || (shape->splat && c.n_in < 2))
        return;
    for (unsigned k = 0; k < c.n_in; k++) {
        c.in[k] = dense_tile(op->in[k] ? op->in[k] : row->key, m, n, memory[k]);
        if (shape->splat && k)
            c.in[k].col = 0;
    }
    c.x = dense_tile(op->x ? op->x : row->key, m, n, memory[3]);
    c.p.bad = &c.bad;
    if (!check_key_size(row->key))
        usual_nibbles(&c);
    for (size_t k = 0; k < sizeof usual / sizeof *usual; k++)
        if (strcmp(usual[k].op, row->op) == 0)
            usual[k].set(&c);
    snprintf(name, sizeof name, "%s %zux%zu%s", row->name, c.m, c.n, shape->splat ? "/splat" : "");
    count_tile(row->fn, &c, name);
}

static void count_gemm(const qfk_row *row)
{
    const size_t size = check_key_size(row->key);
    char name[80];

    dense_tile(row->key, DEPTH, row->mr, memory[0]);
    dense_tile(row->key, DEPTH, row->nr, memory[1]);
    snprintf(name, sizeof name, "%s %ux%ux%zu", row->name, row->mr, row->nr, DEPTH);
    for (unsigned k = 0; k < 2; k++) {
        if (k)
            CALLGRIND_TOGGLE_COLLECT;
        row->gemm(DEPTH, memory[0], memory[1], memory[3], (ptrdiff_t)(row->nr * size), false);
    }
    CALLGRIND_TOGGLE_COLLECT;
    CALLGRIND_DUMP_STATS_AT(name);
}

static bool is_hot(const qfk_row *row, const qfk_row *rows, size_t n)
{
    if (row->family == QFK_copy || row->family == QFK_select || row->family == QFK_gather)
        return true;
    for (size_t i = 0; i < n; i++)
        if (rows[i].op_id == row->op_id && rows[i].key == row->key && rows[i].needs)
            return true;
    return false;
}

static void nothing(size_t m, size_t n, const qfk_in *in, qfk_out x, const qfk_param *p)
{
    (void)m, (void)n, (void)in, (void)x, (void)p;
}

int main(void)
{
    const qf_caps caps = qf_caps_detect() & ~(qf_caps)QF_CAP_AVX512; /* valgrind knows none */
    size_t n;
    const qfk_row *rows = qfk_rows(&n);

    count_tile(nothing, &(ref_case){ 0 }, "nothing");
    for (const qfk_row *row = rows; row < rows + n; row++) {
        if (row->needs & ~caps || !is_hot(row, rows, n))
            continue;
        if (row->gemm)
            count_gemm(row);
        for (size_t s = 0; !row->gemm && s < (row->needs ? SHAPES : SCALAR_SHAPES); s++)
            count_row(row, &shapes[s]);
    }
    return 0;
}
