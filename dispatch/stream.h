/* Setting up a run: memory, kept values. */
#ifndef QFOLD_DISPATCH_STREAM_H
#define QFOLD_DISPATCH_STREAM_H

#include "dispatch/run.h"

/* Operands that should stand in memory, and the bytes that takes; room: what there is for them. */
typedef struct qfi_want {
    const qfi_piece *piece;
    const qfi_operand *operand;
} qfi_want;
typedef struct qfi_wants {
    uint64_t room, size;
    uint32_t n;
    qfi_want item[QFI_RESIDENTS];
} qfi_wants;

/* window: bytes of the windows in which the result is made. */
void qfi_wants_plan(const qf_ctx *ctx, const qf_pipe *pipe, uint64_t window, qfi_wants *out);

/* Steps of each loop of a piece that a window takes. */
void qfi_window_steps(const qfi_piece *p, const int64_t *window, int64_t *n);

/* How many times too short the shortest runs are along which such windows read: what stands in
 * memory (held), or what does not. 0: none is. */
uint64_t qfi_wants_lack(const qfi_wants *w, const qfi_segment *s, const qfi_walk *walk, bool held);

bool qfi_wants_has(const qfi_wants *w, const qfi_operand *o);

/* Whether a box of n[l] steps reads an operand in runs too short for a disk or a system call. */
bool qfi_reads_short(const qfi_operand *o, int n_loop, const int64_t *n);

/* Forget operand `o`. */
void qfi_wants_drop(qfi_wants *w, const qfi_operand *o);

/* Read them into the run's working memory, to stay. */
qf_status qfi_wants_hold(const qfi_wants *w, qfi_run *run, qfi_residents *to);

/* The result in windows of at most about `size` bytes. */
qfi_walk qfi_segment_windows(const qfi_segment *s, uint64_t size);

/* How a result is made: in windows of `window` bytes, at most `count` of them in memory.  dim,
 * steps: each in strips of so many steps of that dim; steps 0: at once.  work: memory that a worker
 * wants for what it reads. */
typedef struct qfi_plan {
    uint64_t window, work;
    uint32_t count;
    int dim;
    int64_t steps;
} qfi_plan;

/* A plan for a result that turns an operand which is not in memory, if it is cheaper to turn it
 * while it is read than to hold it: then nobody wants it any more. False: it is not. */
bool qfi_strips_plan(const qf_ctx *ctx, const qf_pipe *pipe, qfi_wants *wants, qfi_plan *plan);

/* A run in progress. ctx: with defaults.  own: the arena if the caller gave none.  window:
 * `window_size` bytes.  residents: comes last, as opening a session clears what stands before its
 * items; small results take less time than clearing those. */
typedef struct qfi_session {
    qf_ctx ctx;
    qf_arena *own;
    qfi_fault fault;
    qfi_run run;
    qfi_wants wants;
    char *window;
    uint64_t window_size;
    qfi_residents residents;
} qfi_session;

/* Take memory, read what is wanted, and make the kept values. plan: NULL where the result goes to
 * the caller's memory. */
qf_status qfi_session_open(qfi_session *s, const qf_ctx *ctx, const qf_pipe *pipe, qf_arena *arena,
                           const qfi_wants *wants, const qfi_plan *plan, qf_diag *diag);
void qfi_session_close(qfi_session *s);

/* Windows in the making at once. */
#define QFI_SIDE_BY_SIDE 64

/* The windows of a plan, several at a time, for an open session with memory for one at least.
 * Elements of whole bytes. */
qf_status qfi_stream_side_by_side(qfi_session *s, const qf_pipe *pipe, const qfi_plan *plan,
                                  const qf_sink *sink, qf_diag *diag);

/* Report progress; ERR_CANCELLED if that is the answer. */
qf_status qfi_stream_told(const qf_ctx *ctx, uint64_t done, qf_diag *diag);

/* The failure behind `st`, with its diagnosis. */
qf_status qfi_session_status(qfi_session *s, qf_status st, qf_diag *diag);

#endif
