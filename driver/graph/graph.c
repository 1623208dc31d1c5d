/* What a host may see of a graph. */
#include <qfold/graph.h>

#include <string.h>

#include "ir.h"

uint32_t qf_graph_nodes(const qf_graph *graph)
{
    return graph->n_node;
}
uint32_t qf_graph_values(const qf_graph *graph)
{
    return graph->n_value;
}
uint32_t qf_graph_payloads(const qf_graph *graph)
{
    return graph->n_payload;
}

qf_node_view qf_graph_node(const qf_graph *graph, uint32_t i)
{
    const qfi_node *n = &graph->node[i];
    return (qf_node_view){
        .name = n->name, .op = n->op, .n_in = n->n_in, .n_out = n->n_out, .n_body = n->n_body
    };
}

qf_value_view qf_graph_value(const qf_graph *graph, uint32_t i)
{
    const qfi_value *v = &graph->value[i];
    qf_value_view view = { .name = v->name,
                           .kind = v->kind,
                           .type = v->type,
                           .payload = v->payload,
                           .payload_bytes =
                               v->payload == QFI_NONE ? 0 : graph->payload[v->payload].size,
                           .strided = v->strided,
                           .offset = v->offset,
                           .next_shared = graph->next_shared ? graph->next_shared[i] : i };
    memcpy(view.stride, v->stride, sizeof view.stride);
    return view;
}

const qf_graph *qf_graph_body(const qf_graph *graph, uint32_t node, uint32_t i)
{
    return graph->body[graph->node[node].first_body + i];
}

qf_str qf_graph_path(const qf_graph *graph)
{
    return graph->path;
}

static const char *const kind_names[] = {
    [QF_VALUE_INPUT] = "input",   [QF_VALUE_PARAM] = "parameter",   [QF_VALUE_CONST] = "constant",
    [QF_VALUE_BUFFER] = "buffer", [QF_VALUE_COMPUTED] = "computed", [QF_VALUE_SCALAR] = "number",
    [QF_VALUE_OTHER] = "other",
};

const char *qf_value_kind_name(qf_value_kind kind)
{
    return (size_t)kind < sizeof kind_names / sizeof *kind_names ? kind_names[kind] : "other";
}

qf_status qfi_graph_measure(qf_graph *graph, qf_diag *diag)
{
    qfi_pool pool = { 0 };
    qfi_id *last = qfi_pool_alloc(&pool, graph->n_payload, sizeof *last);
    graph->next_shared = qfi_pool_alloc(&graph->pool, graph->n_value, sizeof *graph->next_shared);
    if (!last || !graph->next_shared) {
        qfi_pool_free(&pool);
        QF_FAIL(diag, QF_ERR_NOMEM, "out of memory for %u payloads", graph->n_payload);
    }
    for (uint32_t p = 0; p < graph->n_payload; p++)
        last[p] = QFI_NONE;
    for (qfi_id v = 0; v < graph->n_value; v++) {
        const qfi_id payload = graph->value[v].payload;
        graph->next_shared[v] = v;
        if (payload == QFI_NONE)
            continue;
        if (last[payload] == QFI_NONE) {
            graph->stored_bytes += graph->payload[payload].size;
        } else {
            graph->next_shared[v] = graph->next_shared[last[payload]];
            graph->next_shared[last[payload]] = v;
        }
        last[payload] = v;
    }
    qfi_pool_free(&pool);
    return QF_OK;
}

uint64_t qf_graph_stored_bytes(const qf_graph *graph)
{
    return graph->stored_bytes;
}
