/* Builders of quantized_decomposed that choose scales and zero points from the data, in the order
 * of steps and in the dtypes that torch has. */
#include "aten_build.h"

/* The range of the data, widened to hold zero: two scalars, or one of each per row. */
static void find_range(qfi_lowering *l, uint32_t dims, bool keep, qfi_ref *least, qfi_ref *most)
{
    const qfi_ref x = qfi_arg_tensor(l, "input");
    const qf_type type = qfi_type_of(l, x);
    const qfi_ref zero = qfi_full_int(l, type.dtype, 0);

    if (type.dtype != QF_DT_f32 && !qfi_is_half(type.dtype))
        qfi_refuse(l, QF_REASON_undefined, "%s is quantised", qf_dtype_get(type.dtype)->name);
    if (!qfi_elements_of(l, x))
        qfi_refuse(l, QF_REASON_undefined, "the range of no elements");
    *least = qfi_append2(l, QF_OP_minimum, qfi_reduce(l, QF_OP_amin, x, dims, keep), zero);
    *most = qfi_append2(l, QF_OP_maximum, qfi_reduce(l, QF_OP_amax, x, dims, keep), zero);
}

/* As f32 [1], as it is where it meets the least scale. */
static qfi_ref as_row(qfi_lowering *l, qfi_ref x)
{
    const int64_t one = 1;
    return qfi_reshape(l, qfi_cast(l, x, QF_DT_f32), 1, &one);
}

static qfi_ref whole_range(qfi_lowering *l, qfi_ref *least, qfi_ref *most)
{
    const int rank = qfi_type_of(l, qfi_arg_tensor(l, "input")).rank;

    find_range(l, (1u << rank) - 1, false, least, most);
    return qfi_scalar(l, QF_DT_f32, qfi_number_double(qfi_arg_number(l, "eps")));
}

void qfi_build_choose_qparams(qfi_lowering *l)
{
    const int64_t low = qfi_arg_int(l, "quant_min"), high = qfi_arg_int(l, "quant_max");
    qfi_ref least, most;
    const qfi_ref eps = whole_range(l, &least, &most);

    if (low >= high || low < INT32_MIN || high > INT32_MAX)
        qfi_refuse(l, QF_REASON_undefined, "bounds %lld, %lld", (long long)low, (long long)high);
    const qfi_ref span = qfi_append2(l, QF_OP_sub, most, least);
    const qfi_ref scale = qfi_append2(
        l, QF_OP_maximum, as_row(l, qfi_divide_by(l, span, (double)high - (double)low)), eps);
    const qfi_ref steps =
        qfi_append1(l, QF_OP_round, NULL, qfi_append2(l, QF_OP_div, as_row(l, least), scale));
    const qfi_ref at =
        qfi_append2(l, QF_OP_sub, qfi_full_int(l, QF_DT_i32, low), qfi_cast(l, steps, QF_DT_i32));
    const qfi_ref zero = qfi_append2(
        l, QF_OP_minimum, qfi_append2(l, QF_OP_maximum, at, qfi_full_int(l, QF_DT_i32, low)),
        qfi_full_int(l, QF_DT_i32, high));
    qfi_give(l, 0, qfi_cast(l, scale, QF_DT_f64));
    qfi_give(l, 1, qfi_cast(l, zero, QF_DT_i64));
}

void qfi_build_choose_qparams_symmetric(qfi_lowering *l)
{
    const int64_t low = qfi_arg_int(l, "quant_min"), high = qfi_arg_int(l, "quant_max");
    const bool is_unsigned = qfi_arg_dtype(l, "dtype", QF_DT_none) == QF_DT_u8;
    const qf_type row = { .dtype = QF_DT_i64, .rank = 1, .dim = { 1 } };
    qfi_ref least, most;
    const qfi_ref eps = whole_range(l, &least, &most);

    if (low >= high)
        qfi_refuse(l, QF_REASON_undefined, "bounds %lld, %lld", (long long)low, (long long)high);
    const qfi_ref reach =
        qfi_append2(l, QF_OP_maximum, qfi_append1(l, QF_OP_neg, NULL, least), most);
    const qfi_ref scale =
        qfi_append2(l, QF_OP_maximum,
                    as_row(l, qfi_divide_by(l, reach, ((double)high - (double)low) / 2)), eps);
    qfi_give(l, 0, qfi_cast(l, scale, QF_DT_f64));
    qfi_give(l, 1, qfi_expand_like(l, qfi_full_int(l, QF_DT_i64, is_unsigned ? 128 : 0), row));
}

/* One scale and zero point for every row, between -128 and 127; of the two zero points that the
 * ends of the range suggest, the one with the smaller error. */
void qfi_build_choose_qparams_per_token(qfi_lowering *l)
{
    const qf_type type = qfi_type_of(l, qfi_arg_tensor(l, "input"));
    const qf_dtype dtype = type.dtype;
    qfi_ref least, most;

    if (type.rank < 1) {
        qfi_refuse(l, QF_REASON_unsupported_rank, "rank 0");
        return;
    }
    find_range(l, 1u << (type.rank - 1), true, &least, &most);
    const qfi_ref low = qfi_full_int(l, dtype, -128), high = qfi_full_int(l, dtype, 127),
                  none = qfi_full_int(l, dtype, 0);
    const qfi_ref scale = qfi_append2(
        l, QF_OP_maximum, qfi_divide_by(l, qfi_append2(l, QF_OP_sub, most, least), 255.0),
        qfi_scalar(l, dtype, 0x1p-23));
    const qfi_ref from = qfi_append2(l, QF_OP_div, least, scale),
                  to = qfi_append2(l, QF_OP_div, most, scale);
    const qfi_ref error = qfi_append2(l, QF_OP_add, qfi_append2(l, QF_OP_add, low, from),
                                      qfi_append2(l, QF_OP_add, high, to));
    const qfi_ref zero =
        qfi_append3(l, QF_OP_where, qfi_append2(l, QF_OP_gt, error, none),
                    qfi_append2(l, QF_OP_sub, low, from), qfi_append2(l, QF_OP_sub, high, to));
    const qfi_ref inside =
        qfi_append2(l, QF_OP_minimum, qfi_append2(l, QF_OP_maximum, zero, low), high);
    qfi_give(l, 0, qfi_cast(l, scale, QF_DT_f64));
    qfi_give(l, 1, qfi_cast(l, qfi_append1(l, QF_OP_round, NULL, inside), QF_DT_i64));
}
