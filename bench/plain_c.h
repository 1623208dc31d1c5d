/* What a C programmer would write for the work of a case: blocked loops that the compiler
 * vectorises as it can. Each does what the library was asked to, on the same operands. */
#ifndef QFB_PLAIN_C_H
#define QFB_PLAIN_C_H

#include "bench_work.h"

/* The arguments are qfb_work. */
typedef void qfb_plain(void *work);
qfb_plain qfb_plain_permute;    /* rotations of dims behind a batch: transposes of matrices */
qfb_plain qfb_plain_dequantize; /* i8 to f32, scales per tensor, row or column */
qfb_plain qfb_plain_quantize;   /* f32 to i8, the same scales */
qfb_plain qfb_plain_narrow;     /* f32 to bf16 */
qfb_plain qfb_plain_widen;      /* bf16 to f32 */
qfb_plain qfb_plain_add;        /* f32, operand 1 whole or one row */
qfb_plain qfb_plain_where;      /* f32 */

#endif
