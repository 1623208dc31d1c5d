/* Builders of operators on two or three tensors whose steps torch fuses or takes in f32. */
#include "aten_build.h"

#include <math.h>

/* Operands in their common dtype, widened for the steps; results are rounded to it once. */
typedef struct blend {
    qf_dtype dtype, work;
    qfi_ref x[3];
} blend;

static blend begin(qfi_lowering *l, const char *const *name, uint32_t n)
{
    qfi_operand operand[3];
    blend b = { .x = { QFI_NONE, QFI_NONE, QFI_NONE } };

    for (uint32_t i = 0; i < n; i++)
        operand[i] = qfi_arg_operand(l, name[i]);
    b.dtype = qfi_result_dtype(l, operand, n);
    b.work = qfi_is_half(b.dtype) ? QF_DT_f32 : b.dtype;
    for (uint32_t i = 0; i < n; i++)
        b.x[i] = qfi_cast(l, qfi_operand_as(l, &operand[i], b.dtype), b.work);
    return b;
}

static void require_float(qfi_lowering *l, const blend *b)
{
    if (qfi_class(b->dtype) != QF_CLASS_FLOAT)
        qfi_refuse(l, QF_REASON_undefined, "the operator takes no integers");
}

static void end(qfi_lowering *l, const blend *b, qfi_ref result)
{
    qfi_result(l, qfi_cast(l, result, b->dtype));
}

/* ---- products and quotients added ---- */

static blend begin_scaled(qfi_lowering *l, qfi_ref *scaled)
{
    static const char *const names[] = { "self", "tensor1", "tensor2" };
    const blend b = begin(l, names, 3);
    const qfi_number value = qfi_arg_number(l, "value");

    if (b.dtype == QF_DT_b8 || !qfi_number_fits(value, b.dtype, false))
        qfi_refuse(l, QF_REASON_undefined, "booleans, or a value that does not fit");
    *scaled = qfi_append2(l, QF_OP_mul, b.x[1], qfi_full(l, (qf_type){ .dtype = b.work }, value));
    return b;
}

/* self + (value * tensor1) * tensor2, the last two steps fused. */
void qfi_build_addcmul(qfi_lowering *l)
{
    qfi_ref scaled;
    const blend b = begin_scaled(l, &scaled);

    end(l, &b, qfi_append3(l, QF_OP_fma, scaled, b.x[2], b.x[0]));
}

/* self + (value * tensor1) / tensor2 */
void qfi_build_addcdiv(qfi_lowering *l)
{
    qfi_ref scaled;
    const blend b = begin_scaled(l, &scaled);

    require_float(l, &b);
    end(l, &b, qfi_append2(l, QF_OP_add, b.x[0], qfi_append2(l, QF_OP_div, scaled, b.x[2])));
}

/* ---- lerp ---- */

/* self + weight * (end - self), from the nearer end, fused. Half types take a number in f32. */
void qfi_build_lerp(qfi_lowering *l)
{
    static const char *const names[] = { "self", "end", "weight" };
    const bool number = qfi_arg_get(l, "weight")->kind == QFI_ARG_NUMBER;
    blend b = begin(l, names, number ? 2 : 3);

    require_float(l, &b);
    for (int i = 0; i < (number ? 2 : 3); i++) {
        const qf_type type = qfi_type_of(l, qfi_arg_tensor(l, names[i]));
        if (type.dtype != b.dtype && (i < 2 || type.rank)) /* one weight for all is converted */
            qfi_refuse(l, QF_REASON_unsupported_dtype, "operands of several dtypes");
    }
    if (number)
        b.x[2] = qfi_full(l, (qf_type){ .dtype = b.work }, qfi_arg_number(l, "weight"));
    const qfi_ref size = qfi_append1(l, QF_OP_abs, NULL, b.x[2]);
    const qfi_ref near = qfi_append2(l, QF_OP_lt, size, qfi_scalar(l, b.work, 0.5));
    const qfi_ref back = qfi_append2(l, QF_OP_sub, b.x[2], qfi_scalar(l, b.work, 1));
    const qfi_ref by = qfi_append3(l, QF_OP_where, near, b.x[2], back);
    const qfi_ref base = qfi_append3(l, QF_OP_where, near, b.x[0], b.x[1]);
    const qfi_ref span = qfi_append2(l, QF_OP_sub, b.x[1], b.x[0]);

    end(l, &b, qfi_append3(l, QF_OP_fma, by, span, base));
}

/* ---- sums of exponentials ---- */

/* log_base(base^self + base^other), as the greater one plus what the other adds, fused with the
 * factor to the base; equal infinities give themselves. */
static void log_add(qfi_lowering *l, qf_op exponential, double per_log)
{
    static const char *const names[] = { "self", "other" };
    const blend b = begin(l, names, 2);

    require_float(l, &b);
    const qfi_ref most = qfi_append2(l, QF_OP_maximum, b.x[0], b.x[1]);
    const qfi_ref apart =
        qfi_append1(l, QF_OP_abs, NULL, qfi_append2(l, QF_OP_sub, b.x[0], b.x[1]));
    const qfi_ref e = qfi_append1(l, exponential, NULL, qfi_append1(l, QF_OP_neg, NULL, apart));
    const qfi_ref adds = qfi_append1(l, QF_OP_log1p, NULL, e);
    const qfi_ref infinite = qfi_append2(l, QF_OP_eq, qfi_append1(l, QF_OP_abs, NULL, b.x[0]),
                                         qfi_scalar(l, b.work, INFINITY));
    const qfi_ref same =
        qfi_append2(l, QF_OP_bit_and, infinite, qfi_append2(l, QF_OP_eq, b.x[0], b.x[1]));
    const qfi_ref sum = qfi_append3(l, QF_OP_fma, adds, qfi_scalar(l, b.work, per_log), most);

    end(l, &b, qfi_append3(l, QF_OP_where, same, b.x[0], sum));
}

void qfi_build_logaddexp(qfi_lowering *l)
{
    log_add(l, QF_OP_exp, 1);
}
void qfi_build_logaddexp2(qfi_lowering *l)
{
    log_add(l, QF_OP_exp2, 1.4426950408889634074); /* 1 / log 2 */
}

/* ---- functions of two numbers ---- */

void qfi_build_hypot(qfi_lowering *l)
{
    static const char *const names[] = { "self", "other" };
    const blend b = begin(l, names, 2);

    require_float(l, &b);
    end(l, &b, qfi_append2(l, QF_OP_hypot, b.x[0], b.x[1]));
}

/* Integers become f32, each from its own dtype. */
void qfi_build_atan2(qfi_lowering *l)
{
    static const char *const names[] = { "self", "other" };
    blend b = begin(l, names, 2);

    if (qfi_class(b.dtype) != QF_CLASS_FLOAT) {
        b.dtype = b.work = QF_DT_f32;
        for (int i = 0; i < 2; i++)
            b.x[i] = qfi_cast(l, qfi_arg_tensor(l, names[i]), QF_DT_f32);
    }
    end(l, &b, qfi_append2(l, QF_OP_atan2, b.x[0], b.x[1]));
}
