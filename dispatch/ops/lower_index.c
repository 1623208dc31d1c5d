/* Lowering of values that are made from coordinates. */
#include "dispatch/ops/op.h"

qf_status qfi_lower_full(qfi_builder *b, uint32_t id, uint16_t kernel, const qfi_form *row,
                         uint8_t *ref)
{
    const qf_attrs *at = &qfi_step(b, id)->attrs;
    const qf_dtype dtype = at->full.type.dtype;
    uint64_t bits;

    (void)kernel, (void)row;
    if (!qfi_scalar_bits(b, &at->full.value, dtype, &bits))
        QF_FAIL(b->diag, QF_ERR_VALUE, "full: %s cannot hold the value", qf_dtype_get(dtype)->name);
    return qfi_splat(b, qfi_tile_bits(dtype), bits, ref);
}

static double as_double(const qf_scalar *s)
{
    return s->is_int ? (double)s->i : s->f;
}

/* start + coordinate * step in 64-bit integers, which wrap. */
static qf_status count_integers(qfi_builder *b, const qf_attrs *at, const qfi_form *row,
                                uint8_t *ref)
{
    uint8_t in[2] = { 0 };

    QF_TRY(qfi_emit_stage(b, QFK_OP_iota, QFK_KEY_i64, in, 64, NULL, row, &in[0]));
    QF_TRY(qfi_splat(b, 64, (uint64_t)at->arange.step.i, &in[1]));
    if (at->arange.step.i != 1)
        QF_TRY(qfi_emit_stage(b, QFK_OP_mul, QFK_KEY_x64, in, 64, NULL, NULL, &in[0]));
    QF_TRY(qfi_splat(b, 64, (uint64_t)at->arange.start.i, &in[1]));
    if (at->arange.start.i != 0)
        QF_TRY(qfi_emit_stage(b, QFK_OP_add, QFK_KEY_x64, in, 64, NULL, NULL, &in[0]));
    *ref = in[0];
    return QF_OK;
}

qf_status qfi_lower_arange(qfi_builder *b, uint32_t id, uint16_t kernel, const qfi_form *row,
                           uint8_t *ref)
{
    const qf_attrs *at = &qfi_step(b, id)->attrs;
    const qf_dtype dtype = at->arange.type.dtype, compute = qf_dtype_get(dtype)->compute;
    uint8_t counted = 0;

    (void)kernel;
    if (qf_dtype_get(dtype)->kind != QF_CLASS_FLOAT) {
        QF_TRY(count_integers(b, at, row, &counted));
        return qfi_convert(b, counted, QF_DT_i64, dtype, false, ref);
    }
    const qfk_param p = { .f = { as_double(&at->arange.start), as_double(&at->arange.step) } };
    QF_TRY(qfi_emit_stage(b, QFK_OP_arange, (qfk_key)compute, &counted, qf_dtype_get(compute)->bits,
                          &p, row, &counted));
    return qfi_convert(b, counted, compute, dtype, false, ref);
}

/* triu keeps where column - row >= diagonal, tril where it is <=. */
qf_status qfi_lower_tri(qfi_builder *b, uint32_t id, uint16_t kernel, const qfi_form *row,
                        uint8_t *ref)
{
    const int rank = b->value[id].type.rank;
    const unsigned bits = qfi_tile_bits(b->value[id].type.dtype);
    const qfk_param p = { .i = { 0, 0, 0, qfi_step(b, id)->attrs.tri.diagonal } };
    qfi_form across = row[rank - 1];
    uint8_t in;

    QF_TRY(qfi_lower_in(b, id, 0, row, &in));
    qfi_form_add(&across, &row[rank - 2], -1, b->box.n_loop);
    return qfi_emit_stage(b, kernel, qfi_bits_key(bits), &in, bits, &p, &across, ref);
}
