/* Loops: affine forms over them, how a box of loops is cut and split, and the order in which they
 * run. */
#ifndef QFOLD_DISPATCH_LOOPS_H
#define QFOLD_DISPATCH_LOOPS_H

#include <qfold/tensor.h>

/* Loops of one piece, and dims of a segment: the tensor's, and the two halves of a 128-bit element.
 */
#define QFI_LOOPS 12
#define QFI_DIMS (QF_MAX_RANK + 1)

/* base + sum(step[l] * x[l]) over the loops of a box. */
typedef struct qfi_form {
    int64_t base, step[QFI_LOOPS];
} qfi_form;

/* A box of the result. Loop l runs x[l] over 0 … n[l]-1 and belongs to dim[l]; loops of one dim are
 * neighbours and nest: the coordinate of dim d is lo[d] + sum(pace[l] * x[l]) over its loops, in
 * increasing order. */
typedef struct qfi_box {
    uint8_t n_loop, n_dim, dim[QFI_LOOPS];
    int64_t n[QFI_LOOPS], pace[QFI_LOOPS], lo[QFI_DIMS];
} qfi_box;

/* How a box must change before a form over it is affine: loop `loop` is cut in two boxes before
 * index `at`, or split into an outer loop and an inner one of `at` steps; or no change of the box
 * helps. */
typedef enum qfi_change_kind { QFI_FITS, QFI_CUT, QFI_SPLIT, QFI_NEVER } qfi_change_kind;
typedef struct qfi_change {
    qfi_change_kind kind;
    uint8_t loop;
    int64_t at;
} qfi_change;

/* x += scale * a. */
void qfi_form_add(qfi_form *x, const qfi_form *a, int64_t scale, int n_loop);

bool qfi_form_equal(const qfi_form *a, const qfi_form *b, int n_loop);

/* row = n * quotient + rest with 0 <= rest < n. */
qfi_change qfi_form_divide(const qfi_form *row, int64_t n, const qfi_box *box, qfi_form *quotient,
                           qfi_form *rest);

/* Whether a form stays below `limit` (*below) or reaches it everywhere. */
qfi_change qfi_form_compare(const qfi_form *row, int64_t limit, const qfi_box *box, bool *below);

/* The whole of a shape, one loop per dim that is not 1. */
qfi_box qfi_box_make(int n_dim, const int64_t *dim);

/* The form of dim d over the box: its coordinate in the result. */
qfi_form qfi_box_row(const qfi_box *box, int d);

/* Cut: *box keeps the indices below `at`, the rest goes to *right. */
void qfi_box_cut(qfi_box *box, int loop, int64_t at, qfi_box *right);

/* Split into an outer loop and an inner one of `inner` steps, which divides the loop. False: too
 * many loops. */
bool qfi_box_split(qfi_box *box, int loop, int64_t inner);

/* Calls visit(arg, lo, n) for boxes of loops that together cover the part of `box` inside dims
 * [from, from + count). Stops at the first failure. */
qf_status qfi_box_visit(const qfi_box *box, const int64_t *from, const int64_t *count,
                        qf_status (*visit)(void *arg, const int64_t *lo, const int64_t *n),
                        void *arg);

/* Blocks of a shape: boxes of at most about `most` elements that are consecutive in its order. */
typedef struct qfi_walk {
    int n_dim, split; /* dims after `split` are whole, those before are single steps */
    int64_t dim[QFI_DIMS], count, total;
} qfi_walk;

qfi_walk qfi_walk_make(int n_dim, const int64_t *dim, int64_t most);

/* Block `i` of total; returns its elements. */
int64_t qfi_walk_at(const qfi_walk *walk, int64_t i, int64_t *lo, int64_t *n);

/* Row-major strides of a box. */
void qfi_box_strides(int n_dim, const int64_t *n, int64_t *stride);

/* Whether the elements of a box, in row-major order, are equally far apart: *each; 0 if it is one
 * element. */
bool qfi_box_even(int n_dim, const int64_t *n, const int64_t *stride, int64_t *each);

#define QFI_LANES 48

/* Loops in the order in which they run, with everything that moves along them. lane[0] is the
 * destination. row, col: the two loops of a tile, -1 if it has none; the destination is adjacent
 * along col. */
typedef struct qfi_nest {
    uint8_t n_loop, n_lane;
    int8_t row, col;
    int64_t n[QFI_LOOPS];
    qfi_form lane[QFI_LANES];
} qfi_nest;

/* Drop loops of one step, run forwards along the destination, from its slowest to its fastest loop,
 * and merge neighbours where every lane allows. */
void qfi_nest_tidy(qfi_nest *nest);

/* Choose row and col. Lanes 1 … n_operand are operands: if one runs along some loop in steps of
 * one, and not along col, that loop becomes row, so that it can be transposed tile by tile. */
void qfi_nest_tiles(qfi_nest *nest, int n_operand);

#endif
