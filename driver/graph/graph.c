/* What a host may see of a graph. */
#include <qfold/graph.h>

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
    return (qf_value_view){ .name = v->name,
                            .kind = v->kind,
                            .type = v->type,
                            .payload = v->payload,
                            .payload_bytes =
                                v->payload == QFI_NONE ? 0 : graph->payload[v->payload].size };
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
    bool *seen = qfi_pool_alloc(&pool, graph->n_payload, sizeof *seen);
    if (!seen)
        QF_FAIL(diag, QF_ERR_NOMEM, "out of memory for %u payloads", graph->n_payload);
    for (qfi_id v = 0; v < graph->n_value; v++) {
        const qfi_id payload = graph->value[v].payload;
        if (payload == QFI_NONE || seen[payload])
            continue;
        seen[payload] = true;
        graph->stored_bytes += graph->payload[payload].size;
    }
    qfi_pool_free(&pool);
    return QF_OK;
}

uint64_t qf_graph_stored_bytes(const qf_graph *graph)
{
    return graph->stored_bytes;
}
