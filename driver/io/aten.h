/* What the operators of torch.export graphs mean: one row each in aten_ops.def, found by name,
 * lowered to internal calls. */
#ifndef QFI_ATEN_H
#define QFI_ATEN_H

#include "../graph/env.h"
#include "names.h"

typedef struct qfi_aten_row qfi_aten_row;

/* Row of an operator, named as in the file without "torch.ops.": "aten.add.Tensor",
 * "_operator.mul", "torch.sym_max", "higher_order.wrap_with_autocast". NULL if there is none. */
const qfi_aten_row *qfi_aten_find(qf_str target);

/* Fills what the operator alone says of a node: op, row, effect, alias, reason, dequantize. row
 * NULL: an unknown operator. */
void qfi_aten_describe(const qfi_aten_row *row, qf_str target, qfi_node *node);

/* The operators of a program, each looked up when it is met first. Starts as { .names.pool = … }.
 */
typedef struct qfi_aten_op qfi_aten_op;
typedef struct qfi_aten_ops {
    qfi_names names;
    const qfi_aten_op **op;
    size_t n, cap;
} qfi_aten_ops;

/* Finds and describes; node->row is the operator, for qfi_aten_lower. False when out of memory. */
bool qfi_aten_meet(qfi_aten_ops *ops, qf_str target, qfi_node *node);

/* For nodes described as REGION: makes them KEEP (control_flow) unless the JSON object `text` of
 * the node says that its body runs as if it stood outside (autocast switched off, or a mere change
 * of the gradient mode). */
void qfi_aten_describe_region(qf_str text, qfi_node *node);

/* qf_graph.lower of graphs whose nodes were met: parses the node's JSON arguments against the
 * schema of its row and appends the calls that they mean. */
QF_NODISCARD qf_status qfi_aten_lower(const qf_graph *graph, qfi_id node, qfi_env *env,
                                      qf_diag *diag);

#endif
