/* Rules of operators: the type of the result, and how it becomes part of a pipeline. */
#ifndef QFOLD_DISPATCH_OP_H
#define QFOLD_DISPATCH_OP_H

#include "dispatch/builder.h"

/* Fills *out, whose dtype, rank and dims are those of operand 0 on entry (none if there is no
 * operand). Operands have known shapes; attributes are not trusted. */
typedef qf_status qfi_infer(const qf_call *call, qf_type *out, qf_diag *diag);

/* The rules that ops.def names. */
#define QF_OP(name, n_in, kind, flags, attrs, infer, lower, kernel)                                \
    qfi_infer qfi_infer_##infer;                                                                   \
    qfi_lower qfi_lower_##lower;
#include <qfold/ops.def>
#undef QF_OP

/* Which dtypes an operand may have. */
typedef enum qfi_accept {
    QFI_COMPUTE,  /* it has a compute type */
    QFI_NUMBER,   /* … and is no boolean */
    QFI_INTEGER,  /* signed or unsigned */
    QFI_BITS,     /* integer or boolean */
    QFI_SIGNED,   /* signed integer or float */
    QFI_FLOATING, /* float with a compute type */
} qfi_accept;

/* ERR_DTYPE unless operand i of the call is accepted. */
qf_status qfi_need_dtype(const qf_call *call, int i, qfi_accept accept, qf_diag *diag);

/* ERR_RANK unless operand i has at least `least` dims. */
qf_status qfi_need_rank(const qf_call *call, int i, int least, qf_diag *diag);

/* ERR_ATTR unless `dim` is a dim of `type`. */
qf_status qfi_need_dim(const qf_call *call, const qf_type *type, int64_t dim, qf_diag *diag);

/* Broadcast the dims of `with` into *shape as numpy does; ERR_SHAPE if they do not match. */
qf_status qfi_broadcast(const qf_call *call, qf_type *shape, const qf_type *with, qf_diag *diag);

/* ERR_ATTR if `dims` has a bit at or above `rank`. */
qf_status qfi_need_mask(const qf_call *call, uint32_t dims, int rank, qf_diag *diag);

/* Name of the call's operator, for messages. */
const char *qfi_op_name(const qf_call *call);

#endif
