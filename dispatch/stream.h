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

/* Whether such windows read what is not wanted in short runs. */
bool qfi_wants_short(const qfi_wants *w, const qfi_segment *s, const qfi_walk *walk);

/* Read them into the run's working memory, to stay. */
qf_status qfi_wants_hold(const qfi_wants *w, qfi_run *run, qfi_residents *to);

/* The result in windows of at most about `size` bytes. */
qfi_walk qfi_segment_windows(const qfi_segment *s, uint64_t size);

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

/* Take memory, with at most `count` windows of `window` bytes (0: none is needed), read what is
 * wanted, and make the kept values. */
qf_status qfi_session_open(qfi_session *s, const qf_ctx *ctx, const qf_pipe *pipe, qf_arena *arena,
                           const qfi_wants *wants, uint64_t window, uint32_t count, qf_diag *diag);
void qfi_session_close(qfi_session *s);

/* Windows in the making at once. */
#define QFI_SIDE_BY_SIDE 64

/* Windows of `window` bytes, several at a time, for an open session whose window memory holds at
 * least two. Elements of whole bytes. */
qf_status qfi_stream_side_by_side(qfi_session *s, const qf_pipe *pipe, uint64_t window,
                                  const qf_sink *sink, qf_diag *diag);

/* Report progress; ERR_CANCELLED if that is the answer. */
qf_status qfi_stream_told(const qf_ctx *ctx, uint64_t done, qf_diag *diag);

/* The failure behind `st`, with its diagnosis. */
qf_status qfi_session_status(qfi_session *s, qf_status st, qf_diag *diag);

#endif
