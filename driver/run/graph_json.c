/* A graph as JSON, schema "qfold.inspect.v1": what stands in the file, without what nodes
 * compute. */
#include <inttypes.h>
#include <string.h>

#include <qfold/graph.h>

#include "../io/json.h"

static void put_value(qfi_text *t, const qf_value_view *value)
{
    qfi_text_str(t, "{\"name\": ");
    qfi_text_quote(t, value->name.p, value->name.n);
    qfi_text_format(t, ", \"kind\": \"%s\", \"dtype\": \"%s\", \"shape\": ",
                    qf_value_kind_name(value->kind), qf_dtype_get(value->type.dtype)->name);
    if (value->type.rank < 0)
        qfi_text_str(t, "null");
    for (int k = 0; k < value->type.rank; k++) {
        const int64_t dim = value->type.dim[k];
        qfi_text_format(t, dim < 0 ? "%s\"s%" PRId64 "\"" : "%s%" PRId64, k ? ", " : "[",
                        dim < 0 ? ~dim : dim);
    }
    if (value->type.rank >= 0)
        qfi_text_str(t, value->type.rank ? "]" : "[]");
    if (value->payload != UINT32_MAX)
        qfi_text_format(t, ", \"payload\": %" PRIu32 ", \"payload_bytes\": %" PRIu64,
                        value->payload, value->payload_bytes);
    qfi_text_str(t, "}");
}

static void put_values(qfi_text *t, const qf_graph *graph)
{
    const char *before = "\n";
    qfi_text_str(t, ",\n\"values\": [");
    for (uint32_t i = 0; i < qf_graph_values(graph); i++) {
        const qf_value_view value = qf_graph_value(graph, i);
        if (value.kind != QF_VALUE_INPUT && value.payload == UINT32_MAX)
            continue;
        qfi_text_str(t, before);
        put_value(t, &value);
        before = ",\n";
    }
    qfi_text_str(t, "\n]");
}

static void put_nodes(qfi_text *t, const qf_graph *graph)
{
    qfi_text_str(t, ",\n\"nodes\": [");
    for (uint32_t i = 0; i < qf_graph_nodes(graph); i++) {
        const qf_node_view node = qf_graph_node(graph, i);
        qfi_text_str(t, i ? ",\n{\"name\": " : "\n{\"name\": ");
        qfi_text_quote(t, node.name.p, node.name.n);
        qfi_text_str(t, ", \"op\": ");
        qfi_text_quote(t, node.op.p, node.op.n);
        qfi_text_format(
            t, ", \"inputs\": %" PRIu32 ", \"outputs\": %" PRIu32 ", \"bodies\": %" PRIu32 "}",
            node.n_in, node.n_out, node.n_body);
    }
    qfi_text_str(t, "\n]\n}\n");
}

qf_status qf_graph_json(const qf_graph *graph, const char *path,
                        bool (*write)(void *user, const char *text, size_t n), void *user,
                        qf_diag *diag)
{
    qfi_pool pool = { 0 };
    qfi_text t = { .pool = &pool };
    qf_status st = QF_OK;

    qfi_text_str(&t, "{\n\"schema\": \"qfold.inspect.v1\",\n\"path\": ");
    qfi_text_quote(&t, path, strlen(path));
    qfi_text_format(&t,
                    ",\n\"format\": \"%s\",\n\"summary\": {\"nodes\": %" PRIu32
                    ", \"payloads\": %" PRIu32 ", \"payload_bytes\": %" PRIu64 "}",
                    qf_graph_format(graph), qf_graph_nodes(graph), qf_graph_payloads(graph),
                    qf_graph_stored_bytes(graph));
    put_values(&t, graph);
    put_nodes(&t, graph);
    if (t.failed)
        st = qf_fail(diag, QF_ERR_NOMEM, "no memory for the JSON text");
    else if (!write(user, t.p, t.n))
        st = qf_fail(diag, QF_ERR_WRITE, "the JSON text cannot be written");
    qfi_pool_free(&pool);
    return st;
}
