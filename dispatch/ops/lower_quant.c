/* Lowering of quantize and dequantize: one fused kernel where its types fit, else the steps that
 * <qfold/ops.h> states. */
#include "dispatch/ops/op.h"

/* Operand 1 or 2: element i_k / block[k] for element i_k of the data. */
static qf_status lower_block(qfi_builder *b, uint32_t id, int i, const qfi_form *row, uint8_t *ref)
{
    const qf_type *data = qfi_in_type(b, id, 0);
    qfi_form in[QF_MAX_RANK] = { 0 }, rest;

    for (int d = 0; d < data->rank; d++) {
        const int64_t block = qfi_step(b, id)->attrs.quant.block[d];
        if (block < data->dim[d])
            QF_TRY(qfi_change_box(b, qfi_form_divide(&row[d], block, &b->box, &in[d], &rest), id));
    }
    return qfi_lower_in(b, id, i, in, ref);
}

static qf_status splat_f32(qfi_builder *b, double value, uint8_t *ref)
{
    union {
        float f;
        uint32_t u;
    } x = { .f = (float)value };
    return qfi_splat(b, 32, x.u, ref);
}

static qf_status f32_step(qfi_builder *b, uint16_t kernel, uint8_t a, uint8_t with, uint8_t *ref)
{
    const uint8_t in[] = { a, with };
    return qfi_emit_stage(b, kernel, QFK_KEY_f32, in, 32, NULL, NULL, ref);
}

/* Step by step, for results that clamping alone does not make safe: i32, whose bound is no f32, and
 * 8-bit floats. */
static qf_status quantize_steps(qfi_builder *b, uint32_t id, const uint8_t *in, uint8_t *ref)
{
    const qf_attrs *at = &qfi_step(b, id)->attrs;
    uint8_t x, bound;

    QF_TRY(f32_step(b, QFK_OP_mul, in[0], in[1], &x));
    QF_TRY(qfi_emit_stage(b, QFK_OP_round, QFK_KEY_f32, &x, 32, NULL, NULL, &x));
    QF_TRY(f32_step(b, QFK_OP_add, x, in[2], &x));
    QF_TRY(splat_f32(b, (double)at->quant.qmin, &bound));
    QF_TRY(f32_step(b, QFK_OP_maximum, x, bound, &x));
    QF_TRY(splat_f32(b, (double)at->quant.qmax, &bound));
    QF_TRY(f32_step(b, QFK_OP_minimum, x, bound, &x));
    return qfi_convert(b, x, QF_DT_f32, at->quant.dtype, true, ref);
}

qf_status qfi_lower_quantize(qfi_builder *b, uint32_t id, uint16_t kernel, const qfi_form *row,
                             uint8_t *ref)
{
    const qf_attrs *at = &qfi_step(b, id)->attrs;
    const qf_dtype dtype = at->quant.dtype, held = qf_dtype_get(dtype)->compute;
    const qfk_param p = { .f = { (double)at->quant.qmin, (double)at->quant.qmax } };
    uint8_t in[3];

    QF_TRY(qfi_lower_in(b, id, 0, row, &in[0]));
    QF_TRY(qfi_convert(b, in[0], qfi_in_type(b, id, 0)->dtype, QF_DT_f32, false, &in[0]));
    QF_TRY(lower_block(b, id, 1, row, &in[1]));
    QF_TRY(lower_block(b, id, 2, row, &in[2]));
    if (held == QF_DT_f32 || held == QF_DT_i32)
        return quantize_steps(b, id, in, ref);
    return qfi_emit_stage(b, kernel, (qfk_key)held, in, qf_dtype_get(held)->bits, &p, NULL, ref);
}

/* a op b in `dtype`, widened and rounded back. */
static qf_status rounded_step(qfi_builder *b, uint16_t kernel, qf_dtype dtype, uint8_t left,
                              uint8_t right, uint8_t *ref)
{
    const qf_dtype wide = qf_dtype_get(dtype)->compute;
    uint8_t in[2];

    QF_TRY(qfi_convert(b, left, dtype, wide, false, &in[0]));
    QF_TRY(qfi_convert(b, right, dtype, wide, false, &in[1]));
    QF_TRY(qfi_emit_dtype(b, kernel, wide, in, qf_dtype_get(wide)->bits, NULL, ref));
    return qfi_convert(b, *ref, wide, dtype, false, ref);
}

qf_status qfi_lower_dequantize(qfi_builder *b, uint32_t id, uint16_t kernel, const qfi_form *row,
                               uint8_t *ref)
{
    const qf_dtype q = qfi_in_type(b, id, 0)->dtype, s = qfi_in_type(b, id, 1)->dtype,
                   z = qfi_in_type(b, id, 2)->dtype;
    const qf_dtype to = b->value[id].type.dtype, held = qf_dtype_get(q)->compute;
    uint8_t in[3], x;

    QF_TRY(qfi_lower_in(b, id, 0, row, &in[0]));
    QF_TRY(lower_block(b, id, 1, row, &in[1]));
    QF_TRY(lower_block(b, id, 2, row, &in[2]));
    if (s == QF_DT_f32 && z == QF_DT_f32 && to == QF_DT_f32 &&
        qfk_pick(b->table, kernel, (qfk_key)held))
        return qfi_emit_stage(b, kernel, (qfk_key)held, in, 32, NULL, NULL, ref);
    QF_TRY(qfi_convert(b, in[0], q, z, false, &x));
    QF_TRY(rounded_step(b, QFK_OP_sub, z, x, in[2], &x));
    QF_TRY(qfi_convert(b, x, z, s, false, &x));
    QF_TRY(rounded_step(b, QFK_OP_mul, s, x, in[1], &x));
    return qfi_convert(b, x, s, to, false, ref);
}
