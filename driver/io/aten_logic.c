/* Builders of comparisons, logic on booleans and bits, and selection by a mask. */
#include "aten_build.h"

#include <math.h>

/* ---- comparisons ---- */

static void build_compare(qfi_lowering *l, qf_op op)
{
    const qfi_operand x[2] = { qfi_arg_operand(l, "self"), qfi_arg_operand(l, "other") };
    const qf_dtype dtype = qfi_result_dtype(l, x, 2);

    qfi_result(
        l, qfi_append2(l, op, qfi_operand_as(l, &x[0], dtype), qfi_operand_as(l, &x[1], dtype)));
}

void qfi_build_eq(qfi_lowering *l)
{
    build_compare(l, QF_OP_eq);
}
void qfi_build_ne(qfi_lowering *l)
{
    build_compare(l, QF_OP_ne);
}
void qfi_build_lt(qfi_lowering *l)
{
    build_compare(l, QF_OP_lt);
}
void qfi_build_le(qfi_lowering *l)
{
    build_compare(l, QF_OP_le);
}
void qfi_build_gt(qfi_lowering *l)
{
    build_compare(l, QF_OP_gt);
}
void qfi_build_ge(qfi_lowering *l)
{
    build_compare(l, QF_OP_ge);
}

/* What floats may be besides numbers. Integers are finite. */
typedef enum special { NAN_ONLY, ANY_INFINITY, PLUS_INFINITY, MINUS_INFINITY, FINITE } special;

static qfi_ref is_special(qfi_lowering *l, special kind, qfi_ref x)
{
    static const struct {
        qf_op op;
        bool size;
        double than;
    } test[] = { [ANY_INFINITY] = { QF_OP_eq, true, INFINITY },
                 [PLUS_INFINITY] = { QF_OP_eq, false, INFINITY },
                 [MINUS_INFINITY] = { QF_OP_eq, false, -INFINITY },
                 [FINITE] = { QF_OP_lt, true, INFINITY } };

    if (kind == NAN_ONLY)
        return qfi_append2(l, QF_OP_ne, x, x);
    const qfi_ref limit = qfi_scalar(l, qfi_type_of(l, x).dtype, test[kind].than);
    return qfi_append2(l, test[kind].op, test[kind].size ? qfi_append1(l, QF_OP_abs, NULL, x) : x,
                       limit);
}

static void build_special(qfi_lowering *l, special kind)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    qf_type flags = qfi_type_of(l, x);

    if (qfi_class(flags.dtype) == QF_CLASS_FLOAT) {
        qfi_result(l, is_special(l, kind, x));
        return;
    }
    flags.dtype = QF_DT_b8;
    qfi_result(l, qfi_expand_like(l, qfi_full_int(l, QF_DT_b8, kind == FINITE), flags));
}

void qfi_build_isnan(qfi_lowering *l)
{
    build_special(l, NAN_ONLY);
}
void qfi_build_isinf(qfi_lowering *l)
{
    build_special(l, ANY_INFINITY);
}
void qfi_build_isposinf(qfi_lowering *l)
{
    build_special(l, PLUS_INFINITY);
}
void qfi_build_isneginf(qfi_lowering *l)
{
    build_special(l, MINUS_INFINITY);
}
void qfi_build_isfinite(qfi_lowering *l)
{
    build_special(l, FINITE);
}

/* NaN becomes 0, infinities the ends of the dtype, unless other numbers are given. */
void qfi_build_nan_to_num(qfi_lowering *l)
{
    static const struct {
        special kind;
        const char *name;
    } replaced[] = { { NAN_ONLY, "nan" },
                     { PLUS_INFINITY, "posinf" },
                     { MINUS_INFINITY, "neginf" } };
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_dtype dtype = qfi_type_of(l, x).dtype;
    const double end = qfi_largest(dtype), fallback[] = { 0, end, -end };
    qfi_ref result = x;

    for (int i = 0; i < 3 && qfi_class(dtype) == QF_CLASS_FLOAT; i++) {
        const qfi_ref value =
            qfi_arg_has(l, replaced[i].name)
                ? qfi_full(l, (qf_type){ .dtype = dtype }, qfi_arg_number(l, replaced[i].name))
                : qfi_scalar(l, dtype, fallback[i]);
        result = qfi_append3(l, QF_OP_where, is_special(l, replaced[i].kind, x), value, result);
    }
    qfi_result(l, result);
}

/* ---- logic ---- */

static void build_logical(qfi_lowering *l, qf_op op)
{
    const qfi_ref a = qfi_cast(l, qfi_arg_tensor(l, "self"), QF_DT_b8);
    const qfi_ref b = qfi_cast(l, qfi_arg_tensor(l, "other"), QF_DT_b8);

    qfi_result(l, qfi_append2(l, op, a, b));
}

void qfi_build_logical_and(qfi_lowering *l)
{
    build_logical(l, QF_OP_bit_and);
}
void qfi_build_logical_or(qfi_lowering *l)
{
    build_logical(l, QF_OP_bit_or);
}
void qfi_build_logical_xor(qfi_lowering *l)
{
    build_logical(l, QF_OP_bit_xor);
}

void qfi_build_logical_not(qfi_lowering *l)
{
    const qfi_ref x = qfi_cast(l, qfi_arg_tensor(l, "self"), QF_DT_b8);
    qfi_result(l, qfi_append1(l, QF_OP_logical_not, NULL, x));
}

static void build_bits(qfi_lowering *l, qf_op op)
{
    const qfi_operand x[2] = { qfi_arg_operand(l, "self"), qfi_arg_operand(l, "other") };
    const qf_dtype dtype = qfi_result_dtype(l, x, 2);

    if (qfi_class(dtype) == QF_CLASS_FLOAT)
        qfi_refuse(l, QF_REASON_undefined, "bits of floats");
    qfi_result(
        l, qfi_append2(l, op, qfi_operand_as(l, &x[0], dtype), qfi_operand_as(l, &x[1], dtype)));
}

void qfi_build_bit_and(qfi_lowering *l)
{
    build_bits(l, QF_OP_bit_and);
}
void qfi_build_bit_or(qfi_lowering *l)
{
    build_bits(l, QF_OP_bit_or);
}
void qfi_build_bit_xor(qfi_lowering *l)
{
    build_bits(l, QF_OP_bit_xor);
}
void qfi_build_shl(qfi_lowering *l)
{
    build_bits(l, QF_OP_shl);
}
void qfi_build_shr(qfi_lowering *l)
{
    build_bits(l, QF_OP_shr);
}

void qfi_build_bit_not(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const bool boolean = qfi_type_of(l, x).dtype == QF_DT_b8;

    qfi_result(l, qfi_append1(l, boolean ? QF_OP_logical_not : QF_OP_bit_not, NULL, x));
}

/* ---- masks ---- */

void qfi_build_where(qfi_lowering *l)
{
    const qfi_ref mask = qfi_cast(l, qfi_arg_tensor(l, "condition"), QF_DT_b8);
    const qfi_operand x[2] = { qfi_arg_operand(l, "self"), qfi_arg_operand(l, "other") };
    const qf_dtype dtype = qfi_result_dtype(l, x, 2);

    qfi_result(l, qfi_append3(l, QF_OP_where, mask, qfi_operand_as(l, &x[0], dtype),
                              qfi_operand_as(l, &x[1], dtype)));
}

void qfi_build_masked_fill(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self"), mask = qfi_arg_tensor(l, "mask");
    const qfi_operand value = qfi_arg_operand(l, "value");
    const qf_dtype dtype = qfi_type_of(l, x).dtype;

    if (qfi_type_of(l, mask).dtype != QF_DT_b8)
        qfi_refuse(l, QF_REASON_undefined, "a mask that is not boolean");
    if (value.is_number && !qfi_number_fits(value.number, dtype, true))
        qfi_refuse(l, QF_REASON_undefined, "the value does not fit %s", qf_dtype_get(dtype)->name);
    if (!value.is_number && qfi_type_of(l, value.ref).rank)
        qfi_refuse(l, QF_REASON_undefined, "a value that is no scalar");
    qfi_result(l, qfi_append3(l, QF_OP_where, mask, qfi_operand_as(l, &value, dtype), x));
}
