/* Lowering values for a box: references, stages, operands in memory. The operators' own rules are
 * in ops/. */
#include "dispatch/builder.h"
#include "dispatch/ops/op.h"

#include <string.h>

#define DEPTH 100      /* nested values in one piece: recursion stays shallow */
#define SOFT_STAGES 40 /* a value that needs more is kept, so that its users start afresh */
#define SOFT_OPERANDS 20

static const struct {
    qfi_lower *lower;
    uint16_t kernel;
} rules[] = {
#define QFK_OP_none QFK_OP_COUNT
#define QF_OP(name, n_in, kind, flags, attrs, infer, lower, kernel)                                \
    { qfi_lower_##lower, QFK_OP_##kernel },
#include <qfold/ops.def>
#undef QF_OP
};

const qf_step *qfi_step(const qfi_builder *b, uint32_t id)
{
    return &b->program->step[id - b->program->n_input];
}

const qf_type *qfi_in_type(const qfi_builder *b, uint32_t id, int i)
{
    return &b->value[qfi_step(b, id)->in[i]].type;
}

qfk_key qfi_bits_key(unsigned bits)
{
    static const qfk_key keys[] = { [4] = QFK_KEY_x4,
                                    [8] = QFK_KEY_x8,
                                    [16] = QFK_KEY_x16,
                                    [32] = QFK_KEY_x32,
                                    [64] = QFK_KEY_x64 };
    return keys[bits];
}

unsigned qfi_tile_bits(qf_dtype dtype)
{
    const unsigned bits = qf_dtype_get(dtype)->bits;
    return bits < 8 ? 8 : bits > 64 ? 64 : bits;
}

const qfk_row *qfi_pick(const qfi_builder *b, uint16_t op, qf_dtype dtype)
{
    const qfk_row *row = qfk_pick(b->table, op, (qfk_key)dtype);
    return row ? row : qfk_pick(b->table, op, qfi_bits_key(qfi_tile_bits(dtype)));
}

qf_status qfi_keep(qfi_builder *b, uint32_t id)
{
    if (id == b->making || b->value[id].keep)
        QF_FAIL(b->diag, QF_ERR_LIMIT,
                "value %u needs more loops, operands or stages than a pipeline has", (unsigned)id);
    b->again = QFI_AGAIN_KEEP;
    b->again_id = id;
    return QFI_AGAIN;
}

/* A value that would need very many boxes is cheaper to keep. */
#define MANY_PIECES 512

qf_status qfi_change_box(qfi_builder *b, qfi_change change, uint32_t id)
{
    const bool many = b->n_piece > MANY_PIECES && id != b->making && !b->value[id].keep;

    if (change.kind == QFI_FITS)
        return QF_OK;
    if (change.kind == QFI_NEVER || many ||
        (change.kind == QFI_SPLIT && b->box.n_loop == QFI_LOOPS))
        return qfi_keep(b, id);
    b->again = change.kind == QFI_CUT ? QFI_AGAIN_CUT : QFI_AGAIN_SPLIT;
    b->change = change;
    return QFI_AGAIN;
}

/* The same kept value or breaker, or inputs with the same storage, which a pipeline on other inputs
 * must then find there too. */
static bool same_source(qfi_builder *b, const qfi_operand *p, const qfi_operand *o)
{
    if (p->source != o->source)
        return false;
    if (p->which == o->which)
        return true;
    const qf_tensor *input = b->program->input;
    if ((o->source != QFI_MEMORY && o->source != QFI_READ) ||
        input[p->which].storage != input[o->which].storage)
        return false;
    b->pipe->joined[o->which] = 1 + p->which;
    return true;
}

static qf_status add_operand(qfi_builder *b, const qfi_operand *o, uint8_t *ref)
{
    for (int i = 0; i < b->n_operand; i++) {
        const qfi_operand *p = &b->operand[i];
        if (same_source(b, p, o) && p->splat == o->splat && p->bits == o->bits &&
            p->row == o->row && qfi_form_equal(&p->at, &o->at, b->box.n_loop) &&
            p->copy == o->copy) {
            *ref = (uint8_t)i;
            return QF_OK;
        }
    }
    if (b->n_operand == QFI_OPERANDS)
        QF_FAIL(b->diag, QF_ERR_LIMIT, "a step has more operands than a pipeline");
    *ref = b->n_operand;
    b->operand[b->n_operand++] = *o;
    return QF_OK;
}

qf_status qfi_splat(qfi_builder *b, unsigned bits, uint64_t value, uint8_t *ref)
{
    if (bits < 64)
        value &= ((uint64_t)1 << bits) - 1;
    const qfi_operand o = { .source = QFI_SPLAT, .bits = (uint8_t)bits, .splat = value };
    return add_operand(b, &o, ref);
}

/* Kernels that load an operand whose elements are not adjacent along a tile's columns. */
static qf_status pick_loads(qfi_builder *b, qfi_operand *o, qf_dtype dtype)
{
    if (o->bits == 4) {
        const qfk_row *unpack =
            qfk_pick(b->table, QFK_OP_unpack, dtype == QF_DT_i4 ? QFK_KEY_i4 : QFK_KEY_u4);
        o->copy = unpack ? unpack->fn : NULL;
    } else {
        const qfk_row *copy = qfk_pick(b->table, QFK_OP_copy, qfi_bits_key(o->bits));
        const qfk_row *transpose = qfk_pick(b->table, QFK_OP_transpose, qfi_bits_key(o->bits));
        o->copy = copy ? copy->fn : NULL;
        o->transpose = transpose ? transpose->fn : o->copy;
    }
    if (!o->copy)
        QF_FAIL(b->diag, QF_ERR_UNSUPPORTED, "no kernel loads %s", qf_dtype_get(dtype)->name);
    return QF_OK;
}

/* Element numbers of 128-bit types count halves, and the halves are a loop of their own. */
static qfi_form in_halves(const qfi_builder *b, const qfi_form *form)
{
    qfi_form twice = qfi_box_row(&b->box, b->box.n_dim - 1);
    qfi_form_add(&twice, form, 2, b->box.n_loop);
    return twice;
}

qf_status qfi_lower_memory(qfi_builder *b, uint32_t id, const qf_tensor *view, const qfi_form *row,
                           uint8_t *ref)
{
    const unsigned bits = qf_dtype_get(view->dtype)->bits;
    qfi_operand o = { .bits = (uint8_t)(bits > 64 ? 64 : bits),
                      .which = id,
                      .at = { .base = view->offset } };

    for (int d = 0; d < view->rank; d++)
        qfi_form_add(&o.at, &row[d], view->stride[d], b->box.n_loop);
    if (bits == 128)
        o.at = in_halves(b, &o.at);
    if (b->value[id].keep && id != b->making) {
        o.source = QFI_KEPT;
    } else {
        o.source = view->storage->data ? QFI_MEMORY : QFI_READ;
    }
    QF_TRY(pick_loads(b, &o, view->dtype));
    return add_operand(b, &o, ref);
}

qf_status qfi_lower_panel(qfi_builder *b, qfi_operand *o, qf_dtype dtype, uint8_t *ref)
{
    QF_TRY(pick_loads(b, o, dtype));
    return add_operand(b, o, ref);
}

bool qfi_view_of(const qfi_builder *b, uint32_t id, qf_tensor *view)
{
    const qf_type *t = &b->value[id].type;

    if (b->value[id].keep && id != b->making) {
        *view = (qf_tensor){ .rank = (uint8_t)t->rank, .dtype = t->dtype };
        memcpy(view->shape, t->dim, sizeof view->shape);
        qf_strides_dense(view->rank, view->shape, view->stride);
        return true;
    }
    if (id < b->program->n_input)
        *view = b->program->input[id];
    return id < b->program->n_input;
}

/* Small files of numbers that every window needs are read once. */
static bool worth_keeping_input(const qfi_builder *b, uint32_t id)
{
    const qfi_value *v = &b->value[id];
    return id != b->root && !b->program->input[id].storage->data && v->bytes <= b->budget / 32 &&
           v->bytes <= 1u << 20 && v->elements <= b->value[b->root].elements / 2;
}

/* Lowered before with the same coordinates: one result serves. With other coordinates: computed
 * again, unless keeping it is cheaper. */
static qf_status find_memo(qfi_builder *b, uint32_t id, const qfi_form *row, bool *found,
                           uint8_t *ref)
{
    const int rank = b->value[id].type.rank;

    *found = false;
    for (int i = 0; i < b->n_memo; i++) {
        const qfi_memo *m = &b->memo[i];
        bool same = m->id == id;
        for (int d = 0; same && d < rank; d++)
            same = qfi_form_equal(&m->row[d], &row[d], b->box.n_loop);
        if (same) {
            *found = true;
            *ref = m->ref;
            return QF_OK;
        }
        if (m->id == id && m->cost > 1 && id != b->root && b->value[id].bytes <= b->budget / 4)
            return qfi_keep(b, id);
    }
    return QF_OK;
}

static qf_status add_memo(qfi_builder *b, uint32_t id, const qfi_form *row, int cost, uint8_t ref)
{
    const size_t rank = (size_t)b->value[id].type.rank;

    if (b->n_memo == QFI_STAGES)
        return QF_OK;
    qfi_form *copy = qfi_bump_get(&b->temp, rank, sizeof *copy);
    if (!copy)
        QF_FAIL(b->diag, QF_ERR_NOMEM, "no memory to build a pipeline");
    memcpy(copy, row, rank * sizeof *copy);
    b->memo[b->n_memo++] = (qfi_memo){ .id = id, .ref = ref, .cost = (uint8_t)cost, .row = copy };
    return QF_OK;
}

static qf_status lower_step(qfi_builder *b, uint32_t id, const qfi_form *row, uint8_t *ref)
{
    const qf_op op = qfi_step(b, id)->op;
    const qf_op_kind kind = qf_op_get(op)->kind;
    const qfi_value *v = &b->value[id];
    const int before = b->n_stage;
    bool found = false;

    if (kind == QF_KIND_VIEW || kind == QF_KIND_PIECES)
        return rules[op].lower(b, id, rules[op].kernel, row, ref);
    QF_TRY(find_memo(b, id, row, &found, ref));
    if (found)
        return QF_OK;
    /* A small value that many elements need: each of its elements would be computed again and
     * again. */
    if (kind == QF_KIND_POINTWISE && id != b->root &&
        v->elements <= b->value[b->root].elements / 2 && v->bytes <= b->budget / 16)
        return qfi_keep(b, id);
    QF_TRY(rules[op].lower(b, id, rules[op].kernel, row, ref));
    if (id != b->root && kind == QF_KIND_POINTWISE &&
        (b->n_stage > SOFT_STAGES || b->n_operand > SOFT_OPERANDS))
        return qfi_keep(b, id);
    return add_memo(b, id, row, b->n_stage - before, *ref);
}

qf_status qfi_lower_value(qfi_builder *b, uint32_t id, const qfi_form *row, uint8_t *ref)
{
    qf_tensor view;

    if (id < b->program->n_input && !b->value[id].keep && worth_keeping_input(b, id))
        return qfi_keep(b, id);
    if (qfi_view_of(b, id, &view))
        return qfi_lower_memory(b, id, &view, row, ref);
    if (b->depth == DEPTH)
        return qfi_keep(b, id);
    b->depth++;
    QF_TRY(lower_step(b, id, row, ref));
    b->depth--;
    return QF_OK;
}

qf_status qfi_lower_in(qfi_builder *b, uint32_t id, int i, const qfi_form *row, uint8_t *ref)
{
    return qfi_lower_value(b, qfi_step(b, id)->in[i], row, ref);
}

/* Whether a broadcast changes nothing: an operand of all dims, none of them 1. */
static bool is_whole(const qf_type *in, const qf_type *out)
{
    bool whole = in->rank == out->rank;

    for (int d = 0; whole && d < in->rank; d++)
        whole = in->dim[d] != 1;
    return whole;
}

qf_status qfi_lower_broadcast(qfi_builder *b, uint32_t id, int i, const qfi_form *row, uint8_t *ref)
{
    const qf_type *in = qfi_in_type(b, id, i), *out = &b->value[id].type;
    const int lead = out->rank - in->rank;
    qfi_form rows[QF_MAX_RANK];

    if (is_whole(in, out))
        return qfi_lower_in(b, id, i, row, ref);
    for (int d = 0; d < in->rank; d++)
        rows[d] = in->dim[d] != 1 ? row[d + lead] : (qfi_form){ 0 };
    return qfi_lower_in(b, id, i, rows, ref);
}

static qf_status emit_row(qfi_builder *b, const qfk_row *row, const uint8_t *in, unsigned bits,
                          const qfk_param *p, const qfi_form *index, uint8_t *ref)
{
    size_t n;
    const uint8_t n_in = qfk_ops(&n)[row->op_id].n_in;

    if (b->n_stage == QFI_STAGES)
        QF_FAIL(b->diag, QF_ERR_LIMIT, "a step has more stages than a pipeline");
    qfi_stage s = { .fn = row->fn,
                    .op = row->op_id,
                    .key = row->key,
                    .n_in = n_in,
                    .bits = (uint8_t)bits,
                    .index = -1,
                    .past = row->exact == QFK_BITS_PAST };
    memcpy(s.in, in, n_in);
    if (p)
        s.p = *p;
    if (index) {
        s.index = (int8_t)b->n_index;
        b->index[b->n_index++] = *index;
    }
    /* Results are numbered like their stages; a guard leaves its number unused. */
    s.out = bits ? (uint8_t)(QFI_TEMP + b->n_stage) : QFI_NO_REF;
    if (ref)
        *ref = s.out;
    b->stage[b->n_stage++] = s;
    return QF_OK;
}

qf_status qfi_emit_stage(qfi_builder *b, uint16_t op, qfk_key key, const uint8_t *in, unsigned bits,
                         const qfk_param *p, const qfi_form *index, uint8_t *ref)
{
    const qfk_row *row = qfk_pick(b->table, op, key);
    size_t n;

    if (!row)
        QF_FAIL(b->diag, QF_ERR_UNSUPPORTED, "no kernel %s for key %d", qfk_ops(&n)[op].name,
                (int)key);
    return emit_row(b, row, in, bits, p, index, ref);
}

qf_status qfi_emit_dtype(qfi_builder *b, uint16_t op, qf_dtype dtype, const uint8_t *in,
                         unsigned bits, const qfk_param *p, uint8_t *ref)
{
    const qfk_row *row = qfi_pick(b, op, dtype);
    size_t n;

    if (!row)
        QF_FAIL(b->diag, QF_ERR_UNSUPPORTED, "no kernel %s for %s", qfk_ops(&n)[op].name,
                qf_dtype_get(dtype)->name);
    return emit_row(b, row, in, bits, p, NULL, ref);
}
