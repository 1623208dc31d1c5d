/* Conversions between element types as stages, and scalars as bits. */
#include "dispatch/builder.h"

#include <math.h>
#include <string.h>

/* Rows of the cast and guard families by destination. */
static const struct {
    uint16_t cast, guard; /* QFK_OP_COUNT: none */
} to_rows[QF_DT_COUNT] = {
#define INTEGER(t) [QF_DT_##t] = { QFK_OP_to_##t, QFK_OP_guard_to_##t }
#define OTHER(t) [QF_DT_##t] = { QFK_OP_to_##t, QFK_OP_COUNT }
    INTEGER(i8),  INTEGER(i16), INTEGER(i32), INTEGER(i64),  INTEGER(u8),
    INTEGER(u16), INTEGER(u32), INTEGER(u64), OTHER(b8),     OTHER(f16),
    OTHER(bf16),  OTHER(f32),   OTHER(f64),   OTHER(f8e4m3), OTHER(f8e5m2),
#undef INTEGER
#undef OTHER
};

static bool is_float(qf_dtype t)
{
    return qf_dtype_get(t)->kind == QF_CLASS_FLOAT;
}

static bool is_low_float(qf_dtype t)
{
    return is_float(t) && qf_dtype_get(t)->compute == QF_DT_f32 && t != QF_DT_f32;
}

/* A constant that is widened is another constant, whatever the rounding mode. */
static bool widens_splat(const qfi_builder *b, uint8_t in, qf_dtype from, qf_dtype to)
{
    return in < QFI_TEMP && b->operand[in].source == QFI_SPLAT && to == QF_DT_f32 &&
           is_low_float(from);
}

static qf_status widen_splat(qfi_builder *b, uint8_t in, qf_dtype from, uint8_t *ref)
{
    const qfk_row *row = qfk_pick(b->table, QFK_OP_to_f32, (qfk_key)from);
    uint64_t bits = 0;

    if (!row)
        QF_FAIL(b->diag, QF_ERR_UNSUPPORTED, "no kernel widens %s", qf_dtype_get(from)->name);
    row->fn(1, 1, &(const qfk_in){ &b->operand[in].splat, 0, 0 }, (qfk_out){ &bits, 0 }, NULL);
    return qfi_splat(b, 32, bits, ref);
}

/* One row, or two through i64 where the table has no direct one. Both types are stored in whole
 * bytes. */
static qf_status cast_step(qfi_builder *b, uint8_t in, qf_dtype from, qf_dtype to, uint8_t *ref)
{
    /* A boolean is stored as the number 0 or 1. */
    if (from == QF_DT_b8 && !qfk_pick(b->table, to_rows[to].cast, QFK_KEY_b8))
        from = QF_DT_u8;
    if (from == to) {
        *ref = in;
        return QF_OK;
    }
    if (widens_splat(b, in, from, to))
        return widen_splat(b, in, from, ref);
    if (!is_float(to) && !is_float(from) && !qfk_pick(b->table, to_rows[to].cast, (qfk_key)from)) {
        QF_TRY(qfi_emit_stage(b, QFK_OP_to_i64, (qfk_key)from, &in, 64, NULL, NULL, &in));
        from = QF_DT_i64;
    }
    return qfi_emit_stage(b, to_rows[to].cast, (qfk_key)from, &in, qf_dtype_get(to)->bits, NULL,
                          NULL, ref);
}

/* An 8-bit integer as the 4-bit one that its low bits are. */
static qf_status wrap_nibble(qfi_builder *b, uint8_t in, qf_dtype to, uint8_t *ref)
{
    uint8_t pair[2] = { in, 0 };

    if (to == QF_DT_u4) {
        QF_TRY(qfi_splat(b, 8, 15, &pair[1]));
        return qfi_emit_stage(b, QFK_OP_bit_and, QFK_KEY_x8, pair, 8, NULL, NULL, ref);
    }
    QF_TRY(qfi_splat(b, 8, 4, &pair[1]));
    QF_TRY(qfi_emit_stage(b, QFK_OP_shl, QFK_KEY_x8, pair, 8, NULL, NULL, &pair[0]));
    return qfi_emit_stage(b, QFK_OP_shr, QFK_KEY_i8, pair, 8, NULL, NULL, ref);
}

static qf_status guard_nibble(qfi_builder *b, uint8_t in, qf_dtype to)
{
    const qfk_param range = { .i = { to == QF_DT_i4 ? -8 : 0, to == QF_DT_i4 ? 8 : 16 } };
    return qfi_emit_stage(b, QFK_OP_guard_range, to == QF_DT_i4 ? QFK_KEY_i8 : QFK_KEY_u8, &in, 0,
                          &range, NULL, NULL);
}

qf_status qfi_convert(qfi_builder *b, uint8_t in, qf_dtype from, qf_dtype to, bool guard,
                      uint8_t *ref)
{
    const bool nibble = qf_dtype_get(to)->bits < 8;
    const qf_dtype held = nibble ? qf_dtype_get(to)->compute : to;

    *ref = in;
    if (from == to)
        return QF_OK;
    if (qf_dtype_get(from)->bits < 8)
        from = qf_dtype_get(from)->compute;
    const bool guarded = guard && is_float(from) && !is_float(to) && to != QF_DT_b8;
    if (is_low_float(from)) {
        QF_TRY(cast_step(b, in, from, QF_DT_f32, &in));
        from = QF_DT_f32;
    }
    if (is_low_float(to) && from != QF_DT_f32) {
        QF_TRY(cast_step(b, in, from, QF_DT_f32, &in));
        from = QF_DT_f32;
    }
    if (guarded)
        QF_TRY(qfi_emit_stage(b, to_rows[held].guard, (qfk_key)from, &in, 0, NULL, NULL, NULL));
    QF_TRY(cast_step(b, in, from, held, ref));
    if (guarded && nibble)
        QF_TRY(guard_nibble(b, *ref, to));
    return nibble ? wrap_nibble(b, *ref, to, ref) : QF_OK;
}

static bool integer_bits(const qf_scalar *value, const qf_dtype_info *d, uint64_t *bits)
{
    const int64_t whole = value->is_int ? value->i : 0;

    if (!value->is_int) {
        /* 2^63 is exact in double; what is below it truncates to an i64. */
        if (!(value->f > -9223372036854775809.0 && value->f < 9223372036854775808.0))
            return false;
        const qf_scalar truncated = { .is_int = true, .i = (int64_t)value->f };
        return integer_bits(&truncated, d, bits);
    }
    *bits = (uint64_t)whole;
    if (d->bits == 64)
        return true;
    const int64_t most = (int64_t)1 << d->bits;
    /* Negative numbers wrap into unsigned types, as torch's fills do. */
    return d->kind == QF_CLASS_UINT ? whole > -most && whole < most
                                    : whole >= -most / 2 && whole < most / 2;
}

static bool float_bits(const qfi_builder *b, const qf_scalar *value, qf_dtype dtype, uint64_t *bits)
{
    const double wide = value->is_int ? (double)value->i : value->f;
    const float narrow = value->is_int ? (float)value->i : (float)value->f;

    *bits = 0;
    if (dtype == QF_DT_f64)
        memcpy(bits, &wide, sizeof wide);
    else if (dtype == QF_DT_f32)
        memcpy(bits, &narrow, sizeof narrow);
    if (dtype == QF_DT_f64 || dtype == QF_DT_f32)
        return true;
    const qfk_row *row = qfk_pick(b->table, to_rows[dtype].cast, QFK_KEY_f32);
    if (!row)
        return false;
    row->fn(1, 1, &(const qfk_in){ &narrow, 0, 0 }, (qfk_out){ bits, 0 }, NULL);
    return true;
}

bool qfi_scalar_bits(const qfi_builder *b, const qf_scalar *value, qf_dtype dtype, uint64_t *bits)
{
    const qf_dtype_info *d = qf_dtype_get(dtype);

    if (d->kind == QF_CLASS_BOOL) {
        *bits = value->is_int ? value->i != 0 : value->f != 0;
        return true;
    }
    return d->kind == QF_CLASS_FLOAT ? float_bits(b, value, dtype, bits)
                                     : integer_bits(value, d, bits);
}
