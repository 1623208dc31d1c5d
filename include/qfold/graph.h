/* A model graph as a reader sees it: nodes, values, stored payloads. Structure only; no payload
 * byte is read. */
#ifndef QFOLD_GRAPH_H
#define QFOLD_GRAPH_H

#include <qfold/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An opened model. Immutable after loading; may be read from several threads. Opened and closed by
 * io.h. */
typedef struct qf_graph qf_graph;

/* Where a value comes from. INPUT: given at run time. PARAM, CONST, BUFFER: stored. COMPUTED:
 * result of a node. SCALAR: a number that a node computes. OTHER: custom objects, tokens, absent
 * values. */
typedef enum qf_value_kind {
    QF_VALUE_INPUT,
    QF_VALUE_PARAM,
    QF_VALUE_CONST,
    QF_VALUE_BUFFER,
    QF_VALUE_COMPUTED,
    QF_VALUE_SCALAR,
    QF_VALUE_OTHER
} qf_value_kind;

/* One call of a foreign operator. name and op: as the file spells them, without "torch.ops.".
 * n_body: bodies it holds. */
typedef struct qf_node_view {
    qf_str name, op;
    uint32_t n_in, n_out, n_body;
} qf_node_view;

/* One value. payload: number of the stored payload it views, UINT32_MAX if none.  payload_bytes:
 * size of that payload. stride, offset: recorded layout in elements, if `strided`. next_shared: the
 * next value on the same payload, in a ring; the value itself if it is alone. */
typedef struct qf_value_view {
    qf_str name;
    qf_value_kind kind;
    qf_type type;
    uint32_t payload;
    uint64_t payload_bytes;
    int64_t stride[QF_MAX_RANK], offset;
    uint32_t next_shared;
    bool strided;
} qf_value_view;

/* Nodes, those of bodies included. constant: what no input reaches, and no state, chance or choice
 * made at run time: what could be folded before options, types and bytes are looked at. */
typedef struct qf_graph_counts {
    uint64_t nodes, constant;
} qf_graph_counts;

/* Name of the format ("pt2"); counts and rows of the top-level graph, in file order; i must be
 * below the count. Strings live as long as the graph. Thread-safe. */
QF_API const char *qf_graph_format(const qf_graph *graph);
QF_API uint32_t qf_graph_nodes(const qf_graph *graph);
QF_API uint32_t qf_graph_values(const qf_graph *graph);
QF_API uint32_t qf_graph_payloads(const qf_graph *graph);
QF_API qf_node_view qf_graph_node(const qf_graph *graph, uint32_t i);
QF_API qf_value_view qf_graph_value(const qf_graph *graph, uint32_t i);

/* Body number i of a node, a graph of its own that lives as long; i must be below its n_body. Where
 * it stands: "node/body/", "" for the top level. Thread-safe. */
QF_API const qf_graph *qf_graph_body(const qf_graph *graph, uint32_t node, uint32_t i);
QF_API qf_str qf_graph_path(const qf_graph *graph);

/* Counts the nodes. ERR_NOMEM. Thread-safe. */
QF_API QF_NODISCARD qf_status qf_graph_count(const qf_graph *graph, qf_graph_counts *out,
                                             qf_diag *diag);

/* Name of a kind: "input", "parameter", … Static storage, thread-safe. */
QF_API const char *qf_value_kind_name(qf_value_kind kind);

/* Bytes of all payloads that values view, each counted once. Thread-safe. */
QF_API uint64_t qf_graph_stored_bytes(const qf_graph *graph);

/* Inputs, stored tensors and nodes as JSON ("qfold.inspect.v1"), passed to write() in one or more
 * pieces. path: the name that the text gives the file. ERR_WRITE: write() returned false.
 * ERR_NOMEM. */
QF_API QF_NODISCARD qf_status qf_graph_json(const qf_graph *graph, const char *path,
                                            bool (*write)(void *user, const char *text, size_t n),
                                            void *user, qf_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
