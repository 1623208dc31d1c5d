/* Building toy models. Arrays have fixed capacity; a builder that overruns it is a mistake in a
 * test and aborts. */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "model: %s\n", what);
    abort();
}

static void *room(model *m, size_t n, size_t size)
{
    void *p = qfi_pool_alloc(&m->graph.pool, n, size);
    must(p != NULL, "out of memory");
    return p;
}

static qf_status lower(const qf_graph *graph, qfi_id node, qfi_env *env, qf_diag *diag)
{
    const model *m = graph->source;
    const call *c = &m->calls[node];
    return c->op->lower(c, graph->operand + graph->node[node].first_in, env, diag);
}

model *model_new(uint32_t cap)
{
    model *m = calloc(1, sizeof *m);
    must(m != NULL, "out of memory");
    m->cap = cap;
    m->graph.source = m;
    m->graph.lower = lower;
    m->graph.path = (qf_str){ "", 0 };
    m->graph.payload = room(m, cap, sizeof *m->graph.payload);
    m->graph.value = room(m, (size_t)2 * cap, sizeof *m->graph.value);
    m->graph.node = room(m, cap, sizeof *m->graph.node);
    m->graph.operand = room(m, (size_t)MAX_IN * cap, sizeof *m->graph.operand);
    m->graph.output = room(m, cap, sizeof *m->graph.output);
    m->graph.body = room(m, 8, sizeof *m->graph.body);
    m->calls = room(m, cap, sizeof *m->calls);
    m->bytes = room(m, cap, sizeof *m->bytes);
    return m;
}

model *model_body(model *outer)
{
    model *m = model_new(64);
    must(outer->graph.n_body < 8, "too many bodies");
    outer->bodies[outer->graph.n_body] = m;
    outer->graph.body[outer->graph.n_body++] = &m->graph;
    m->graph.parent = &outer->graph;
    return m;
}

void model_free(model *m)
{
    if (!m)
        return;
    for (uint32_t b = 0; b < m->graph.n_body; b++)
        model_free(m->bodies[b]);
    for (uint32_t p = 0; p < m->graph.n_payload; p++) {
        qf_storage_unref(m->graph.payload[p].storage);
        free(m->bytes[p].data);
    }
    qfi_pool_free(&m->graph.pool);
    free(m);
}

qf_type type_of(qf_dtype dtype, int rank, const int64_t *dim)
{
    qf_type type = { .dtype = dtype, .rank = (int8_t)rank };
    for (int i = 0; i < rank; i++)
        type.dim[i] = dim[i];
    return type;
}

uint64_t count_of(const qf_type *type)
{
    uint64_t n = 1;
    for (int i = 0; i < type->rank; i++)
        n *= (uint64_t)type->dim[i];
    return n;
}

static void dense(view *v)
{
    int64_t step = 1;
    for (int i = v->type.rank; i-- > 0; step *= v->type.dim[i] ? v->type.dim[i] : 1)
        v->stride[i] = step;
    v->offset = 0;
}

static qfi_id add_value(model *m, qf_value_kind kind, const char *name, const view *layout)
{
    must(m->graph.n_value < 2 * m->cap, "too many values");
    qfi_value *v = &m->graph.value[m->graph.n_value];
    *v = (qfi_value){ .name = { name, strlen(name) },
                      .type = layout->type,
                      .payload = QFI_NONE,
                      .node = QFI_NONE,
                      .kind = (uint8_t)kind,
                      .strided = kind != QF_VALUE_SCALAR };
    memcpy(v->stride, layout->stride, sizeof v->stride);
    v->offset = layout->offset;
    return m->graph.n_value++;
}

static qfi_id add_placeholder(model *m, qf_value_kind kind, const char *name, const view *layout)
{
    must(m->graph.n_node == 0, "placeholders come first");
    m->graph.n_input++;
    return add_value(m, kind, name, layout);
}

qfi_id add_input(model *m, const char *name, qf_type type)
{
    view layout = { .type = type };
    dense(&layout);
    return add_placeholder(m, QF_VALUE_INPUT, name, &layout);
}

static qf_status read_bytes(void *ctx, uint64_t at, void *dst, size_t n, qf_diag *diag)
{
    bytes *b = ctx;
    (void)diag;
    __atomic_add_fetch(&b->reads, 1, __ATOMIC_RELAXED);
    memcpy(dst, b->data + at, n);
    return QF_OK;
}

static void store_element(qf_dtype dtype, unsigned char *p, uint64_t i, double x)
{
    const float f = (float)x;
    const int64_t l = (int64_t)x;
    if (dtype == QF_DT_f32)
        memcpy(p + 4 * i, &f, 4);
    else if (dtype == QF_DT_i64)
        memcpy(p + 8 * i, &l, 8);
    else
        p[i] = (unsigned char)(int8_t)l;
}

static qfi_id add_payload(model *m, const char *name, const qf_type *type)
{
    must(m->graph.n_payload < m->cap, "too many payloads");
    const qfi_id p = m->graph.n_payload++;
    const uint64_t size = count_of(type) * qf_dtype_get(type->dtype)->bits / 8;
    m->bytes[p] = (bytes){ .data = calloc(size + 1, 1), .size = size, .dtype = type->dtype };
    must(m->bytes[p].data != NULL, "out of memory");
    m->graph.payload[p] =
        (qfi_payload){ .name = { name, strlen(name) }, .size = size, .packed = size };
    m->graph.payload[p].storage = qf_storage_from_reader(size, read_bytes, NULL, &m->bytes[p]);
    must(m->graph.payload[p].storage != NULL, "out of memory");
    m->graph.file_size += size;
    return p;
}

qfi_id add_stored(model *m, qf_value_kind kind, const char *name, qf_type type)
{
    view layout = { .type = type };
    dense(&layout);
    const qfi_id v = add_placeholder(m, kind, name, &layout);
    m->graph.value[v].payload = add_payload(m, name, &type);
    uint32_t state = 2166136261u;
    for (const char *p = name; *p; p++)
        state = (state ^ (unsigned char)*p) * 16777619u;
    for (uint64_t i = 0; i < count_of(&type); i++) {
        state = state * 1664525u + 1013904223u;
        const double x = (double)((int)(state >> 16 & 63) - 32) / 8;
        store_element(type.dtype, m->bytes[m->graph.n_payload - 1].data, i,
                      type.dtype == QF_DT_f32 ? x : (double)(int)(x * 8));
    }
    return v;
}

qfi_id add_tied(model *m, qf_value_kind kind, const char *name, qfi_id of, view layout)
{
    const qfi_id v = add_placeholder(m, kind, name, &layout);
    m->graph.value[v].payload = m->graph.value[of].payload;
    return v;
}

void set_elements(model *m, qfi_id stored, const double *x)
{
    const qfi_value *v = &m->graph.value[stored];
    for (uint64_t i = 0; i < count_of(&v->type); i++)
        store_element(v->type.dtype, m->bytes[v->payload].data, i, x[i]);
}

static void add_operands(model *m, qfi_node *node, ids in)
{
    node->first_in = m->graph.n_operand;
    node->n_in = in.n;
    for (uint32_t k = 0; k < in.n; k++) {
        m->graph.operand[m->graph.n_operand++] = in.v[k];
        if (in.v[k] != QFI_NONE)
            m->graph.value[in.v[k]].n_use++;
    }
}

static qfi_node *add_node(model *m, const char *name, const op *o, ids in)
{
    must(m->graph.n_node < m->cap, "too many nodes");
    must(o != NULL, "no such operator");
    m->calls[m->graph.n_node] = (call){ .op = o };
    qfi_node *node = &m->graph.node[m->graph.n_node++];
    *node = (qfi_node){ .name = { name, strlen(name) },
                        .op = { o->name, strlen(o->name) },
                        .row = o,
                        .first_out = m->graph.n_value,
                        .effect = o->effect,
                        .alias = o->alias,
                        .reason = o->reason,
                        .dequantize = !strncmp(o->name, "t.dequantize", 12) };
    add_operands(m, node, in);
    return node;
}

static view view_of(const model *m, qfi_id value)
{
    view v = { .type = { .rank = -1 } };
    if (value == QFI_NONE)
        return v;
    v.type = m->graph.value[value].type;
    memcpy(v.stride, m->graph.value[value].stride, sizeof v.stride);
    v.offset = m->graph.value[value].offset;
    return v;
}

qfi_id add_call(model *m, const char *name, const char *op_name, ids in, args arg)
{
    const op *o = find_op(op_name);
    qfi_node *node = add_node(m, name, o, in);
    call *c = &m->calls[m->graph.n_node - 1];
    view operand[MAX_IN], result = { .type = { .rank = -1 } };
    memcpy(c->arg, arg.v, sizeof arg.v);
    c->n_arg = arg.n;
    for (uint32_t k = 0; k < in.n; k++)
        operand[k] = view_of(m, in.v[k]);
    if (!o->shape)
        return QFI_NONE;
    o->shape(c, operand, &result);
    if (o->effect == QFI_PURE && o->alias == QFI_FRESH)
        dense(&result);
    const bool number = !strcmp(op_name, "t.item.d");
    const qfi_id v = add_value(m, number ? QF_VALUE_SCALAR : QF_VALUE_COMPUTED, name, &result);
    m->graph.value[v].node = m->graph.n_node - 1;
    node->n_out = 1;
    return v;
}

qfi_id add_region(model *m, const char *name, const char *op_name, ids in, model *body)
{
    const qfi_id n = m->graph.n_node;
    qfi_node *node = add_node(m, name, find_op(op_name), in);
    for (node->first_body = 0; m->bodies[node->first_body] != body; node->first_body++)
        must(node->first_body < m->graph.n_body, "not a body of this model");
    node->n_body = 1;
    node->n_capture = body->graph.n_input;
    for (uint32_t k = 0; k < body->graph.n_output; k++) {
        view layout = view_of(body, body->graph.output[k]);
        const qfi_id v = add_value(m, QF_VALUE_COMPUTED, name, &layout);
        m->graph.value[v].node = n;
        m->graph.value[v].slot = k;
        node->n_out++;
    }
    return node->first_out;
}

void add_output(model *m, qfi_id value)
{
    m->graph.output[m->graph.n_output++] = value;
    m->graph.value[value].is_output = true;
    m->graph.value[value].n_use++;
}

qfi_id find_node(const model *m, const char *name)
{
    for (qfi_id n = 0; n < m->graph.n_node; n++)
        if (qfi_str_is(m->graph.node[n].name, name))
            return n;
    return QFI_NONE;
}

uint64_t stored_bytes(const model *m)
{
    uint64_t sum = 0;
    for (uint32_t p = 0; p < m->graph.n_payload; p++)
        sum += m->graph.payload[p].size;
    return sum;
}
