/* Builders of quantized_decomposed: quantize and dequantize per tensor, channel, group and token,
 * in torch's order of steps. */
#include "aten_build.h"

#include <math.h>
#include <string.h>

/* Where scales and zero points stand: one for every block of the data. */
typedef struct grid {
    int64_t block[QF_MAX_RANK], dim[QF_MAX_RANK];
    uint32_t rank;
} grid;

static grid whole_tensor(qf_type type)
{
    grid g = { .rank = (uint32_t)type.rank };

    for (int i = 0; i < type.rank; i++) {
        g.block[i] = type.dim[i] ? type.dim[i] : 1;
        g.dim[i] = 1;
    }
    return g;
}

static grid per_channel(qfi_lowering *l, qf_type type)
{
    grid g = whole_tensor(type);
    const uint8_t axis = qfi_dim(l, qfi_arg_int(l, "axis"), type.rank);

    if (type.rank < 1)
        qfi_refuse(l, QF_REASON_undefined, "channels of a scalar");
    g.block[axis] = 1;
    g.dim[axis] = type.dim[axis];
    return g;
}

/* An operand of one element per block: a number or tensor of one element, or a tensor of as many
 * elements as blocks. */
static qfi_ref on_grid(qfi_lowering *l, const char *name, const grid *g, qf_dtype dtype)
{
    const qfi_operand x = qfi_arg_operand(l, name);
    const qfi_ref ref = qfi_operand_as(l, &x, dtype);
    int64_t n = 1;

    for (uint32_t i = 0; i < g->rank; i++)
        n *= g->dim[i];
    if (qfi_lowering_ok(l) && qfi_elements_of(l, ref) != n)
        qfi_refuse(l, QF_REASON_undefined, "%s has not %lld elements", name, (long long)n);
    return qfi_reshape(l, ref, g->rank, g->dim);
}

/* ---- bounds ---- */

static int64_t bound(qfi_lowering *l, const char *name)
{
    qf_scalar value[64];
    uint32_t n = 0;

    if (qfi_arg_get(l, name)->kind != QFI_ARG_TENSOR)
        return qfi_arg_int(l, name);
    const qfi_ref ref = qfi_arg_tensor(l, name);
    if (!qfi_lowering_ok(l))
        return 0;
    if (l->env->elements(l->env, ref, value, &n) && n == 1 && value[0].is_int)
        return value[0].i;
    qfi_refuse(l, QF_REASON_unsupported_argument, "argument %s", name);
    return 0;
}

/* Bounds that torch takes for a dtype. i32 up to 2^31 - 1 is left alone: the bound rounds to 2^31,
 * and the cast overflows. */
static const struct {
    qf_dtype dtype;
    int64_t min, max;
} limits[] = {
    { QF_DT_u8, 0, UINT8_MAX },
    { QF_DT_i8, INT8_MIN, INT8_MAX },
    { QF_DT_u16, 0, UINT16_MAX },
    { QF_DT_i16, INT16_MIN, INT16_MAX },
    { QF_DT_i32, INT32_MIN, INT32_MAX - 64 },
    { QF_DT_f8e4m3, -448, 448 },
    { QF_DT_f8e5m2, -57344, 57344 },
};

static void quant_range(qfi_lowering *l, qf_dtype dtype, qf_attrs *attrs)
{
    attrs->quant.dtype = dtype;
    attrs->quant.qmin = bound(l, "quant_min");
    attrs->quant.qmax = bound(l, "quant_max");
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (limits[i].dtype != dtype)
            continue;
        if (attrs->quant.qmin < limits[i].min || attrs->quant.qmax > limits[i].max)
            qfi_refuse(l, QF_REASON_undefined, "bounds %lld, %lld of %s",
                       (long long)attrs->quant.qmin, (long long)attrs->quant.qmax,
                       qf_dtype_get(dtype)->name);
        return;
    }
    qfi_refuse(l, QF_REASON_unsupported_dtype, "quantised to %s", qf_dtype_get(dtype)->name);
}

/* ---- quantize ---- */

/* Half inputs become f32; others are refused as torch refuses them. */
static qfi_ref real_input(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "input");
    const qf_dtype dtype = qfi_type_of(l, x).dtype;

    if (dtype != QF_DT_f32 && !qfi_is_half(dtype))
        qfi_refuse(l, QF_REASON_undefined, "%s is quantised", qf_dtype_get(dtype)->name);
    return qfi_cast(l, x, QF_DT_f32);
}

static void build_quantize(qfi_lowering *l, qfi_ref x, const grid *g, qfi_ref inverse,
                           const char *zero)
{
    qf_attrs attrs = { .quant = { .rule = QF_QUANT_TORCH } };
    const qfi_ref z = on_grid(l, zero, g, QF_DT_f32);

    quant_range(l, qfi_arg_dtype(l, "dtype", QF_DT_none), &attrs);
    memcpy(attrs.quant.block, g->block, sizeof g->block);
    qfi_result(l, qfi_append(l, QF_OP_quantize, &attrs, (const qfi_ref[]){ x, inverse, z }, 3));
}

/* The inverse of the scale is taken in double: torch reads it as a python number. */
void qfi_build_quantize_per_tensor(qfi_lowering *l)
{
    const qfi_ref x = real_input(l);
    const grid g = whole_tensor(qfi_type_of(l, x));
    const qfi_operand scale = qfi_arg_operand(l, "scale");
    qfi_ref inverse;

    if (scale.is_number) {
        inverse = qfi_reshape(l, qfi_scalar(l, QF_DT_f32, 1.0 / qfi_number_double(scale.number)),
                              g.rank, g.dim);
    } else {
        inverse = on_grid(l, "scale", &g, QF_DT_f64);
        inverse = qfi_cast(l, qfi_append1(l, QF_OP_reciprocal, NULL, inverse), QF_DT_f32);
    }
    build_quantize(l, x, &g, inverse, "zero_point");
}

/* op(a, b) in their common dtype. */
static qfi_ref promoted(qfi_lowering *l, qf_op op, qfi_ref a, qfi_ref b)
{
    const qf_dtype x = qfi_type_of(l, a).dtype, y = qfi_type_of(l, b).dtype;
    const qf_dtype dtype = qfi_promote(x, y);

    if (dtype == QF_DT_none) {
        qfi_refuse(l, QF_REASON_unsupported_dtype, "%s with %s", qf_dtype_get(x)->name,
                   qf_dtype_get(y)->name);
        return QFI_NONE;
    }
    return qfi_append2(l, op, qfi_cast(l, a, dtype), qfi_cast(l, b, dtype));
}

/* Quantisation in steps, each in the dtype that torch gives it: for scales that are f64, or where
 * the zero point is added before rounding. Operands broadcast. */
static qfi_ref quantize_steps(qfi_lowering *l, qfi_ref x, qfi_ref scale, qfi_ref zero,
                              bool zero_first)
{
    qf_attrs attrs = { .quant = { .rule = QF_QUANT_TORCH } };
    const qf_dtype dtype = qfi_arg_dtype(l, "dtype", QF_DT_none);

    quant_range(l, dtype, &attrs);
    x = promoted(l, QF_OP_mul, x, qfi_append1(l, QF_OP_reciprocal, NULL, scale));
    if (zero_first)
        x = promoted(l, QF_OP_add, x, zero);
    x = qfi_append1(l, QF_OP_round, NULL, x);
    if (!zero_first)
        x = promoted(l, QF_OP_add, x, zero);
    const qf_dtype work = qfi_type_of(l, x).dtype;
    x = qfi_append2(l, QF_OP_maximum, x, qfi_full_int(l, work, attrs.quant.qmin));
    x = qfi_append2(l, QF_OP_minimum, x, qfi_full_int(l, work, attrs.quant.qmax));
    return qfi_cast(l, x, dtype);
}

/* The inverse is taken in the dtype of the scales; f64 scales make every step f64. */
void qfi_build_quantize_per_channel(qfi_lowering *l)
{
    const qfi_ref x = real_input(l), zero = qfi_arg_tensor(l, "zero_points");
    const grid g = per_channel(l, qfi_type_of(l, x));
    const qf_dtype dtype = qfi_type_of(l, qfi_arg_tensor(l, "scales")).dtype;
    const qfi_ref scale = on_grid(l, "scales", &g, dtype);

    if (qfi_class(dtype) != QF_CLASS_FLOAT)
        qfi_refuse(l, QF_REASON_unsupported_dtype, "scales of %s", qf_dtype_get(dtype)->name);
    if (dtype == QF_DT_f64) {
        const qfi_ref z = qfi_reshape(l, zero, g.rank, g.dim);
        qfi_result(l, quantize_steps(l, x, scale, z, false));
        return;
    }
    const qfi_ref inverse = qfi_append1(l, QF_OP_reciprocal, NULL, scale);
    build_quantize(l, x, &g, qfi_cast(l, inverse, QF_DT_f32), "zero_points");
}

/* One scale for every row, shaped as the data with rows of 1: as torch's broadcasting needs it. */
static grid per_token(qfi_lowering *l, qf_type type)
{
    static const char *const names[] = { "scales", "zero_points" };
    grid g = whole_tensor(type);

    if (type.rank < 1) {
        qfi_refuse(l, QF_REASON_unsupported_rank, "rank 0");
        return g;
    }
    for (int i = 0; i + 1 < type.rank; i++) {
        g.block[i] = 1;
        g.dim[i] = type.dim[i];
    }
    for (int i = 0; i < 2; i++) {
        const qf_type own = qfi_type_of(l, qfi_arg_tensor(l, names[i]));
        if (own.rank != type.rank || memcmp(own.dim, g.dim, (size_t)type.rank * sizeof *g.dim) != 0)
            qfi_refuse(l, QF_REASON_unsupported_argument, "the shape of %s", names[i]);
    }
    return g;
}

static qfi_ref float_arg(qfi_lowering *l, const char *name)
{
    const qfi_ref x = qfi_arg_tensor(l, name);
    const qf_dtype dtype = qfi_type_of(l, x).dtype;

    if (qfi_class(dtype) != QF_CLASS_FLOAT)
        qfi_refuse(l, QF_REASON_unsupported_dtype, "%s of %s", name, qf_dtype_get(dtype)->name);
    return x;
}

void qfi_build_quantize_per_token(qfi_lowering *l)
{
    const qfi_ref x = float_arg(l, "input"), scale = float_arg(l, "scales");

    per_token(l, qfi_type_of(l, x));
    qfi_result(l, quantize_steps(l, x, scale, qfi_arg_tensor(l, "zero_points"), true));
}

/* Groups of elements of a row share a scale; one group may be larger than the row. */
static grid per_group(qfi_lowering *l, qf_type type)
{
    const qf_type scale = qfi_type_of(l, qfi_arg_tensor(l, "scales"));
    int64_t size = qfi_arg_int(l, "group_size");
    grid g = { .rank = 2 };

    if (type.rank == 2 && size > type.dim[1] && scale.rank && scale.dim[scale.rank - 1] == 1)
        size = type.dim[1];
    if (type.rank != 2 || size < 1 || type.dim[1] % size) {
        qfi_refuse(l, QF_REASON_undefined, "groups of %lld in a tensor of rank %d", (long long)size,
                   type.rank);
        return g;
    }
    g.block[0] = 1;
    g.block[1] = size;
    g.dim[0] = type.dim[0];
    g.dim[1] = type.dim[1] / size;
    return g;
}

void qfi_build_quantize_per_channel_group(qfi_lowering *l)
{
    const qfi_ref x = float_arg(l, "input"), scale = float_arg(l, "scales");
    const qfi_ref zero = qfi_arg_tensor(l, "zero_points");
    const qf_type type = qfi_type_of(l, x);
    const grid g = per_group(l, type);

    if (!qfi_lowering_ok(l))
        return;
    const int64_t n = g.dim[0] * g.dim[1], rows[2] = { n, g.block[1] }, ones[2] = { n, 1 };
    const qfi_ref q = quantize_steps(l, qfi_reshape(l, x, 2, rows), qfi_reshape(l, scale, 2, ones),
                                     qfi_reshape(l, zero, 2, ones), true);
    qfi_result(l, qfi_reshape(l, q, 2, type.dim));
}

/* ---- dequantize ---- */

static void build_dequantize(qfi_lowering *l, const grid *g, qfi_ref scale, qfi_ref zero,
                             qf_dtype dtype)
{
    const qfi_ref q = qfi_arg_tensor(l, "input");
    qf_attrs attrs = { .quant = { .dtype = dtype, .rule = QF_QUANT_TORCH } };

    attrs.quant.qmin = bound(l, "quant_min");
    attrs.quant.qmax = bound(l, "quant_max");
    if (qfi_lowering_ok(l) && qfi_arg_dtype(l, "dtype", QF_DT_none) != qfi_type_of(l, q).dtype)
        qfi_refuse(l, QF_REASON_undefined, "data of another dtype than stated");
    memcpy(attrs.quant.block, g->block, sizeof g->block);
    qfi_result(l, qfi_append(l, QF_OP_dequantize, &attrs, (const qfi_ref[]){ q, scale, zero }, 3));
}

/* Data and zero point meet in the result's dtype; the scale stays f32, so a half result is rounded
 * after each step. */
void qfi_build_dequantize_per_tensor(qfi_lowering *l)
{
    const grid g = whole_tensor(qfi_type_of(l, qfi_arg_tensor(l, "input")));
    const qf_dtype dtype = qfi_arg_dtype(l, "out_dtype", QF_DT_f32);

    build_dequantize(l, &g, on_grid(l, "scale", &g, QF_DT_f32), on_grid(l, "zero_point", &g, dtype),
                     dtype);
}

/* Scales in their own dtype, or that of a float difference if it is wider; zero points in the dtype
 * in which they meet the data, which may wrap; none are zeros. */
static void dequantize_on(qfi_lowering *l, const grid *g, qf_dtype dtype)
{
    const qf_dtype data = qfi_type_of(l, qfi_arg_tensor(l, "input")).dtype;
    qf_dtype scale = qfi_type_of(l, qfi_arg_tensor(l, "scales")).dtype;
    qfi_ref zero;

    if (qfi_class(scale) != QF_CLASS_FLOAT)
        qfi_refuse(l, QF_REASON_unsupported_dtype, "scales of %s", qf_dtype_get(scale)->name);
    if (qfi_arg_has(l, "zero_points")) {
        const qf_dtype own = qfi_type_of(l, qfi_arg_tensor(l, "zero_points")).dtype;
        const qf_dtype meet = qfi_promote(data, own);
        if (meet == QF_DT_none)
            qfi_refuse(l, QF_REASON_unsupported_dtype, "%s minus %s", qf_dtype_get(data)->name,
                       qf_dtype_get(own)->name);
        if (qfi_class(meet) == QF_CLASS_FLOAT)
            scale = qfi_promote(meet, scale);
        zero = on_grid(l, "zero_points", g, meet);
    } else {
        zero = qfi_expand(l, qfi_full_int(l, data, 0), g->rank, g->dim);
    }
    build_dequantize(l, g, on_grid(l, "scales", g, scale), zero, dtype);
}

void qfi_build_dequantize_per_channel(qfi_lowering *l)
{
    const grid g = per_channel(l, qfi_type_of(l, qfi_arg_tensor(l, "input")));
    dequantize_on(l, &g, qfi_arg_dtype(l, "out_dtype", QF_DT_f32));
}

void qfi_build_dequantize_per_channel_group(qfi_lowering *l)
{
    const grid g = per_group(l, qfi_type_of(l, qfi_arg_tensor(l, "input")));

    if (qfi_lowering_ok(l))
        dequantize_on(l, &g, qfi_arg_dtype(l, "output_dtype", QF_DT_f32));
}

void qfi_build_dequantize_per_token(qfi_lowering *l)
{
    const grid g = per_token(l, qfi_type_of(l, qfi_arg_tensor(l, "input")));

    if (qfi_lowering_ok(l))
        dequantize_on(l, &g, qfi_arg_dtype(l, "output_dtype", QF_DT_f32));
}
