/* What the cases of ops and chains run: operands in measured memory, one operator or a program. */
#ifndef QFB_BENCH_WORK_H
#define QFB_BENCH_WORK_H

#include <qfold/eval.h>

#include "buffers.h"
#include "race.h"

#define QFB_OPERANDS 4
#define QFB_STEPS 10

/* How a case differs from the plain one: two threads, the result in operand 0's memory, pages of
 * the result that were never touched. */
enum { QFB_THREADS = 1, QFB_IN_PLACE = 2, QFB_FRESH_OUTPUT = 4, QFB_VARIANTS = 3 };

/* Zero-initialise, open, add operands, then one op or steps. diag: first error of all of it.
 * read, written: payload bytes of a run. other, other_counter: a pipeline that the program is
 * measured against. buffer[i] is operand i's, the last the result's. */
typedef struct qfb_work {
    qf_ctx ctx;
    unsigned variant;
    qf_tensor in[QFB_OPERANDS], out;
    uint32_t n_in, n_step;
    qf_op op;
    qf_attrs attrs;
    qf_step step[QFB_STEPS];
    uint32_t id[QFB_STEPS][3];
    qf_pipe *pipe, *other;
    const char *other_counter, *other_label;
    qf_arena *arena;
    qfb_buffer buffer[QFB_OPERANDS + 1];
    size_t read, written;
    double flops, moved; /* multiplications and additions; bytes that the library says it moves */
    uint64_t held, peak; /* of its allocator */
    qf_diag diag;
} qfb_work;

void qfb_work_open(qfb_work *w, unsigned variant);
void qfb_work_close(qfb_work *w);

/* The next operand: dense, of bytes that are harmless numbers in every type; its buffer for the
 * caller to fill, NULL on failure. */
void *qfb_work_in(qfb_work *w, qf_dtype dtype, int rank, const int64_t *dim);

/* An f32 operand that holds `value` everywhere. */
void qfb_work_splat(qfb_work *w, int rank, const int64_t *dim, float value);

/* One operator on all operands. */
void qfb_work_op(qfb_work *w, qf_op op, const qf_attrs *attrs);

/* A step of a program; up to three ids. Returns its id. */
uint32_t qfb_work_step(qfb_work *w, qf_op op, const qf_attrs *attrs, uint32_t n,
                       const uint32_t *ids);

/* Compiles the program for its last step; `other` for a step that it is measured against. */
void qfb_work_build(qfb_work *w);
void qfb_work_other(qfb_work *w, uint32_t step, const char *counter, const char *label);

/* Runs. before: new pages of the result. run_one: the same on one thread. Arguments are
 * qfb_work. */
void qfb_work_before(void *work);
void qfb_work_run(void *work);
void qfb_work_run_one(void *work);
void qfb_work_run_other(void *work);

#endif
