/* Finding low-rank updates: a product that is made in tiles, scaled and added to a value of its
 * shape. One kernel then makes them where the tiles are used. The stages stay, for boxes in which
 * that cannot be.
 *
 *   product -> [round] -> [* splat -> [round]] -> + c -> [round]
 *   product -> [round] -> fma(splat, c)        -> [round]
 *
 * c is widened from the type of the result. Rounded along the way, the factors are of that type. */
#include "dispatch/builder.h"
#include "kernels/gemm/update.h"

#include <math.h>
#include <string.h>

/* The short float that a stage rounds an f32 to, or f32. */
static qf_dtype rounds_to(const qfi_stage *s)
{
    if (s->key != QFK_KEY_f32)
        return QF_DT_f32;
    return s->op == QFK_OP_to_bf16 ? QF_DT_bf16 : s->op == QFK_OP_to_f16 ? QF_DT_f16 : QF_DT_f32;
}

/* The one stage that reads `ref`; NULL if there is another use of it. */
static const qfi_stage *user_of(const qfi_builder *b, uint8_t ref, uint8_t root)
{
    const qfi_stage *found = NULL;
    int n = ref == root;

    for (int i = 0; i < b->n_stage; i++)
        for (int k = 0; k < b->stage[i].n_in; k++)
            if (b->stage[i].in[k] == ref) {
                found = &b->stage[i];
                n++;
            }
    return n == 1 ? found : NULL;
}

/* The search: what has been found so far is in *u, its last result is `ref`. type: of the result,
 * f32 until something is rounded.  reads_c: the stage that does. */
typedef struct search {
    const qfi_builder *b;
    qfi_update *u;
    qf_dtype type;
    uint8_t ref, root, reads_c;
} search;

/* Take the stage that makes `out` along. */
static void take(search *s, const qfi_stage *stage)
{
    s->u->covers[stage - s->b->stage] = true;
    s->u->last = (uint8_t)(stage - s->b->stage);
    s->ref = stage->out;
}

/* Rounding to a short float and back: *found if it is there. */
static bool take_rounding(search *s)
{
    const qfi_stage *down = user_of(s->b, s->ref, s->root);
    const qf_dtype type = down ? rounds_to(down) : QF_DT_f32;
    const qfi_stage *up = type == QF_DT_f32 ? NULL : user_of(s->b, down->out, s->root);

    if (!up || up->op != QFK_OP_to_f32 || up->key != (uint16_t)type)
        return false;
    s->type = type;
    take(s, down);
    take(s, up);
    return true;
}

/* A number in all elements; false if it is none, or not finite. */
static bool read_scale(const search *s, uint8_t ref)
{
    const qfi_operand *o = ref < QFI_TEMP ? &s->b->operand[ref] : NULL;
    float scale;

    if (!o || o->source != QFI_SPLAT || o->bits != 32)
        return false;
    memcpy(&scale, &o->splat, sizeof scale);
    s->u->p.f[0] = (double)scale;
    return isfinite(scale);
}

/* c, as it is before it was widened. */
static bool take_c(search *s, uint8_t ref)
{
    const qfi_stage *up = ref >= QFI_TEMP ? &s->b->stage[ref - QFI_TEMP] : NULL;

    s->u->c = ref;
    if (s->type == QF_DT_f32)
        return up || s->b->operand[ref].source != QFI_SPLAT;
    if (!up || up->op != QFK_OP_to_f32 || up->key != (uint16_t)s->type ||
        user_of(s->b, ref, s->root) == NULL)
        return false;
    s->reads_c = (uint8_t)(up - s->b->stage);
    s->u->covers[s->reads_c] = true;
    s->u->c = up->in[0];
    return up->in[0] >= QFI_TEMP || s->b->operand[up->in[0]].source != QFI_SPLAT;
}

/* The sum with c, or the fused multiply-add; what it is rounded to. */
static bool take_sum(search *s, bool rounded, bool scaled)
{
    const qfi_stage *sum = user_of(s->b, s->ref, s->root);

    if (!sum || sum->key != QFK_KEY_f32)
        return false;
    const bool fused = sum->op == QFK_OP_fma && !scaled && sum->in[2] != s->ref;
    const uint8_t other = sum->in[0] == s->ref ? sum->in[1] : sum->in[0];
    if (!fused && sum->op != QFK_OP_add)
        return false;
    if (fused && !read_scale(s, other))
        return false;
    take(s, sum);
    s->reads_c = s->u->last;
    s->u->p.i[2] = (fused ? QFK_UPDATE_FUSED : 0) | (rounded ? QFK_UPDATE_ROUNDED : 0);
    const qfi_stage *down = user_of(s->b, s->ref, s->root);
    const qf_dtype type = down ? rounds_to(down) : QF_DT_f32;
    if (rounded && type != s->type)
        return false;
    if (type != QF_DT_f32) {
        s->type = type;
        take(s, down);
    }
    return take_c(s, fused ? sum->in[2] : other);
}

/* The slot of c is free for others once it has been read, and the kernel reads it last. */
static bool keeps_c(const search *s)
{
    for (int i = s->reads_c; i < s->u->last; i++)
        if (!s->u->covers[i])
            return false;
    return true;
}

static bool find_at(const qfi_builder *b, int operand, uint8_t root, qfi_update *u)
{
    const qfi_breaker *x = b->breaker[b->operand[operand].which];
    search s = { .b = b, .u = u, .type = QF_DT_f32, .ref = (uint8_t)operand, .root = root };
    bool scaled = false;

    *u = (qfi_update){ .panel = (uint8_t)operand, .p = { .f = { 1 } } };
    const bool rounded = take_rounding(&s);
    const qf_dtype type = s.type;
    if (rounded && x->in_type[0].dtype != type)
        return false;
    const qfi_stage *mul = user_of(b, s.ref, root);
    if (mul && mul->op == QFK_OP_mul && mul->key == QFK_KEY_f32) {
        if (!read_scale(&s, mul->in[mul->in[0] == s.ref]))
            return false;
        take(&s, mul);
        scaled = true;
        if (rounded && (!take_rounding(&s) || s.type != type))
            return false;
    }
    if (!take_sum(&s, rounded, scaled) || !keeps_c(&s))
        return false;
    u->row = qfk_pick(b->table, QFK_OP_update, (qfk_key)s.type);
    return u->row != NULL;
}

qf_status qfi_update_find(qfi_builder *b, uint8_t root, const qfi_update **out)
{
    qfi_update found;

    *out = NULL;
    for (int i = 0; i < b->n_operand && !*out; i++) {
        const qfi_operand *o = &b->operand[i];
        if (o->source != QFI_PANEL || !b->breaker[o->which]->tiles || o->bits != 32 ||
            !find_at(b, i, root, &found))
            continue;
        qfi_update *u = qfi_bump_get(&b->pipe->pool, 1, sizeof *u);
        if (!u)
            QF_FAIL(b->diag, QF_ERR_NOMEM, "no memory to build a pipeline");
        *u = found;
        *out = u;
    }
    return QF_OK;
}
