/* Builders of operators that look at the strides of their operand. */
#include "aten_build.h"

#include <string.h>

static const qfi_value *self_value(qfi_lowering *l)
{
    const qfi_arg *self = qfi_arg_get(l, "self");
    return self->kind == QFI_ARG_TENSOR ? &l->graph->value[self->value] : NULL;
}

/* Whether the elements of a value lie side by side in row-major order. */
static bool is_row_major(const qfi_value *value)
{
    int64_t step = 1;

    if (!value || !value->strided)
        return false;
    for (int i = value->type.rank - 1; i >= 0; i--) {
        if (value->type.dim[i] != 1 && value->stride[i] != step)
            return false;
        step *= value->type.dim[i];
    }
    return true;
}

void qfi_build_sym_stride(qfi_lowering *l)
{
    const qf_type type = qfi_type_of(l, qfi_arg_tensor(l, "self"));
    const uint8_t dim = qfi_dim(l, qfi_arg_int(l, "dim"), type.rank);
    const qfi_value *value = self_value(l);

    if (!type.rank || !value || !value->strided || value->type.rank != type.rank) {
        qfi_refuse(l, QF_REASON_unsupported_argument, "the strides are not recorded");
        return;
    }
    qfi_result(l, qfi_full_int(l, QF_DT_i64, value->stride[dim]));
}

void qfi_build_sym_storage_offset(qfi_lowering *l)
{
    const qfi_value *value = self_value(l);

    if (!value || !value->strided) {
        qfi_refuse(l, QF_REASON_unsupported_argument, "the offset is not recorded");
        return;
    }
    qfi_result(l, qfi_full_int(l, QF_DT_i64, value->offset));
}

/* The elements that as_strided names, among those of a row-major operand: offset + sum(index *
 * stride). */
typedef struct pattern {
    uint32_t rank;
    int64_t size[QF_MAX_RANK], stride[QF_MAX_RANK], offset;
} pattern;

static bool read_pattern(qfi_lowering *l, int64_t base, pattern *p)
{
    const uint32_t n = qfi_arg_ints(l, "stride", p->stride, QF_MAX_RANK);
    const bool moved = qfi_arg_has(l, "storage_offset");
    int64_t reach;

    p->rank = qfi_arg_ints(l, "size", p->size, QF_MAX_RANK);
    p->offset = moved ? qfi_arg_int(l, "storage_offset") - base : 0;
    reach = p->offset;
    for (uint32_t i = 0; i < p->rank && i < n; i++) {
        int64_t far;
        if (p->size[i] < 1 || p->stride[i] < 0 ||
            __builtin_mul_overflow(p->size[i] - 1, p->stride[i], &far) ||
            __builtin_add_overflow(reach, far, &reach))
            reach = INT64_MAX;
    }
    if (p->rank == n && p->offset >= 0 && reach < qfi_elements_of(l, qfi_arg_tensor(l, "self")))
        return qfi_lowering_ok(l);
    qfi_refuse(l, QF_REASON_unsupported_argument, "elements beyond the tensor");
    return false;
}

/* The dims of a pattern that move, by descending stride; their count. */
static uint32_t moving_dims(const pattern *p, uint8_t *order)
{
    uint32_t n = 0;

    for (uint8_t i = 0; i < p->rank; i++) {
        if (p->size[i] == 1 || !p->stride[i])
            continue;
        uint32_t at = n++;
        for (; at && p->stride[order[at - 1]] < p->stride[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return n;
}

/* Cuts x, whose last dim is `width` elements, to every stride'th of them from *offset on, `size` in
 * all: [.., size, stride], with *offset left within the last dim. QFI_NONE if it is no box. */
static qfi_ref cut(qfi_lowering *l, qfi_ref x, int64_t size, int64_t stride, int64_t *offset)
{
    const qf_type type = qfi_type_of(l, x);
    const uint32_t last = (uint32_t)type.rank - 1;
    const int64_t start = *offset / stride, n = type.dim[last] / stride;
    int64_t dim[QF_MAX_RANK + 1];

    if (type.dim[last] % stride || start > n - size || last + 2 > QF_MAX_RANK)
        return QFI_NONE;
    memcpy(dim, type.dim, last * sizeof *dim);
    dim[last] = n;
    dim[last + 1] = stride;
    *offset %= stride;
    return qfi_slice(l, qfi_reshape(l, x, last + 2, dim), (uint8_t)last, start, size);
}

/* The pattern as reshapes, slices and a permutation; QFI_NONE if there are none. */
static qfi_ref as_view(qfi_lowering *l, qfi_ref flat, const pattern *p)
{
    uint8_t order[QF_MAX_RANK], place[QF_MAX_RANK] = { 0 };
    int64_t kept[QF_MAX_RANK], offset = p->offset;
    const uint32_t n = moving_dims(p, order);
    uint32_t rank = 0;
    qfi_ref x = flat;

    for (uint32_t i = 0; i < n; i++) {
        x = cut(l, x, p->size[order[i]], p->stride[order[i]], &offset);
        if (x == QFI_NONE)
            return x;
    }
    const qf_attrs pick = { .slice = { .dim = (uint8_t)n, .start = offset, .step = 1, .n = 1 } };
    x = qfi_append1(l, QF_OP_select, &pick, x);
    for (uint8_t i = 0; i < p->rank; i++)
        for (uint32_t k = 0; k < n; k++)
            if (order[k] == i)
                place[rank++] = (uint8_t)k;
    for (uint32_t i = 0; i < p->rank; i++)
        kept[i] = p->size[i] != 1 && p->stride[i] ? p->size[i] : 1;
    x = qfi_reshape(l, qfi_permute(l, x, place), p->rank, kept);
    return qfi_expand(l, x, p->rank, p->size);
}

/* The pattern by indices. */
static qfi_ref as_picked(qfi_lowering *l, qfi_ref flat, const pattern *p)
{
    const qf_attrs first = { .dim = { 0 } };
    qfi_ref at = qfi_full_int(l, QF_DT_i64, p->offset);

    for (uint32_t i = 0; i < p->rank; i++) {
        const qf_attrs count = {
            .arange = { .type = { .dtype = QF_DT_i64, .rank = 1, .dim = { p->size[i] } },
                        .start = { .is_int = true },
                        .step = { .is_int = true, .i = p->stride[i] } }
        };
        const qfi_ref step = qfi_append(l, QF_OP_arange, &count, NULL, 0);
        at = qfi_append2(l, QF_OP_add, i ? qfi_unsqueeze(l, at, (uint8_t)i) : at, step);
    }
    const qfi_ref picked =
        qfi_append(l, QF_OP_index_select, &first, (const qfi_ref[]){ flat, qfi_flatten(l, at) }, 2);
    return qfi_reshape(l, picked, p->rank, p->size);
}

void qfi_build_as_strided(qfi_lowering *l)
{
    const qfi_value *value = self_value(l);
    pattern p;

    if (!is_row_major(value)) {
        qfi_refuse(l, QF_REASON_unsupported_argument, "strides over strides");
        return;
    }
    const qfi_ref flat = qfi_flatten(l, qfi_arg_tensor(l, "self"));
    if (!read_pattern(l, value->offset, &p))
        return;
    const qfi_ref view = as_view(l, flat, &p);
    qfi_result(l, view == QFI_NONE && qfi_lowering_ok(l) ? as_picked(l, flat, &p) : view);
}
