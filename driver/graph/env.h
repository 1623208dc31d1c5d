/* How a format states what a foreign node means. The fold calls graph->lower(graph, node, env,
 * diag); the format parses the node's arguments, appends internal calls through env->prog, and sets
 * env's results.
 *
 * A node that cannot be expressed is no error: set env->reason (and detail) and return QF_OK. A
 * qf_status other than QF_OK means that the file is broken, or memory ran out. */
#ifndef QFI_ENV_H
#define QFI_ENV_H

#include "prog.h"

typedef struct qfi_env {
    qfi_prog *prog;
    void *user;
    /* Contents of a value now: a tensor, or a number as a rank-0 i64, f64 or b8. Every operand of
     * the node has one. */
    qfi_ref (*ref)(struct qfi_env *env, qfi_id value);
    /* The number that a SCALAR value is, for use as an attribute; false if it is not known. */
    bool (*scalar)(struct qfi_env *env, qfi_id value, qf_scalar *out);
    /* The elements of a small integer or float tensor value (n <= 64), for use as attributes; false
     * if it is large or cannot be evaluated. */
    bool (*elements)(struct qfi_env *env, qfi_ref ref, qf_scalar *out, uint32_t *n);

    /* Set by lower(): */
    qfi_ref *out;     /* n_out of the node, preset to QFI_NONE; a result that stays QFI_NONE is not
                         computed */
    qfi_ref written;  /* WRITE: the new contents of operand 0, of its dtype and shape */
    bool holds;       /* ASSERT: whether it is true */
    qf_reason reason; /* none: understood */
    char detail[160];

    /* Set by qfi_env_call(): whether a call's last bits are not the source runtime's. */
    bool inexact;
} qfi_env;

/* Sets the reason once, with a formatted detail ("" for none); always returns QF_OK. */
qf_status qfi_env_keep(qfi_env *env, qf_reason reason, const char *format, ...) QF_PRINTF(3, 4);

/* Appends a call. Errors of qf_infer become env->reason (unsupported_dtype,
 * unsupported_rank, unsupported_argument) and *out = QFI_NONE with QF_OK; callers test env->reason.
 */
QF_NODISCARD qf_status qfi_env_call(qfi_env *env, qf_op op, const qf_attrs *attrs,
                                    const qfi_ref *in, uint32_t n_in, qfi_ref *out, qf_diag *diag);

#endif
