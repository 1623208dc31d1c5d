/* Operators that read their operands in their own order. */
#ifndef QFOLD_DISPATCH_BREAKER_H
#define QFOLD_DISPATCH_BREAKER_H

#include "dispatch/builder.h"
#include "dispatch/run.h"

/* Compile a breaker's operands and pick its kernels. Operands that are read more than once and fit
 * are kept. */
typedef qf_status qfi_breaker_make(qfi_builder *b, qfi_breaker *x);

qfi_breaker_make qfi_matmul_make, qfi_reduce_make, qfi_scan_make, qfi_gather_make,
    qfi_extreme_make, qfi_order_make, qfi_put_make, qfi_nonzero_make;
qfi_breaker_run qfi_matmul_run, qfi_reduce_run, qfi_scan_run, qfi_gather_run, qfi_extreme_run,
    qfi_order_run, qfi_put_run, qfi_nonzero_run;

/* Whether an operator is a scan: a prefix sum, product or extreme. */
bool qfi_is_scan(qf_op op);

/* Whether a part of the value takes as much work as all of it: it is kept, unless a value that can
 * do without is too large for that. */
bool qfi_breaker_is_whole(const qfi_builder *b, uint32_t id);

/* Whether a product is made tile by tile where it is used: few steps of k, and one user; such a
 * breaker hands over sums, which are converted where they are used. */
bool qfi_matmul_in_tiles(const qfi_builder *b, uint32_t id);
void qfi_matmul_use_tiles(qfi_breaker *x);

/* Memory of a task for what its operands read, if more does not fit. */
#define QFI_LEAST_FETCH ((uint64_t)1 << 14)

/* The rule for the breaker's operator. */
qf_status qfi_breaker_finish(qfi_builder *b, qfi_breaker *x);

/* Operand i, dims in the order given (NULL: natural), elements converted to `as`. It is kept if it
 * is computed and small enough: blocks of it are read again and again. What is stored is read where
 * it is, or stays in memory for the run. */
qf_status qfi_breaker_operand(qfi_builder *b, qfi_breaker *x, int i, const uint8_t *order,
                              qf_dtype as);

/* Kernel `slot` of the breaker; ERR_UNSUPPORTED if there is none. */
qf_status qfi_breaker_kernel(qfi_builder *b, qfi_breaker *x, int slot, uint16_t op, qf_dtype dtype);

/* Kernels from `slot` on that convert elements, at most two; *used: how many. */
qf_status qfi_breaker_cast(qfi_builder *b, qfi_breaker *x, int slot, qf_dtype from, qf_dtype to,
                           int *used);

/* A run for one task: serial, as `worker`, with its part of the working memory. */
qfi_run qfi_task_run(const qfi_run *run, uint32_t worker, qfi_area work);

/* Record that task i of a breaker failed, unless something did before. */
void qfi_task_failed(const qfi_run *run, uint32_t i, qf_status st);

/* Elements of `size` bytes, dense in the order of n, to their places in dst (strides in elements).
 */
void qfi_scatter(const char *from, int n_dim, const int64_t *n, char *dst, const int64_t *stride,
                 size_t size);

/* Multiply-adds of the whole result; 0 for what is no product. */
uint64_t qfi_breaker_flops(const qfi_breaker *x);

#endif
