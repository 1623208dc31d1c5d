/* Internal operators: numbers, attributes, and the rows that give their types. */
#ifndef QFOLD_OPS_H
#define QFOLD_OPS_H

#include <qfold/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* QF_OP_add …, one per row of ops.def; the order is ABI. */
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

/* How an element is joined to the one that stands there. */
typedef enum qf_put_mode {
    QF_PUT_SET, /* two different elements for one place fail with ERR_VALUE */
    QF_PUT_ADD, /* of booleans: or */
    QF_PUT_MUL, /* of booleans: and */
    QF_PUT_MIN, /* a NaN stays */
    QF_PUT_MAX,
    QF_PUT_COUNT
} qf_put_mode;

/* Attributes of an operator; which member is the attribute column of ops.def. All are normalised:
 * dims are >= 0, slices clamped, sizes known; what a rank does not reach is not read.
 *   dims      permute: dim k of the result is dim dim[k] of the operand.
 *   shape     reshape, expand: the whole shape of the result.
 *   slice     slice: n elements from start in steps of `step` >= 1 along dim. select: the element
 *             `start`, dim removed. slice_scatter, select_scatter: where operand 1 goes in operand
 *   0. mask      bit k is dim k. squeeze: dims of size 1 to remove. unsqueeze: dims of the result
 *             that are new. flip: dims that run backwards.
 *   diagonal  elements [i, i + offset] of dims dim0, dim1, which move to the end as one dim.
 *   full      the value, converted to type.dtype (ERR_VALUE if that cannot hold it). type: of the
 *             result.
 *   arange    element i is start + i * step, in double rounded once (integers: in 64-bit integers).
 *             type: of the result, one dim.
 *   tri       triu keeps column - row >= diagonal, tril keeps column - row <= diagonal; the rest is
 *             zero.
 *   cast      dtype of the result. Floats out of the range of an integer type fail with ERR_VALUE.
 *             bitcast: the same bits, of a dtype of as many.
 *   quant     dtype: of the result. qmin, qmax: bounds that quantize clamps to, which dtype must
 *             hold. Operands are data, scale s, zero point z. Element i of dim k of the data uses
 *             element i / block[k] of dim k of s and z, whose dims are ceil(dim / block) (1 where
 *             the block is the dim).
 *             quantize: s is the f32 multiplier, the inverse of the scale; z is f32:
 *             clamp(round(x * s) + z, qmin, qmax).
 *             dequantize: (q - z) in the dtype of z, converted to the dtype of s, times s in that
 *             dtype, converted to `dtype`.
 *   dim       cat, cumsum, cumprod, cummax, cummin (a NaN stays): along it. index_select
 *             (operand 1: i64 or i32 [n]), gather: the dim that is indexed.
 *   roll      elements move by shift[k] along dim k, around the end.
 *   pad       elements in front of and behind each dim, which operand 1 (rank 0) fills; negative
 *             ones are cut off.
 *   reduce    dims: mask of the dims to reduce (none: every element by itself). keep: they stay
 *             with size 1. Sums of floats accumulate in f64 and are rounded to their dtype; sums
 *             and prefix sums of integers and booleans are i64. any: b8.  argmax, argmin: i64, the
 *             row-major number, among the reduced dims, of the first of the largest or smallest
 *             elements; a NaN is both.
 *   index     dims: mask of the dims of operand 0 that operands 1, 2 … (i64 or i32, broadcast
 *             together) index; the result's dims are placed as torch does. A negative index counts
 *             from the end; one outside the dim fails with ERR_VALUE.
 *   sort      argsort: where along dim the n smallest elements stand (descending: the largest), in
 *             order and, among equals, as they stood; i64. NaN is larger than all.  distinct:
 *             equal elements, if their order tells which come first, fail with ERR_VALUE.
 *   put       operand 0 [size] with elements of operand 2 [n] joined, in their order, to those that
 *             operand 1 (i64 or i32 [n]) numbers, as `mode` says. A negative number counts from the
 *             end; one outside fails with ERR_VALUE.
 *   count     nonzero: n, the number of true elements of operand 0 (b8 [size]), of which the
 *             numbers are the result, i64 [n]; another number of them fails with ERR_VALUE. */
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
    struct {
        uint8_t dim;
        bool descending, distinct;
        int64_t n;
    } sort;
    struct {
        uint8_t mode; /* qf_put_mode */
    } put;
    struct {
        int64_t n;
    } count;
} qf_attrs;

/* One call: what an operator is applied to. in: types of the n_in operands, with known shapes.
 * attrs may be NULL where the operator has none. Nothing is owned. */
typedef struct qf_call {
    qf_op op;
    uint16_t n_in;
    const qf_type *in;
    const qf_attrs *attrs;
} qf_call;

/* One row of ops.def. n_in: operands, -1 for one or more.  flags: QF_OP_CHECKED, QF_OP_INEXACT.
 * attrs: the member of qf_attrs that it reads, "none" if it has no attributes. */
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
 * result. ERR_ARG: no such operator, or another number of operands. ERR_DTYPE, ERR_RANK, ERR_SHAPE,
 * ERR_ATTR: it does not take these. ERR_OVERFLOW: the result's size does not fit in 64 bits.
 * Attributes are checked, not trusted. Thread-safe. */
QF_API QF_NODISCARD qf_status qf_infer(const qf_call *call, qf_type *out, qf_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
