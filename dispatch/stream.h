/* Setting up a run: memory, kept values. */
#ifndef QFOLD_DISPATCH_STREAM_H
#define QFOLD_DISPATCH_STREAM_H

#include "dispatch/run.h"

/* A run in progress. ctx: with defaults.  own: the arena if the caller gave none.  window:
 * `window_size` bytes. */
typedef struct qfi_session {
    qf_ctx ctx;
    qf_arena *own;
    qfi_fault fault;
    qfi_run run;
    char *window;
    uint64_t window_size;
} qfi_session;

/* Take memory, with at most `window` bytes for one window (0: none is needed), and make the kept
 * values. */
qf_status qfi_session_open(qfi_session *s, const qf_ctx *ctx, const qf_pipe *pipe, qf_arena *arena,
                           uint64_t window, qf_diag *diag);
void qfi_session_close(qfi_session *s);

/* The failure behind `st`, with its diagnosis. */
qf_status qfi_session_status(qfi_session *s, qf_status st, qf_diag *diag);

#endif
