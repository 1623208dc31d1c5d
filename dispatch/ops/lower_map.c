/* Lowering of operators that work element by element: widen, compute, round back. */
#include "dispatch/ops/op.h"

/* Operand i in its compute type. */
static qf_status lower_wide(qfi_builder *b, uint32_t id, int i, const qfi_form *row, uint8_t *ref)
{
    const qf_dtype dtype = qfi_in_type(b, id, i)->dtype;
    uint8_t in;

    QF_TRY(qfi_lower_broadcast(b, id, i, row, &in));
    return qfi_convert(b, in, dtype, qf_dtype_get(dtype)->compute, false, ref);
}

static qf_status lower_all(qfi_builder *b, uint32_t id, const qfi_form *row, uint8_t *in)
{
    for (int i = 0; i < qfi_step(b, id)->n_in; i++)
        QF_TRY(lower_wide(b, id, i, row, &in[i]));
    return QF_OK;
}

/* One kernel in the compute type of the operands, rounded to the type of the result. */
static qf_status compute(qfi_builder *b, uint32_t id, uint16_t kernel, const uint8_t *in,
                         uint8_t *ref)
{
    const qf_dtype dtype = qfi_in_type(b, id, 0)->dtype, wide = qf_dtype_get(dtype)->compute;
    uint8_t result;

    QF_TRY(qfi_emit_dtype(b, kernel, wide, in, qf_dtype_get(wide)->bits, NULL, &result));
    return qfi_convert(b, result, wide, dtype, false, ref);
}

/* What an arithmetic operator means for booleans. */
static const struct {
    uint16_t kernel, boolean;
} booleans[] = {
    { QFK_OP_add, QFK_OP_bit_or },          { QFK_OP_mul, QFK_OP_bit_and },
    { QFK_OP_maximum, QFK_OP_bit_or },      { QFK_OP_minimum, QFK_OP_bit_and },
    { QFK_OP_bit_not, QFK_OP_logical_not },
};

qf_status qfi_lower_map(qfi_builder *b, uint32_t id, uint16_t kernel, const qfi_form *row,
                        uint8_t *ref)
{
    uint8_t in[3];

    if (qfi_in_type(b, id, 0)->dtype == QF_DT_b8)
        for (size_t i = 0; i < sizeof booleans / sizeof *booleans; i++)
            if (booleans[i].kernel == kernel) {
                kernel = booleans[i].boolean;
                break;
            }
    QF_TRY(lower_all(b, id, row, in));
    return compute(b, id, kernel, in, ref);
}

/* Division of integers, guarded against zero and overflow. */
qf_status qfi_lower_divide(qfi_builder *b, uint32_t id, uint16_t kernel, const qfi_form *row,
                           uint8_t *ref)
{
    const qf_dtype wide = qf_dtype_get(qfi_in_type(b, id, 0)->dtype)->compute;
    uint8_t in[2];

    QF_TRY(lower_all(b, id, row, in));
    if (qf_dtype_get(wide)->kind != QF_CLASS_FLOAT)
        QF_TRY(qfi_emit_dtype(b, QFK_OP_guard_div, wide, in, 0, NULL, NULL));
    return compute(b, id, kernel, in, ref);
}

qf_status qfi_lower_shift(qfi_builder *b, uint32_t id, uint16_t kernel, const qfi_form *row,
                          uint8_t *ref)
{
    const qf_dtype_info *d = qf_dtype_get(qfi_in_type(b, id, 0)->dtype);
    const qfk_param range = { .i = { 0, d->bits } };
    uint8_t in[2];

    QF_TRY(lower_all(b, id, row, in));
    QF_TRY(qfi_emit_dtype(b, QFK_OP_guard_range, d->compute, &in[1], 0, &range, NULL));
    return compute(b, id, kernel, in, ref);
}

/* Integers have no fused row: nothing is rounded between their product and sum. */
qf_status qfi_lower_fma(qfi_builder *b, uint32_t id, uint16_t kernel, const qfi_form *row,
                        uint8_t *ref)
{
    const qf_dtype wide = qf_dtype_get(qfi_in_type(b, id, 0)->dtype)->compute;
    uint8_t in[3];

    QF_TRY(lower_all(b, id, row, in));
    if (qf_dtype_get(wide)->kind == QF_CLASS_FLOAT)
        return compute(b, id, kernel, in, ref);
    QF_TRY(qfi_emit_dtype(b, QFK_OP_mul, wide, in, qf_dtype_get(wide)->bits, NULL, &in[1]));
    return compute(b, id, QFK_OP_add, &in[1], ref);
}

static qf_status compare(qfi_builder *b, uint32_t id, uint16_t kernel, const uint8_t *in,
                         uint8_t *ref)
{
    const qf_dtype wide = qf_dtype_get(qfi_in_type(b, id, 0)->dtype)->compute;
    /* Booleans are ordered as the numbers 0 and 1. */
    return qfi_emit_dtype(b, kernel, wide == QF_DT_b8 ? QF_DT_u8 : wide, in, 8, NULL, ref);
}

qf_status qfi_lower_compare(qfi_builder *b, uint32_t id, uint16_t kernel, const qfi_form *row,
                            uint8_t *ref)
{
    uint8_t in[2];
    QF_TRY(lower_all(b, id, row, in));
    return compare(b, id, kernel, in, ref);
}

qf_status qfi_lower_swapped(qfi_builder *b, uint32_t id, uint16_t kernel, const qfi_form *row,
                            uint8_t *ref)
{
    uint8_t in[2];
    QF_TRY(lower_all(b, id, row, in));
    return compare(b, id, kernel, (const uint8_t[]){ in[1], in[0] }, ref);
}

qf_status qfi_lower_where(qfi_builder *b, uint32_t id, uint16_t kernel, const qfi_form *row,
                          uint8_t *ref)
{
    const unsigned bits = qfi_tile_bits(b->value[id].type.dtype);
    uint8_t in[3];

    for (int i = 0; i < 3; i++)
        QF_TRY(qfi_lower_broadcast(b, id, i, row, &in[i]));
    return qfi_emit_stage(b, kernel, qfi_bits_key(bits), in, bits, NULL, NULL, ref);
}

qf_status qfi_lower_logical_not(qfi_builder *b, uint32_t id, uint16_t kernel, const qfi_form *row,
                                uint8_t *ref)
{
    uint8_t in;

    QF_TRY(qfi_lower_in(b, id, 0, row, &in));
    QF_TRY(qfi_convert(b, in, qfi_in_type(b, id, 0)->dtype, QF_DT_b8, false, &in));
    return qfi_emit_stage(b, kernel, QFK_KEY_b8, &in, 8, NULL, NULL, ref);
}

qf_status qfi_lower_cast(qfi_builder *b, uint32_t id, uint16_t kernel, const qfi_form *row,
                         uint8_t *ref)
{
    uint8_t in;

    (void)kernel;
    QF_TRY(qfi_lower_in(b, id, 0, row, &in));
    return qfi_convert(b, in, qfi_in_type(b, id, 0)->dtype, b->value[id].type.dtype, true, ref);
}

/* Complex numbers are one element where they move, and pairs of numbers in arithmetic. */
qf_status qfi_lower_halves(qfi_builder *b, uint32_t id, uint16_t kernel, const qfi_form *row,
                           uint8_t *ref)
{
    const unsigned from = qf_dtype_get(qfi_in_type(b, id, 0)->dtype)->bits;
    uint8_t in[2];

    for (int i = 0; i < qfi_step(b, id)->n_in; i++)
        QF_TRY(qfi_lower_broadcast(b, id, i, row, &in[i]));
    return qfi_emit_stage(b, kernel, qfi_bits_key(from), in,
                          qf_dtype_get(b->value[id].type.dtype)->bits, NULL, NULL, ref);
}
