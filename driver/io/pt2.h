/* The .pt2 archive of torch.export: what its loader, its writer and the operator table share.
 *
 *   root/archive_format, archive_version, byteorder, .data/version       checked by pt2.c
 *   root/models/NAME.json                                pt2_graph.c, pt2_signature.c
 *   root/data/weights/NAME_weights_config.json, weight_N        pt2_config.c
 *   root/data/constants/NAME_constants_config.json, tensor_N, …  pt2_config.c
 *   root/extra/qfold.json                                our stamp: growth spent so far
 *
 * Text is never rebuilt: the loader keeps where things stand, the writer cuts and inserts
 * (pt2_splice.c). */
#ifndef QFI_PT2_H
#define QFI_PT2_H

#include "../graph/ir.h"
#include "aten.h"
#include "file.h"
#include "json.h"
#include "names.h"
#include "zip.h"

/* More dimensions than torch itself allows. */
#define QFI_PT2_MAX_RANK 64

/* Bytes [begin, end) of a text. */
typedef struct qfi_pt2_span {
    size_t begin, end;
} qfi_pt2_span;

/* A TensorMeta. rank: the true one, which may exceed QF_MAX_RANK.  concrete: sizes, strides and
 * offset are numbers. device, layout: their texts.  strided: the plain dense layout. */
typedef struct qfi_pt2_meta {
    int64_t dtype;
    int64_t size[QFI_PT2_MAX_RANK], stride[QFI_PT2_MAX_RANK], offset;
    uint32_t rank, n_stride;
    qf_str device, layout;
    bool concrete, concrete_strides, requires_grad, strided;
} qfi_pt2_meta;

/* One entry of a payload config. text: key and value.  opaque: pickled, a custom object or without
 * data: payload is QFI_NONE then. */
typedef struct qfi_pt2_entry {
    qf_str fqn;
    qfi_pt2_span text;
    qf_type type;
    int64_t stride[QF_MAX_RANK], offset;
    qfi_id payload;
    uint32_t users; /* placeholders bound to it */
    bool is_param, opaque, requires_grad;
} qfi_pt2_entry;

/* The two payload configs of a model. */
enum { QFI_PT2_WEIGHTS, QFI_PT2_CONSTANTS };
typedef struct qfi_pt2_config {
    const qfi_zip_member *member;
    qf_str text;
    qfi_pt2_span entries;
    qfi_pt2_entry *entry;
    uint32_t n;
    size_t cap;
    qfi_names fqns;
} qfi_pt2_config;

/* What belongs to graph->payload[i]. first: entry that gives the dtype.  foreign: another model of
 * the archive uses it too. empty: a member of 0 bytes that stands for zeros. */
typedef struct qfi_pt2_stored {
    const qfi_zip_member *member;
    const char *path;
    uint8_t config;
    qf_dtype dtype;
    uint32_t first;
    bool foreign, empty, has_opaque_user;
} qfi_pt2_stored;

/* Placeholder i of the program. entry: what it is bound to, NULL if it is not stored. */
typedef struct qfi_pt2_bound {
    const qfi_pt2_entry *entry;
    uint8_t config;
    bool is_user;
} qfi_pt2_bound;

/* An opened archive. model: text of the program; all spans are in it. */
typedef struct qfi_pt2 {
    qfi_file file;
    qfi_zip zip;
    qf_str root, name, model;
    const char *model_label; /* for messages */
    const qfi_zip_member *model_member;
    qfi_pt2_config config[2];
    qfi_pt2_stored *stored;
    size_t cap_payload, cap_stored;
    qfi_names payloads, symbols, fqns;
    qfi_aten_ops ops;
    qfi_pt2_bound *bound;
    qfi_pt2_span input_specs, output_specs;
    bool stamped_contiguous;
} qfi_pt2;

/* One entry of tensor_values, key and value, and the value that it is about: QFI_NONE if no value
 * has that name. */
typedef struct qfi_pt2_typed {
    qfi_pt2_span text;
    qfi_id value;
} qfi_pt2_typed;

/* The name by which a call is given an operand: n bytes, `at` behind the first one of the node's
 * text. n == 0: there is more to it than a tensor. */
typedef struct qfi_pt2_argname {
    uint32_t at, n;
} qfi_pt2_argname;

/* What the loader keeps of one graph, the top one or a body: graph->source. meta: per value, its
 * TensorMeta; empty if it has none. typed: the entries of tensor_values in their order.
 * argname: per operand. */
typedef struct qfi_pt2_scope {
    qfi_pt2 *pt2;
    qf_graph *top;
    qfi_names names;
    qfi_pt2_span inputs, outputs, tensor_values, scalar_values[3];
    qfi_pt2_span *meta;
    qfi_pt2_typed *typed;
    qfi_pt2_argname *argname;
    size_t n_typed;
    qf_str label; /* of a body: what the node calls it */
    size_t cap_value, cap_meta, cap_typed, cap_node, cap_operand, cap_argname, cap_output, cap_body;
} qfi_pt2_scope;

/* The text of a node: its JSON object. */
qf_str qfi_pt2_node_text(const qf_graph *graph, qfi_id node);

/* The names of a node's operands, if it is given nothing but tensors, each by itself; else NULL. */
const qfi_pt2_argname *qfi_pt2_argnames(const qf_graph *graph, qfi_id node);

/* The value of that name in this graph; QFI_NONE if there is none. */
qfi_id qfi_pt2_value(const qf_graph *graph, qf_str name);

/* The same where `guess` (any number) is probably right. */
qfi_id qfi_pt2_value_near(const qf_graph *graph, qf_str name, qfi_id guess);

/* ---- Arguments (pt2_args.c) ---- */

/* What one leaf of an Argument is. ABSENT: as_none.  LITERAL: a number, text, list of numbers, … */
typedef enum qfi_pt2_kind {
    QFI_PT2_TENSOR,
    QFI_PT2_INT,
    QFI_PT2_FLOAT,
    QFI_PT2_BOOL,
    QFI_PT2_OBJECT,
    QFI_PT2_ABSENT,
    QFI_PT2_LITERAL
} qfi_pt2_kind;

/* name: as written between the quotes (names hold no escapes).  span: what a literal would replace:
 * the whole argument, or the element of a list. */
typedef struct qfi_pt2_leaf {
    qfi_pt2_kind kind;
    qf_str name;
    qfi_pt2_span span;
} qfi_pt2_leaf;

/* leaf: called for every leaf, in order, after it was read.  graph: called in front of an as_graph
 * object and consumes it; NULL: skipped. */
typedef struct qfi_pt2_visitor {
    bool (*leaf)(void *user, qfi_json *j, const qfi_pt2_leaf *leaf);
    bool (*graph)(void *user, qfi_json *j);
    void *user;
} qfi_pt2_visitor;

/* Reads one Argument. */
bool qfi_pt2_argument(qfi_json *j, const qfi_pt2_visitor *visitor);

/* An Argument that is one tensor, {"as_tensor": {"name": N}}, as nearly all are; a node's input
 * that is one, {"name": N, "arg": that, "kind": 1}. false, and nothing is read, where something
 * else stands, or the same in other words. */
bool qfi_pt2_plain_tensor(qfi_json *j, qf_str *name);
bool qfi_pt2_plain_input(qfi_json *j, qf_str *name, qf_str *value);
/* The begin of a node, {"target": T, "inputs": [, which is then entered. */
bool qfi_pt2_plain_node(qfi_json *j);

/* ---- Small readers (pt2_meta.c) ---- */

/* Offset of the next value. */
size_t qfi_pt2_at(const qfi_json *j);

/* A string without its escapes. */
bool qfi_pt2_string(qfi_json *j, qfi_pool *pool, qf_str *out);

/* The string under the key "name" of an object. */
bool qfi_pt2_named(qfi_json *j, qf_str *name);

bool qfi_pt2_meta_read(qfi_pt2 *pt2, qfi_json *j, qfi_pt2_meta *out);

/* Whether the text of a device is that of "meta": a tensor without data. */
bool qfi_pt2_on_meta(qf_str device);

/* dtype, shape and strides of a meta: rank -1 if there are more dimensions than the library knows.
 * False if strides are unknown. */
bool qfi_pt2_meta_type(const qfi_pt2_meta *meta, qf_type *type, int64_t *stride, int64_t *offset);

/* One part of an object that is read by its own function. needs: bits of the parts that must be
 * read before it; it waits for them wherever it stands.  required: must be there. */
typedef struct qfi_pt2_part {
    const char *key;
    bool (*read)(qf_graph *graph, qfi_json *j);
    uint32_t needs;
    bool required;
} qfi_pt2_part;

/* Reads an object by its parts (at most 16); skips other keys. what: for messages. */
bool qfi_pt2_parts(qf_graph *graph, qfi_json *j, const qfi_pt2_part *part, uint32_t n,
                   const char *what);

/* ---- Loading ---- */

/* pt2_graph.c: reads a Graph object into `graph`, whose source is an empty scope. */
bool qfi_pt2_graph_read(qf_graph *graph, qfi_json *j);

/* pt2_values.c: reads its tensor_values, once the values are known. */
bool qfi_pt2_values_read(qf_graph *graph, qfi_json *j);

/* pt2_signature.c */
bool qfi_pt2_signature_read(qf_graph *graph, qfi_json *j);
bool qfi_pt2_calls_read(qf_graph *graph, qfi_json *j);

/* pt2_config.c: both configs of the model, then the payloads that other models of the archive name.
 */
QF_NODISCARD qf_status qfi_pt2_configs_read(qf_graph *graph, qf_diag *diag);
QF_NODISCARD qf_status qfi_pt2_foreign_read(qf_graph *graph, qf_diag *diag);

/* root/PATH; NULL if the archive lacks it. */
const qfi_zip_member *qfi_pt2_member(qf_graph *graph, const char *path);

/* "FILE: MEMBER", without folders, for messages about a member. NULL when out of memory. */
const char *qfi_pt2_label(qf_graph *graph, const char *path);

static inline qfi_pt2_scope *qfi_pt2_scope_of(const qf_graph *graph)
{
    return graph->source;
}
static inline qfi_pt2 *qfi_pt2_of(const qf_graph *graph)
{
    return qfi_pt2_scope_of(graph)->pt2;
}

#endif
