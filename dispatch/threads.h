/* Running tasks under the floating-point rules that kernels assume. */
#ifndef QFOLD_DISPATCH_THREADS_H
#define QFOLD_DISPATCH_THREADS_H

#include <qfold/eval.h>

typedef void qfi_task(void *arg, uint32_t i, uint32_t worker);

/* task(arg, i, worker) for every i < n through the context's parallel_for, each in round-to-nearest
 * with subnormals on; the mode of the thread is restored afterwards. */
void qfi_parallel(const qf_ctx *ctx, uint32_t n, qfi_task *task, void *arg);

/* Number of workers that the context runs tasks on, at least 1. */
uint32_t qfi_workers(const qf_ctx *ctx);

#endif
