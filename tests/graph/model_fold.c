/* Folding a toy model as a writer would, and applying the edits to get the output as another toy
 * model. */
#include "model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

qf_fold_options default_options(void)
{
    return (qf_fold_options){ .struct_size = sizeof(qf_fold_options), .max_growth = 4096 };
}

/* ---------------------------------------- the output */

/* rename: value of the input -> value of the output. */
typedef struct applier {
    const folded *f;
    const model *in;
    model *out;
    qfi_id *rename;
    qfi_id *payload; /* of the input, and new ones -> of the output */
    qfi_id *operand; /* per constant of the edits: its placeholder */
} applier;

/* Bytes are appended when their first placeholder is. */
static qfi_id copy_payload(applier *a, uint32_t p, qf_dtype dtype)
{
    const qf_graph *g = &a->in->graph;
    const bool stored = p < g->n_payload;
    if (a->payload[p] != QFI_NONE)
        return a->payload[p];
    const uint64_t size =
        stored ? g->payload[p].size : a->f->fold.edits.new_payload[p - g->n_payload].size;
    const unsigned char *from = stored ? a->in->bytes[p].data : a->f->payload[p - g->n_payload];
    const int64_t n = (int64_t)(size * 8 / qf_dtype_get(dtype)->bits);
    a->payload[p] = a->out->graph.n_payload;
    const qfi_id v = add_stored(a->out, QF_VALUE_CONST, "payload", type_of(dtype, 1, &n));
    memcpy(a->out->bytes[a->payload[p]].data, from, size);
    /* The placeholder is only a way to make the payload: it goes again. */
    assert_int_equal(v, a->out->graph.n_value - 1);
    a->out->graph.n_value--;
    a->out->graph.n_input--;
    return a->payload[p];
}

static qfi_id add_constant(applier *a, const char *name, uint32_t payload, view layout,
                           qf_value_kind kind)
{
    const qfi_id p = copy_payload(a, payload, layout.type.dtype);
    const qfi_id v = add_input(a->out, name, layout.type);
    qfi_value *value = &a->out->graph.value[v];
    value->kind = (uint8_t)kind;
    value->payload = p;
    value->offset = layout.offset;
    memcpy(value->stride, layout.stride, sizeof value->stride);
    return v;
}

static void copy_placeholders(applier *a)
{
    const qf_graph *g = &a->in->graph;
    const qfi_edits *edits = &a->f->fold.edits;
    for (qfi_id v = 0; v < g->n_input; v++) {
        const qfi_value *value = &g->value[v];
        view layout = { .type = value->type, .offset = value->offset };
        memcpy(layout.stride, value->stride, sizeof layout.stride);
        if (edits->drop_value[v])
            continue;
        if (value->payload == QFI_NONE) {
            a->rename[v] = add_input(a->out, value->name.p, value->type);
            continue;
        }
        assert_false(edits->drop_payload[value->payload]);
        a->rename[v] =
            add_constant(a, value->name.p, value->payload, layout, (qf_value_kind)value->kind);
        a->out->graph.value[a->rename[v]].mutated = value->mutated;
        a->out->graph.value[a->rename[v]].pinned = value->pinned;
    }
}

static void add_constants(applier *a)
{
    const qfi_edits *edits = &a->f->fold.edits;
    for (uint32_t i = 0; i < edits->n_constant; i++) {
        const qfi_constant *c = &edits->constant[i];
        view layout = { .type = c->type, .offset = c->offset };
        memcpy(layout.stride, c->stride, sizeof layout.stride);
        const qfi_id v =
            add_constant(a, a->in->graph.value[c->like].name.p, c->payload, layout, QF_VALUE_CONST);
        a->operand[i] = v;
        if (c->value == QFI_NONE)
            continue;
        assert_false(edits->drop_value[c->value]);
        a->rename[c->value] = v;
    }
}

static const qfi_patch *patch_of(const applier *a, qfi_id node)
{
    const qfi_edits *edits = &a->f->fold.edits;
    for (uint32_t i = 0; i < edits->n_patch; i++)
        if (edits->patch[i].node == node)
            return &edits->patch[i];
    return NULL;
}

static void copy_node(applier *a, qfi_id n)
{
    const qf_graph *g = &a->in->graph;
    const qfi_node *node = &g->node[n];
    const qfi_edits *edits = &a->f->fold.edits;
    const qfi_patch *patch = patch_of(a, qfi_part_node(&edits->whole->part[0], n));
    call made = a->in->calls[n];
    ids in = { .n = node->n_in };
    for (uint32_t k = 0; k < node->n_in; k++) {
        const qfi_id v = g->operand[node->first_in + k];
        in.v[k] = v == QFI_NONE ? QFI_NONE : a->rename[v];
        if (patch && patch->new_operand[k] != QFI_NONE)
            in.v[k] = a->operand[patch->new_operand[k]];
        if (v == QFI_NONE || !edits->is_literal[v])
            continue;
        made.is_literal[k] = true;
        made.literal[k] =
            edits->literal[v].is_int ? (double)edits->literal[v].i : edits->literal[v].f;
        in.v[k] = QFI_NONE;
    }
    for (uint32_t k = 0; k < in.n; k++)
        assert_true(in.v[k] != QFI_NONE || made.is_literal[k]);
    args arg = { .n = made.n_arg };
    memcpy(arg.v, made.arg, sizeof arg.v);
    if (patch && patch->axis >= 0)
        arg.v[0] = patch->axis;
    const qfi_id v = add_call(a->out, node->name.p, node->op.p, in, arg);
    memcpy(made.arg, arg.v, sizeof made.arg);
    a->out->calls[a->out->graph.n_node - 1] = made;
    if (node->n_out)
        a->rename[patch ? patch->result : node->first_out] = v;
}

static model *apply_edits(const folded *f, const model *in)
{
    const qf_graph *g = &in->graph;
    const qfi_edits *edits = &f->fold.edits;
    const uint32_t n_payload = g->n_payload + edits->n_new_payload;
    qfi_pool pool = { 0 };
    applier a = { .f = f, .in = in, .out = model_new(in->cap * 2) };
    a.rename = qfi_pool_alloc(&pool, g->n_value, sizeof *a.rename);
    a.payload = qfi_pool_alloc(&pool, n_payload, sizeof *a.payload);
    a.operand = qfi_pool_alloc(&pool, edits->n_constant, sizeof *a.operand);
    memset(a.rename, 0xff, g->n_value * sizeof *a.rename);
    memset(a.payload, 0xff, n_payload * sizeof *a.payload);
    copy_placeholders(&a);
    add_constants(&a);
    for (qfi_id n = 0; n < g->n_node; n++)
        if (!edits->drop_node[qfi_part_node(&edits->whole->part[0], n)])
            copy_node(&a, n);
    for (uint32_t k = 0; k < g->n_output; k++) {
        assert_int_not_equal(a.rename[g->output[k]], QFI_NONE);
        add_output(a.out, a.rename[g->output[k]]);
    }
    a.out->graph.spent = edits->spent;
    qfi_pool_free(&pool);
    return a.out;
}

/* ---------------------------------------- folding */

typedef struct collector {
    unsigned char *data;
    uint64_t size, at;
} collector;

static qf_status collect(void *user, const void *data, size_t n, const qf_digest *note,
                         qf_diag *diag)
{
    collector *c = user;
    (void)note, (void)diag;
    assert_true(n <= c->size - c->at);
    memcpy(c->data + c->at, data, n);
    c->at += n;
    return QF_OK;
}

static qf_status produce_all(folded *f)
{
    const qfi_edits *edits = &f->fold.edits;
    f->payload = calloc(edits->n_new_payload + 1u, sizeof *f->payload);
    for (uint32_t i = 0; i < edits->n_new_payload; i++) {
        collector c = { .size = edits->new_payload[i].size };
        c.data = f->payload[i] = calloc(c.size + 1, 1);
        QF_TRY(qfi_fold_produce(&f->fold, i, &f->ctx, NULL,
                                &(qf_sink){ .take = collect, .user = &c }, &f->diag));
        assert_int_equal(c.at, c.size);
    }
    return QF_OK;
}

static void forget_payloads(folded *f, uint32_t n)
{
    for (uint32_t i = 0; f->payload && i < n; i++)
        free(f->payload[i]);
    free(f->payload);
    f->payload = NULL;
}

folded *fold_model(const model *m, const qf_fold_options *options)
{
    folded *f = calloc(1, sizeof *f);
    f->options = *options;
    f->ctx = (qf_ctx){ .struct_size = sizeof f->ctx, .memory = options->memory };
    f->fold = (qfi_fold){ .top = &m->graph, .options = &f->options, .ctx = &f->ctx };
    f->status = qfi_fold_plan(&f->fold, &f->diag);
    while (f->status == QF_OK) {
        const uint32_t n = f->fold.edits.n_new_payload;
        f->status = produce_all(f);
        if (f->status != QF_ERR_VALUE)
            break;
        f->diag = (qf_diag){ 0 };
        forget_payloads(f, n);
        f->status = qfi_fold_reject(&f->fold, &f->diag);
    }
    if (f->status == QF_OK && !qfi_fold_is_idle(&f->fold))
        f->out = apply_edits(f, m);
    return f;
}

void folded_free(folded *f)
{
    forget_payloads(f, f->fold.edits.n_new_payload);
    model_free(f->out);
    qfi_fold_free(&f->fold);
    free(f);
}

qf_verdict verdict_of(const folded *f, const char *name)
{
    const qfi_id n = qfi_part_node(&f->fold.whole.part[0], find_node(f->fold.top->source, name));
    assert_int_not_equal(n, QFI_NONE);
    return f->fold.node[n].verdict;
}

qf_reason reason_of(const folded *f, const char *name)
{
    assert_int_equal(verdict_of(f, name), QF_KEPT);
    return f->fold.node[qfi_part_node(&f->fold.whole.part[0], find_node(f->fold.top->source, name))]
        .reason;
}

/* ---------------------------------------- comparing */

typedef struct runner {
    session *session;
    double *input[8], *output[64];
    const qf_graph *g;
} runner;

static runner runner_new(const model *m)
{
    runner r = { .session = session_new(m), .g = &m->graph };
    uint32_t n = 0;
    for (qfi_id v = 0; v < m->graph.n_input; v++)
        if (m->graph.value[v].kind == QF_VALUE_INPUT)
            r.input[n++] = calloc(count_of(&m->graph.value[v].type) + 1, sizeof(double));
    for (uint32_t k = 0; k < m->graph.n_output; k++)
        r.output[k] =
            calloc(count_of(&m->graph.value[m->graph.output[k]].type) + 1, sizeof(double));
    return r;
}

static void runner_step(runner *r, int step)
{
    uint32_t n = 0;
    for (qfi_id v = 0; v < r->g->n_input; v++) {
        if (r->g->value[v].kind != QF_VALUE_INPUT)
            continue;
        for (uint64_t i = 0; i < count_of(&r->g->value[v].type); i++)
            r->input[n][i] = (double)((i * 7 + (uint64_t)step * 3 + n) % 11) / 4;
        n++;
    }
    session_run(r->session, (const double *const *)r->input, r->output);
}

static void runner_free(runner *r)
{
    for (size_t i = 0; i < 8; i++)
        free(r->input[i]);
    for (size_t i = 0; i < 64; i++)
        free(r->output[i]);
    session_free(r->session);
}

void expect_same_results(const model *before, const model *after, int steps)
{
    runner a = runner_new(before), b = runner_new(after);
    assert_int_equal(before->graph.n_output, after->graph.n_output);
    for (int step = 0; step < steps; step++) {
        runner_step(&a, step);
        runner_step(&b, step);
        for (uint32_t k = 0; k < before->graph.n_output; k++) {
            const qf_type *type = &before->graph.value[before->graph.output[k]].type;
            assert_memory_equal(a.output[k], b.output[k], count_of(type) * sizeof(double));
        }
    }
    runner_free(&a);
    runner_free(&b);
}

folded *fold_and_check(const model *m, const qf_fold_options *options)
{
    folded *f = fold_model(m, options);
    if (f->status != QF_OK)
        fail_msg("%s: %s", qf_status_name(f->status), f->diag.text);
    if (!f->out)
        return f;
    expect_same_results(m, f->out, 3);
    folded *again = fold_model(f->out, options);
    if (again->status != QF_OK)
        fail_msg("again: %s: %s", qf_status_name(again->status), again->diag.text);
    assert_null(again->out);
    folded_free(again);
    return f;
}
