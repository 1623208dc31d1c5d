/* Slots: where tiles of operands and results of stages stand while a piece runs. */
#include "dispatch/builder.h"

#include <string.h>

typedef struct slots {
    /* of each result: where it stands; the stage that reads it last */
    uint8_t slot[QFI_STAGES], last[QFI_STAGES];
    uint64_t busy[3];
    uint8_t n;
} slots;

static uint8_t take_slot(slots *s)
{
    uint8_t i = 0;
    while (s->busy[i / 64] >> (i % 64) & 1)
        i++;
    s->busy[i / 64] |= (uint64_t)1 << (i % 64);
    if (i >= s->n)
        s->n = (uint8_t)(i + 1);
    return i;
}

static void drop_slot(slots *s, uint8_t i)
{
    s->busy[i / 64] &= ~((uint64_t)1 << (i % 64));
}

static void find_last_uses(const qfi_builder *b, uint8_t root, slots *s)
{
    for (int i = 0; i < b->n_stage; i++) {
        s->last[i] = (uint8_t)i;
        for (int k = 0; k < b->stage[i].n_in; k++)
            if (b->stage[i].in[k] >= QFI_TEMP)
                s->last[b->stage[i].in[k] - QFI_TEMP] = (uint8_t)i;
    }
    if (root >= QFI_TEMP)
        s->last[root - QFI_TEMP] = b->n_stage;
}

/* A stage may write over an input that dies with it, if the elements are of one size. */
static int reusable(const qfi_builder *b, const slots *s, int i)
{
    for (int k = 0; k < b->stage[i].n_in; k++) {
        const int t = b->stage[i].in[k] - QFI_TEMP;
        if (t >= 0 && s->last[t] == i && b->stage[t].bits == b->stage[i].bits)
            return t;
    }
    return -1;
}

static void assign(const qfi_builder *b, slots *s)
{
    for (int i = 0; i < b->n_stage; i++) {
        const int reuse = b->stage[i].bits ? reusable(b, s, i) : -1;
        if (reuse >= 0)
            s->slot[i] = s->slot[reuse];
        else if (b->stage[i].bits)
            s->slot[i] = take_slot(s);
        for (int k = 0; k < b->stage[i].n_in; k++) {
            const int t = b->stage[i].in[k] - QFI_TEMP;
            if (t >= 0 && t != reuse && s->last[t] == i && s->slot[t] != s->slot[i])
                drop_slot(s, s->slot[t]);
        }
    }
}

/* A piece of one value is filled with it. */
static qf_status fill_splat(qfi_builder *b, uint8_t *root)
{
    if (*root >= QFI_TEMP)
        return QF_OK;
    const qfi_operand *o = &b->operand[*root];
    if (o->source != QFI_SPLAT || o->bits < 8)
        return QF_OK;
    const qfk_param p = { .i = { (int64_t)o->splat } };
    return qfi_emit_stage(b, QFK_OP_fill, qfi_bits_key(o->bits), root, o->bits, &p, NULL, root);
}

qf_status qfi_piece_finish(qfi_builder *b, uint8_t root, uint8_t *n_slot, qfi_piece **out)
{
    qfi_bump *pool = &b->pipe->pool;
    slots s = { .n = 0 };
    const qfi_update *update;

    qfi_peephole(b, &root);
    QF_TRY(fill_splat(b, &root));
    QF_TRY(qfi_update_find(b, root, &update));

    qfi_piece *p = qfi_bump_get(pool, 1, sizeof *p);
    qfi_operand *operand = qfi_bump_get(pool, b->n_operand, sizeof *operand);
    qfi_stage *stage = qfi_bump_get(pool, b->n_stage, sizeof *stage);
    qfi_form *index = qfi_bump_get(pool, b->n_index, sizeof *index);
    if (!p || !operand || !stage || !index)
        QF_FAIL(b->diag, QF_ERR_NOMEM, "no memory to build a pipeline");

    for (int i = 0; i < b->n_operand; i++)
        if (b->operand[i].source != QFI_SPLAT)
            b->operand[i].slot = take_slot(&s);
    find_last_uses(b, root, &s);
    assign(b, &s);
    memcpy(operand, b->operand, b->n_operand * sizeof *operand);
    memcpy(stage, b->stage, b->n_stage * sizeof *stage);
    memcpy(index, b->index, b->n_index * sizeof *index);
    *p = (qfi_piece){ .box = b->box,
                      .n_operand = b->n_operand,
                      .n_stage = b->n_stage,
                      .n_index = b->n_index,
                      .root = root,
                      .operand = operand,
                      .stage = stage,
                      .index = index,
                      .update = update };
    memcpy(p->slot, s.slot, sizeof p->slot);
    if (s.n > *n_slot)
        *n_slot = s.n;
    *out = p;
    return QF_OK;
}
