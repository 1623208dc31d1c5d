/* The kernel contract for kernel authors: row macros, prototypes, operator numbers.
 *
 * A kernel exists because a row in kernels/<family>/<family>.def says so. The rows are re-included
 * to make prototypes (here), the table (rows.c), the tests (tests/kernels) and the benchmarks
 * (bench). What a kernel may do is stated at qfk_tile in <qfold/kernels.h>.
 *
 *   QFK_OP(family, op, n_in, text)        an operator: how many inputs, what it computes
 *   QF_ROW(family, op, key, isa, exact)   the kernel qfk_<op>_<key>_<isa>; later rows win
 *   QF_GEMM(op, key, isa, mr, nr, exact)  the packed step of that name with its block sizes */
#ifndef QFK_ROWS_H
#define QFK_ROWS_H

#include <qfold/kernels.h>

#if defined(__x86_64__)
#define QFK_HAVE_X86 1
#else
#define QFK_HAVE_X86 0
#endif
#if defined(__aarch64__)
#define QFK_HAVE_NEON 1
#else
#define QFK_HAVE_NEON 0
#endif

/* QFK_OP_add …: index in qfk_ops(). Operator names are unique over all families. */
typedef enum qfk_op {
#define QFK_OP(family, op, n_in, text) QFK_OP_##op,
#include "rows.def"
    QFK_OP_COUNT
} qfk_op;

#define QF_ROW(family, op, key, isa, exact) qfk_tile qfk_##op##_##key##_##isa;
#define QF_GEMM(op, key, isa, mr, nr, exact) qfk_gemm qfk_##op##_##key##_##isa;
#include "rows.def"

/* Numbers of columns, of rows, that `transpose` rows of BITS_PAST take past the caches without a
 * staging: columns where the rows of the result follow each other from a line on, rows where those
 * of the operand do and the result's begin with lines. size: of an element, in bytes. */
static inline bool qfk_few_columns(size_t size, size_t n) { return size == 4 && n == 3; }
static inline bool qfk_few_rows(size_t size, size_t m) { return size == 4 && (m == 3 || m == 9); }

#endif
