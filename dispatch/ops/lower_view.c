/* Lowering of views: the operand with other coordinates. */
#include <string.h>

#include "dispatch/ops/op.h"

#define ROWS qfi_form in[QF_MAX_RANK] = { 0 }

qf_status qfi_lower_identity(qfi_builder *b, uint32_t id, uint16_t kernel, const qfi_form *row,
                             uint8_t *ref)
{
    (void)kernel;
    return qfi_lower_in(b, id, 0, row, ref);
}

qf_status qfi_lower_permute(qfi_builder *b, uint32_t id, uint16_t kernel, const qfi_form *row,
                            uint8_t *ref)
{
    ROWS;
    (void)kernel;
    for (int k = 0; k < b->value[id].type.rank; k++)
        in[qfi_step(b, id)->attrs.dims.dim[k]] = row[k];
    return qfi_lower_in(b, id, 0, in, ref);
}

/* Position in row-major order. */
static qfi_form linear(const qfi_builder *b, const qf_type *type, const qfi_form *row)
{
    int64_t stride[QF_MAX_RANK];
    qfi_form at = { 0 };

    qf_strides_dense((uint8_t)type->rank, type->dim, stride);
    for (int d = 0; d < type->rank; d++)
        qfi_form_add(&at, &row[d], stride[d], b->box.n_loop);
    return at;
}

/* Memory whose strides allow it is just seen differently. Otherwise the position is taken apart
 * into the operand's coordinates, for which loops may have to be split where both shapes have a
 * border. */
qf_status qfi_lower_reshape(qfi_builder *b, uint32_t id, uint16_t kernel, const qfi_form *row,
                            uint8_t *ref)
{
    const uint32_t from = qfi_step(b, id)->in[0];
    const qf_type *type = &b->value[id].type, *in_type = &b->value[from].type;
    qf_tensor view;
    int64_t stride[QF_MAX_RANK];
    ROWS;

    (void)kernel;
    if (qfi_view_of(b, from, &view) && qf_strides_reshape(view.rank, view.shape, view.stride,
                                                          (uint8_t)type->rank, type->dim, stride)) {
        view.rank = (uint8_t)type->rank;
        memcpy(view.shape, type->dim, sizeof view.shape);
        memcpy(view.stride, stride, sizeof view.stride);
        return qfi_lower_memory(b, from, &view, row, ref);
    }
    qfi_form at = linear(b, type, row);
    int first = 0;
    while (first < in_type->rank && in_type->dim[first] == 1)
        first++;
    for (int d = in_type->rank - 1; d > first; d--) {
        qfi_form rest = at;
        QF_TRY(
            qfi_change_box(b, qfi_form_divide(&rest, in_type->dim[d], &b->box, &at, &in[d]), from));
    }
    if (first < in_type->rank)
        in[first] = at;
    return qfi_lower_value(b, from, in, ref);
}

qf_status qfi_lower_expand(qfi_builder *b, uint32_t id, uint16_t kernel, const qfi_form *row,
                           uint8_t *ref)
{
    (void)kernel;
    return qfi_lower_broadcast(b, id, 0, row, ref);
}

qf_status qfi_lower_slice(qfi_builder *b, uint32_t id, uint16_t kernel, const qfi_form *row,
                          uint8_t *ref)
{
    const qf_step *step = qfi_step(b, id);
    const int dim = step->attrs.slice.dim;
    ROWS;

    (void)kernel;
    memcpy(in, row, sizeof *in * (size_t)b->value[id].type.rank);
    in[dim] = (qfi_form){ .base = step->attrs.slice.start };
    qfi_form_add(&in[dim], &row[dim], step->attrs.slice.step, b->box.n_loop);
    return qfi_lower_in(b, id, 0, in, ref);
}

qf_status qfi_lower_select(qfi_builder *b, uint32_t id, uint16_t kernel, const qfi_form *row,
                           uint8_t *ref)
{
    const qf_step *step = qfi_step(b, id);
    const int dim = step->attrs.slice.dim;
    ROWS;

    (void)kernel;
    for (int d = 0; d < b->value[id].type.rank; d++)
        in[d < dim ? d : d + 1] = row[d];
    in[dim].base = step->attrs.slice.start;
    return qfi_lower_in(b, id, 0, in, ref);
}

qf_status qfi_lower_squeeze(qfi_builder *b, uint32_t id, uint16_t kernel, const qfi_form *row,
                            uint8_t *ref)
{
    const uint32_t dims = qfi_step(b, id)->attrs.mask.dims;
    ROWS;

    (void)kernel;
    for (int d = 0; d < qfi_in_type(b, id, 0)->rank; d++)
        if (!(dims >> d & 1))
            in[d] = *row++;
    return qfi_lower_in(b, id, 0, in, ref);
}

qf_status qfi_lower_unsqueeze(qfi_builder *b, uint32_t id, uint16_t kernel, const qfi_form *row,
                              uint8_t *ref)
{
    const uint32_t dims = qfi_step(b, id)->attrs.mask.dims;
    int to = 0;
    ROWS;

    (void)kernel;
    for (int d = 0; d < b->value[id].type.rank; d++)
        if (!(dims >> d & 1))
            in[to++] = row[d];
    return qfi_lower_in(b, id, 0, in, ref);
}

qf_status qfi_lower_flip(qfi_builder *b, uint32_t id, uint16_t kernel, const qfi_form *row,
                         uint8_t *ref)
{
    const qf_type *type = &b->value[id].type;
    const uint32_t dims = qfi_step(b, id)->attrs.mask.dims;
    ROWS;

    (void)kernel;
    for (int d = 0; d < type->rank; d++) {
        const bool flipped = dims >> d & 1;
        in[d].base = flipped ? type->dim[d] - 1 : 0;
        qfi_form_add(&in[d], &row[d], flipped ? -1 : 1, b->box.n_loop);
    }
    return qfi_lower_in(b, id, 0, in, ref);
}

qf_status qfi_lower_diagonal(qfi_builder *b, uint32_t id, uint16_t kernel, const qfi_form *row,
                             uint8_t *ref)
{
    const qf_attrs *at = &qfi_step(b, id)->attrs;
    const int dim0 = at->diagonal.dim0, dim1 = at->diagonal.dim1, last = b->value[id].type.rank - 1;
    const int64_t offset = at->diagonal.offset;
    int from = 0;
    ROWS;

    (void)kernel;
    for (int d = 0; d < qfi_in_type(b, id, 0)->rank; d++)
        if (d != dim0 && d != dim1)
            in[d] = row[from++];
    in[dim0] = in[dim1] = row[last];
    in[dim0].base += offset < 0 ? -offset : 0;
    in[dim1].base += offset > 0 ? offset : 0;
    return qfi_lower_in(b, id, 0, in, ref);
}
