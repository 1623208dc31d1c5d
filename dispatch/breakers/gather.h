/* Picking by index: what its parts share. */
#ifndef QFOLD_DISPATCH_GATHER_H
#define QFOLD_DISPATCH_GATHER_H

#include "dispatch/breakers/breaker.h"

/* Kernels of a gather, by its own numbering. */
enum { QFI_GATHER, QFI_GATHER_COPY, QFI_GATHER_STREAM };

/* The box [lo, lo + n) of the result.
 * n_index, first: its index dims, `first` and on; of gather, all.  of: for each dim of the data,
 * the number of its index operand (from 1), or 0.  out: for each other dim of it, its dim in the
 * result.  index: the index operands' part, dense, wrapped and checked; index_n: its shape.  size:
 * bytes of an element. */
typedef struct qfi_picking {
    qfi_run *run;
    const qfi_breaker *x;
    const int64_t *lo, *n, *stride;
    char *dst;
    int n_index, first;
    uint8_t of[QF_MAX_RANK], out[QF_MAX_RANK];
    int64_t *index[QF_MAX_RANK + 1], index_n[QF_MAX_RANK + 1][QF_MAX_RANK];
    size_t size;
} qfi_picking;

/* Picks from data that stand in memory. *done: they do; else nothing was written. */
qf_status qfi_lookup_run(const qfi_picking *p, bool *done);

#endif
