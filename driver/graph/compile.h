/* From a definition to a pipeline: what it is computed from is collected as a qf_program, and
 * built, or bound where one like it was built before. */
#ifndef QFI_COMPILE_H
#define QFI_COMPILE_H

#include "prog.h"
#include "recent.h"

/* What the definition at hand is computed from: a set of references (open addressing), for each its
 * id in the program, and the program's arrays. All of it is used again for the next one. */
typedef struct qfi_cone {
    qfi_pool pool;
    qfi_ref *ref, *key;
    uint32_t *id, *in;
    qf_tensor *input;
    qf_step *step;
    size_t n, cap, n_slot, cap_slot, cap_in, cap_input, cap_step;
} qfi_cone;

/* Compiles definitions of one program, in one context. Starts as { .prog, .ctx }; ends before the
 * pipelines that it made do. */
typedef struct qfi_compiler {
    const qfi_prog *prog;
    const qf_ctx *ctx;
    qfi_cone cone;
    qfi_recent recent;
} qfi_compiler;

/* order: as in qf_pipe_build.  n_calls, if not NULL: steps of the program. */
QF_NODISCARD qf_status qfi_compile(qfi_compiler *compiler, qfi_ref ref, const uint8_t *order,
                                   qf_pipe **out, uint32_t *n_calls, qf_diag *diag);
void qfi_compiler_free(qfi_compiler *compiler);

/* A single one, in row-major order. */
QF_NODISCARD qf_status qfi_compile_one(const qfi_prog *prog, const qf_ctx *ctx, qfi_ref ref,
                                       qf_pipe **out, qf_diag *diag);

#endif
