/* Lowering of results that are put together from boxes: the box at hand is cut until it lies in one
 * of them. */
#include <string.h>

#include "dispatch/ops/op.h"

/* Whether a coordinate is below a limit, in the whole box. */
static qf_status is_below(qfi_builder *b, uint32_t id, const qfi_form *row, int64_t limit,
                          bool *below)
{
    return qfi_change_box(b, qfi_form_compare(row, limit, &b->box, below), id);
}

qf_status qfi_lower_cat(qfi_builder *b, uint32_t id, uint16_t kernel, const qfi_form *row,
                        uint8_t *ref)
{
    const int dim = qfi_step(b, id)->attrs.dim.dim;
    qfi_form in[QF_MAX_RANK];
    int64_t begin = 0;
    bool below = false;
    int i = 0;

    (void)kernel;
    for (;; i++) {
        const int64_t end = begin + qfi_in_type(b, id, i)->dim[dim];
        if (i == qfi_step(b, id)->n_in - 1)
            break;
        QF_TRY(is_below(b, id, &row[dim], end, &below));
        if (below)
            break;
        begin = end;
    }
    memcpy(in, row, sizeof *in * (size_t)b->value[id].type.rank);
    in[dim].base -= begin;
    return qfi_lower_in(b, id, i, in, ref);
}

qf_status qfi_lower_roll(qfi_builder *b, uint32_t id, uint16_t kernel, const qfi_form *row,
                         uint8_t *ref)
{
    const qf_type *type = &b->value[id].type;
    qfi_form in[QF_MAX_RANK];

    (void)kernel;
    memcpy(in, row, sizeof *in * (size_t)type->rank);
    for (int d = 0; d < type->rank; d++) {
        const int64_t n = type->dim[d], shift = (qfi_step(b, id)->attrs.roll.shift[d] % n + n) % n;
        bool wraps;
        QF_TRY(is_below(b, id, &row[d], shift, &wraps));
        in[d].base += (wraps ? n : 0) - shift;
    }
    return qfi_lower_in(b, id, 0, in, ref);
}

/* Whether the box lies in start, start + step …, n of them; *part is then the coordinate in that
 * part. */
static qf_status in_part(qfi_builder *b, uint32_t id, const qfi_form *row, bool *inside,
                         qfi_form *part)
{
    const qf_attrs *at = &qfi_step(b, id)->attrs;
    const bool slice = qfi_step(b, id)->op == QF_OP_slice_scatter;
    const int64_t start = at->slice.start, step = slice ? at->slice.step : 1,
                  n = slice ? at->slice.n : 1;
    qfi_form from_start = *row, rest;
    bool below;

    *inside = false;
    if (n == 0)
        return QF_OK;
    QF_TRY(is_below(b, id, row, start, &below));
    if (below)
        return QF_OK;
    QF_TRY(is_below(b, id, row, start + (n - 1) * step + 1, &below));
    if (!below)
        return QF_OK;
    from_start.base -= start;
    QF_TRY(qfi_change_box(b, qfi_form_divide(&from_start, step, &b->box, part, &rest), id));
    for (int l = 0; l < b->box.n_loop; l++)
        if (rest.step[l] != 0)
            return qfi_change_box(b, (qfi_change){ QFI_CUT, (uint8_t)l, 1 }, id);
    *inside = rest.base == 0;
    return QF_OK;
}

qf_status qfi_lower_scatter(qfi_builder *b, uint32_t id, uint16_t kernel, const qfi_form *row,
                            uint8_t *ref)
{
    const int dim = qfi_step(b, id)->attrs.slice.dim, rank = b->value[id].type.rank;
    qfi_form in[QF_MAX_RANK], part;
    bool inside;

    (void)kernel;
    QF_TRY(in_part(b, id, &row[dim], &inside, &part));
    if (!inside)
        return qfi_lower_in(b, id, 0, row, ref);
    memcpy(in, row, sizeof *in * (size_t)rank);
    if (qfi_step(b, id)->op == QF_OP_slice_scatter)
        in[dim] = part;
    else
        memmove(&in[dim], &in[dim + 1], sizeof *in * (size_t)(rank - 1 - dim));
    return qfi_lower_in(b, id, 1, in, ref);
}

qf_status qfi_lower_pad(qfi_builder *b, uint32_t id, uint16_t kernel, const qfi_form *row,
                        uint8_t *ref)
{
    const qf_type *data = qfi_in_type(b, id, 0);
    const int64_t *before = qfi_step(b, id)->attrs.pad.before;
    qfi_form in[QF_MAX_RANK];
    bool fills = false, below;

    (void)kernel;
    memcpy(in, row, sizeof *in * (size_t)data->rank);
    for (int d = 0; d < data->rank && !fills; d++) {
        QF_TRY(is_below(b, id, &row[d], before[d], &fills));
        if (fills)
            break;
        QF_TRY(is_below(b, id, &row[d], before[d] + data->dim[d], &below));
        fills = !below;
        in[d].base -= before[d];
    }
    return qfi_lower_in(b, id, fills ? 1 : 0, in, ref);
}
