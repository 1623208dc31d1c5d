/* What the payloads of an output are made with: all threads together, or one thread for each lane,
 * in its part of the memory. */
#ifndef QFI_MAKERS_H
#define QFI_MAKERS_H

#include "../fold/passes.h"

/* arena: made when it is needed, kept from one payload to the next. */
typedef struct qfi_maker {
    qf_ctx ctx;
    qf_arena *arena;
} qfi_maker;

/* peak: the most that was taken at once, by arenas that are gone. */
typedef struct qfi_makers {
    qfi_maker all, *lane;
    uint32_t n_lane;
    uint64_t peak;
} qfi_makers;

/* Free with qfi_makers_free, also after a failure. */
QF_NODISCARD qf_status qfi_makers_open(qfi_makers *m, const qf_ctx *ctx, qf_diag *diag);

/* The maker of a lane, with its arena; QFI_NO_LANE: all threads, when no lane runs. NULL: no
 * memory. */
const qfi_maker *qfi_makers_get(qfi_makers *m, uint32_t lane);

/* Whether a pipeline's operands or its result stand in the memory of one of n_lane lanes. */
bool qfi_makers_fit(const qfi_makers *m, const qf_pipe *pipe, uint32_t n_lane);

/* Give the memory back until it is needed again. */
void qfi_makers_rest(qfi_makers *m);

void qfi_makers_free(qfi_makers *m);

#endif
