/* Random programs of two to six operators: compiled as one pipeline, and evaluated operator by
 * operator, bit for bit the same, for any memory, threads, order of the result and kind of storage.
 */
#include "placement.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_STEPS 8
#define MOST_INPUTS 4

typedef struct chain {
    uint32_t n_input, n_step;
    qf_type type[MOST_INPUTS + MOST_STEPS];
    ref_tensor input[MOST_INPUTS];
    layout how[MOST_INPUTS];
    qf_step step[MOST_STEPS];
    uint32_t in[MOST_STEPS][3];
} chain;

static const qf_dtype dtypes[] = { QF_DT_f32,  QF_DT_f16, QF_DT_i32, QF_DT_i8, QF_DT_b8,  QF_DT_i64,
                                   QF_DT_bf16, QF_DT_f64, QF_DT_u8,  QF_DT_i4, QF_DT_c128 };

static const qf_op ops[] = {
    QF_OP_permute,
    QF_OP_permute,
    QF_OP_reshape,
    QF_OP_reshape,
    QF_OP_reshape,
    QF_OP_expand,
    QF_OP_slice,
    QF_OP_select,
    QF_OP_unsqueeze,
    QF_OP_flip,
    QF_OP_diagonal,
    QF_OP_triu,
    QF_OP_tril,
    QF_OP_cast,
    QF_OP_add,
    QF_OP_add,
    QF_OP_mul,
    QF_OP_sub,
    QF_OP_maximum,
    QF_OP_where,
    QF_OP_neg,
    QF_OP_eq,
    QF_OP_lt,
    QF_OP_cat,
    QF_OP_cat,
    QF_OP_roll,
    QF_OP_pad,
    QF_OP_slice_scatter,
    QF_OP_select_scatter,
    QF_OP_sum,
    QF_OP_amax,
    QF_OP_cumsum,
    QF_OP_cumprod,
    QF_OP_matmul,
    QF_OP_index_select,
    QF_OP_squeeze,
    QF_OP_logical_not,
    QF_OP_dequantize,
    QF_OP_argmax,
    QF_OP_argsort,
    QF_OP_argsort,
    QF_OP_put,
    QF_OP_put,
    QF_OP_nonzero,
};

static int64_t below(check_rng *rng, int64_t n)
{
    return n > 0 ? (int64_t)check_below(rng, (size_t)n) : 0;
}

static int64_t elements(const qf_type *t)
{
    uint64_t n = 0;
    return qf_type_elements(t, &n) ? (int64_t)n : 0;
}

static void random_type(check_rng *rng, qf_type *t)
{
    static const int64_t sizes[] = { 1, 2, 3, 4, 4, 6, 6, 8, 12, 17, 40 };
    *t = (qf_type){ .dtype = dtypes[check_below(rng, sizeof dtypes / sizeof *dtypes)],
                    .rank = (int8_t)below(rng, 4) };
    for (int d = 0; d < t->rank; d++)
        t->dim[d] = sizes[check_below(rng, sizeof sizes / sizeof *sizes)];
}

/* Another shape with as many elements: factors are moved between dims. */
static void random_reshape(check_rng *rng, const qf_type *t, qf_attrs *a)
{
    int64_t left = elements(t);

    a->shape.rank = (uint8_t)(1 + below(rng, 4));
    for (int d = 0; d < a->shape.rank; d++) {
        int64_t n = d == a->shape.rank - 1 ? left : 1;
        for (int tries = 0; d < a->shape.rank - 1 && tries < 4; tries++) {
            const int64_t f = 2 + below(rng, 3);
            if (left % f == 0 && check_chance(rng, 60)) {
                n *= f;
                left /= f;
            }
        }
        a->shape.dim[d] = n;
    }
}

static void random_permutation(check_rng *rng, int rank, int8_t *dim)
{
    for (int d = 0; d < rank; d++) {
        const int k = (int)below(rng, d + 1);
        dim[d] = dim[k];
        dim[k] = (int8_t)d;
    }
}

static void random_slice(check_rng *rng, const qf_type *t, qf_attrs *a)
{
    a->slice.dim = (uint8_t)below(rng, t->rank);
    const int64_t n = t->rank ? t->dim[a->slice.dim] : 0;
    a->slice.start = below(rng, n);
    a->slice.step = 1 + below(rng, 3);
    a->slice.n = n ? 1 + below(rng, (n - 1 - a->slice.start) / a->slice.step + 1) : 0;
}

static void random_expand(check_rng *rng, const qf_type *t, qf_attrs *a)
{
    a->shape.rank = (uint8_t)(t->rank + below(rng, 2));
    for (int d = 0; d < a->shape.rank; d++) {
        const int from = d - (a->shape.rank - t->rank);
        a->shape.dim[d] = from < 0 || t->dim[from] == 1 ? 1 + below(rng, 5) : t->dim[from];
    }
}

static void random_pad(check_rng *rng, const qf_type *t, qf_attrs *a)
{
    for (int d = 0; d < t->rank; d++) {
        a->pad.before[d] = below(rng, 4) - 1;
        a->pad.after[d] = below(rng, 4) - 1;
    }
}

static void random_roll(check_rng *rng, const qf_type *t, qf_attrs *a)
{
    for (int d = 0; d < t->rank; d++)
        a->roll.shift[d] = below(rng, 9) - 4;
}

static void random_quant(check_rng *rng, const qf_type *t, qf_attrs *a)
{
    a->quant.dtype = QF_DT_f32;
    for (int d = 0; d < t->rank; d++)
        a->quant.block[d] = 1 + below(rng, t->dim[d]);
}

static void random_diagonal(check_rng *rng, const qf_type *t, qf_attrs *a)
{
    a->diagonal.dim0 = (uint8_t)below(rng, t->rank);
    a->diagonal.dim1 = (uint8_t)below(rng, t->rank);
    a->diagonal.offset = below(rng, 5) - 2;
}

/* Of operators that order, or write by index. */
static void random_order(check_rng *rng, qf_op op, const qf_type *t, qf_attrs *a)
{
    if (op == QF_OP_put)
        a->put.mode = (uint8_t)below(rng, QF_PUT_COUNT);
    if (op == QF_OP_nonzero)
        a->count.n = below(rng, elements(t) + 1);
    if (op != QF_OP_argsort)
        return;
    a->sort.dim = (uint8_t)below(rng, t->rank);
    a->sort.n = below(rng, t->dim[a->sort.dim]) + 1;
    a->sort.descending = check_chance(rng, 50);
    a->sort.distinct = check_chance(rng, 10);
}

/* Attributes that often fit the operand; inference decides. */
static void random_attrs(check_rng *rng, qf_op op, const qf_type *t, qf_attrs *a)
{
    memset(a, 0, sizeof *a);
    switch (op) {
    case QF_OP_permute:
        random_permutation(rng, t->rank, a->dims.dim);
        break;
    case QF_OP_reshape:
        random_reshape(rng, t, a);
        break;
    case QF_OP_expand:
        random_expand(rng, t, a);
        break;
    case QF_OP_slice:
    case QF_OP_select:
    case QF_OP_slice_scatter:
    case QF_OP_select_scatter:
        random_slice(rng, t, a);
        break;
    case QF_OP_unsqueeze:
    case QF_OP_flip:
        a->mask.dims = (uint32_t)below(rng, (int64_t)1 << t->rank);
        break;
    case QF_OP_squeeze:
        for (int d = 0; d < t->rank; d++)
            a->mask.dims |= (uint32_t)(t->dim[d] == 1) << d;
        break;
    case QF_OP_diagonal:
        random_diagonal(rng, t, a);
        break;
    case QF_OP_triu:
    case QF_OP_tril:
        a->tri.diagonal = below(rng, 9) - 4;
        break;
    case QF_OP_cast:
        a->cast.dtype = dtypes[check_below(rng, sizeof dtypes / sizeof *dtypes)];
        break;
    case QF_OP_cat:
    case QF_OP_cumsum:
    case QF_OP_cumprod:
    case QF_OP_index_select:
        a->dim.dim = (uint8_t)below(rng, t->rank);
        break;
    case QF_OP_roll:
        random_roll(rng, t, a);
        break;
    case QF_OP_pad:
        random_pad(rng, t, a);
        break;
    case QF_OP_sum:
    case QF_OP_amax:
    case QF_OP_argmax:
        a->reduce.dims = (uint32_t)below(rng, (int64_t)1 << t->rank);
        a->reduce.keep = check_chance(rng, 50);
        break;
    case QF_OP_dequantize:
        random_quant(rng, t, a);
        break;
    default:
        random_order(rng, op, t, a);
        break;
    }
}

static qf_status infer(const chain *c, const qf_step *s, qf_type *out)
{
    qf_type in[3];
    for (int i = 0; i < s->n_in; i++)
        in[i] = c->type[s->in[i]];
    const qf_call call = { .op = s->op, .n_in = s->n_in, .in = in, .attrs = &s->attrs };
    return qf_infer(&call, out, NULL);
}

/* Operands of a put that fit each other, if there are any. */
static void find_put(check_rng *rng, chain *c, uint32_t n)
{
    uint32_t *in = c->in[c->n_step];

    for (int tries = 0; tries < 60; tries++) {
        for (int i = 0; i < 3; i++)
            in[i] = (uint32_t)below(rng, n);
        const qf_call call = { .op = QF_OP_put,
                               .n_in = 3,
                               .in = (qf_type[]){ c->type[in[0]], c->type[in[1]], c->type[in[2]] },
                               .attrs = &c->step[c->n_step].attrs };
        qf_type out;
        if (qf_infer(&call, &out, NULL) == QF_OK)
            return;
    }
}

/* One more step over random values, often the newest; false if what came up does not fit. */
static bool try_step(check_rng *rng, chain *c)
{
    qf_step *s = &c->step[c->n_step];
    const uint32_t n = c->n_input + c->n_step;
    const qf_op op = ops[check_below(rng, sizeof ops / sizeof *ops)];
    const int n_in = qf_op_get(op)->n_in;

    *s = (qf_step){ .op = op,
                    .n_in = (uint16_t)(n_in < 0 ? 1 + below(rng, 3) : n_in),
                    .in = c->in[c->n_step] };
    for (int i = 0; i < s->n_in; i++)
        c->in[c->n_step][i] = check_chance(rng, 70) ? n - 1 : (uint32_t)below(rng, n);
    if (op == QF_OP_put)
        find_put(rng, c, n);
    const qf_type *t = &c->type[c->in[c->n_step][0]];
    const bool needs_dim = op == QF_OP_slice || op == QF_OP_select || op == QF_OP_slice_scatter ||
                           op == QF_OP_select_scatter || op == QF_OP_cat || op == QF_OP_cumsum ||
                           op == QF_OP_cumprod || op == QF_OP_index_select || op == QF_OP_argsort;
    if (needs_dim && t->rank == 0)
        return false;
    random_attrs(rng, op, t, &s->attrs);
    return infer(c, s, &c->type[n]) == QF_OK && elements(&c->type[n]) > 0 &&
           elements(&c->type[n]) < 20000;
}

static void random_chain(check_rng *rng, chain *c)
{
    const uint32_t want = 2 + (uint32_t)below(rng, MOST_STEPS - 1);

    *c = (chain){ .n_input = 1 + (uint32_t)below(rng, MOST_INPUTS) };
    for (uint32_t i = 0; i < c->n_input; i++) {
        random_type(rng, &c->type[i]);
        if (i > 0 && check_chance(rng, 60))
            c->type[i] = c->type[0];
        ref_make(&c->input[i], &c->type[i]);
        ref_fill(&c->input[i], check_chance(rng, 70), rng);
        c->how[i] = (layout)below(rng, BROADCAST);
    }
    for (int tries = 0; tries < 400 && c->n_step < want; tries++)
        c->n_step += try_step(rng, c);
}

static const char *describe(const chain *c, char *text, size_t size)
{
    size_t n = 0;
    for (uint32_t i = 0; i < c->n_input + c->n_step && n < size; i++) {
        const qf_type *t = &c->type[i];
        n += (size_t)snprintf(text + n, size - n, "%s%s %s[", i ? "; " : "",
                              i < c->n_input ? "in" : qf_op_get(c->step[i - c->n_input].op)->name,
                              qf_dtype_get(t->dtype)->name);
        for (int d = 0; d < t->rank && n < size; d++)
            n += (size_t)snprintf(text + n, size - n, "%s%" PRId64, d ? "," : "", t->dim[d]);
        if (n < size)
            n += (size_t)snprintf(text + n, size - n, "]");
        for (int k = 0; i >= c->n_input && k < c->step[i - c->n_input].n_in && n < size; k++)
            n += (size_t)snprintf(text + n, size - n, " %u", c->step[i - c->n_input].in[k]);
    }
    return text;
}

/* Every value by itself. The status is that of the last operator that the result needs. */
static qf_status one_by_one(const chain *c, const qf_table *table, ref_tensor *out)
{
    const qf_ctx ctx = { .struct_size = sizeof ctx, .table = table };
    qf_tensor v[MOST_INPUTS + MOST_STEPS] = { 0 };
    bool needed[MOST_INPUTS + MOST_STEPS] = { false };
    const uint32_t n = c->n_input + c->n_step;
    qf_status st = QF_OK;

    needed[n - 1] = true;
    for (uint32_t s = c->n_step; s-- > 0;)
        for (int i = 0; needed[c->n_input + s] && i < c->step[s].n_in; i++)
            needed[c->step[s].in[i]] = true;
    for (uint32_t i = 0; i < n && st == QF_OK; i++) {
        qf_tensor in[3];
        if (i < c->n_input) {
            v[i] = layout_make(&c->input[i], c->how[i], false);
            continue;
        }
        const qf_step *s = &c->step[i - c->n_input];
        v[i] = layout_out(&c->type[i], DENSE);
        for (int k = 0; k < s->n_in; k++)
            in[k] = v[s->in[k]];
        if (needed[i])
            st = qf_eval(&ctx, s->op, &s->attrs, in, s->n_in, &v[i], NULL);
    }
    if (st == QF_OK)
        layout_read(&v[n - 1], out);
    for (uint32_t i = 0; i < n; i++)
        layout_free(&v[i]);
    return st;
}

static qf_status at_once(const chain *c, const qf_ctx *ctx, bool stream, const bool *read,
                         const uint8_t *order, ref_tensor *out, qf_diag *diag)
{
    const uint32_t n = c->n_input + c->n_step;
    qf_tensor in[MOST_INPUTS];
    qf_program program = { in, c->n_input, c->step, c->n_step };
    qf_pipe *pipe = NULL;
    uint64_t size = 0;

    for (uint32_t i = 0; i < c->n_input; i++)
        in[i] = layout_make(&c->input[i], c->how[i], read[i]);
    qf_status st = qf_pipe_build(ctx, &program, n - 1, order, &pipe, diag);
    (void)qf_type_bytes(&c->type[n - 1], &size);
    layout_bytes b = { .p = malloc(size + 1), .size = size };
    if (!b.p)
        abort();
    if (st == QF_OK)
        st = stream ? qf_pipe_stream(ctx, pipe, NULL,
                                     &(qf_sink){ .take = layout_collect, .user = &b }, diag)
                    : qf_pipe_run(ctx, pipe, NULL, b.p, diag);
    if (st == QF_OK && stream && b.n != size)
        st = qf_fail(diag, QF_ERR_INTERNAL, "%zu bytes of %" PRIu64, b.n, size);
    if (st == QF_OK)
        layout_from_bytes(b.p, order, out);
    free(b.p);
    qf_pipe_free(pipe);
    for (uint32_t i = 0; i < c->n_input; i++)
        layout_free(&in[i]);
    return st;
}

/* Which of two NaNs an addition keeps is left to the order in which the compiler gives them to the
 * instruction. */
static bool same(qf_dtype dtype, const uint64_t *a, const uint64_t *b)
{
    const bool computes = ref_is_float(dtype) && qf_dtype_get(dtype)->compute != QF_DT_none;
    return (a[0] == b[0] && a[1] == b[1]) ||
           (computes && check_is_nan((unsigned)dtype, a[0]) && check_is_nan((unsigned)dtype, b[0]));
}

/* Fused, a guard sees only the elements that the result needs: what fails alone may succeed, never
 * the other way round. */
static bool agree(const chain *c, const ref_tensor *want, qf_status want_st, const ref_tensor *got,
                  qf_status got_st, const qf_diag *diag, const char *how)
{
    char text[1200];

    if (want_st != QF_OK && (got_st == QF_OK || got_st == want_st))
        return true;
    if (got_st == QF_ERR_LIMIT)
        return true;
    if (got_st != want_st) {
        printf("%s: %s\n  %s\n", how, diag->text, describe(c, text, sizeof text));
        return false;
    }
    for (int64_t i = 0; i < want->n; i++)
        if (!same(want->type.dtype, want->e[i], got->e[i])) {
            printf("%s: element %" PRId64 " is %" PRIx64 ", not %" PRIx64 "\n  %s\n", how, i,
                   got->e[i][0], want->e[i][0], describe(c, text, sizeof text));
            return false;
        }
    return true;
}

static bool run_chain(check_rng *rng, const qf_ctx *threaded, const qf_table *scalar,
                      unsigned *limited)
{
    static const uint64_t memories[] = { 0, 1u << 20, 300000, 150000 };
    chain c;
    ref_tensor want, got;
    bool ok = true;

    random_chain(rng, &c);
    const qf_type *type = &c.type[c.n_input + c.n_step - 1];
    ref_make(&want, type);
    ref_make(&got, type);
    /* Which of two NaNs a sum keeps is left to the instruction: each table is compared with itself.
     */
    const qf_status want_st = one_by_one(&c, threaded->table, &want);
    for (unsigned k = 0; k < 4 && ok; k++) {
        qf_ctx ctx = *threaded;
        bool read[MOST_INPUTS];
        uint8_t order[QF_MAX_RANK];
        int8_t dims[QF_MAX_RANK] = { 0 };
        qf_diag diag = { 0 };
        if (k < 2)
            ctx = (qf_ctx){ .struct_size = sizeof ctx, .table = k ? threaded->table : scalar };
        ctx.memory = memories[k];
        for (int i = 0; i < MOST_INPUTS; i++)
            read[i] = k > 0 && check_chance(rng, 60);
        random_permutation(rng, type->rank, dims);
        for (int d = 0; d < type->rank; d++)
            order[d] = (uint8_t)dims[d];
        const qf_status st = at_once(&c, &ctx, k != 2, read, k % 2 ? order : NULL, &got, &diag);
        *limited += st == QF_ERR_LIMIT;
        ok = agree(&c, &want, want_st, &got, st, &diag,
                   k == 0   ? "scalar"
                   : k == 1 ? "read"
                   : k == 2 ? "run"
                            : "threads");
    }
    for (uint32_t i = 0; i < c.n_input; i++)
        ref_free(&c.input[i]);
    ref_free(&want);
    ref_free(&got);
    return ok;
}

int main(int argc, char **argv)
{
    const unsigned n = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1500;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    qf_ctx ctx = { .struct_size = sizeof ctx };
    qf_table *scalar = qf_table_make(0), *best = qf_table_make(qf_caps_detect());
    unsigned bad = 0, limited = 0;

    ctx.table = best;
    if (!scalar || !best || qf_threads_open(&ctx, 3, NULL) != QF_OK)
        return 1;
    for (unsigned i = 0; i < n && bad < 10; i++) {
        check_rng rng = { (seed << 32 | i) * 0x9e3779b97f4a7c15 + 1 };
        if (!run_chain(&rng, &ctx, scalar, &limited)) {
            printf("  chain %u of seed %" PRIu64 "\n", i, seed);
            bad++;
        }
    }
    qf_threads_close(&ctx);
    qf_table_free(scalar);
    qf_table_free(best);
    printf("%u chains, %u different, %u beyond the memory\n", n, bad, limited);
    return bad != 0 || limited > n;
}
