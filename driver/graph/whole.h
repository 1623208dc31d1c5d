/* A graph and the bodies of its nodes as one graph, which is what the fold works on.
 *
 *   top     value 0 1 2 …   as in the file; then, body by body, what the body computes, and the
 *           placeholders that the node which holds it binds anew on each run (what a loop carries)
 *   node    in program order; the nodes of a body stand in front of the node that holds them
 *
 * A placeholder that is one operand of that node on every run, a capture, has no value of its own:
 * the body's nodes read the operand itself, so what is constant outside is constant inside, and
 * whoever counts readers finds them in one place. The holder's operands are those that are no
 * captures, then the outputs of its bodies.
 *
 * A graph without bodies is its own whole; nothing is copied. */
#ifndef QFI_WHOLE_H
#define QFI_WHOLE_H

#include "ir.h"

/* The top level (part 0), or a body that the whole includes. holder: node of the whole that runs
 * it, as body number `which`; parent: part of that node; sibling: part of its next body, QFI_NONE.
 * once: runs exactly once, where the holder stands.  capture: the first placeholder that is one.
 * value, node: numbers in the whole by those in `graph`; NULL: the same. */
typedef struct qfi_part {
    const qf_graph *graph;
    qfi_id holder;
    uint32_t parent, sibling, depth, which, capture;
    bool once;
    qfi_id *value, *node;
} qfi_part;

/* graph: what is not a matter of one part, and all nodes and values. part_of_node, part_of_value,
 * local_node: by number in the whole; NULL: part 0, the same. */
typedef struct qfi_whole {
    qf_graph graph;
    qfi_part *part;
    uint32_t n_part;
    uint32_t *part_of_node, *part_of_value;
    qfi_id *local_node;
} qfi_whole;

/* Whether the bodies of a node of a whole are open: parts of it. The first one is part first_body,
 * and the last n_result operands are their outputs. */
static inline bool qfi_is_holder(const qfi_node *node)
{
    return (node->effect == QFI_REGION || node->effect == QFI_CONTROL) && node->n_body;
}

/* Bodies deeper than that stay closed: their holders are kept as they are. */
#define QFI_MAX_BODY_DEPTH 16

/* Memory is the pool's; the graph must live as long. */
QF_NODISCARD qf_status qfi_whole_make(const qf_graph *top, qfi_pool *pool, qfi_whole *out,
                                      qf_diag *diag);

static inline qfi_id qfi_part_value(const qfi_part *part, qfi_id local)
{
    return part->value ? part->value[local] : local;
}
static inline qfi_id qfi_part_node(const qfi_part *part, qfi_id local)
{
    return part->node ? part->node[local] : local;
}
static inline uint32_t qfi_node_part(const qfi_whole *w, qfi_id node)
{
    return w->part_of_node ? w->part_of_node[node] : 0;
}
static inline uint32_t qfi_value_part(const qfi_whole *w, qfi_id value)
{
    return w->part_of_value ? w->part_of_value[value] : 0;
}
static inline qfi_id qfi_local_node(const qfi_whole *w, qfi_id node)
{
    return w->local_node ? w->local_node[node] : node;
}

#endif
