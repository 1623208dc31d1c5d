/* Other libraries that do some of the work, in this process, on one thread, when they were found
 * at configuration. */
#ifndef QFB_RIVALS_H
#define QFB_RIVALS_H

#include "bench_work.h"

/* Whether the rival can do it; then its runner is added to the race. */
bool qfb_blas_matmul(qfb_race *race, qfb_work *w); /* x_blas: x = a b, batches one by one */
bool qfb_blas_update(qfb_race *race, qfb_work *w); /* x_blas: operand 0 += b a */

#endif
