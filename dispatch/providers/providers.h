/* Providers: other libraries that take whole operators. They are loaded when they are first asked
 * for, so that a host which never asks pays nothing: OpenBLAS starts its threads when it is loaded.
 */
#ifndef QFOLD_DISPATCH_PROVIDERS_H
#define QFOLD_DISPATCH_PROVIDERS_H

#include <qfold/eval.h>

/* Whether a provider can be used, and a line about it: its version, or why not. */
typedef bool qfi_provider_ready(char *text, size_t size);
qfi_provider_ready qfi_blas_ready, qfi_xnn_ready;

/* c = a @ b: m x n, k steps; dtype f32 or f64. Steps between elements, in elements, along the dims
 * of each; c runs along its columns. */
typedef struct qfi_blas_product {
    qf_dtype dtype;
    int64_t m, n, k, a_row, a_k, b_k, b_col, c_row;
    const void *a, *b;
    void *c;
} qfi_blas_product;

/* Whether OpenBLAS is there and its calling convention can say so. */
bool qfi_blas_takes(const qfi_blas_product *p);

/* On the calling thread; of a host that gave OpenBLAS more threads, one call at a time. */
void qfi_blas_run(const qfi_blas_product *p);

/* The operator by XNNPACK, types and aliases checked. False: it does not take this one. */
bool qfi_xnn_eval(const qf_ctx *ctx, qf_op op, const qf_attrs *attrs, const qf_tensor *in,
                  const qf_tensor *out);

#endif
