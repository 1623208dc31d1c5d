/* The interpreter: memory as arrays of double, values as strided views of them, one node after the
 * other. Calls that work in place write through their view; stored values live on from run to run.
 */
#include "model.h"

#include <stdlib.h>
#include <string.h>

typedef struct cells {
    double *x;
    uint64_t n;
} cells;

typedef struct place {
    double *memory;
    view layout;
} place;

struct session {
    const model *m;
    cells *stored; /* per payload */
};

typedef struct frame {
    const model *m;
    place *at; /* per value */
    qfi_pool pool;
} frame;

static double load_element(qf_dtype dtype, const unsigned char *p, uint64_t i)
{
    float f;
    int64_t l;
    if (dtype == QF_DT_f32) {
        memcpy(&f, p + 4 * i, 4);
        return (double)f;
    }
    if (dtype == QF_DT_i64) {
        memcpy(&l, p + 8 * i, 8);
        return (double)l;
    }
    return (double)(int8_t)p[i];
}

session *session_new(const model *m)
{
    session *s = calloc(1, sizeof *s);
    s->m = m;
    s->stored = calloc(m->graph.n_payload + 1u, sizeof *s->stored);
    for (uint32_t p = 0; p < m->graph.n_payload; p++) {
        const bytes *b = &m->bytes[p];
        s->stored[p].n = b->size * 8 / qf_dtype_get(b->dtype)->bits;
        s->stored[p].x = calloc(s->stored[p].n + 1, sizeof(double));
        for (uint64_t i = 0; i < s->stored[p].n; i++)
            s->stored[p].x[i] = load_element(b->dtype, b->data, i);
    }
    return s;
}

void session_free(session *s)
{
    for (uint32_t p = 0; p < s->m->graph.n_payload; p++)
        free(s->stored[p].x);
    free(s->stored);
    free(s);
}

static double *cell(const place *p, uint64_t i)
{
    int64_t at = p->layout.offset;
    for (int d = p->layout.type.rank; d-- > 0; i /= (uint64_t)p->layout.type.dim[d])
        at += (int64_t)(i % (uint64_t)p->layout.type.dim[d]) * p->layout.stride[d];
    return p->memory + at;
}

static double *gather(frame *f, const place *p)
{
    const uint64_t n = count_of(&p->layout.type);
    double *x = qfi_pool_alloc(&f->pool, n + 1, sizeof *x);
    for (uint64_t i = 0; i < n; i++)
        x[i] = *cell(p, i);
    return x;
}

static place fresh(frame *f, const view *layout)
{
    place p = { .layout = *layout };
    int64_t step = 1;
    for (int d = layout->type.rank; d-- > 0; step *= layout->type.dim[d])
        p.layout.stride[d] = step;
    p.layout.offset = 0;
    p.memory = qfi_pool_alloc(&f->pool, count_of(&layout->type) + 1, sizeof *p.memory);
    return p;
}

static void run_body(frame *outer, const qfi_node *node);

static void scatter(const place *to, const double *x)
{
    for (uint64_t i = 0; i < count_of(&to->layout.type); i++)
        *cell(to, i) = x[i];
}

static bool writes(const op *o)
{
    const char *overload = strrchr(o->name, '.');
    return overload[-1] == '_' && o->run;
}

static void run_node(frame *f, qfi_id n)
{
    const qfi_node *node = &f->m->graph.node[n];
    const call *c = &f->m->calls[n];
    place in[MAX_IN] = { { 0 } };
    view layout[MAX_IN], result = { 0 };
    double *x[MAX_IN] = { NULL };
    if (node->n_body) {
        run_body(f, node);
        return;
    }
    if (!c->op->shape)
        return;
    for (uint32_t k = 0; k < node->n_in; k++) {
        const qfi_id v = f->m->graph.operand[node->first_in + k];
        if (v == QFI_NONE)
            continue;
        in[k] = f->at[v];
        layout[k] = in[k].layout;
        x[k] = gather(f, &in[k]);
    }
    c->op->shape(c, layout, &result);
    place out = { .memory = in[0].memory, .layout = result };
    const bool copies = c->op->alias == QFI_ALIAS_MAYBE && !is_dense(&layout[0]);
    if (writes(c->op)) {
        double *r = gather(f, &in[0]);
        c->op->run(c, layout, x, &layout[0], r);
        scatter(&in[0], r);
        out = in[0];
    } else if (c->op->run) {
        out = fresh(f, &result);
        c->op->run(c, layout, x, &result, out.memory);
    } else if (copies) {
        out = fresh(f, &result);
        memcpy(out.memory, x[0], count_of(&result.type) * sizeof *x[0]);
    }
    f->at[node->first_out] = out;
}

static void run_nodes(frame *f)
{
    for (qfi_id n = 0; n < f->m->graph.n_node; n++)
        run_node(f, n);
}

static void run_body(frame *outer, const qfi_node *node)
{
    const model *body = outer->m->bodies[node->first_body];
    frame f = { .m = body };
    f.at = qfi_pool_alloc(&outer->pool, body->graph.n_value, sizeof *f.at);
    for (uint32_t i = 0; i < body->graph.n_input; i++)
        f.at[i] = outer->at[outer->m->graph
                                .operand[node->first_in + node->n_in - body->graph.n_input + i]];
    f.pool = outer->pool;
    run_nodes(&f);
    outer->pool = f.pool;
    for (uint32_t k = 0; k < node->n_out; k++)
        outer->at[node->first_out + k] = f.at[body->graph.output[k]];
}

void session_run(session *s, const double *const *input, double **output)
{
    const qf_graph *g = &s->m->graph;
    frame f = { .m = s->m };
    uint32_t n_given = 0;
    f.at = qfi_pool_alloc(&f.pool, g->n_value, sizeof *f.at);
    for (qfi_id v = 0; v < g->n_input; v++) {
        const qfi_value *value = &g->value[v];
        place p = { .layout = { .type = value->type, .offset = value->offset } };
        memcpy(p.layout.stride, value->stride, sizeof value->stride);
        if (value->payload != QFI_NONE) {
            p.memory = s->stored[value->payload].x;
        } else {
            p = fresh(&f, &p.layout);
            memcpy(p.memory, input[n_given++], count_of(&value->type) * sizeof **input);
        }
        f.at[v] = p;
    }
    run_nodes(&f);
    for (uint32_t k = 0; k < g->n_output; k++)
        for (uint64_t i = 0; i < count_of(&g->value[g->output[k]].type); i++)
            output[k][i] = *cell(&f.at[g->output[k]], i);
    qfi_pool_free(&f.pool);
}
