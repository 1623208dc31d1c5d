/* Element types as torch computes with them: promotion, conversions, and python numbers as tensors.
 */
#include "aten_build.h"

#include <float.h>
#include <math.h>

qf_dtype_class qfi_class(qf_dtype dtype)
{
    return qf_dtype_get(dtype)->kind;
}

bool qfi_is_half(qf_dtype dtype)
{
    return dtype == QF_DT_f16 || dtype == QF_DT_bf16;
}

double qfi_number_double(qfi_number number)
{
    return number.v.is_int ? (double)number.v.i : number.v.f;
}

bool qfi_number_truth(qfi_number number)
{
    return number.v.is_int ? number.v.i != 0 : number.v.f != 0.0;
}

qf_dtype qfi_number_dtype(qfi_number number)
{
    static const qf_dtype dtypes[] = {
        [QFI_NUMBER_BOOL] = QF_DT_b8, [QFI_NUMBER_INT] = QF_DT_i64, [QFI_NUMBER_FLOAT] = QF_DT_f32
    };
    return dtypes[number.kind];
}

/* torch converts wide sources to the narrow floats through f32, and so rounds twice. */
qfi_ref qfi_cast(qfi_lowering *l, qfi_ref x, qf_dtype dtype)
{
    const qf_dtype from = qfi_type_of(l, x).dtype;
    const bool narrow = qfi_class(dtype) == QF_CLASS_FLOAT && qf_dtype_get(dtype)->bits <= 16;
    const bool wide = qf_dtype_get(from)->bits >= 32 && from != QF_DT_f32;
    qf_attrs attrs = { .cast = { dtype } };

    if (from == dtype)
        return x;
    if (narrow && wide)
        x = qfi_cast(l, x, QF_DT_f32);
    return qfi_append1(l, QF_OP_cast, &attrs, x);
}

/* ---- promotion ---- */

/* Signed and unsigned integers meet as torch's table has them; the 16-, 32- and 64-bit unsigned
 * ones only meet floats. */
static qf_dtype promote_integers(qf_dtype a, qf_dtype b)
{
    static const struct {
        qf_dtype dtype;
        uint8_t order;
    } order[] = { { QF_DT_b8, 0 },  { QF_DT_u8, 1 },  { QF_DT_i8, 2 },
                  { QF_DT_i16, 3 }, { QF_DT_i32, 4 }, { QF_DT_i64, 5 } };
    int at_a = -1, at_b = -1;

    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        at_a = order[i].dtype == a ? order[i].order : at_a;
        at_b = order[i].dtype == b ? order[i].order : at_b;
    }
    if (at_a < 0 || at_b < 0)
        return QF_DT_none;
    if (at_a + at_b == 3 && at_a && at_b)
        return QF_DT_i16; /* u8 and i8 */
    return order[at_a > at_b ? at_a : at_b].dtype;
}

qf_dtype qfi_promote(qf_dtype a, qf_dtype b)
{
    static const qf_dtype floats[] = { QF_DT_f64, QF_DT_f32 };
    const bool float_a = qfi_class(a) == QF_CLASS_FLOAT, float_b = qfi_class(b) == QF_CLASS_FLOAT;

    if (a == b)
        return a;
    if (qfi_class(a) == QF_CLASS_COMPLEX || qfi_class(b) == QF_CLASS_COMPLEX)
        return QF_DT_none;
    if (!float_a && !float_b)
        return promote_integers(a, b);
    if ((float_a && qf_dtype_get(a)->bits < 16) || (float_b && qf_dtype_get(b)->bits < 16))
        return QF_DT_none;
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
        if (a == floats[i] || b == floats[i])
            return floats[i];
    if (float_a && float_b)
        return QF_DT_f32; /* f16 and bf16 */
    return float_a ? a : b;
}

/* Two levels of operands: the higher keeps its dtype unless the lower is of a higher class. */
static qf_dtype combine(qfi_lowering *l, qf_dtype higher, qf_dtype lower)
{
    const qf_dtype_class kind = qfi_class(higher);

    if (higher == QF_DT_none || lower == QF_DT_none)
        return higher == QF_DT_none ? lower : higher;
    if (kind == QF_CLASS_FLOAT && qfi_class(lower) != QF_CLASS_COMPLEX)
        return higher;
    if (kind == QF_CLASS_BOOL || qfi_class(lower) == QF_CLASS_FLOAT) {
        const qf_dtype dtype = qfi_promote(higher, lower);
        if (dtype == QF_DT_none)
            qfi_refuse(l, QF_REASON_unsupported_dtype, "%s with %s", qf_dtype_get(higher)->name,
                       qf_dtype_get(lower)->name);
        return dtype;
    }
    return higher;
}

qf_dtype qfi_result_dtype(qfi_lowering *l, const qfi_operand *x, uint32_t n)
{
    enum { DIMS, ZERO, NUMBER, N_LEVEL };
    qf_dtype level[N_LEVEL] = { QF_DT_none, QF_DT_none, QF_DT_none };

    for (uint32_t i = 0; i < n; i++) {
        const qf_type type = qfi_type_of(l, x[i].ref);
        const qf_dtype dtype = x[i].is_number ? qfi_number_dtype(x[i].number) : type.dtype;
        qf_dtype *at = &level[x[i].is_number ? NUMBER : type.rank ? DIMS : ZERO];
        if (qfi_class(dtype) == QF_CLASS_COMPLEX)
            qfi_refuse(l, QF_REASON_unsupported_dtype, "%s", qf_dtype_get(dtype)->name);
        if (*at != QF_DT_none && qfi_promote(*at, dtype) == QF_DT_none)
            qfi_refuse(l, QF_REASON_unsupported_dtype, "%s with %s", qf_dtype_get(*at)->name,
                       qf_dtype_get(dtype)->name);
        *at = *at == QF_DT_none ? dtype : qfi_promote(*at, dtype);
    }
    return combine(l, level[DIMS], combine(l, level[ZERO], level[NUMBER]));
}

/* ---- python numbers ---- */

qfi_operand qfi_arg_operand(qfi_lowering *l, const char *name)
{
    const qfi_arg *arg = qfi_arg_get(l, name);

    if (arg->kind == QFI_ARG_NUMBER)
        return (qfi_operand){ .is_number = true, .number = arg->number, .ref = QFI_NONE };
    return (qfi_operand){ .ref = qfi_arg_tensor(l, name) };
}

bool qfi_operand_single(const qfi_lowering *l, const qfi_operand *x)
{
    return x->is_number || qfi_elements_of(l, x->ref) == 1;
}

/* Keeps the low bits of an integer, as storing it in the dtype would. */
static int64_t wrap(int64_t v, qf_dtype dtype)
{
    const unsigned bits = qf_dtype_get(dtype)->bits;
    const uint64_t low = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    const uint64_t kept = (uint64_t)v & low;
    const bool negative = qfi_class(dtype) == QF_CLASS_INT && bits < 64 && kept >> (bits - 1);

    return (int64_t)(negative ? kept | ~low : kept);
}

/* A number in a dtype. Narrow floats are reached through f32, as torch does. */
static qf_scalar convert(qfi_number number, qf_dtype dtype)
{
    const qf_dtype_class kind = qfi_class(dtype);
    const qf_scalar v = number.v;

    if (kind == QF_CLASS_BOOL)
        return (qf_scalar){ .is_int = true, .i = qfi_number_truth(number) };
    if (kind == QF_CLASS_FLOAT && dtype == QF_DT_f64)
        return (qf_scalar){ .f = qfi_number_double(number) };
    if (kind == QF_CLASS_FLOAT)
        return (qf_scalar){ .f = (double)(v.is_int ? (float)v.i : (float)v.f) };
    const int64_t i = v.is_int ? v.i : fabs(v.f) < 0x1p63 ? (int64_t)v.f : 0;
    return (qf_scalar){ .is_int = true, .i = wrap(i, dtype) };
}

/* Unsigned types take negative integers down to minus their largest value, and wrap them. */
static bool fits_integer(qfi_number number, qf_dtype dtype)
{
    const unsigned bits = qf_dtype_get(dtype)->bits;
    const bool is_signed = qfi_class(dtype) == QF_CLASS_INT;
    const double end = ldexp(1.0, (int)bits - is_signed), f = number.v.f;

    if (!number.v.is_int)
        return f >= (is_signed ? -end : 0.0) && (bits < 64 ? f <= end - 1.0 : f < end);
    if (bits == 64)
        return true;
    const int64_t max = (INT64_C(1) << (bits - is_signed)) - 1;
    return number.v.i <= max && number.v.i >= (is_signed ? -max - 1 : -max);
}

double qfi_largest(qf_dtype dtype)
{
    static const struct {
        qf_dtype dtype;
        double max;
    } largest[] = {
        { QF_DT_f16, 65504.0 },
        { QF_DT_bf16, 0x1.fep127 },
        { QF_DT_f32, (double)FLT_MAX },
        { QF_DT_f64, DBL_MAX },
    };

    for (size_t i = 0; i < sizeof largest / sizeof *largest; i++)
        if (dtype == largest[i].dtype)
            return largest[i].max;
    return (double)FLT_MAX;
}

bool qfi_number_fits(qfi_number number, qf_dtype dtype, bool strict)
{
    const double v = fabs(qfi_number_double(number));

    if (qfi_class(dtype) == QF_CLASS_BOOL)
        return true;
    if (qfi_class(dtype) != QF_CLASS_FLOAT)
        return fits_integer(number, dtype);
    if (dtype == QF_DT_f64 || isinf(v) || isnan(v))
        return true;
    return v <= (strict ? qfi_largest(dtype) : (double)FLT_MAX);
}

qfi_ref qfi_full(qfi_lowering *l, qf_type type, qfi_number number)
{
    const qf_attrs attrs = { .full = { .type = type, .value = convert(number, type.dtype) } };
    return qfi_append(l, QF_OP_full, &attrs, NULL, 0);
}

qfi_ref qfi_scalar(qfi_lowering *l, qf_dtype dtype, double value)
{
    return qfi_full(l, (qf_type){ .dtype = dtype },
                    (qfi_number){ { .f = value }, QFI_NUMBER_FLOAT });
}

qfi_ref qfi_full_int(qfi_lowering *l, qf_dtype dtype, int64_t value)
{
    return qfi_full(l, (qf_type){ .dtype = dtype },
                    (qfi_number){ { .is_int = true, .i = value }, QFI_NUMBER_INT });
}

qfi_ref qfi_operand_as(qfi_lowering *l, const qfi_operand *x, qf_dtype dtype)
{
    if (x->is_number)
        return qfi_full(l, (qf_type){ .dtype = dtype }, x->number);
    return qfi_cast(l, x->ref, dtype);
}
