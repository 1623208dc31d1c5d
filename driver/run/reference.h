/* Evaluating a definition the plain way: every operator on its own, by scalar kernels, nothing
 * fused or streamed. What verify trusts where the fold trusts its pipelines. */
#ifndef QFI_REFERENCE_H
#define QFI_REFERENCE_H

#include "../graph/prog.h"

/* A table and a context for it; close with qfi_reference_close. */
typedef struct qfi_reference {
    qf_ctx ctx;
    qf_table *table;
} qfi_reference;

QF_NODISCARD qf_status qfi_reference_open(qfi_reference *out, qf_diag *diag);
void qfi_reference_close(qfi_reference *reference);

/* The value of `ref`, row-major, in a new storage. Intermediate values live until their last
 * reader. */
QF_NODISCARD qf_status qfi_reference_eval(const qfi_reference *reference, const qfi_prog *prog,
                                          qfi_ref ref, qf_storage **out, qf_diag *diag);

#endif
