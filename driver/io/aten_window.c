/* Builders of convolutions and pools: the tensor is cut into windows by index, which a product or a
 * reduction then takes. */
#include "aten_build.h"

#include <math.h>
#include <string.h>

#define MAX_SPACE 3

/* Windows over the last `n` dims of a tensor: n_out of them along each, of `size` elements that
 * stand `dilation` apart, one every `stride`; `before` elements are added in front of the dim. */
typedef struct windows {
    int n;
    int64_t size[MAX_SPACE], stride[MAX_SPACE], dilation[MAX_SPACE], before[MAX_SPACE];
    int64_t n_out[MAX_SPACE];
} windows;

/* n integers; one stands for all, none for `fallback`. */
static void space_arg(qfi_lowering *l, const char *name, int n, const int64_t *fallback,
                      int64_t *out)
{
    int64_t given[MAX_SPACE];
    const bool there = qfi_arg_get(l, name)->kind != QFI_ARG_ABSENT;
    const uint32_t m = there ? qfi_arg_ints(l, name, given, MAX_SPACE) : 0;

    if (m > 1 && m != (uint32_t)n)
        qfi_refuse(l, QF_REASON_undefined, "%u values in %s for %d dimensions", (unsigned)m, name,
                   n);
    for (int i = 0; i < n; i++)
        out[i] = m == 0 ? fallback[i] : given[m == 1 ? 0 : i];
}

static const int64_t ones[MAX_SPACE] = { 1, 1, 1 }, zeros[MAX_SPACE] = { 0, 0, 0 };

/* How many windows there are; with `rounds_up`, one more that begins inside of what is padded in
 * front or of the tensor, and reaches beyond. */
static void count_windows(qfi_lowering *l, windows *w, const int64_t *dim, bool rounds_up)
{
    const int64_t most = INT32_MAX;

    for (int i = 0; i < w->n; i++) {
        const int64_t size = w->size[i], stride = w->stride[i], apart = w->dilation[i];
        if (size < 1 || stride < 1 || apart < 1 || w->before[i] < 0 || size > most ||
            apart > most || stride > most || w->before[i] > most || dim[i] > INT64_MAX / 4) {
            qfi_refuse(l, QF_REASON_undefined, "windows of %lld elements", (long long)size);
            return;
        }
        const int64_t room = dim[i] + 2 * w->before[i] - apart * (size - 1) - 1;
        if (room < 0) {
            qfi_refuse(l, QF_REASON_undefined, "no window of %lld elements", (long long)size);
            return;
        }
        w->n_out[i] = (room + (rounds_up ? stride - 1 : 0)) / stride + 1;
        if (rounds_up && (w->n_out[i] - 1) * stride >= dim[i] + w->before[i])
            w->n_out[i]--;
    }
}

/* [front.., d..] as [front.., n_out.., size..]: every window whole. `fill` stands beyond the
 * tensor. */
static qfi_ref cut_windows(qfi_lowering *l, qfi_ref x, const windows *w, qfi_ref fill)
{
    const qf_type type = qfi_type_of(l, x);
    const int front = type.rank - w->n;
    qf_attrs pad = { .pad = { { 0 }, { 0 } } };
    int64_t dim[2 * QF_MAX_RANK];
    uint8_t order[2 * QF_MAX_RANK] = { 0 };
    bool pads = false;

    if (front + 2 * w->n > QF_MAX_RANK)
        qfi_refuse(l, QF_REASON_unsupported_rank, "rank %d", front + 2 * w->n);
    for (int i = 0; i < w->n; i++) {
        const int64_t end =
                          (w->n_out[i] - 1) * w->stride[i] + w->dilation[i] * (w->size[i] - 1) + 1,
                      after = end - w->before[i] - type.dim[front + i];
        pad.pad.before[front + i] = w->before[i];
        pad.pad.after[front + i] = after > 0 ? after : 0;
        pads = pads || w->before[i] > 0 || after > 0;
    }
    if (pads)
        x = qfi_append(l, QF_OP_pad, &pad, (const qfi_ref[]){ x, fill }, 2);
    memcpy(dim, type.dim, (size_t)front * sizeof *dim);
    for (int i = 0; i < w->n && qfi_lowering_ok(l); i++) {
        const qfi_ref starts = qfi_unsqueeze(l, qfi_count_by(l, w->n_out[i], w->stride[i]), 1);
        const qfi_ref at =
            qfi_append2(l, QF_OP_add, starts, qfi_count_by(l, w->size[i], w->dilation[i]));
        x = qfi_select_rows(l, x, (uint8_t)(front + i), at);
        dim[front + 2 * i] = w->n_out[i];
        dim[front + 2 * i + 1] = w->size[i];
    }
    for (int i = 0; i < front; i++)
        order[i] = (uint8_t)i;
    for (int i = 0; i < w->n; i++) {
        order[front + i] = (uint8_t)(front + 2 * i);
        order[front + w->n + i] = (uint8_t)(front + 2 * i + 1);
    }
    return qfi_permute(l, qfi_reshape(l, x, (uint32_t)(front + 2 * w->n), dim), order);
}

/* ---- convolution ---- */

static int64_t product_of(const int64_t *dim, int n)
{
    int64_t all = 1;

    for (int i = 0; i < n; i++)
        all *= dim[i];
    return all;
}

/* Every window of [n, groups, c, ..] against every filter of [groups, out, c, ..]: a product of
 * [out, c size] by [c size, windows] for each group. */
static qfi_ref convolve(qfi_lowering *l, qfi_ref x, qfi_ref weight, const windows *w,
                        int64_t groups)
{
    const qf_type type = qfi_type_of(l, x), filter = qfi_type_of(l, weight);
    const int64_t out = filter.dim[0] / groups, c = filter.dim[1], n = type.dim[0];
    const int64_t inner = c * product_of(w->size, w->n), places = product_of(w->n_out, w->n);
    const qf_dtype work = qfi_is_half(type.dtype) ? QF_DT_f32 : type.dtype;
    int64_t dim[QF_MAX_RANK] = { n, filter.dim[0] };
    uint8_t order[QF_MAX_RANK] = { 0, 1 };

    qfi_ref cut = cut_windows(l, qfi_cast(l, x, work), w, qfi_full_int(l, work, 0));
    for (int i = 0; i < w->n; i++) {
        order[2 + i] = (uint8_t)(2 + w->n + i);
        order[2 + w->n + i] = (uint8_t)(2 + i);
        dim[2 + i] = w->n_out[i];
    }
    cut = qfi_reshape(l, qfi_permute(l, cut, order), 4,
                      (const int64_t[]){ n, groups, inner, places });
    const qfi_ref filters =
        qfi_reshape(l, qfi_cast(l, weight, work), 3, (const int64_t[]){ groups, out, inner });
    return qfi_reshape(l, qfi_append2(l, QF_OP_matmul, filters, cut), (uint32_t)(2 + w->n), dim);
}

/* torch fixes neither the order of its sums nor where halves are rounded. */
static void convolution(qfi_lowering *l, qfi_ref x, windows *w, int64_t groups)
{
    const qfi_ref weight = qfi_arg_tensor(l, "weight");
    const qf_type type = qfi_type_of(l, x), filter = qfi_type_of(l, weight);

    w->n = filter.rank - 2;
    if (w->n < 1 || w->n > MAX_SPACE || type.rank != filter.rank || groups < 1 ||
        qfi_class(type.dtype) != QF_CLASS_FLOAT || filter.dtype != type.dtype ||
        filter.dim[1] > type.dim[1] / groups || filter.dim[1] * groups != type.dim[1] ||
        filter.dim[0] % groups) {
        qfi_refuse(l, QF_REASON_undefined, "a convolution of ranks %d and %d", type.rank,
                   filter.rank);
        return;
    }
    memcpy(w->size, &filter.dim[2], (size_t)w->n * sizeof *w->size);
    count_windows(l, w, &type.dim[2], false);
    if (!qfi_lowering_ok(l))
        return;
    qfi_ref y = convolve(l, x, weight, w, groups);
    if (qfi_arg_has(l, "bias")) {
        int64_t dim[QF_MAX_RANK] = { filter.dim[0], 1, 1, 1 };
        const qf_dtype work = qfi_type_of(l, y).dtype;
        const qfi_ref bias = qfi_cast(l, qfi_arg_tensor(l, "bias"), work);
        y = qfi_append2(l, QF_OP_add, y, qfi_reshape(l, bias, (uint32_t)(1 + w->n), dim));
    }
    qfi_result(l, qfi_cast(l, y, type.dtype));
}

/* A batch may be missing in conv1d and its like; the general operator says whether it is
 * transposed. */
void qfi_build_convolution(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "input");
    const int n = qfi_type_of(l, qfi_arg_tensor(l, "weight")).rank - 2;
    windows w = { .n = n };

    if (qfi_arg_has(l, "transposed") && qfi_arg_bool(l, "transposed"))
        qfi_refuse(l, QF_REASON_unsupported_argument, "argument transposed");
    if (n < 1 || n > MAX_SPACE || qfi_type_of(l, x).rank != n + 2) {
        qfi_refuse(l, QF_REASON_unsupported_rank, "rank %d", qfi_type_of(l, x).rank);
        return;
    }
    space_arg(l, "stride", n, ones, w.stride);
    space_arg(l, "padding", n, zeros, w.before);
    space_arg(l, "dilation", n, ones, w.dilation);
    convolution(l, x, &w, qfi_arg_int(l, "groups"));
}

/* ---- pools ---- */

/* The windows of a pool over the last n dims. */
static bool pool_windows(qfi_lowering *l, qfi_ref x, int n, windows *w)
{
    const qf_type type = qfi_type_of(l, x);

    *w = (windows){ .n = n };
    if (type.rank < n + 1 || type.rank > n + 2 || qfi_class(type.dtype) != QF_CLASS_FLOAT) {
        qfi_refuse(l, QF_REASON_unsupported_argument, "a pool of %s of rank %d",
                   qf_dtype_get(type.dtype)->name, type.rank);
        return false;
    }
    space_arg(l, "kernel_size", n, ones, w->size);
    space_arg(l, "stride", n, w->size, w->stride);
    space_arg(l, "padding", n, zeros, w->before);
    space_arg(l, "dilation", n, ones, w->dilation);
    for (int i = 0; i < n; i++)
        if (w->before[i] > w->size[i] / 2)
            qfi_refuse(l, QF_REASON_undefined, "a padding of %lld", (long long)w->before[i]);
    count_windows(l, w, &type.dim[type.rank - n], qfi_arg_bool(l, "ceil_mode"));
    return qfi_lowering_ok(l);
}

/* The last n dims as a set. */
static uint32_t last_dims(qfi_lowering *l, qfi_ref x, int n)
{
    return ((1u << n) - 1) << (qfi_type_of(l, x).rank - n);
}

/* The number that torch divides by: of the elements of a window that are in the tensor, or also of
 * the padding, but not of what lies beyond that. */
static qfi_ref count_elements(qfi_lowering *l, const windows *w, const int64_t *dim, qf_dtype dtype,
                              bool pads)
{
    windows all = *w;
    qf_type type = { .dtype = dtype, .rank = (int8_t)w->n };

    for (int i = 0; i < w->n; i++) {
        type.dim[i] = dim[i] + (pads ? 2 * w->before[i] : 0);
        all.before[i] = pads ? 0 : w->before[i];
    }
    const qfi_ref there = qfi_expand_like(l, qfi_full_int(l, dtype, 1), type),
                  cut = cut_windows(l, there, &all, qfi_full_int(l, dtype, 0));
    return qfi_reduce(l, QF_OP_sum, cut, last_dims(l, cut, w->n), false);
}

static void avg_pool(qfi_lowering *l, int n)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, x);
    const qf_dtype work = qfi_is_half(type.dtype) ? QF_DT_f32 : type.dtype;
    windows w;

    if (!pool_windows(l, x, n, &w))
        return;
    const qfi_ref cut = cut_windows(l, qfi_cast(l, x, work), &w, qfi_full_int(l, work, 0)),
                  sum = qfi_reduce(l, QF_OP_sum, cut, last_dims(l, cut, n), false);
    const qfi_ref by = qfi_arg_has(l, "divisor_override")
                           ? qfi_full_int(l, work, qfi_arg_int(l, "divisor_override"))
                           : count_elements(l, &w, &type.dim[type.rank - n], work,
                                            qfi_arg_bool(l, "count_include_pad"));
    qfi_result(l, qfi_cast(l, qfi_append2(l, QF_OP_div, sum, by), type.dtype));
}

void qfi_build_avg_pool1d(qfi_lowering *l)
{
    avg_pool(l, 1);
}
void qfi_build_avg_pool2d(qfi_lowering *l)
{
    avg_pool(l, 2);
}
void qfi_build_avg_pool3d(qfi_lowering *l)
{
    avg_pool(l, 3);
}

/* Which element of the tensor, of `numbers` of its last dims, stands at `place` of each window. */
static qfi_ref place_in_tensor(qfi_lowering *l, qfi_ref numbers, qfi_ref place, const windows *w)
{
    const qfi_ref cut = cut_windows(l, numbers, w, qfi_full_int(l, QF_DT_i64, 0));
    const int64_t n_window = product_of(w->n_out, w->n), size = product_of(w->size, w->n);
    const qf_type type = qfi_type_of(l, place);

    /* A row of n_window windows for every element in front; window i begins at i * size. */
    const qfi_ref starts =
        qfi_reshape(l, qfi_count_by(l, n_window, size), (uint32_t)w->n, w->n_out);
    const qfi_ref each = qfi_append2(l, QF_OP_add, place, starts);
    return qfi_reshape(l, qfi_select_rows(l, qfi_flatten(l, cut), 0, each), (uint32_t)type.rank,
                       type.dim);
}

/* The largest element of each window and, where it is used, its place in the tensor. */
static void max_pool(qfi_lowering *l, int n)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, x);
    const qfi_node *node = &l->graph->node[l->node];
    const bool used = node->n_out > 1 && l->graph->value[node->first_out + 1].n_use > 0;
    windows w;

    if (!pool_windows(l, x, n, &w))
        return;
    const qfi_ref lowest = qfi_scalar(l, type.dtype, -(double)INFINITY),
                  cut = cut_windows(l, x, &w, lowest);
    const uint32_t dims = last_dims(l, cut, n);
    qfi_give(l, 0, qfi_reduce(l, QF_OP_amax, cut, dims, false));
    if (!used)
        return;
    qf_type space = { .rank = (int8_t)n };
    memcpy(space.dim, &type.dim[type.rank - n], (size_t)n * sizeof *space.dim);
    const qfi_ref numbers =
        qfi_reshape(l, qfi_count_by(l, product_of(space.dim, n), 1), (uint32_t)n, space.dim);
    const qfi_ref place = qfi_reduce(l, QF_OP_argmax, cut, dims, false);
    qfi_give(l, 1, place_in_tensor(l, numbers, place, &w));
}

void qfi_build_max_pool1d(qfi_lowering *l)
{
    max_pool(l, 1);
}
void qfi_build_max_pool2d(qfi_lowering *l)
{
    max_pool(l, 2);
}
void qfi_build_max_pool3d(qfi_lowering *l)
{
    max_pool(l, 3);
}

/* The mean of equal parts of a dim, which may overlap by an element. */
static qfi_ref adapt_dim(qfi_lowering *l, qfi_ref x, uint8_t dim, int64_t n_out)
{
    const int64_t size = qfi_type_of(l, x).dim[dim];
    const qf_attrs along = { .reduce = { 1u << (dim + 1), false } };
    qf_type type = qfi_type_of(l, x);
    int64_t split[QF_MAX_RANK + 1];

    if (n_out < 1 || size < 1 || type.rank == QF_MAX_RANK || size % n_out) {
        qfi_refuse(l, QF_REASON_unsupported_argument, "%lld parts of %lld elements",
                   (long long)n_out, (long long)size);
        return QFI_NONE;
    }
    memcpy(split, type.dim, dim * sizeof *split);
    split[dim] = n_out;
    split[dim + 1] = size / n_out;
    memcpy(split + dim + 2, type.dim + dim + 1, (size_t)(type.rank - dim - 1) * sizeof *split);
    return qfi_append1(l, QF_OP_mean, &along, qfi_reshape(l, x, (uint32_t)type.rank + 1, split));
}

/* Over as many of the last dims as output_size names. */
void qfi_build_adaptive_avg_pool(qfi_lowering *l)
{
    const qfi_ref self = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, self);
    const qf_dtype work = qfi_is_half(type.dtype) ? QF_DT_f32 : type.dtype;
    qfi_ref x = qfi_cast(l, self, work);
    int64_t size[MAX_SPACE];
    const int n = (int)qfi_arg_ints(l, "output_size", size, MAX_SPACE);

    if (type.rank < n || qfi_class(type.dtype) != QF_CLASS_FLOAT)
        qfi_refuse(l, QF_REASON_undefined, "a pool of %s of rank %d",
                   qf_dtype_get(type.dtype)->name, type.rank);
    for (int i = 0; i < n && qfi_lowering_ok(l); i++)
        x = adapt_dim(l, x, (uint8_t)(type.rank - n + i), size[i]);
    qfi_result(l, qfi_cast(l, x, type.dtype));
}
