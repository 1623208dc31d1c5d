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
