/* Running segments: what a run owns, and producing a box of a value. */
#ifndef QFOLD_DISPATCH_RUN_H
#define QFOLD_DISPATCH_RUN_H

#include "dispatch/pipeline.h"
#include "dispatch/threads.h"

/* What went wrong, shared by all workers. bad: a guard found a value.  The failure of the lowest
 * task number wins. */
typedef struct qfi_fault {
    uint32_t bad, lock, task;
    qf_status status;
    qf_diag diag;
} qfi_fault;

/* Part of an operand that was read before: the steps [lo, lo + n) of the loops of its piece. at:
 * element numbers in `p`. */
typedef struct qfi_resident {
    const qfi_operand *operand;
    int64_t lo[QFI_LOOPS], n[QFI_LOOPS];
    qfi_form at;
    const char *p;
} qfi_resident;

#define QFI_RESIDENTS 32

/* What stands in memory while a part of a run lasts; outer: what stood there before. */
typedef struct qfi_residents {
    const struct qfi_residents *outer;
    uint32_t n;
    qfi_resident item[QFI_RESIDENTS];
} qfi_residents;

/* kept: scratch region.  slots: of all workers.  staging: likewise, QFI_STAGING each, or NULL.
 * held: by number of the breaker: its operands as tiles want them, or NULL.  streams: the result
 * goes past the caches; past: so does the box that a breaker makes.  work: memory for reads and
 * panels.  serial: run on the calling thread as `worker`: set inside a task. */
struct qfi_run {
    const qf_ctx *ctx;
    const qf_pipe *pipe;
    const qfi_residents *residents;
    char *kept, *slots, *staging;
    const void *const *held;
    qfi_area work;
    bool serial, streams, past;
    uint32_t worker;
    qfi_fault *fault;
};

/* task(arg, i, worker) for i < n, in parallel unless the run is serial. */
void qfi_run_tasks(const qfi_run *run, uint32_t n, qfi_task *task, void *arg);

/* Record a failure of a task. */
void qfi_run_failed(const qfi_run *run, uint32_t task, qf_status status, const qf_diag *diag);

/* What has been recorded: a failure, or ERR_VALUE after a guard. */
qf_status qfi_run_status(const qfi_run *run, qf_diag *diag);

/* The box [lo, lo + n) of a segment's dims, into dst: element x at `first` + sum(stride * (x -
 * lo)), in elements. */
qf_status qfi_run_segment(qfi_run *run, const qfi_segment *s, const int64_t *lo, const int64_t *n,
                          char *dst, int64_t first, const int64_t *stride);

/* The same, dense in the order of its dims. */
qf_status qfi_run_dense(qfi_run *run, const qfi_segment *s, const int64_t *lo, const int64_t *n,
                        char *dst);

/* Bytes that `elements` of `bits` take. */
uint64_t qfi_bytes(uint64_t elements, unsigned bits);

/* The box [from, from + n) of a breaker's result; stride: between elements along each dim of it,
 * counted in elements. */
typedef struct qfi_panel_box {
    int64_t from[QF_MAX_RANK], n[QF_MAX_RANK], stride[QF_MAX_RANK];
} qfi_panel_box;

/* An operand that a breaker makes tile by tile. operand: its number, -1: there is none.  panel: of
 * which its lane counts elements, although nothing holds them.  skip: rows before the box in the
 * first block of the kernel's rows.  update: what is made of it at once, NULL if it is loaded. */
typedef struct qfi_made {
    int8_t operand;
    const qfi_breaker *breaker;
    const void *held;
    qfi_panel_box panel;
    int64_t skip;
    const qfi_update *update;
} qfi_made;

/* One box of a piece, ready to run: loops with operands' positions, and where the operands' element
 * 0 is. */
typedef struct qfi_tiles {
    const qfi_run *run;
    const qfi_segment *segment;
    const qfi_piece *piece;
    char *dst;
    const char *source[QFI_OPERANDS];
    int64_t m, n, rows, cols, n_outer; /* tile, and extent of the tile's loops */
    int64_t tiles_m, tiles_n, total, per_task;
    int64_t shift, skip; /* columns, rows by which the first tile is shorter */
    int64_t strip;       /* tiles side by side, before those below them */
    bool staged;         /* the last kernel of a tile writes to the staging */
    bool streams;        /* the result goes past the caches */
    bool joined;         /* short rows follow each other in the staging, as in the destination */
    bool past;           /* its last kernel stores it there itself */
    bool turns;          /* likewise, and the kernel reads columns of its operand: a transpose, or
                            the one stage's */
    int8_t lifted; /* the operand that is transposed to the staging for the one stage; or -1 */
    bool patches;  /* one kernel's result goes past the caches, a small part at a time */
    uint8_t outer[QFI_LOOPS], load[QFI_OPERANDS];
    qfi_made made;
    qfi_nest nest; /* last: it is large, and written where it is used */
} qfi_tiles;

/* Bring operands into memory for a box of n[l] steps from lo[l]: fills t->source and the lanes 1 …
 */
qf_status qfi_fetch(qfi_run *run, qfi_tiles *t, const int64_t *lo, const int64_t *n);

/* Where element 0 of operand `o` is if the box [lo, lo + n) of its loops is in memory, *at its
 * elements' numbers from there; NULL if it has to be read or made. */
const char *qfi_fetch_memory(const qfi_run *run, const qfi_operand *o, int n_loop,
                             const int64_t *lo, const int64_t *n, qfi_form *at);

/* A segment that is memory as it stands. p: its element 0, or NULL: it is made.  step: bytes from
 * one element to the next along each dim. */
typedef struct qfi_standing {
    const char *p;
    int64_t step[QFI_DIMS];
} qfi_standing;

/* Whether the box [lo, lo + n) of a segment's dims is. */
qfi_standing qfi_fetch_standing(const qfi_run *run, const qfi_segment *s, const int64_t *lo,
                                const int64_t *n);

/* Reading operand `o` for a box of n[l] steps. run: bytes of one run; UINT64_MAX if there is no gap
 * between runs.  size: bytes in memory; UINT64_MAX if that passes any memory. */
typedef struct qfi_fetch_cost {
    uint64_t run, size;
} qfi_fetch_cost;

qfi_fetch_cost qfi_fetch_plan(const qfi_operand *o, int n_loop, const int64_t *n);

/* Read one operand for a box of its piece, to stay. QFI_TOO_LARGE: no room in the working memory,
 * or in the list. */
qf_status qfi_fetch_hold(qfi_run *run, const qfi_piece *piece, const qfi_operand *o,
                         const int64_t *lo, const int64_t *n, qfi_residents *to);

/* The same for all operands that the box [lo, lo + n) of a segment's dims needs. */
qf_status qfi_fetch_segment(qfi_run *run, const qfi_segment *s, const int64_t *lo, const int64_t *n,
                            qfi_residents *to);

/* Whether any operand of the segment has to be read while it runs. */
bool qfi_fetch_reads(const qfi_run *run, const qfi_segment *s);

/* Offer operand `i`, a breaker's result, tile by tile: fills t->made and the operand's lane. False:
 * the breaker does not make tiles, another operand is made so, or the loops do not suit. All other
 * lanes are set. */
bool qfi_made_offer(const qfi_run *run, qfi_tiles *t, int i, const int64_t *lo, const int64_t *n);

/* The m x n tile at element `at` of the lane. Returns its first element in *out, which has room for
 * whole blocks of the kernel. */
qfk_in qfi_made_tile(const qfi_made *made, int64_t at, size_t m, size_t n, qfk_out out,
                     const qfi_ahead *ahead);

/* The m x n tile at element `at` of the lane, added to c as made->update says. */
void qfi_made_update(const qfi_made *made, int64_t at, const qfk_in *c, size_t m, size_t n,
                     qfk_out out);

/* Whether all pieces of the result add breaker number `which` to c in updates of paired columns. */
bool qfi_made_pairs(const qf_pipe *pipe, uint32_t which);

/* What operand `o` needs of its breaker's result for a box of loops, and its lane. gap: elements
 * more between two steps of a dim than the next one fills. */
bool qfi_panel_box_of(const qfi_run *run, const qfi_operand *o, const qfi_box *box,
                      const int64_t *lo, const int64_t *n, int64_t gap, qfi_form *lane,
                      qfi_panel_box *out);

/* Run every tile. */
void qfi_tiles_run(qfi_run *run, qfi_tiles *t);

#endif
