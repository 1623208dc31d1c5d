/* Builders of upsampling: along each of the last dims, elements are picked by index and blended by
 * weights, both of which torch computes in the dtype of its steps from where an element of the
 * result lies. */
#include "aten_build.h"

#include <math.h>

#define MAX_SPACE 3

/* One dim of the result. ratio: elements of the operand for each one of the result. */
typedef struct axis {
    uint8_t dim;
    int64_t from, to;
    double ratio;
    bool corners;
} axis;

/* Elements that each one of the result is blended of. */
#define MAX_TAPS 4
typedef struct taps {
    int n;
    qfi_ref at[MAX_TAPS], weight[MAX_TAPS];
} taps;

static qfi_ref step(qfi_lowering *l, qf_op op, qfi_ref x, double y)
{
    return qfi_append2(l, op, x, qfi_scalar(l, qfi_type_of(l, x).dtype, y));
}

/* Floats as numbers of elements, at least 0 and less than `size`. */
static qfi_ref inside(qfi_lowering *l, qfi_ref at, int64_t size)
{
    at = qfi_append2(l, QF_OP_maximum, at, qfi_full_int(l, QF_DT_i64, 0));
    return qfi_append2(l, QF_OP_minimum, at, qfi_full_int(l, QF_DT_i64, size - 1));
}

/* 0, 1, 2 … as floats. */
static qfi_ref places(qfi_lowering *l, const axis *a, qf_dtype work)
{
    return qfi_cast(l, qfi_count_by(l, a->to, 1), work);
}

/* ---- where an element of the result lies ---- */

static qfi_ref source_of(qfi_lowering *l, const axis *a, qf_dtype work)
{
    const qfi_ref i = places(l, a, work);

    if (a->corners)
        return step(l, QF_OP_mul, i, a->ratio);
    return step(l, QF_OP_sub, step(l, QF_OP_mul, step(l, QF_OP_add, i, 0.5), a->ratio), 0.5);
}

typedef taps find_taps(qfi_lowering *l, const axis *a, qf_dtype work);

/* The element below; positions are f32 whatever the tensor is. */
static taps nearest_below(qfi_lowering *l, const axis *a, double shift)
{
    const qfi_ref i = places(l, a, QF_DT_f32);
    const qfi_ref at = step(l, QF_OP_mul, shift != 0 ? step(l, QF_OP_add, i, shift) : i, a->ratio);
    const qfi_ref below = qfi_cast(l, qfi_append1(l, QF_OP_floor, NULL, at), QF_DT_i64);

    return (taps){ .n = 1, .at = { inside(l, below, a->from) } };
}

static taps nearest_taps(qfi_lowering *l, const axis *a, qf_dtype work)
{
    (void)work;
    return nearest_below(l, a, 0);
}

static taps nearest_exact_taps(qfi_lowering *l, const axis *a, qf_dtype work)
{
    (void)work;
    return nearest_below(l, a, 0.5);
}

static taps linear_taps(qfi_lowering *l, const axis *a, qf_dtype work)
{
    const qfi_ref source = step(l, QF_OP_maximum, source_of(l, a, work), 0);
    const qfi_ref floor = qfi_append1(l, QF_OP_floor, NULL, source),
                  above = qfi_append2(l, QF_OP_sub, source, floor),
                  at = inside(l, qfi_cast(l, floor, QF_DT_i64), a->from);
    const qfi_ref next = qfi_append2(l, QF_OP_add, at, qfi_full_int(l, QF_DT_i64, 1));

    return (taps){ .n = 2,
                   .at = { at, inside(l, next, a->from) },
                   .weight = { qfi_append2(l, QF_OP_sub, qfi_scalar(l, work, 1), above), above } };
}

/* Weights of the two elements `x` away, x up to 1, and of the two between 1 and 2 away. */
static qfi_ref cubic_near(qfi_lowering *l, qfi_ref x)
{
    const qfi_ref slope = step(l, QF_OP_sub, step(l, QF_OP_mul, x, 1.25), 2.25);
    const qfi_ref square = qfi_append2(l, QF_OP_mul, qfi_append2(l, QF_OP_mul, slope, x), x);
    return step(l, QF_OP_add, square, 1);
}

static qfi_ref cubic_far(qfi_lowering *l, qfi_ref x)
{
    /* A of torch's kernel is -0.75: ((A x - 5A) x + 8A) x - 4A. */
    qfi_ref y = step(l, QF_OP_add, step(l, QF_OP_mul, x, -0.75), 3.75);
    y = step(l, QF_OP_sub, qfi_append2(l, QF_OP_mul, y, x), 6);
    return step(l, QF_OP_add, qfi_append2(l, QF_OP_mul, y, x), 3);
}

static taps cubic_taps(qfi_lowering *l, const axis *a, qf_dtype work)
{
    const qfi_ref source = source_of(l, a, work);
    const qfi_ref floor = qfi_append1(l, QF_OP_floor, NULL, source),
                  above = qfi_append2(l, QF_OP_sub, source, floor),
                  below = qfi_append2(l, QF_OP_sub, qfi_scalar(l, work, 1), above),
                  at = qfi_cast(l, floor, QF_DT_i64);
    taps t = { .n = 4,
               .weight = { cubic_far(l, step(l, QF_OP_add, above, 1)), cubic_near(l, above),
                           cubic_near(l, below), cubic_far(l, step(l, QF_OP_add, below, 1)) } };

    for (int i = 0; i < t.n; i++)
        t.at[i] =
            inside(l, qfi_append2(l, QF_OP_add, at, qfi_full_int(l, QF_DT_i64, i - 1)), a->from);
    return t;
}

/* ---- blending ---- */

static qfi_ref resample_dim(qfi_lowering *l, qfi_ref x, const axis *a, find_taps *find)
{
    const qf_type type = qfi_type_of(l, x);
    const taps t = find(l, a, type.dtype);
    int64_t dim[QF_MAX_RANK] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    qfi_ref sum = QFI_NONE;

    dim[a->dim] = a->to;
    for (int i = 0; i < t.n; i++) {
        const qfi_ref part = qfi_select_rows(l, x, a->dim, t.at[i]);
        if (t.n == 1)
            return part;
        const qfi_ref term =
            qfi_append2(l, QF_OP_mul, part, qfi_reshape(l, t.weight[i], (uint32_t)type.rank, dim));
        sum = i == 0 ? term : qfi_append2(l, QF_OP_add, sum, term);
    }
    return sum;
}

/* A scale of one dim, by name or from a list; 0 if none is given. */
static double scale_arg(qfi_lowering *l, int i, int n)
{
    static const char *const names[MAX_SPACE][MAX_SPACE] = {
        { "scales" }, { "scales_h", "scales_w" }, { "scales_d", "scales_h", "scales_w" }
    };
    const qfi_arg *list = qfi_arg_get(l, "scale_factors");
    const char *name = names[n - 1][i];

    if (list->kind == QFI_ARG_NUMBERS && list->n == (uint32_t)n)
        return qfi_number_double(list->numbers[i]);
    return qfi_arg_has(l, name) ? qfi_number_double(qfi_arg_number(l, name)) : 0;
}

/* How far apart, in the operand, neighbours of the result lie. */
static double ratio_of(const axis *a, double scale, bool corners)
{
    if (corners)
        return a->to > 1 ? (double)(a->from - 1) / (double)(a->to - 1) : 0;
    return scale > 0 ? 1 / scale : (double)a->from / (double)a->to;
}

/* Of the last n dims. Sums are in another order than torch's. */
static void resample(qfi_lowering *l, int n, find_taps *find, bool blends)
{
    const bool named = qfi_arg_get(l, "input")->kind != QFI_ARG_ABSENT;
    const qfi_ref self = qfi_arg_tensor(l, named ? "input" : "self");
    const qf_type type = qfi_type_of(l, self);
    const qf_dtype work = blends && qfi_is_half(type.dtype) ? QF_DT_f32 : type.dtype;
    const bool corners = blends && qfi_arg_bool(l, "align_corners");
    const bool sized = qfi_arg_has(l, "output_size");
    qfi_ref x = qfi_cast(l, self, work);
    int64_t size[MAX_SPACE] = { 0 };

    if (type.rank != n + 2 || qfi_class(type.dtype) != QF_CLASS_FLOAT ||
        (sized && qfi_arg_ints(l, "output_size", size, MAX_SPACE) != (uint32_t)n)) {
        qfi_refuse(l, QF_REASON_unsupported_argument, "%s of rank %d",
                   qf_dtype_get(type.dtype)->name, type.rank);
        return;
    }
    for (int i = 0; i < n && qfi_lowering_ok(l); i++) {
        axis a = { .dim = (uint8_t)(2 + i), .from = type.dim[2 + i], .corners = corners };
        const double scale = scale_arg(l, i, n), wide = floor((double)a.from * scale);
        a.to = sized ? size[i] : wide < 0x1p31 ? (int64_t)wide : 0;
        if (a.from < 1 || a.to < 1)
            qfi_refuse(l, QF_REASON_undefined, "%lld elements of %lld", (long long)a.to,
                       (long long)a.from);
        a.ratio = a.to > 0 ? ratio_of(&a, scale, corners) : 0;
        if (a.to != a.from || scale > 0)
            x = resample_dim(l, x, &a, find);
    }
    l->env->inexact |= blends;
    qfi_result(l, qfi_cast(l, x, type.dtype));
}

#define RESAMPLE(name, n, find, blends)                                                            \
    void qfi_build_##name(qfi_lowering *l)                                                         \
    {                                                                                              \
        resample(l, n, find, blends);                                                              \
    }

RESAMPLE(upsample_nearest1d, 1, nearest_taps, false)
RESAMPLE(upsample_nearest2d, 2, nearest_taps, false)
RESAMPLE(upsample_nearest3d, 3, nearest_taps, false)
RESAMPLE(upsample_nearest_exact1d, 1, nearest_exact_taps, false)
RESAMPLE(upsample_nearest_exact2d, 2, nearest_exact_taps, false)
RESAMPLE(upsample_nearest_exact3d, 3, nearest_exact_taps, false)
RESAMPLE(upsample_linear1d, 1, linear_taps, true)
RESAMPLE(upsample_bilinear2d, 2, linear_taps, true)
RESAMPLE(upsample_trilinear3d, 3, linear_taps, true)
RESAMPLE(upsample_bicubic2d, 2, cubic_taps, true)
