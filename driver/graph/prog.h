/* The program of internal calls that foreign nodes mean: single assignment, types known, equal
 * calls merged on request. A reference (qfi_ref) is the index of a definition; operands precede
 * users. */
#ifndef QFI_PROG_H
#define QFI_PROG_H

#include <qfold/eval.h>

#include "ir.h"

typedef uint32_t qfi_ref;

/* One definition. leaf: a stored value of `graph` (op is QF_OP_COUNT then), else the result of
 * op(in…). undefined: its computation failed for the values at hand, so whatever calls it again
 * stays. */
typedef struct qfi_def {
    qf_type type;
    qf_op op;
    uint16_t n_in;
    qfi_id leaf;
    const qfi_ref *in;
    const qf_attrs *attrs;
    bool undefined;
} qfi_def;

typedef struct qfi_prog {
    qfi_pool pool;
    const qf_graph *graph; /* top level: the owner of leaves */
    qfi_def *def;
    size_t n, cap;
    uint32_t *bucket; /* open addressing over (op, attrs, in, leaf); QFI_NONE is free */
    size_t n_bucket;
} qfi_prog;

/* Appends op(in…), or returns the equal definition that exists. attrs may be NULL. Errors are those
 * of qf_infer: the caller decides whether they mean "keep this node". */
QF_NODISCARD qf_status qfi_prog_call(qfi_prog *prog, qf_op op, const qf_attrs *attrs,
                                     const qfi_ref *in, uint32_t n_in, qfi_ref *out, qf_diag *diag);

/* The leaf of a stored value (one per value). */
QF_NODISCARD qf_status qfi_prog_leaf(qfi_prog *prog, qfi_id value, qfi_ref *out, qf_diag *diag);

/* Tensor over the bytes of a leaf. Takes no reference. */
qf_tensor qfi_leaf_tensor(const qf_graph *graph, qfi_id value);

void qfi_prog_free(qfi_prog *prog);

#endif
