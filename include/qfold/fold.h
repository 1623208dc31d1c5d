/* Folding a model file, and the report of what was done and why. */
#ifndef QFOLD_FOLD_H
#define QFOLD_FOLD_H

#include <qfold/eval.h>
#include <qfold/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Why a node was kept: QF_REASON_random … with their pinned numbers, from reasons.def. */
typedef enum qf_reason {
    QF_REASON_none = 0,
#define QF_REASON(name, number, kind, text) QF_REASON_##name = number,
#include <qfold/reasons.def>
#undef QF_REASON
} qf_reason;

/* Kinds of reasons, as the third column of reasons.def explains them. */
typedef enum qf_reason_class {
    QF_REASONS_NONE,
    QF_REASONS_NATURE,
    QF_REASONS_POLICY,
    QF_REASONS_MISSING,
    QF_REASONS_FAILED
} qf_reason_class;

/* Code ("random"), text and class of a reason, name of a class ("nature"); "none" for a number that
 * is none. Static storage, thread-safe. */
QF_API const char *qf_reason_name(qf_reason reason);
QF_API const char *qf_reason_text(qf_reason reason);
QF_API qf_reason_class qf_reason_class_of(qf_reason reason);
QF_API const char *qf_reason_class_name(qf_reason_class kind);

/* No limit on growth. */
#define QF_GROWTH_NONE UINT64_MAX
/* Growth as the default: 1 % of the input, at least 1 MiB. */
#define QF_GROWTH_DEFAULT (UINT64_MAX - 1)

/* What to fold and how. Zero-initialise, set struct_size, then what should differ:
 *   max_growth    bytes by which the file may grow, over all folds of it; 0 is none at all,
 *                 QF_GROWTH_DEFAULT and QF_GROWTH_NONE as above
 *   memory        bytes for windows and intermediate values; 0 is QF_MEMORY_DEFAULT (128 MiB)
 *   threads       0: one per CPU
 *   keep, only    globs over the names of nodes and of their results: these stay; these alone fold.
 *   keep_op       globs over foreign operators: these stay. Lists end with NULL; NULL: none
 *   fold_dequant  results may be wider than their quantised sources
 *   contiguous    store results row-major
 *   fast_gemm     products of f32 and f64 by OpenBLAS, whose sums depend on its version and the
 *                 CPU; ERR_UNSUPPORTED if it cannot be used
 *   exact         keep operators whose last bits the source runtime does not define
 *   strict        ERR_STRICT, and nothing written, if a node with constant inputs stays for a
 *                 reason of class MISSING or FAILED, or a result is not finite though its sources
 *                 are
 *   force         replace an existing output
 *   sync          flush the output to the disk before it gets its name
 *   progress      told bytes written of bytes in all, by one thread at a time; false cancels with
 *                 ERR_CANCELLED
 * Kernels are those of qf_caps_detect. Strings and lists are read during the call only. */
typedef struct qf_fold_options {
    size_t struct_size;
    uint64_t max_growth, memory;
    uint32_t threads;
    const char *const *keep, *const *keep_op, *const *only;
    bool fold_dequant, contiguous, fast_gemm, exact, strict, force, sync;
    bool (*progress)(void *user, uint64_t done, uint64_t total);
    void *progress_user;
} qf_fold_options;

/* What became of a node. FOLDED: removed, its results are constants or part of some. KEPT: written
 * as it was, or with its operands moved. DEAD: removed, nothing that stays comes from it. */
typedef enum qf_verdict { QF_FOLDED, QF_KEPT, QF_DEAD } qf_verdict;

/* "folded", "kept" or "dead"; "unknown" for a number that is no verdict. Thread-safe. */
QF_API const char *qf_verdict_name(qf_verdict verdict);

/* One node of the input. graph: path of enclosing nodes, "" at top level.  detail: more than the
 * reason says, or "". bytes_before: of the sources that vanish with it; bytes_after: stored for its
 * results.  bytes: size of its results, 0 if unknown.  sources: names of the stored tensors it
 * comes from.  inputs: what it takes, in order: nodes, behind their path, and values of no node. */
typedef struct qf_report_node {
    const char *graph, *name, *op, *detail;
    qf_verdict verdict;
    qf_reason reason;
    uint64_t bytes, bytes_before, bytes_after;
    const char *const *sources, *const *inputs;
    uint32_t n_sources, n_inputs;
} qf_report_node;

/* One constant that was stored. view: no bytes of its own, a view of a stored payload.  nonfinite:
 * NaN and infinite elements. */
typedef struct qf_report_constant {
    const char *name;
    qf_type type;
    bool view;
    uint64_t bytes, nonfinite;
    const char *const *nodes;
    uint32_t n_nodes;
} qf_report_constant;

/* How many nodes were kept for one reason, and the bytes of their results. */
typedef struct qf_report_reason {
    qf_reason reason;
    uint32_t count;
    uint64_t bytes;
} qf_report_reason;

/* severity: "note" or "warning".  code: stable.  where: node or tensor. */
typedef struct qf_report_note {
    const char *severity, *code, *where, *text;
} qf_report_note;

/* One step of the plan: a payload to be computed, in the order of the file. */
typedef struct qf_report_step {
    const char *name;
    uint64_t bytes, read, scratch, window;
    uint32_t n_calls;
} qf_report_step;

/* What was done. All memory belongs to the report; read-only, and so for any number of threads.
 *   caps          name of the level whose kernels were used
 *   output        NULL for a plan, which writes nothing
 *   options       as resolved: growth in bytes
 *   n_carried     dequantizes that took over views; they count as kept
 *   bytes_before  of all payloads of the input, as stored; bytes_after: of the output
 *   read_bytes    read into memory; written_bytes: written, copies included
 *   peak_bytes    most memory that held intermediate values and windows at once */
typedef struct qf_report {
    const char *caps, *input, *format, *output;
    uint64_t input_bytes, output_bytes;
    qf_fold_options options;
    uint32_t n_folded, n_kept, n_dead, n_carried;
    uint64_t bytes_before, bytes_after;
    const qf_report_node *node;
    const qf_report_constant *constant;
    const qf_report_reason *reason;
    const qf_report_note *note;
    const qf_report_step *step;
    uint32_t n_nodes, n_constants, n_reasons, n_notes, n_steps;
    double seconds;
    uint64_t read_bytes, written_bytes, peak_bytes;
    uint32_t threads;
} qf_report;

/* Fold `input` into the new file `output`; NULL plans only and writes nothing. options NULL: all
 * zero, but max_growth QF_GROWTH_DEFAULT. *report (may be NULL) is filled on success and freed with
 * qf_report_free, which takes NULL. `output` may be `input` with options->force. Equal inputs and
 * options give equal bytes, whatever the CPU and the number of threads. Thread-safe.
 * On failure nothing new is left. ERR_EXISTS: `output` exists. ERR_STRICT, ERR_CANCELLED: see the
 * options. ERR_ASSERT: an assertion of the program is false for its constants. ERR_WRITE,
 * ERR_LIMIT, ERR_NOMEM; those of qf_open; ERR_CRC, ERR_INFLATE: a payload is damaged. What the
 * memory does not allow to fold is kept, not an error. */
QF_API QF_NODISCARD qf_status qf_fold_file(const char *input, const char *output,
                                           const qf_fold_options *options, qf_report **report,
                                           qf_diag *diag);
QF_API void qf_report_free(qf_report *report);

/* What qf_verify_files compared: values that both files name and at least one stores, and their
 * bytes. */
typedef struct qf_verified {
    uint64_t values, bytes;
} qf_verified;

/* Compare every constant value that both files name and at least one of them stores: each side
 * stored or computed by scalar kernels, one operator at a time, then bit for bit. ERR_DIFFERS names
 * the value, the first element that differs, and both elements; else those of qf_open, and what
 * reading or computing a value fails with. *out (may be NULL) is filled on success. Memory: a value
 * is held whole, with what it is computed from. Thread-safe. */
QF_API QF_NODISCARD qf_status qf_verify_files(const char *before, const char *after,
                                              qf_verified *out, qf_diag *diag);

/* The report as JSON ("qfold.report.v1"), passed to write() in one or more pieces. ERR_WRITE:
 * write() returned false. ERR_NOMEM. */
QF_API QF_NODISCARD qf_status qf_report_json(const qf_report *report,
                                             bool (*write)(void *user, const char *text, size_t n),
                                             void *user, qf_diag *diag);

/* The report as a page for people, with the JSON in it: one file, complete without network or other
 * files. Replaces `path`, as a whole or not at all. ERR_WRITE, ERR_OPEN, ERR_NOMEM. Thread-safe. */
QF_API QF_NODISCARD qf_status qf_report_html(const qf_report *report, const char *path,
                                             qf_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
