/* A fold in a process of its own, so that its memory is known alone. */
#ifndef QFB_FOLD_CHILD_H
#define QFB_FOLD_CHILD_H

#include <stdbool.h>
#include <stdint.h>

#include <qfold/fold.h>

/* How a case folds. */
typedef struct qfb_fold_how {
    bool contiguous, fold_dequant, sync;
} qfb_fold_how;

/* Options of a fold so: any growth, over an old output, until a signal comes. */
qf_fold_options qfb_fold_options(qfb_fold_how how);

/* Most bytes of memory that the process ever held, and the minor page faults of the fold. */
typedef struct qfb_fold_memory {
    uint64_t peak, faults;
} qfb_fold_memory;

/* Runs this program again to fold `input` into `output`. */
bool qfb_fold_alone(const char *input, const char *output, qfb_fold_how how, qfb_fold_memory *out);

/* What the program does when it was run so: true and the exit code in *code if these are the
 * arguments of such a run. */
bool qfb_is_fold_child(int argc, char **argv, int *code);

#endif
