/* The graph in memory: arrays and 32-bit ids, filled by a format's loader, read by the fold, never
 * changed after loading.
 *
 *   qf_graph ── payload[]  stored bytes of the file (shared by the graph's bodies)
 *            ── value[]    every named value: placeholders first, then results in program order
 *            ── node[]     foreign calls in program order; operands and results are ranges of
 *                          operand[] and value[]
 *            ── body[]     child graphs (control flow, wrapped regions), each a graph of its own
 *
 * A foreign node stays text; what it means is asked from the format through lower() (env.h), only
 * for nodes whose operands are constant. So a node that depends on an input costs a name look-up
 * and nothing else. */
#ifndef QFI_IR_H
#define QFI_IR_H

#include <qfold/fold.h>
#include <qfold/graph.h>
#include <qfold/tensor.h>

#include "pool.h"

typedef uint32_t qfi_id;
#define QFI_NONE UINT32_MAX

/* Bytes that the file stores. packed: what they take in the file, less than `size` for deflated
 * ones, 0 for zeros that stand as nothing. storage: reads them (inflating if need be); its data is
 * NULL. file_offset: of the raw bytes when copyable (stored plainly), so that they can be copied
 * without being read. */
typedef struct qfi_payload {
    qf_str name;
    uint64_t size, packed, file_offset;
    qf_storage *storage;
    bool copyable;
} qfi_payload;

/* type: rank -1 when unknown.  stride, offset: recorded layout in elements (known when `strided`).
 * PARAM CONST BUFFER: payload, or QFI_NONE for an opaque one (pickled, custom object): never
 * folded. COMPUTED, SCALAR: node and slot (index among its results). n_use: operands that name it
 * in this graph, outputs included.  is_output: named by the graph's outputs. pinned: named by a
 * signature, so it must stay.  mutated: an output spec says that the program writes it. */
typedef struct qfi_value {
    qf_str name;
    qf_type type;
    int64_t stride[QF_MAX_RANK], offset;
    qfi_id payload, node;
    uint32_t slot, n_use;
    uint8_t kind; /* qf_value_kind */
    bool strided, is_output, pinned, mutated, requires_grad;
} qfi_value;

/* What a foreign operator does besides computing its results. A PURE one with a reason gives memory
 * that holds nothing yet: it stays if somebody needs that. */
typedef enum qfi_effect {
    QFI_PURE,   /* nothing: folds when its operands are constant */
    QFI_KEEP,   /* must stay; `reason` says why */
    QFI_ASSERT, /* checks its operands, no results: dropped when it holds, an error when it does not
                 */
    QFI_WRITE,  /* overwrites an operand (and what shares its memory), result 0 is that operand */
    QFI_REGION, /* runs body[0] exactly once, on its last n_capture operands */
    QFI_CONTROL, /* runs bodies as often as values say; its last n_capture operands are the last
                    placeholders of each, the same on every run */
    QFI_UNKNOWN  /* no row: assumed to read and, if its name ends in '_' or it has no results, write
                    everything it is given */
} qfi_effect;

/* Whether results share memory with operand 0. MAYBE: when the layout allows a view (reshape,
 * contiguous, to).  EACH: every result with the operand of its number.  LAST: with the last
 * operand, which a WRITE overwrites then. */
typedef enum qfi_alias {
    QFI_FRESH,
    QFI_ALIAS,
    QFI_ALIAS_MAYBE,
    QFI_ALIAS_EACH,
    QFI_ALIAS_LAST
} qfi_alias;

/* Dequantize operators behind which views move. AXIS: one scale, one for each place of an axis, or
 * rows of groups, as the scales show.  BLOCKS: the argument block_size says it. */
typedef enum qfi_dequantize { QFI_DEQUANTIZE_AXIS = 1, QFI_DEQUANTIZE_BLOCKS } qfi_dequantize;

/* first_in, n_in: range of operand[], every tensor or number that the call names, lists flattened,
 * in argument order; QFI_NONE entries stand for absent ones.  first_out, n_out: consecutive ids of
 * value[], lists flattened. n_result: see whole.h.  row: the format's row for the operator.  text:
 * its span in the source. dequantize: may be patched (edit.h); its operands are then data, scale,
 * zero point. */
typedef struct qfi_node {
    qf_str name, op;
    const void *row;
    qfi_id first_in, first_out, first_body;
    uint32_t n_in, n_out, n_body, n_capture, n_result;
    uint8_t effect, alias;
    uint16_t reason;
    uint8_t dequantize; /* qfi_dequantize, 0: none */
    uint64_t text_begin, text_end;
} qfi_node;

struct qfi_env;
struct qfi_format;

/* value[0 … n_input-1] are the placeholders in order. Those of a REGION body match the last n_input
 * operands of the node that holds it; output[] are the values that the outputs name, flattened,
 * QFI_NONE for absent or literal ones. */
struct qf_graph {
    qfi_pool pool;
    const struct qfi_format *format;
    void *source;          /* the format's own data: texts, tables */
    struct qfi_file *file; /* the opened input */
    void (*close)(struct qf_graph *graph);
    uint64_t file_size;
    uint64_t stored_bytes; /* of payloads that values view, each counted once */
    qfi_id *next_shared;   /* per value: the next one on the same payload, in a ring */
    qfi_payload *payload;
    qfi_value *value;
    qfi_node *node;
    qfi_id *operand, *output;
    struct qf_graph **body;
    uint32_t n_payload, n_input, n_value, n_node, n_operand, n_output, n_body;
    struct qf_graph *parent;
    qf_str path;    /* "" at top level, else "node/body/" */
    bool training;  /* gradient outputs: nothing folds */
    uint64_t spent; /* growth that earlier folds stamped into the file */

    /* Appends the calls that mean `node` to env->prog and sets its results; see env.h. Only called
     * for PURE, ASSERT and WRITE. */
    qf_status (*lower)(const struct qf_graph *graph, qfi_id node, struct qfi_env *env,
                       qf_diag *diag);
};

/* Sets stored_bytes and next_shared, once the graph is loaded. */
QF_NODISCARD qf_status qfi_graph_measure(qf_graph *graph, qf_diag *diag);

/* Which operand a WRITE overwrites. */
static inline uint32_t qfi_written_operand(const qfi_node *node)
{
    return node->alias == QFI_ALIAS_LAST && node->n_in ? node->n_in - 1 : 0;
}

/* The node that computes a value, NULL for placeholders. */
static inline const qfi_node *qfi_producer(const qf_graph *g, qfi_id value)
{
    return g->value[value].node == QFI_NONE ? NULL : &g->node[g->value[value].node];
}

#endif
