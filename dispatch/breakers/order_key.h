/* Elements as unsigned numbers in the same order. */
#ifndef QFOLD_DISPATCH_ORDER_KEY_H
#define QFOLD_DISPATCH_ORDER_KEY_H

#include "dispatch/breakers/breaker.h"

/* The type in which elements of a dtype are ordered: f64, u64 or i64. */
qf_dtype qfi_order_dtype(qf_dtype dtype);

/* n elements of such a type, replaced by their keys; those of NaN are `nan`. Zeros are equal.
 * flip: all bits, to turn the order round; of NaN too. */
void qfi_order_keys(qf_dtype dtype, int64_t n, void *elements, uint64_t nan, uint64_t flip);

#endif
