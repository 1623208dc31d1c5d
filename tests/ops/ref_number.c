/* Elements as numbers, and their agreement. */
#include "ref.h"

#include <math.h>

bool ref_is_float(qf_dtype dtype)
{
    return qf_dtype_get(dtype)->kind == QF_CLASS_FLOAT;
}

int64_t ref_int(qf_dtype dtype, uint64_t bits)
{
    const qf_dtype_info *d = qf_dtype_get(dtype);
    const unsigned up = 64u - d->bits;

    if (d->kind == QF_CLASS_BOOL)
        return bits != 0;
    return d->kind == QF_CLASS_INT ? (int64_t)(bits << up) >> up : (int64_t)(bits << up >> up);
}

uint64_t ref_from_int(qf_dtype dtype, int64_t value)
{
    const unsigned up = 64u - qf_dtype_get(dtype)->bits;
    return (uint64_t)value << up >> up;
}

double ref_real(qf_dtype dtype, uint64_t bits)
{
    return check_to_f64((unsigned)dtype, bits);
}

uint64_t ref_from_real(qf_dtype dtype, double value)
{
    return check_from_f64((unsigned)dtype, value);
}

static bool float_to_int(qf_dtype to, double value, uint64_t *out)
{
    const qf_dtype_info *d = qf_dtype_get(to);
    const bool is_signed = d->kind == QF_CLASS_INT;
    const double whole = trunc(value);
    const double low = is_signed ? -ldexp(1, (int)d->bits - 1) : 0;
    const double high = ldexp(1, (int)d->bits - is_signed);

    if (!(whole >= low && whole < high))
        return false;
    *out = is_signed || whole < 9223372036854775808.0
               ? ref_from_int(to, (int64_t)whole)
               : (uint64_t)(int64_t)(whole - 9223372036854775808.0) ^ ((uint64_t)1 << 63);
    return true;
}

static bool is_low(qf_dtype t)
{
    return ref_is_float(t) && t != QF_DT_f32 && t != QF_DT_f64;
}

bool ref_convert(qf_dtype from, uint64_t bits, qf_dtype to, uint64_t *out)
{
    const bool real = ref_is_float(from);

    if (from == to) {
        *out = bits;
        return true;
    }
    if (to == QF_DT_b8) {
        *out = real ? ref_real(from, bits) != 0 : ref_int(from, bits) != 0;
        return true;
    }
    if (!ref_is_float(to)) {
        if (real)
            return float_to_int(to, ref_real(from, bits), out);
        *out = ref_from_int(to, ref_int(from, bits));
        return true;
    }
    /* Short floats are made from f32, also when the source is wider: two roundings. */
    if (!real && to != QF_DT_f64) {
        const float f = from == QF_DT_u64 ? (float)bits : (float)ref_int(from, bits);
        *out = ref_from_real(to, (double)f);
        return true;
    }
    double value = real                ? ref_real(from, bits)
                   : from == QF_DT_u64 ? (double)bits
                                       : (double)ref_int(from, bits);
    if (is_low(to) && from == QF_DT_f64)
        value = (double)(float)value;
    *out = ref_from_real(to, value);
    return true;
}

bool ref_agree(qf_op op, qf_dtype dtype, const uint64_t *want, const uint64_t *got)
{
    if (want[0] == got[0] && want[1] == got[1])
        return true;
    if (!ref_is_float(dtype) || qf_dtype_get(dtype)->compute == QF_DT_none)
        return false;
    if (check_is_nan((unsigned)dtype, want[0]) && check_is_nan((unsigned)dtype, got[0]))
        return true;
    /* The C library's functions are themselves not exact. Sums are in another order here. */
    const bool inexact =
        (qf_op_get(op)->flags & QF_OP_INEXACT) && op != QF_OP_matmul && op != QF_OP_sqrt;
    return inexact && check_ulps((unsigned)dtype, want[0], got[0]) <= (dtype == QF_DT_f64 ? 4 : 1);
}
