/* Internal operators: numbers, attributes, and the rows that give their types. */
#ifndef QFOLD_OPS_H
#define QFOLD_OPS_H

#include <qfold/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* QF_OP_add …; the order is ABI. */
typedef enum qf_op {
#define QF_OP(name, n_in, kind, flags, attrs, infer, lower, kernel) QF_OP_##name,
#include <qfold/ops.def>
#undef QF_OP
    QF_OP_COUNT
} qf_op;

/* How an operator is computed, as ops.def explains. */
typedef enum qf_op_kind {
    QF_KIND_VIEW,
    QF_KIND_INDEX,
    QF_KIND_POINTWISE,
    QF_KIND_PIECES,
    QF_KIND_BREAKER
} qf_op_kind;

#define QF_OP_CHECKED 1u /* undefined for some values: the call fails with ERR_VALUE */
#define QF_OP_INEXACT 2u /* its last bits are not defined by the runtimes that models come from */

/* Which rule a quantize or dequantize follows. x: real value, q: integer, s: scale, z: zero point.
 * TORCH (quantized_decomposed, per tensor and per channel): zero point added after rounding,
 * multiplication by 1/s. */
typedef enum qf_quant_rule { QF_QUANT_TORCH = 0 } qf_quant_rule;

/* Attributes, by the last column of ops.def. All are normalised: dims are >= 0, slices clamped,
 * sizes known.
 * dims     permute: output dim k is input dim dim[k]
 * shape    reshape, expand: the whole output shape
 * slice    slice: n elements from start in steps of `step` >= 1 along dim. select: the element
 *          `start`, dim removed. slice_scatter, select_scatter: where operand 1 goes in operand 0
 * mask     bit k is dim k. squeeze: dims of size 1 to remove; unsqueeze: dims of the OUTPUT that
 *          are new; flip
 * diagonal elements [i, i + offset] of dims dim0, dim1, which move to the end as one dim
 * full     the value, converted to type.dtype (ERR_VALUE if that cannot hold it); type: of the
 *          result
 * arange   element i is start + i * step, in double rounded once (integers: in 64-bit integers);
 *          type: [n]
 * tri      triu keeps column - row >= diagonal, tril keeps column - row <= diagonal; the rest is
 *          zero
 * cast     destination dtype. Floats to integers out of range fail with ERR_VALUE
 * quant    dtype: of the result. qmin, qmax: clamp bounds of quantize, which dtype must hold.
 *          Operands are data, scale s, zero point z; element i_k of data uses element i_k /
 * block[k] of s and z, whose dims are ceil(dim / block) (1 where block is the dim) quantize: s is
 * the f32 MULTIPLIER (the inverse scale), z is f32: clamp(round(x * s) + z, qmin, qmax) dequantize:
 * (q - z) in z's dtype, converted to s's dtype, times s in that dtype, converted to `dtype` dim
 * cat, cumsum, index_select (operand 1: i64 or i32 [n]), gather roll     elements move by shift[k]
 * along dim k pad      before, after: elements per dim, operand 1 (rank 0) fills them; negative
 * crops reduce   mask: dims to reduce (none: every element by itself); keep: they stay with size 1.
 *          Sums of floats accumulate in f64 and are rounded to their dtype. Sums and prefix sums of
 *          integers and booleans are i64. any: b8
 * index    mask: dims of operand 0 that operands 1… (i64 or i32, broadcast together) index; torch's
 *          placement rule. A negative index counts from the end; outside the dim: ERR_VALUE */
typedef union qf_attrs {
    struct {
        int8_t dim[QF_MAX_RANK];
    } dims;
    struct {
        uint8_t rank;
        int64_t dim[QF_MAX_RANK];
    } shape;
    struct {
        uint8_t dim;
        int64_t start, step, n;
    } slice;
    struct {
        uint32_t dims;
    } mask;
    struct {
        uint8_t dim0, dim1;
        int64_t offset;
    } diagonal;
    struct {
        qf_type type;
        qf_scalar value;
    } full;
    struct {
        qf_type type;
        qf_scalar start, step;
    } arange;
    struct {
        int64_t diagonal;
    } tri;
    struct {
        qf_dtype dtype;
    } cast;
    struct {
        qf_dtype dtype;
        qf_quant_rule rule;
        int64_t qmin, qmax, block[QF_MAX_RANK];
    } quant;
    struct {
        uint8_t dim;
    } dim;
    struct {
        int64_t shift[QF_MAX_RANK];
    } roll;
    struct {
        int64_t before[QF_MAX_RANK], after[QF_MAX_RANK];
    } pad;
    struct {
        uint32_t dims;
        bool keep;
    } reduce;
    struct {
        uint32_t dims;
    } index;
} qf_attrs;

/* One call: what an operator is applied to. attrs may be NULL where the operator has none. */
typedef struct qf_call {
    qf_op op;
    uint16_t n_in;
    const qf_type *in;
    const qf_attrs *attrs;
} qf_call;

/* One row of ops.def. n_in: -1 for any number. flags: QF_OP_CHECKED | QF_OP_INEXACT. */
typedef struct qf_op_info {
    const char *name;
    int8_t n_in;
    qf_op_kind kind;
    uint32_t flags;
    const char *attrs;
} qf_op_info;

/* Row of an operator, NULL for a number that is none. Static storage, thread-safe. */
QF_API const qf_op_info *qf_op_get(qf_op op);

/* Operator by name; QF_OP_COUNT if there is none. Thread-safe. */
QF_API qf_op qf_op_find(const char *name);

/* Type of the result from the types of the operands; looks at no payload. Every operator has one
 * result. Fails with ERR_DTYPE, ERR_RANK, ERR_SHAPE or ERR_ATTR. Thread-safe. */
QF_API QF_NODISCARD qf_status qf_infer(const qf_call *call, qf_type *out, qf_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
