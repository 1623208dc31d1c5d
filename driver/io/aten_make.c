/* Builders of tensors made from numbers: full, arange, eye and their kin, and conversions of dtype.
 */
#include "aten_build.h"

#include <math.h>
#include <string.h>

static const qfi_number zero_number = { { .is_int = true }, QFI_NUMBER_INT };
static const qfi_number one_number = { { .is_int = true, .i = 1 }, QFI_NUMBER_INT };

/* ---- conversions ---- */

void qfi_build_to(qfi_lowering *l)
{
    const bool input = qfi_arg_get(l, "input")->kind != QFI_ARG_ABSENT;
    const qfi_ref x = qfi_arg_tensor(l, input ? "input" : "self");

    qfi_result(l, qfi_cast(l, x, qfi_arg_dtype(l, "dtype", qfi_type_of(l, x).dtype)));
}

void qfi_build_to_other(qfi_lowering *l)
{
    const qf_dtype dtype = qfi_type_of(l, qfi_arg_tensor(l, "other")).dtype;
    qfi_result(l, qfi_cast(l, qfi_arg_tensor(l, "self"), dtype));
}

/* ---- one value everywhere ---- */

/* The type that "size" gives, or that of "self". */
static qf_type factory_type(qfi_lowering *l, qf_dtype dtype)
{
    qf_type type = { .dtype = dtype };
    int64_t size[QFI_ATEN_MAX_LIST];

    if (qfi_arg_get(l, "size")->kind == QFI_ARG_ABSENT)
        return qfi_type_of(l, qfi_arg_tensor(l, "self"));
    const uint32_t rank = qfi_arg_ints(l, "size", size, QFI_ATEN_MAX_LIST);
    if (rank > QF_MAX_RANK) {
        qfi_refuse(l, QF_REASON_unsupported_rank, "rank %u", (unsigned)rank);
        return type;
    }
    type.rank = (int8_t)rank;
    memcpy(type.dim, size, rank * sizeof *size);
    return type;
}

static void build_filled(qfi_lowering *l, qfi_number value, qf_dtype fallback)
{
    qf_type type = factory_type(l, fallback);

    type.dtype = qfi_arg_dtype(l, "dtype", fallback);
    if (!qfi_number_fits(value, type.dtype, false))
        qfi_refuse(l, QF_REASON_undefined, "the value does not fit %s",
                   qf_dtype_get(type.dtype)->name);
    qfi_result(l, qfi_full(l, type, value));
}

static qf_dtype self_dtype(qfi_lowering *l)
{
    return qfi_type_of(l, qfi_arg_tensor(l, "self")).dtype;
}

void qfi_build_full(qfi_lowering *l)
{
    const qfi_number value = qfi_arg_number(l, "fill_value");
    build_filled(l, value, qfi_number_dtype(value));
}

void qfi_build_full_like(qfi_lowering *l)
{
    build_filled(l, qfi_arg_number(l, "fill_value"), self_dtype(l));
}
void qfi_build_zeros(qfi_lowering *l)
{
    build_filled(l, zero_number, QF_DT_f32);
}
void qfi_build_ones(qfi_lowering *l)
{
    build_filled(l, one_number, QF_DT_f32);
}
void qfi_build_zeros_like(qfi_lowering *l)
{
    build_filled(l, zero_number, self_dtype(l));
}
void qfi_build_ones_like(qfi_lowering *l)
{
    build_filled(l, one_number, self_dtype(l));
}

void qfi_build_scalar_tensor(qfi_lowering *l)
{
    const qfi_number value = qfi_arg_number(l, "s");
    const qf_dtype dtype = qfi_arg_dtype(l, "dtype", QF_DT_f32);

    if (!qfi_number_fits(value, dtype, false))
        qfi_refuse(l, QF_REASON_undefined, "the value does not fit %s", qf_dtype_get(dtype)->name);
    qfi_result(l, qfi_full(l, (qf_type){ .dtype = dtype }, value));
}

/* A number or a scalar tensor over all of self. */
void qfi_build_fill(qfi_lowering *l)
{
    const qf_type type = qfi_type_of(l, qfi_arg_tensor(l, "self"));
    const qfi_operand value = qfi_arg_operand(l, "value");

    if (value.is_number && !qfi_number_fits(value.number, type.dtype, false))
        qfi_refuse(l, QF_REASON_undefined, "the value does not fit %s",
                   qf_dtype_get(type.dtype)->name);
    if (!value.is_number && qfi_type_of(l, value.ref).rank)
        qfi_refuse(l, QF_REASON_undefined, "a value that is no scalar");
    qfi_result(l, value.is_number
                      ? qfi_full(l, type, value.number)
                      : qfi_expand_like(l, qfi_operand_as(l, &value, type.dtype), type));
}

void qfi_build_zero(qfi_lowering *l)
{
    qfi_result(l, qfi_full(l, qfi_type_of(l, qfi_arg_tensor(l, "self")), zero_number));
}

void qfi_build_copy(qfi_lowering *l)
{
    const qf_type type = qfi_type_of(l, qfi_arg_tensor(l, "self"));
    const qfi_ref x = qfi_cast(l, qfi_arg_tensor(l, "src"), type.dtype);

    qfi_result(l, qfi_expand_like(l, x, type));
}

/* ---- arange ---- */

static bool is_integral(double v)
{
    return v == trunc(v) && fabs(v) < 0x1p53;
}

/* Count of start, start + step … before end; refuses what torch refuses. */
static int64_t arange_count(qfi_lowering *l, double start, double end, double step)
{
    const double count = ceil((end - start) / step);

    if (!isfinite(start) || !isfinite(end) || !isfinite(step) || step == 0 || !(count < 0x1p53)) {
        qfi_refuse(l, QF_REASON_undefined, "arange from %g to %g by %g", start, end, step);
        return 0;
    }
    if ((step > 0 && end < start) || (step < 0 && end > start))
        qfi_refuse(l, QF_REASON_undefined, "arange from %g to %g by %g", start, end, step);
    return count > 0 ? (int64_t)count : 0;
}

__extension__ typedef __int128 wide;

/* The same in integers: exact beyond 2^53, as torch counts when all three are integers. */
static int64_t arange_count_exact(qfi_lowering *l, int64_t start, int64_t end, int64_t step)
{
    const wide span = (wide)end - start;
    const wide count = step ? (span + step + (step > 0 ? -1 : 1)) / step : -1;

    if (count < 0 || count >= (wide)1 << 53 || (span < 0) != (step < 0 && span)) {
        qfi_refuse(l, QF_REASON_undefined, "arange from %lld to %lld by %lld", (long long)start,
                   (long long)end, (long long)step);
        return 0;
    }
    return (int64_t)count;
}

static void arange_integers(qfi_lowering *l, qf_dtype dtype, int64_t start, int64_t end,
                            int64_t step)
{
    qf_attrs attrs = { .arange = { .type = { .dtype = dtype, .rank = 1 },
                                   .start = { .is_int = true, .i = start },
                                   .step = { .is_int = true, .i = step } } };

    attrs.arange.type.dim[0] = arange_count_exact(l, start, end, step);
    qfi_result(l, qfi_append(l, QF_OP_arange, &attrs, NULL, 0));
}

void qfi_build_arange(qfi_lowering *l)
{
    const qfi_number end = qfi_arg_number(l, "end");
    const qfi_number start = qfi_arg_has(l, "start") ? qfi_arg_number(l, "start") : zero_number;
    const qfi_number step = qfi_arg_has(l, "step") ? qfi_arg_number(l, "step") : one_number;
    const bool all_int = start.v.is_int && end.v.is_int && step.v.is_int;
    const qf_dtype dtype = qfi_arg_dtype(l, "dtype", all_int ? QF_DT_i64 : QF_DT_f32);
    double v[3] = { qfi_number_double(start), qfi_number_double(end), qfi_number_double(step) };
    const double given[3] = { v[0], v[1], v[2] };

    if (qfi_class(dtype) != QF_CLASS_FLOAT)
        for (int i = 0; i < 3; i++)
            v[i] = trunc(v[i]);
    /* Integers are made of whole numbers, but only those of i64 are counted so. */
    const double *range = dtype == QF_DT_i64 ? v : given;
    if (dtype == QF_DT_b8)
        qfi_refuse(l, QF_REASON_undefined, "arange of booleans");
    if (all_int && qfi_class(dtype) != QF_CLASS_FLOAT) {
        arange_integers(l, dtype, start.v.i, end.v.i, step.v.i);
        return;
    }
    qf_attrs attrs = { .arange = { .type = { .dtype = dtype, .rank = 1 } } };
    attrs.arange.type.dim[0] = arange_count(l, range[0], range[1], range[2]);
    if (is_integral(v[0]) && is_integral(v[2])) {
        attrs.arange.start = (qf_scalar){ .is_int = true, .i = (int64_t)v[0] };
        attrs.arange.step = (qf_scalar){ .is_int = true, .i = (int64_t)v[2] };
    } else if (qfi_class(dtype) == QF_CLASS_FLOAT) {
        attrs.arange.start.f = v[0];
        attrs.arange.step.f = v[2];
    } else {
        qfi_refuse(l, QF_REASON_unsupported_argument, "arange beyond 2^53");
    }
    qfi_result(l, qfi_append(l, QF_OP_arange, &attrs, NULL, 0));
}

/* Both ends stand; torch counts from the nearer one, in the dtype. */
void qfi_build_linspace(qfi_lowering *l)
{
    const double start = qfi_number_double(qfi_arg_number(l, "start"));
    const double end = qfi_number_double(qfi_arg_number(l, "end"));
    const int64_t n = qfi_arg_int(l, "steps");
    const double step = n > 1 ? (end - start) / (double)(n - 1) : 0.0;
    qf_attrs attrs = { .arange = { .type = { .dtype = qfi_arg_dtype(l, "dtype", QF_DT_f32),
                                             .rank = 1,
                                             .dim = { n } },
                                   .start = { .f = start },
                                   .step = { .f = step } } };

    if (qfi_class(attrs.arange.type.dtype) != QF_CLASS_FLOAT)
        qfi_refuse(l, QF_REASON_unsupported_dtype, "linspace of integers");
    if (n < 0 || !isfinite(start) || !isfinite(end))
        qfi_refuse(l, QF_REASON_undefined, "linspace from %g to %g", start, end);
    qfi_result(l, qfi_append(l, QF_OP_arange, &attrs, NULL, 0));
}

/* ---- triangles ---- */

static qfi_ref triangle(qfi_lowering *l, qf_op op, qfi_ref x, int64_t diagonal)
{
    const qf_attrs attrs = { .tri = { diagonal } };
    return qfi_append1(l, op, &attrs, x);
}

void qfi_build_triu(qfi_lowering *l)
{
    qfi_result(l, triangle(l, QF_OP_triu, qfi_arg_tensor(l, "self"), qfi_arg_int(l, "diagonal")));
}

void qfi_build_tril(qfi_lowering *l)
{
    qfi_result(l, triangle(l, QF_OP_tril, qfi_arg_tensor(l, "self"), qfi_arg_int(l, "diagonal")));
}

void qfi_build_eye(qfi_lowering *l)
{
    const int64_t n = qfi_arg_int(l, "n");
    const int64_t m = qfi_arg_get(l, "m")->kind != QFI_ARG_ABSENT ? qfi_arg_int(l, "m") : n;
    const qf_type type = { .dtype = qfi_arg_dtype(l, "dtype", QF_DT_f32),
                           .rank = 2,
                           .dim = { n, m } };

    qfi_result(
        l, triangle(l, QF_OP_triu, triangle(l, QF_OP_tril, qfi_full(l, type, one_number), 0), 0));
}

/* What was never written is as good as an element outside of a tensor: it has no value, and whoever
 * reads it stays. */
void qfi_build_empty(qfi_lowering *l)
{
    const qfi_node *node = &l->graph->node[l->node];
    const qf_type type = l->graph->value[node->first_out].type;
    const int64_t one = 1;

    for (int i = 0; i < type.rank; i++)
        if (type.dim[i] < 0)
            qfi_refuse(l, QF_REASON_unsupported_argument, "a size that is not known");
    if (type.rank < 0)
        qfi_refuse(l, QF_REASON_unsupported_argument, "a type that is not known");
    if (!qfi_lowering_ok(l))
        return;
    const qfi_ref none = qfi_expand(l, qfi_full_int(l, type.dtype, 0), 1, &one),
                  outside = qfi_expand(l, qfi_full_int(l, QF_DT_i64, INT64_MAX), 1, &one);
    const qfi_ref value = qfi_reshape(l, qfi_select_rows(l, none, 0, outside), 0, NULL);
    if (l->env->reason == QF_REASON_undefined) { /* somebody reads it */
        l->env->reason = QF_REASON_none;
        qfi_refuse(l, QF_REASON_uninitialised, "it is read before it is written");
    }
    qfi_result(l, qfi_expand_like(l, value, type));
}
