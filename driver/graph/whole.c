/* The whole of a graph: its bodies, numbered through with it. */
#include "whole.h"

#include <string.h>

typedef struct builder {
    qfi_pool *pool;
    qfi_whole *out;
    qf_diag *diag;
} builder;

static qf_status no_memory(const builder *b)
{
    return qf_fail(b->diag, QF_ERR_NOMEM, "out of memory");
}

/* ---- which bodies are included ---- */

/* What the operator says of its bodies must be true of this node's: every body takes the captures
 * last; one that runs once takes nothing else, and its outputs are the node's results. */
static bool is_open(const qf_graph *g, const qfi_node *node, uint32_t depth)
{
    const bool region = node->effect == QFI_REGION;
    if ((!region && node->effect != QFI_CONTROL) || depth >= QFI_MAX_BODY_DEPTH)
        return false;
    if (!node->n_body || node->n_capture > node->n_in || (region && node->n_body != 1))
        return false;
    for (uint32_t i = 0; i < node->n_body; i++) {
        const qf_graph *body = g->body[node->first_body + i];
        if (body->n_input < node->n_capture)
            return false;
        if (region && (body->n_input != node->n_capture || body->n_output != node->n_out))
            return false;
    }
    return true;
}

typedef struct sizes {
    uint64_t value, node, operand, body, part;
} sizes;

/* At most that much room is needed. */
static void measure(const qf_graph *g, uint32_t depth, sizes *s)
{
    s->value += g->n_value;
    s->node += g->n_node;
    s->operand += (uint64_t)g->n_operand + g->n_output;
    s->body += g->n_body;
    s->part++;
    for (qfi_id n = 0; n < g->n_node; n++)
        for (uint32_t k = 0; is_open(g, &g->node[n], depth) && k < g->node[n].n_body; k++)
            measure(g->body[g->node[n].first_body + k], depth + 1, s);
}

static bool reserve(builder *b, const qf_graph *top, const sizes *s)
{
    qfi_whole *w = b->out;
    w->graph = *top;
    w->graph.n_value = w->graph.n_node = w->graph.n_operand = w->graph.n_body = 0;
    w->graph.value = qfi_pool_alloc(b->pool, s->value, sizeof *w->graph.value);
    w->graph.node = qfi_pool_alloc(b->pool, s->node, sizeof *w->graph.node);
    w->graph.operand = qfi_pool_alloc(b->pool, s->operand, sizeof *w->graph.operand);
    w->graph.body = qfi_pool_alloc(b->pool, s->body, sizeof(qf_graph *));
    w->part = qfi_pool_alloc(b->pool, s->part, sizeof *w->part);
    w->part_of_node = qfi_pool_alloc(b->pool, s->node, sizeof *w->part_of_node);
    w->part_of_value = qfi_pool_alloc(b->pool, s->value, sizeof *w->part_of_value);
    w->local_node = qfi_pool_alloc(b->pool, s->node, sizeof *w->local_node);
    return w->graph.value && w->graph.node && w->graph.operand && w->graph.body && w->part &&
           w->part_of_node && w->part_of_value && w->local_node;
}

/* ---- numbering ---- */

static qfi_id mapped(const qfi_part *part, qfi_id local)
{
    return local == QFI_NONE ? QFI_NONE : part->value[local];
}

/* Adds a part and numbers its values. capture: of its holder, numbers in the whole. */
static qf_status add_part(builder *b, qfi_part part, const qfi_id *capture, uint32_t *number)
{
    qfi_whole *w = b->out;
    const qf_graph *g = part.graph;
    qfi_id *value = qfi_pool_alloc(b->pool, g->n_value, sizeof *value);
    qfi_id *node = qfi_pool_alloc(b->pool, g->n_node, sizeof *node);
    if (!value || !node)
        return no_memory(b);
    *number = w->n_part++;
    for (qfi_id v = 0; v < g->n_value; v++) {
        const bool captured = v >= part.capture && v < g->n_input;
        value[v] = captured ? capture[v - part.capture] : QFI_NONE;
        if (value[v] != QFI_NONE)
            continue;
        value[v] = w->graph.n_value++;
        w->graph.value[value[v]] = g->value[v];
        w->part_of_value[value[v]] = *number;
    }
    part.value = value;
    part.node = node;
    w->part[*number] = part;
    return QF_OK;
}

static qf_status add_nodes(builder *b, uint32_t number);

/* The bodies of a node as parts, with their nodes. parts: their numbers. */
static qf_status add_bodies(builder *b, uint32_t number, const qfi_node *node, uint32_t *parts)
{
    qfi_whole *w = b->out;
    const qf_graph *g = w->part[number].graph;
    const uint32_t n = node->n_capture;
    qfi_id *capture = qfi_pool_alloc(b->pool, n, sizeof *capture);
    if (!capture)
        return no_memory(b);
    for (uint32_t i = 0; i < n; i++)
        capture[i] = mapped(&w->part[number], g->operand[node->first_in + node->n_in - n + i]);
    for (uint32_t k = 0; k < node->n_body; k++) {
        const qf_graph *body = g->body[node->first_body + k];
        const qfi_part part = { .graph = body,
                                .parent = number,
                                .depth = w->part[number].depth + 1,
                                .which = k,
                                .capture = body->n_input - n,
                                .once = node->effect == QFI_REGION };
        QF_TRY(add_part(b, part, capture, &parts[k]));
        QF_TRY(add_nodes(b, parts[k]));
    }
    return QF_OK;
}

static void put_operand(qfi_whole *w, qfi_id value)
{
    w->graph.operand[w->graph.n_operand++] = value;
}

/* A node with closed bodies, or none. */
static void put_plain(builder *b, uint32_t number, qfi_node *node)
{
    qfi_whole *w = b->out;
    const qf_graph *g = w->part[number].graph;
    const uint32_t first_in = node->first_in, first_body = node->first_body;
    node->first_in = w->graph.n_operand;
    for (uint32_t k = 0; k < node->n_in; k++)
        put_operand(w, mapped(&w->part[number], g->operand[first_in + k]));
    node->first_body = w->graph.n_body;
    for (uint32_t k = 0; k < node->n_body; k++)
        w->graph.body[w->graph.n_body++] = g->body[first_body + k];
    if (node->effect == QFI_REGION || node->effect == QFI_CONTROL) {
        node->effect = QFI_KEEP;
        node->reason = QF_REASON_control_flow;
    }
}

static qf_status put_holder(builder *b, uint32_t number, qfi_node *node)
{
    qfi_whole *w = b->out;
    const qf_graph *g = w->part[number].graph;
    uint32_t *part = qfi_pool_alloc(b->pool, node->n_body, sizeof *part);
    if (!part)
        return no_memory(b);
    QF_TRY(add_bodies(b, number, node, part));
    const uint32_t first_in = node->first_in, own = node->n_in - node->n_capture;
    node->first_in = w->graph.n_operand;
    for (uint32_t k = 0; k < own; k++)
        put_operand(w, mapped(&w->part[number], g->operand[first_in + k]));
    for (uint32_t k = 0; k < node->n_body; k++) {
        qfi_part *p = &w->part[part[k]];
        p->holder = w->graph.n_node;
        p->sibling = k + 1 < node->n_body ? part[k + 1] : QFI_NONE;
        for (uint32_t i = 0; i < p->graph->n_output; i++)
            put_operand(w, mapped(p, p->graph->output[i]));
    }
    node->n_in = w->graph.n_operand - node->first_in;
    node->n_result = node->n_in - own;
    node->first_body = part[0];
    return QF_OK;
}

static qf_status add_nodes(builder *b, uint32_t number)
{
    qfi_whole *w = b->out;
    const qf_graph *g = w->part[number].graph;
    qfi_id *numbers = w->part[number].node;
    for (qfi_id n = 0; n < g->n_node; n++) {
        qfi_node node = g->node[n];
        if (is_open(g, &node, w->part[number].depth))
            QF_TRY(put_holder(b, number, &node));
        else
            put_plain(b, number, &node);
        numbers[n] = w->graph.n_node;
        if (node.n_out)
            node.first_out = w->part[number].value[node.first_out];
        for (uint32_t k = 0; k < node.n_out; k++)
            w->graph.value[node.first_out + k].node = numbers[n];
        w->part_of_node[numbers[n]] = number;
        w->local_node[numbers[n]] = n;
        w->graph.node[w->graph.n_node++] = node;
    }
    return QF_OK;
}

qf_status qfi_whole_make(const qf_graph *top, qfi_pool *pool, qfi_whole *out, qf_diag *diag)
{
    builder b = { .pool = pool, .out = out, .diag = diag };
    const qfi_part first = { .graph = top,
                             .holder = QFI_NONE,
                             .sibling = QFI_NONE,
                             .parent = QFI_NONE,
                             .capture = top->n_input,
                             .once = true };
    sizes s = { 0 };
    uint32_t number;
    *out = (qfi_whole){ 0 };
    if (!top->n_body) {
        out->graph = *top;
        out->part = qfi_pool_alloc(pool, 1, sizeof *out->part);
        if (!out->part)
            return no_memory(&b);
        out->part[0] = first;
        out->n_part = 1;
        return QF_OK;
    }
    measure(top, 0, &s);
    if (s.value >= QFI_NONE || s.node >= QFI_NONE || s.operand >= QFI_NONE)
        QF_FAIL(diag, QF_ERR_LIMIT, "too many values");
    if (!reserve(&b, top, &s))
        return no_memory(&b);
    QF_TRY(add_part(&b, first, NULL, &number));
    return add_nodes(&b, number);
}

/* ---- what could be constant ---- */

/* What depends on an input, on a choice made while the program runs, or on what nobody knows. */
static bool node_varies(const qf_graph *g, const qfi_node *node, const bool *varies)
{
    bool any = node->effect == QFI_KEEP || node->effect == QFI_CONTROL ||
               node->effect == QFI_UNKNOWN || (node->effect == QFI_REGION && !node->n_body);
    for (uint32_t k = 0; k < node->n_in && !any; k++) {
        const qfi_id v = g->operand[node->first_in + k];
        any = v != QFI_NONE && varies[v];
    }
    return any;
}

/* All nodes of a body that is closed. */
static uint64_t count_all(const qf_graph *g)
{
    uint64_t n = g->n_node;
    for (uint32_t i = 0; i < g->n_body; i++)
        n += count_all(g->body[i]);
    return n;
}

static qf_status count_nodes(const qf_graph *g, qfi_pool *pool, qf_graph_counts *out, qf_diag *diag)
{
    bool *varies = qfi_pool_alloc(pool, g->n_value, sizeof *varies);
    if (!varies)
        QF_FAIL(diag, QF_ERR_NOMEM, "out of memory");
    for (qfi_id v = 0; v < g->n_value; v++)
        varies[v] = g->value[v].node == QFI_NONE &&
                    (g->value[v].payload == QFI_NONE || g->value[v].mutated);
    *out = (qf_graph_counts){ .nodes = g->n_node };
    for (qfi_id n = 0; n < g->n_node; n++) {
        const qfi_node *node = &g->node[n];
        const bool any = node_varies(g, node, varies);
        out->constant += !any;
        for (uint32_t k = 0; !qfi_is_holder(node) && k < node->n_body; k++)
            out->nodes += count_all(g->body[node->first_body + k]);
        for (uint32_t k = 0; k < node->n_out; k++)
            varies[node->first_out + k] = any;
    }
    return QF_OK;
}

qf_status qf_graph_count(const qf_graph *graph, qf_graph_counts *out, qf_diag *diag)
{
    qfi_pool pool = { 0 };
    qfi_whole whole;
    qf_status st;
    QF_TRY_OUT(qfi_whole_make(graph, &pool, &whole, diag));
    QF_TRY_OUT(count_nodes(&whole.graph, &pool, out, diag));
out:
    qfi_pool_free(&pool);
    return st;
}
