/* Builders of torchao: quantize and dequantize by blocks, and the choice of scales and zero points,
 * in the order of steps and in the dtypes that it has. */
#include "aten_build.h"

#include <math.h>
#include <string.h>

/* Data cut into blocks. split: its shape with every dim that is cut as two, of which `within` are
 * the dims inside a block; one: that shape with 1 for them; whole: the shape of the data; blocks:
 * how many there are along each of its dims. */
typedef struct blocks {
    uint32_t rank, n, within;
    int64_t size[QF_MAX_RANK], whole[QF_MAX_RANK], blocks[QF_MAX_RANK];
    int64_t split[2 * QF_MAX_RANK], one[2 * QF_MAX_RANK];
} blocks;

static void add_dim(blocks *b, int64_t size, bool within)
{
    b->split[b->n] = size;
    b->one[b->n] = within ? 1 : size;
    b->within |= (uint32_t)within << b->n++;
}

static blocks block_arg(qfi_lowering *l, qf_type type)
{
    blocks b = { .rank = (uint32_t)type.rank };
    const uint32_t n = qfi_arg_ints(l, "block_size", b.size, QF_MAX_RANK);

    memcpy(b.whole, type.dim, sizeof b.whole);
    for (int i = 0; i < type.rank && n == b.rank; i++) {
        const int64_t size = b.size[i], dim = type.dim[i];
        const bool cut = size != dim && size > 1;
        if (size < 1 || (cut && dim % size)) {
            qfi_refuse(l, QF_REASON_undefined, "blocks of %lld in %lld elements", (long long)size,
                       (long long)dim);
            return b;
        }
        b.blocks[i] = dim / size;
        if (cut)
            add_dim(&b, dim / size, false);
        add_dim(&b, cut ? size : dim, size != 1);
    }
    if (n != b.rank)
        qfi_refuse(l, QF_REASON_undefined, "%u block sizes for rank %d", (unsigned)n, type.rank);
    return b;
}

/* An operand of one element per block, in a shape. */
static qfi_ref per_block(qfi_lowering *l, const char *name, uint32_t rank, const int64_t *dim)
{
    const qfi_ref x = qfi_arg_tensor(l, name);
    int64_t n = 1;

    for (uint32_t i = 0; i < rank; i++)
        n *= dim[i];
    if (qfi_lowering_ok(l) && qfi_elements_of(l, x) != n)
        qfi_refuse(l, QF_REASON_undefined, "%s has not %lld elements", name, (long long)n);
    return qfi_reshape(l, x, rank, dim);
}

static qf_dtype float_dtype(qfi_lowering *l, const char *name)
{
    const qf_dtype dtype = qfi_type_of(l, qfi_arg_tensor(l, name)).dtype;

    if (qfi_class(dtype) != QF_CLASS_FLOAT || qf_dtype_get(dtype)->bits < 16)
        qfi_refuse(l, QF_REASON_unsupported_dtype, "%s of %s", name, qf_dtype_get(dtype)->name);
    return dtype;
}

/* A dtype argument whose default the schema writes as a number. */
static qf_dtype dtype_arg(qfi_lowering *l, const char *name, qf_dtype fallback)
{
    return qfi_arg_get(l, name)->kind == QFI_ARG_DTYPE ? qfi_arg_get(l, name)->dtype : fallback;
}

/* Data that torchao quantises: f32 and halves. */
static qfi_ref real_arg(qfi_lowering *l, const char *name)
{
    const qf_dtype dtype = float_dtype(l, name);

    if (dtype == QF_DT_f64)
        qfi_refuse(l, QF_REASON_undefined, "f64 is quantised");
    return qfi_arg_tensor(l, name);
}

/* ---- bounds ---- */

typedef struct range {
    int64_t least, most;
} range;

static int64_t bound_arg(qfi_lowering *l, const char *name, int64_t fallback)
{
    const qfi_arg *arg = qfi_arg_get(l, name);

    if (arg->kind == QFI_ARG_NUMBER && !arg->number.v.is_int &&
        trunc(arg->number.v.f) == arg->number.v.f && fabs(arg->number.v.f) < 0x1p53)
        return (int64_t)arg->number.v.f;
    return qfi_arg_has(l, name) ? qfi_arg_int(l, name) : fallback;
}

/* The bounds that are given, or those of the dtype, which none may leave. */
static range range_arg(qfi_lowering *l, qf_dtype dtype)
{
    static const struct {
        qf_dtype dtype;
        range holds;
    } limits[] = {
        { QF_DT_u8, { 0, UINT8_MAX } },          { QF_DT_i8, { INT8_MIN, INT8_MAX } },
        { QF_DT_i16, { INT16_MIN, INT16_MAX } }, { QF_DT_i32, { INT32_MIN, INT32_MAX } },
        { QF_DT_f8e4m3, { -448, 448 } },         { QF_DT_f8e5m2, { -57344, 57344 } },
    };

    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const range holds = limits[i].holds;
        if (limits[i].dtype != dtype)
            continue;
        const range r = { bound_arg(l, "quant_min", holds.least),
                          bound_arg(l, "quant_max", holds.most) };
        if (r.least < holds.least || r.most > holds.most || r.least > r.most)
            qfi_refuse(l, QF_REASON_undefined, "bounds %lld, %lld of %s", (long long)r.least,
                       (long long)r.most, qf_dtype_get(dtype)->name);
        return r;
    }
    qfi_refuse(l, QF_REASON_unsupported_dtype, "quantised to %s", qf_dtype_get(dtype)->name);
    return (range){ 0, 0 };
}

static qfi_ref clamped(qfi_lowering *l, qfi_ref x, range r)
{
    const qf_dtype dtype = qfi_type_of(l, x).dtype;

    x = qfi_append2(l, QF_OP_maximum, x, qfi_full_int(l, dtype, r.least));
    return qfi_append2(l, QF_OP_minimum, x, qfi_full_int(l, dtype, r.most));
}

/* op(a, b) in the dtype of float operands in common, which is *dtype before and after. */
static qfi_ref meet(qfi_lowering *l, qf_op op, qfi_ref a, qfi_ref b)
{
    const qf_dtype dtype = qfi_promote(qfi_type_of(l, a).dtype, qfi_type_of(l, b).dtype);

    if (dtype == QF_DT_none) {
        qfi_refuse(l, QF_REASON_unsupported_dtype, "dtypes without a common one");
        return QFI_NONE;
    }
    return qfi_append2(l, op, qfi_cast(l, a, dtype), qfi_cast(l, b, dtype));
}

/* ---- quantize, dequantize ---- */

/* clamp(round(x * (1 / scale)) + zero point): by one call where that is f32, else step by step. */
void qfi_build_quantize_affine(qfi_lowering *l)
{
    const qfi_ref x = real_arg(l, "input"), zero = qfi_arg_tensor(l, "zero_point");
    const qf_type type = qfi_type_of(l, x);
    const blocks b = block_arg(l, type);
    const qf_dtype dtype = qfi_arg_dtype(l, "output_dtype", QF_DT_none),
                   scales = float_dtype(l, "scale"), own = qfi_type_of(l, zero).dtype;
    const range r = range_arg(l, dtype);
    const bool single = qfi_class(own) != QF_CLASS_FLOAT || own == QF_DT_f32 || qfi_is_half(own);

    if (!qfi_lowering_ok(l))
        return;
    if (qfi_promote(type.dtype, scales) != QF_DT_f32 || !single || dtype == QF_DT_i32) {
        const qfi_ref scale = per_block(l, "scale", b.n, b.one),
                      by = qfi_append1(l, QF_OP_reciprocal, NULL, scale);
        qfi_ref q = qfi_append1(l, QF_OP_round, NULL,
                                meet(l, QF_OP_mul, qfi_reshape(l, x, b.n, b.split), by));
        q = clamped(l, meet(l, QF_OP_add, q, per_block(l, "zero_point", b.n, b.one)), r);
        qfi_result(l, qfi_reshape(l, qfi_cast(l, q, dtype), b.rank, b.whole));
        return;
    }
    qf_attrs attrs = {
        .quant = { .dtype = dtype, .rule = QF_QUANT_TORCH, .qmin = r.least, .qmax = r.most }
    };
    memcpy(attrs.quant.block, b.size, sizeof b.size);
    const qfi_ref scale = per_block(l, "scale", b.rank, b.blocks),
                  by = qfi_append1(l, QF_OP_reciprocal, NULL, scale);
    const qfi_ref in[3] = { qfi_cast(l, x, QF_DT_f32), qfi_cast(l, by, QF_DT_f32),
                            qfi_cast(l, per_block(l, "zero_point", b.rank, b.blocks), QF_DT_f32) };
    qfi_result(l, qfi_append(l, QF_OP_quantize, &attrs, in, 3));
}

/* Data and zero point meet in the result's dtype, and take the scale's if that is wider. */
void qfi_build_dequantize_affine(qfi_lowering *l)
{
    const qfi_ref q = qfi_arg_tensor(l, "input");
    const qf_type type = qfi_type_of(l, q);
    const blocks b = block_arg(l, type);
    const qf_dtype dtype = dtype_arg(l, "output_dtype", QF_DT_f32),
                   scales = qfi_promote(dtype, float_dtype(l, "scale"));
    qf_attrs attrs = { .quant = { .dtype = dtype, .rule = QF_QUANT_TORCH } };

    if (qfi_lowering_ok(l) && qfi_arg_dtype(l, "input_dtype", QF_DT_none) != type.dtype)
        qfi_refuse(l, QF_REASON_undefined, "data of another dtype than stated");
    if (dtype != QF_DT_f32 && !qfi_is_half(dtype))
        qfi_refuse(l, QF_REASON_undefined, "dequantised to %s", qf_dtype_get(dtype)->name);
    const range r = range_arg(l, type.dtype);
    attrs.quant.qmin = r.least;
    attrs.quant.qmax = r.most;
    memcpy(attrs.quant.block, b.size, sizeof b.size);
    if (!qfi_lowering_ok(l))
        return;
    const qfi_ref scale = qfi_cast(l, per_block(l, "scale", b.rank, b.blocks), scales);
    const qfi_ref zero = qfi_arg_has(l, "zero_point")
                             ? qfi_cast(l, per_block(l, "zero_point", b.rank, b.blocks), dtype)
                             : qfi_expand(l, qfi_full_int(l, dtype, 0), b.rank, b.blocks);
    qfi_result(l, qfi_append(l, QF_OP_dequantize, &attrs, (const qfi_ref[]){ q, scale, zero }, 3));
}

/* ---- scales and zero points ---- */

/* Of equal ones the second: a zero is positive. */
static qfi_ref at_most(qfi_lowering *l, qfi_ref a, qfi_ref b)
{
    return qfi_append2(l, QF_OP_minimum, b, a);
}
static qfi_ref at_least(qfi_lowering *l, qfi_ref a, qfi_ref b)
{
    return qfi_append2(l, QF_OP_maximum, b, a);
}

static double smallest_normal(qf_dtype dtype)
{
    return dtype == QF_DT_f16 ? 0x1p-14 : 0x1p-126;
}

typedef enum mapping { SYMMETRIC, NO_CLIPPING, ASYMMETRIC, N_MAPPING } mapping;

static mapping mapping_arg(qfi_lowering *l)
{
    static const char *const names[] = { [SYMMETRIC] = "SYMMETRIC",
                                         [NO_CLIPPING] = "SYMMETRIC_NO_CLIPPING_ERR",
                                         [ASYMMETRIC] = "ASYMMETRIC" };
    const qfi_arg *arg = qfi_arg_get(l, "mapping_type");

    for (int i = 0; i < N_MAPPING && arg->kind == QFI_ARG_TEXT; i++)
        if (qfi_str_is(arg->text, names[i]))
            return (mapping)i;
    qfi_refuse(l, QF_REASON_unsupported_argument, "argument mapping_type");
    return SYMMETRIC;
}

/* The scale that spans the range from `low` to `high`, which holds zero. */
static qfi_ref scale_of(qfi_lowering *l, mapping map, qfi_ref low, qfi_ref high, range r)
{
    const double span = (double)(r.most - r.least);

    if (map == ASYMMETRIC)
        return qfi_divide_by(l, qfi_append2(l, QF_OP_sub, high, low), span);
    if (map == SYMMETRIC)
        return qfi_divide_by(l, at_least(l, qfi_append1(l, QF_OP_neg, NULL, low), high), span / 2);
    const qfi_ref below = qfi_divide_by(l, low, (double)r.least),
                  above = qfi_divide_by(l, high, (double)r.most);
    return qfi_append3(l, QF_OP_where, qfi_append2(l, QF_OP_gt, below, above), below, above);
}

/* (least + most + 1) / 2, truncated, for every pair. */
static int64_t middle_of(range r)
{
    const int64_t odd = r.least % 2 + r.most % 2 + 1;
    const int64_t middle = r.least / 2 + r.most / 2 + odd / 2;

    return odd % 2 && middle && (middle < 0) != (odd < 0) ? middle + (middle < 0 ? 1 : -1) : middle;
}

void qfi_build_choose_qparams_affine(qfi_lowering *l)
{
    const qfi_ref x = real_arg(l, "input");
    const qf_type type = qfi_type_of(l, x);
    const blocks b = block_arg(l, type);
    const mapping map = mapping_arg(l);
    const range r = range_arg(l, qfi_arg_dtype(l, "target_dtype", QF_DT_none));
    const double eps = qfi_arg_has(l, "eps") ? qfi_number_double(qfi_arg_number(l, "eps"))
                                             : smallest_normal(type.dtype);
    const bool keep = qfi_arg_bool(l, "keepdim");
    const qfi_ref none = qfi_full_int(l, type.dtype, 0), cut = qfi_reshape(l, x, b.n, b.split);

    if (!qfi_elements_of(l, x))
        qfi_refuse(l, QF_REASON_undefined, "the range of no elements");
    /* No dims to reduce are all of them, for torch. */
    const uint32_t dims = b.within ? b.within : (1u << b.n) - 1;
    const qfi_ref low = at_most(l, qfi_reduce(l, QF_OP_amin, cut, dims, keep), none),
                  high = at_least(l, qfi_reduce(l, QF_OP_amax, cut, dims, keep), none);
    qfi_ref scale = qfi_append2(l, QF_OP_maximum, scale_of(l, map, low, high, r),
                                qfi_scalar(l, type.dtype, eps));
    qf_dtype zeros =
        qfi_arg_dtype(l, "zero_point_dtype", map == ASYMMETRIC ? QF_DT_i32 : type.dtype);
    const qfi_ref steps = qfi_append1(l, QF_OP_round, NULL, qfi_append2(l, QF_OP_div, low, scale));
    const qfi_ref at = qfi_append2(l, QF_OP_sub, qfi_full_int(l, type.dtype, r.least), steps);
    qfi_ref zero = map == ASYMMETRIC ? clamped(l, at, r)
                                     : qfi_expand_like(l, qfi_full_int(l, type.dtype, middle_of(r)),
                                                       qfi_type_of(l, scale));
    if (keep) {
        scale = qfi_reshape(l, scale, b.rank, b.blocks);
        zero = qfi_reshape(l, zero, b.rank, b.blocks);
    }
    qfi_give(l, 0, qfi_cast(l, scale, qfi_arg_dtype(l, "scale_dtype", type.dtype)));
    qfi_give(l, 1, qfi_cast(l, zero, zeros));
}

/* ---- 8-bit floats ---- */

/* The scale as often as its blocks in the data have elements; as it is where it broadcasts. */
static qfi_ref spread_scale(qfi_lowering *l, qfi_ref scale, qf_type type)
{
    const qf_type from = qfi_type_of(l, scale);
    int64_t cut[2 * QF_MAX_RANK], wide[2 * QF_MAX_RANK], dim[QF_MAX_RANK];
    uint32_t n = 0;

    if (from.rank != type.rank || qfi_elements_of(l, scale) == 1)
        return scale;
    for (int i = 0; i < type.rank; i++) {
        const bool repeats = from.dim[i] != 1 && from.dim[i] != type.dim[i];
        if (repeats && (from.dim[i] < 1 || type.dim[i] % from.dim[i])) {
            qfi_refuse(l, QF_REASON_undefined, "%lld scales for %lld elements",
                       (long long)from.dim[i], (long long)type.dim[i]);
            return scale;
        }
        dim[i] = repeats ? type.dim[i] : from.dim[i];
        cut[n] = wide[n] = from.dim[i];
        n++;
        if (repeats) {
            cut[n] = 1;
            wide[n++] = type.dim[i] / from.dim[i];
        }
    }
    return qfi_reshape(l, qfi_expand(l, qfi_reshape(l, scale, n, cut), n, wide),
                       (uint32_t)type.rank, dim);
}

static qf_dtype float8_arg(qfi_lowering *l, double *largest)
{
    const qf_dtype dtype = dtype_arg(l, "float8_dtype", QF_DT_f8e4m3);

    *largest = dtype == QF_DT_f8e4m3 ? 448.0 : 57344.0;
    if (dtype != QF_DT_f8e4m3 && dtype != QF_DT_f8e5m2)
        qfi_refuse(l, QF_REASON_unsupported_dtype, "%s", qf_dtype_get(dtype)->name);
    return dtype;
}

/* op(tensor as f32, scale), in the dtype of both: a scale without dims does not widen it. */
static qfi_ref scaled(qfi_lowering *l, qf_op op)
{
    const qfi_ref tensor = qfi_arg_tensor(l, "tensor"), scale = qfi_arg_tensor(l, "scale");
    const qfi_operand in[2] = { { .ref = qfi_cast(l, tensor, QF_DT_f32) },
                                { .ref = spread_scale(l, scale, qfi_type_of(l, tensor)) } };
    const qf_dtype dtype = qfi_result_dtype(l, in, 2);

    return qfi_append2(l, op, qfi_operand_as(l, &in[0], dtype), qfi_operand_as(l, &in[1], dtype));
}

void qfi_build_quantize_float8(qfi_lowering *l)
{
    double largest;
    const qf_dtype dtype = float8_arg(l, &largest);
    const range r = { -(int64_t)largest, (int64_t)largest };

    qfi_result(l, qfi_cast(l, clamped(l, scaled(l, QF_OP_div), r), dtype));
}

void qfi_build_dequantize_float8(qfi_lowering *l)
{
    qfi_result(l, qfi_cast(l, scaled(l, QF_OP_mul), dtype_arg(l, "output_dtype", QF_DT_f32)));
}

/* The largest element of each block, over the largest number of the dtype; a scale that is a power
 * of two is left alone. */
void qfi_build_choose_scale_float8(qfi_lowering *l)
{
    static const char *const ends[] = { "hp_value_lb", "hp_value_ub" };
    const qfi_ref x = real_arg(l, "tensor");
    const qf_type type = qfi_type_of(l, x);
    const blocks b = block_arg(l, type);
    const qfi_ref size = qfi_append1(l, QF_OP_abs, NULL, qfi_reshape(l, x, b.n, b.split));
    qfi_ref most = qfi_reduce(l, QF_OP_amax, size, b.within ? b.within : (1u << b.n) - 1, true);
    double largest;

    float8_arg(l, &largest);
    if (dtype_arg(l, "scale_dtype", QF_DT_f32) != QF_DT_f32)
        qfi_refuse(l, QF_REASON_unsupported_argument, "argument scale_dtype");
    for (int i = 0; i < 2; i++)
        if (qfi_arg_has(l, ends[i]))
            most = qfi_append2(
                l, i == 0 ? QF_OP_maximum : QF_OP_minimum, most,
                qfi_scalar(l, type.dtype, qfi_number_double(qfi_arg_number(l, ends[i]))));
    qfi_result(l, qfi_cast(l, qfi_reshape(l, qfi_divide_by(l, most, largest), b.rank, b.blocks),
                           QF_DT_f32));
}
