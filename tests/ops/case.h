/* The cases of cases.def, read. */
#ifndef QF_TESTS_OPS_CASE_H
#define QF_TESTS_OPS_CASE_H

#include "placement.h"

#define CASE_INPUTS 4

typedef struct test_case {
    qf_op op;
    const char *dtypes, *in, *out;
    qf_attrs attrs;
} test_case;

const test_case *cases(size_t *n);

/* The k-th dtype of a case; false after the last. */
bool case_dtype(const test_case *c, int k, qf_dtype *dtype);

/* Operands with values for which the operator is mostly defined. repeat: constant where BROADCAST
 * repeats. Returns their number, and the type that the result must have. */
size_t case_inputs(const test_case *c, qf_dtype dtype, bool repeat, check_rng *rng, ref_tensor *in,
                   qf_type *out, qf_attrs *attrs);

#endif
