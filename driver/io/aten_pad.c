/* Builders of padding with elements of the tensor itself, and of shuffles between channels and
 * space. */
#include "aten_build.h"

#include <string.h>

/* ---- pads ---- */

typedef enum pad_mode { REFLECT, REPLICATE, CIRCULAR, CONSTANT, N_PAD_MODE } pad_mode;

/* The number of the element, of `size`, that stands at each of `at` places from -before on. */
static qfi_ref mirrored(qfi_lowering *l, qfi_ref at, int64_t size)
{
    const qfi_ref last = qfi_full_int(l, QF_DT_i64, size - 1),
                  front = qfi_append1(l, QF_OP_abs, NULL, at),
                  back = qfi_append1(l, QF_OP_abs, NULL, qfi_append2(l, QF_OP_sub, last, front));

    return qfi_append2(l, QF_OP_sub, last, back);
}

static qfi_ref nearest(qfi_lowering *l, qfi_ref at, int64_t size)
{
    const qfi_ref above = qfi_append2(l, QF_OP_maximum, at, qfi_full_int(l, QF_DT_i64, 0));
    return qfi_append2(l, QF_OP_minimum, above, qfi_full_int(l, QF_DT_i64, size - 1));
}

static qfi_ref around(qfi_lowering *l, qfi_ref at, int64_t size)
{
    return qfi_append2(l, QF_OP_remainder, at, qfi_full_int(l, QF_DT_i64, size));
}

/* How each mode finds its elements, and how far it reaches: so many elements more or less than the
 * dim has. */
static const struct {
    const char *name;
    qfi_ref (*find)(qfi_lowering *l, qfi_ref at, int64_t size);
    bool bounded;
    int64_t reach;
} pad_modes[N_PAD_MODE] = {
    [REFLECT] = { "reflect", mirrored, true, -1 },
    [REPLICATE] = { "replicate", nearest, false, 0 },
    [CIRCULAR] = { "circular", around, true, 0 },
    [CONSTANT] = { "constant", NULL, false, 0 },
};

/* What negative pads take away, before the rest goes around. */
static qfi_ref crop_dim(qfi_lowering *l, qfi_ref x, uint8_t dim, int64_t *pad)
{
    const int64_t size = qfi_type_of(l, x).dim[dim];
    const int64_t before = pad[0] < 0 ? pad[0] : 0, after = pad[1] < 0 ? pad[1] : 0;

    if (before < -size || after < -size - before) {
        qfi_refuse(l, QF_REASON_undefined, "%lld and %lld elements around %lld", (long long)before,
                   (long long)after, (long long)size);
        return QFI_NONE;
    }
    pad[0] -= before;
    pad[1] -= after;
    return before || after ? qfi_slice(l, x, dim, -before, size + before + after) : x;
}

static qfi_ref pad_dim(qfi_lowering *l, qfi_ref x, uint8_t dim, const int64_t *pad, pad_mode mode)
{
    const int64_t size = qfi_type_of(l, x).dim[dim], reach = size + pad_modes[mode].reach;
    int64_t n;

    if (!pad[0] && !pad[1])
        return x;
    if (size < 1 || __builtin_add_overflow(size, pad[0], &n) ||
        __builtin_add_overflow(n, pad[1], &n) || n < 0 ||
        (pad_modes[mode].bounded && (pad[0] > reach || pad[1] > reach))) {
        qfi_refuse(l, QF_REASON_undefined, "%lld and %lld elements around %lld", (long long)pad[0],
                   (long long)pad[1], (long long)size);
        return QFI_NONE;
    }
    const qfi_ref from = qfi_full_int(l, QF_DT_i64, -pad[0]),
                  at = qfi_append2(l, QF_OP_add, qfi_count_by(l, n, 1), from);
    return qfi_select_rows(l, x, dim, pad_modes[mode].find(l, at, size));
}

/* Pads stand in pairs from the last dim on. */
static void pad_by_itself(qfi_lowering *l, const char *name, pad_mode mode)
{
    qfi_ref x = qfi_arg_tensor(l, "self");
    const int rank = qfi_type_of(l, x).rank;
    int64_t pad[2 * QF_MAX_RANK];
    const uint32_t n = qfi_arg_ints(l, name, pad, 2 * QF_MAX_RANK);

    if (n % 2 || (int)n > 2 * rank)
        qfi_refuse(l, QF_REASON_undefined, "%u pads of a tensor of rank %d", (unsigned)n, rank);
    for (uint32_t i = 0; i < n / 2 && qfi_lowering_ok(l); i++) {
        const uint8_t dim = (uint8_t)(rank - 1 - (int)i);
        if (mode == CIRCULAR)
            x = crop_dim(l, x, dim, &pad[2 * i]);
        if (qfi_lowering_ok(l))
            x = pad_dim(l, x, dim, &pad[2 * i], mode);
    }
    qfi_result(l, x);
}

void qfi_build_reflection_pad(qfi_lowering *l)
{
    pad_by_itself(l, "padding", REFLECT);
}
void qfi_build_replication_pad(qfi_lowering *l)
{
    pad_by_itself(l, "padding", REPLICATE);
}
void qfi_build_circular_pad(qfi_lowering *l)
{
    pad_by_itself(l, "pad", CIRCULAR);
}

void qfi_build_pad(qfi_lowering *l)
{
    const qfi_arg *name = qfi_arg_get(l, "mode");

    for (int mode = 0; mode < N_PAD_MODE && name->kind == QFI_ARG_TEXT; mode++) {
        if (!qfi_str_is(name->text, pad_modes[mode].name))
            continue;
        if (mode == CONSTANT)
            qfi_build_constant_pad(l);
        else
            pad_by_itself(l, "pad", (pad_mode)mode);
        return;
    }
    qfi_refuse(l, QF_REASON_unsupported_argument, "argument mode");
}

/* ---- shuffles ---- */

static bool shuffle_rank(qfi_lowering *l, int rank, int least)
{
    if (rank < least)
        qfi_refuse(l, QF_REASON_undefined, "a tensor of rank %d", rank);
    if (rank + 2 > QF_MAX_RANK)
        qfi_refuse(l, QF_REASON_unsupported_rank, "rank %d", rank + 2);
    return qfi_lowering_ok(l);
}

/* x as `split`, which is its dims with the last three as five, these in `order`,
 * and put together as `whole`. */
static qfi_ref shuffled(qfi_lowering *l, qfi_ref x, const int64_t split[5], const uint8_t order[5],
                        const int64_t whole[3])
{
    const qf_type type = qfi_type_of(l, x);
    const int front = type.rank - 3;
    int64_t dim[QF_MAX_RANK] = { 0 };
    uint8_t to[QF_MAX_RANK] = { 0 };

    memcpy(dim, type.dim, (size_t)front * sizeof *dim);
    memcpy(dim + front, split, 5 * sizeof *dim);
    for (int i = 0; i < front + 5; i++)
        to[i] = (uint8_t)(i < front ? i : front + order[i - front]);
    x = qfi_permute(l, qfi_reshape(l, x, (uint32_t)front + 5, dim), to);
    memcpy(dim + front, whole, 3 * sizeof *dim);
    return qfi_reshape(l, x, (uint32_t)front + 3, dim);
}

/* [.., c r r, h, w] to [.., c, h r, w r] */
void qfi_build_pixel_shuffle(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, x);
    const int64_t r = qfi_arg_int(l, "upscale_factor");

    if (!shuffle_rank(l, type.rank, 3))
        return;
    const int64_t *dim = &type.dim[type.rank - 3];
    if (r < 1 || r > INT32_MAX || dim[0] % (r * r)) {
        qfi_refuse(l, QF_REASON_undefined, "%lld channels by %lld", (long long)dim[0],
                   (long long)r);
        return;
    }
    const int64_t c = dim[0] / (r * r), split[] = { c, r, r, dim[1], dim[2] },
                  whole[] = { c, dim[1] * r, dim[2] * r };
    qfi_result(l, shuffled(l, x, split, (const uint8_t[]){ 0, 3, 1, 4, 2 }, whole));
}

/* [.., c, h r, w r] to [.., c r r, h, w] */
void qfi_build_pixel_unshuffle(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, x);
    const int64_t r = qfi_arg_int(l, "downscale_factor");

    if (!shuffle_rank(l, type.rank, 3))
        return;
    const int64_t *dim = &type.dim[type.rank - 3];
    if (r < 1 || r > INT32_MAX || dim[1] % r || dim[2] % r) {
        qfi_refuse(l, QF_REASON_undefined, "%lld x %lld by %lld", (long long)dim[1],
                   (long long)dim[2], (long long)r);
        return;
    }
    const int64_t h = dim[1] / r, w = dim[2] / r, split[] = { dim[0], h, r, w, r },
                  whole[] = { dim[0] * r * r, h, w };
    qfi_result(l, shuffled(l, x, split, (const uint8_t[]){ 0, 2, 4, 1, 3 }, whole));
}

/* Channels [groups, rest] as [rest, groups]. */
void qfi_build_channel_shuffle(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, x);
    const int64_t groups = qfi_arg_int(l, "groups");
    int64_t dim[QF_MAX_RANK] = { 0 };

    if (type.rank < 3 || groups < 1 || type.dim[1] % groups) {
        qfi_refuse(l, QF_REASON_undefined, "%lld groups", (long long)groups);
        return;
    }
    if (type.rank == QF_MAX_RANK) {
        qfi_refuse(l, QF_REASON_unsupported_rank, "rank %d", QF_MAX_RANK + 1);
        return;
    }
    dim[0] = type.dim[0];
    dim[1] = groups;
    dim[2] = type.dim[1] / groups;
    memcpy(dim + 3, type.dim + 2, (size_t)(type.rank - 2) * sizeof *dim);
    const qfi_ref split = qfi_reshape(l, x, (uint32_t)type.rank + 1, dim);
    qfi_result(l, qfi_reshape(l, qfi_transpose(l, split, 1, 2), (uint32_t)type.rank, type.dim));
}
