/* The fold: its state, and the passes that work on it, in the order of the array in passes.c. */
#ifndef QFI_PASSES_H
#define QFI_PASSES_H

#include "../graph/edit.h"
#include "../graph/env.h"
#include "../graph/whole.h"

typedef struct qfi_node_state {
    qf_verdict verdict;
    qf_reason reason;
    const char *detail;
    uint64_t bytes_before, bytes_after;
    bool carried;
} qfi_node_state;

/* Everything a fold knows. ctx: evaluation context. The caller owns top, options and ctx; the rest
 * is freed by qfi_fold_free. graph: whole.graph, in whose numbers everything else is told. */
typedef struct qfi_fold {
    qfi_pool pool;
    const qf_graph *top, *graph;
    qfi_whole whole;
    const qf_fold_options *options;
    const qf_ctx *ctx;
    qfi_prog prog;
    qfi_node_state *node; /* per node of the graph */
    qfi_ref *ref;         /* per value: its definition, QFI_NONE if it is not constant */
    qfi_edits edits;
    qf_pipe **pipe;      /* per new payload */
    uint64_t *nonfinite; /* per new payload, after producing: NaN and infinite elements */
    bool *accident;      /* the same: it has some, though its sources have none */
    uint32_t n_pipe;
    uint32_t attempt;   /* how often undefined values were found and kept */
    void *private_data; /* of the passes */
} qfi_fold;

typedef struct qfi_pass {
    const char *name;
    qf_status (*run)(qfi_fold *fold, qf_diag *diag);
} qfi_pass;

/* Runs every pass: afterwards edits says what the output is and pipe how new payloads are computed.
 * Looks at no payload but those of small values. ERR_ASSERT, ERR_STRICT: see qf_fold_file. */
QF_NODISCARD qf_status qfi_fold_plan(qfi_fold *fold, qf_diag *diag);

/* Produces one new payload into the sink, whose digest has one word. ctx, arena: to run in, of one
 * call at a time; several calls may run at once. ERR_VALUE: see qfi_fold_reject. */
QF_NODISCARD qf_status qfi_fold_produce(qfi_fold *fold, uint32_t new_payload, const qf_ctx *ctx,
                                        qf_arena *arena, const qf_sink *sink, qf_diag *diag);

/* After a produce failed with ERR_VALUE: finds every node whose result is undefined, by producing
 * all payloads that may be, keeps those and plans again. */
QF_NODISCARD qf_status qfi_fold_reject(qfi_fold *fold, qf_diag *diag);

/* Produces, for nobody, the small payloads that may turn out to be undefined, and rejects those: a
 * plan that is shown says what a fold will do. ERR_STRICT; what reading payloads returns. */
QF_NODISCARD qf_status qfi_fold_rehearse(qfi_fold *fold, qf_diag *diag);

/* Contents that nodes and outputs find in a value, in program order: several if constant writes
 * come between them. *at: 0 at first, kept between calls; QFI_NONE behind the last one. */
qfi_ref qfi_fold_next_read(const qfi_fold *fold, qfi_id value, size_t *at);

/* Bytes by which a file of this size may grow: `asked`, or what QF_GROWTH_DEFAULT means. */
uint64_t qfi_fold_growth(uint64_t asked, uint64_t file_size);

/* Whether the plan changes anything at all; if not, the output is a copy of the input. */
bool qfi_fold_is_idle(const qfi_fold *fold);

/* A report and the memory that it points to: qf_report_free gets &report->base and frees the pool,
 * then the report. */
typedef struct qfi_report {
    qf_report base;
    qfi_pool pool;
} qfi_report;

/* The report of a plan that was carried out or not: verdicts, reasons, constants, notes, steps,
 * bytes before and after. Caps, paths, format, sizes of the files, options and run figures are
 * filled by the caller. */
QF_NODISCARD qf_status qfi_fold_report(const qfi_fold *fold, qfi_report **out, qf_diag *diag);

void qfi_fold_free(qfi_fold *fold);

#endif
