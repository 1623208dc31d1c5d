/* One node of a torch.export graph, lowered without a file, a fold or values: operands stand for
 * tensors of a type. */
#ifndef ATEN_SUPPORT_H
#define ATEN_SUPPORT_H

#include "io_support.h"

#include "graph/env.h"

/* What came of a node. Operand k of the node's graph, named "x<k>", has type in[k]; the symbol "s"
 * has no known number. out: definitions in env.prog.  holds: of assertions. */
typedef struct lowered {
    qf_graph graph;
    qfi_prog prog;
    qfi_env env;
    qfi_ref out[16];
    qf_status status;
    qf_diag diag;
    char text[4096];
} lowered;

/* Lowers torch.ops.<op>(inputs…) or <op>(inputs…); inputs: the JSON array of its arguments,
 * outputs: tags such as "as_tensor as_sym_int". Fails the test if the graph cannot be read. Freed
 * by lower_end. */
void lower_node(lowered *l, const char *op, const char *inputs, const char *outputs,
                const qf_type *in, uint32_t n_in);
void lower_end(lowered *l);

/* An f32 matrix of 2 x 3, and that a node over two of them is kept for this reason. */
extern const qf_type aten_matrix;
void expect_reason(const char *op, const char *inputs, qf_reason reason);

/* The first result. */
const qfi_def *first_result(const lowered *l);
/* The number that a node on literals gives; fails the test if it gives none. */
qf_scalar number_result(const lowered *l);

#endif
