/* Other libraries that do some of the work, in this process, on one thread, when they were found
 * at configuration. */
#ifndef QFB_RIVALS_H
#define QFB_RIVALS_H

#include "bench_work.h"

/* Adds the rival's runner to the race of a case; false if it cannot do the work. Its library may be
 * absent: then a case that names it has none. */
typedef bool qfb_rival(qfb_race *race, qfb_work *w);

#if QFB_OPENBLAS
qfb_rival qfb_blas_matmul; /* x_blas: x = a b, batches one by one */
qfb_rival qfb_blas_update; /* x_blas: operand 0 += b a */
#else
#define qfb_blas_matmul NULL
#define qfb_blas_update NULL
#endif

#if QFB_XNNPACK
qfb_rival qfb_xnn_add, qfb_xnn_mul;             /* x_xnn: matrices of f32, operand 1 may repeat */
qfb_rival qfb_xnn_widen, qfb_xnn_narrow;        /* f16 to f32, and back */
qfb_rival qfb_xnn_quantize, qfb_xnn_dequantize; /* i8, one scale */
#else
#define qfb_xnn_add NULL
#define qfb_xnn_mul NULL
#define qfb_xnn_widen NULL
#define qfb_xnn_narrow NULL
#define qfb_xnn_quantize NULL
#define qfb_xnn_dequantize NULL
#endif

#endif
