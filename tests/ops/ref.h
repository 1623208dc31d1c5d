/* A naive evaluator: one element at a time, from the definitions, sharing no code with the library.
 */
#ifndef QF_TESTS_OPS_REF_H
#define QF_TESTS_OPS_REF_H

#include "check.h"

#include <qfold/eval.h>

/* Elements in row-major order, each in the low bits of e[i][0]; 128-bit ones continue in e[i][1].
 */
typedef struct ref_tensor {
    qf_type type;
    int64_t n;
    uint64_t (*e)[2];
} ref_tensor;

void ref_make(ref_tensor *t, const qf_type *type);
void ref_free(ref_tensor *t);

/* Values: check_value of the dtype, or small numbers whose sums and products are exact. */
void ref_fill(ref_tensor *t, bool small, check_rng *rng);

/* Row-major number of coordinates, and back. */
int64_t ref_number(const qf_type *type, const int64_t *at);
void ref_coordinates(const qf_type *type, int64_t number, int64_t *at);

/* out, already made with its type, = op(in). False: undefined for these values. */
bool ref_eval(qf_op op, const qf_attrs *attrs, const ref_tensor *in, size_t n_in, ref_tensor *out);

/* The same for products, reductions and prefix sums. */
bool ref_breaker(qf_op op, const qf_attrs *attrs, const ref_tensor *in, ref_tensor *out);

/* The same for what orders elements or writes by index. */
bool ref_order(qf_op op, const qf_attrs *attrs, const ref_tensor *in, ref_tensor *out);

/* Numbers of elements. Integers of any width and sign as 64 bits; floats as double. */
bool ref_is_float(qf_dtype dtype);
int64_t ref_int(qf_dtype dtype, uint64_t bits);
double ref_real(qf_dtype dtype, uint64_t bits);
uint64_t ref_from_int(qf_dtype dtype, int64_t value);
uint64_t ref_from_real(qf_dtype dtype, double value); /* rounded once */
bool ref_convert(qf_dtype from, uint64_t bits, qf_dtype to, uint64_t *out);

/* One element of a pointwise operator, operands of dtype `t`. False: undefined. */
bool ref_point(qf_op op, qf_dtype t, const uint64_t *in, uint64_t *out);

/* Whether two elements agree: bits, or both NaN, or within what the operator promises. */
bool ref_agree(qf_op op, qf_dtype dtype, const uint64_t *want, const uint64_t *got);

#endif
