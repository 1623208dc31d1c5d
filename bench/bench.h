/* The groups of qfold-bench. Each registers its cases; names are <group>/<what>/<shape>/<variant>,
 * stable. */
#ifndef QFB_BENCH_H
#define QFB_BENCH_H

#include "baselines.h"
#include "gbench.h"

void qfb_register_kernels(void);
void qfb_register_fold(void);

/* After a loop that moved `bytes` bytes per iteration (reads and writes) and took `faults` minor
 * faults in all: counters bytes, GB/s, x_copy (time of the best copy that moves as many bytes, over
 * the time taken: 1 is the copy limit), faults. */
void qfb_count_bytes(qfb_state *state, size_t bytes, size_t faults);

#endif
