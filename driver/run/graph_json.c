/* A graph as JSON, schema "qfold.inspect.v1": what stands in the file, without what nodes
 * compute. */
#include <inttypes.h>
#include <string.h>

#include <qfold/graph.h>

#include "../io/json.h"

/* A ring of values on one payload may be long: so many names tell it. */
#define MAX_SHARED 8

static void put_dims(qfi_text *t, const int64_t *v, int n)
{
    qfi_text_str(t, "[");
    for (int k = 0; k < n; k++)
        qfi_text_format(t, v[k] < 0 ? "%s\"s%" PRId64 "\"" : "%s%" PRId64, k ? ", " : "",
                        v[k] < 0 ? ~v[k] : v[k]);
    qfi_text_str(t, "]");
}

static void put_shared(qfi_text *t, const qf_graph *graph, uint32_t i)
{
    uint32_t n = 0;
    qfi_text_str(t, ", \"shared_with\": [");
    for (uint32_t v = qf_graph_value(graph, i).next_shared; v != i && n < MAX_SHARED; n++) {
        const qf_value_view other = qf_graph_value(graph, v);
        qfi_text_str(t, n ? ", " : "");
        qfi_text_quote(t, other.name.p, other.name.n);
        v = other.next_shared;
    }
    qfi_text_str(t, "]");
}

static void put_value(qfi_text *t, const qf_graph *graph, uint32_t i)
{
    const qf_value_view value = qf_graph_value(graph, i);
    uint64_t bytes;
    qfi_text_str(t, "{\"name\": ");
    qfi_text_quote(t, value.name.p, value.name.n);
    qfi_text_format(t, ", \"kind\": \"%s\", \"dtype\": \"%s\", \"shape\": ",
                    qf_value_kind_name(value.kind), qf_dtype_get(value.type.dtype)->name);
    if (value.type.rank < 0)
        qfi_text_str(t, "null");
    else
        put_dims(t, value.type.dim, value.type.rank);
    if (value.strided && value.type.rank >= 0) {
        qfi_text_str(t, ", \"stride\": ");
        put_dims(t, value.stride, value.type.rank);
        qfi_text_format(t, ", \"offset\": %" PRId64, value.offset);
    }
    if (qf_type_bytes(&value.type, &bytes))
        qfi_text_format(t, ", \"bytes\": %" PRIu64, bytes);
    if (value.payload != UINT32_MAX) {
        qfi_text_format(t, ", \"payload\": %" PRIu32 ", \"payload_bytes\": %" PRIu64, value.payload,
                        value.payload_bytes);
        put_shared(t, graph, i);
    }
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
        put_value(t, graph, i);
        before = ",\n";
    }
    qfi_text_str(t, "\n]");
}

/* Nodes in front of the one whose bodies they are in, as they run. */
static void put_nodes(qfi_text *t, const qf_graph *graph, const char **before)
{
    const qf_str path = qf_graph_path(graph);
    for (uint32_t i = 0; i < qf_graph_nodes(graph); i++) {
        const qf_node_view node = qf_graph_node(graph, i);
        for (uint32_t k = 0; k < node.n_body; k++)
            put_nodes(t, qf_graph_body(graph, i, k), before);
        qfi_text_str(t, *before);
        *before = ",\n";
        qfi_text_str(t, "{\"graph\": ");
        qfi_text_quote(t, path.p ? path.p : "", path.n);
        qfi_text_str(t, ", \"name\": ");
        qfi_text_quote(t, node.name.p, node.name.n);
        qfi_text_str(t, ", \"op\": ");
        qfi_text_quote(t, node.op.p, node.op.n);
        qfi_text_format(
            t, ", \"inputs\": %" PRIu32 ", \"outputs\": %" PRIu32 ", \"bodies\": %" PRIu32 "}",
            node.n_in, node.n_out, node.n_body);
    }
}

qf_status qf_graph_json(const qf_graph *graph, const char *path,
                        bool (*write)(void *user, const char *text, size_t n), void *user,
                        qf_diag *diag)
{
    qfi_pool pool = { 0 };
    qfi_text t = { .pool = &pool };
    const char *before = "\n";
    qf_graph_counts counts;
    qf_status st;

    QF_TRY(qf_graph_count(graph, &counts, diag));
    st = QF_OK;
    qfi_text_str(&t, "{\n\"schema\": \"qfold.inspect.v1\",\n\"path\": ");
    qfi_text_quote(&t, path, strlen(path));
    qfi_text_format(&t,
                    ",\n\"format\": \"%s\",\n\"summary\": {\"nodes\": %" PRIu64
                    ", \"constant_nodes\": %" PRIu64 ", \"payloads\": %" PRIu32
                    ", \"payload_bytes\": %" PRIu64 "}",
                    qf_graph_format(graph), counts.nodes, counts.constant, qf_graph_payloads(graph),
                    qf_graph_stored_bytes(graph));
    put_values(&t, graph);
    qfi_text_str(&t, ",\n\"nodes\": [");
    put_nodes(&t, graph, &before);
    qfi_text_str(&t, "\n]\n}\n");
    if (t.failed)
        st = qf_fail(diag, QF_ERR_NOMEM, "no memory for the JSON text");
    else if (!write(user, t.p, t.n))
        st = qf_fail(diag, QF_ERR_WRITE, "the JSON text cannot be written");
    qfi_pool_free(&pool);
    return st;
}
