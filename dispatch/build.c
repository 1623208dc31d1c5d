/* qf_pipe_build: types, the segment of the result, then of every value that has to be kept, and
 * their place in scratch. */
#include <stddef.h>
#include <string.h>

#include "dispatch/arith.h"
#include "dispatch/breakers/breaker.h"

#define LEAST_WINDOW ((uint64_t)1 << 14)
#define FEW_OPERANDS 4
#define SLACK 256 /* for aligning the parts of a run's memory */

static qf_status no_memory(qf_diag *diag)
{
    QF_FAIL(diag, QF_ERR_NOMEM, "no memory to build a pipeline");
}

/* Values from which the result is computed. */
static qf_status mark_needed(const qf_program *p, uint32_t result, bool *needed, qf_diag *diag)
{
    needed[result] = true;
    for (uint32_t id = result; id >= p->n_input && id != UINT32_MAX; id--) {
        const qf_step *step = &p->step[id - p->n_input];
        if (!needed[id])
            continue;
        for (int i = 0; i < step->n_in; i++) {
            if (step->in[i] >= id)
                QF_FAIL(diag, QF_ERR_ARG, "step %u uses value %u", (unsigned)(id - p->n_input),
                        (unsigned)step->in[i]);
            needed[step->in[i]] = true;
        }
    }
    return QF_OK;
}

static qf_status infer_step(qfi_builder *b, uint32_t id)
{
    const qf_step *step = qfi_step(b, id);
    const size_t n = step->n_in;
    qf_type few[FEW_OPERANDS], *in = few;

    if (n > FEW_OPERANDS)
        in = qfi_bump_get(&b->temp, n, sizeof *in);
    if (!in)
        return no_memory(b->diag);
    for (size_t i = 0; i < n; i++) {
        in[i] = b->value[step->in[i]].type;
        b->value[step->in[i]].users++;
    }
    const qf_call call = { .op = step->op, .n_in = step->n_in, .in = in, .attrs = &step->attrs };
    return qf_infer(&call, &b->value[id].type, b->diag);
}

static qf_status infer_all(qfi_builder *b, const bool *needed, uint32_t result)
{
    const qf_program *p = b->program;

    for (uint32_t id = 0; id <= result; id++) {
        qfi_value *v = &b->value[id];
        if (!needed[id])
            continue;
        if (id < p->n_input) {
            QF_TRY(qf_tensor_check(&p->input[id], b->diag));
            v->type = qf_tensor_type(&p->input[id]);
        } else {
            QF_TRY(infer_step(b, id));
        }
        if (!qf_type_elements(&v->type, &v->elements) || !qf_type_bytes(&v->type, &v->bytes) ||
            v->elements > INT64_MAX / 2)
            QF_FAIL(b->diag, QF_ERR_OVERFLOW, "value %u is too large", (unsigned)id);
    }
    return QF_OK;
}

/* Make breakers whose operands are not compiled yet; that may keep more values, but only ones that
 * are made earlier. */
static qf_status finish_breakers(qfi_builder *b, uint32_t *finished)
{
    while (*finished < b->n_breaker) {
        QF_TRY(qfi_breaker_finish(b, b->breaker[*finished]));
        ++*finished;
    }
    return QF_OK;
}

static qf_status make_value(qfi_builder *b, uint32_t id, bool is_result, const uint8_t *order,
                            const qfi_segment **out)
{
    /* A scan as the result is kept whole and copied, in windows. */
    if (is_result && id >= b->program->n_input && qfi_breaker_is_whole(b, id))
        b->value[id].keep = true;
    if (is_result && b->value[id].keep)
        return qfi_operand_segment(b, id, order, b->value[id].type.dtype, out);
    qf_status st;
    while ((st = qfi_value_segment(b, id, order, out)) == QFI_AGAIN)
        b->value[b->again_id].keep = true;
    return st;
}

/* From the result down: what a segment or a breaker keeps has a smaller id than its user. */
static qf_status make_segments(qfi_builder *b, uint32_t result, const uint8_t *order,
                               const qfi_segment **segment)
{
    uint32_t finished = 0;

    QF_TRY(make_value(b, result, true, order, &b->pipe->result));
    QF_TRY(finish_breakers(b, &finished));
    for (uint32_t id = result; id != UINT32_MAX; id--) {
        if (!b->value[id].keep)
            continue;
        QF_TRY(make_value(b, id, false, NULL, &segment[id]));
        QF_TRY(finish_breakers(b, &finished));
    }
    return QF_OK;
}

/* Number the kept values in the order in which they are made, and let operands name them so. */
static void use_kept(qfi_builder *b, qfi_kept *kept, const qfi_segment *s, uint32_t user)
{
    for (uint32_t p = 0; s && p < s->n_piece; p++)
        for (int i = 0; i < s->piece[p]->n_operand; i++) {
            qfi_operand *o = &s->piece[p]->operand[i];
            if (o->source == QFI_KEPT) {
                const uint32_t k = b->value[o->which].kept - 1;
                if (kept[k].last < user)
                    kept[k].last = user;
            } else if (o->source == QFI_PANEL) {
                const qfi_breaker *x = b->breaker[o->which];
                for (int j = 0; j < x->n_in; j++)
                    use_kept(b, kept, x->in[j], user);
            }
        }
}

static void number_operands(qfi_builder *b, const qfi_segment *s)
{
    for (uint32_t p = 0; s && p < s->n_piece; p++)
        for (int i = 0; i < s->piece[p]->n_operand; i++)
            if (s->piece[p]->operand[i].source == QFI_KEPT)
                s->piece[p]->operand[i].which = b->value[s->piece[p]->operand[i].which].kept - 1;
}

/* Lowest offset at which value k meets no earlier value that still lives when it is made. */
static bool place(qfi_kept *kept, uint32_t k, uint64_t *end)
{
    bool moved = true;

    kept[k].at = 0;
    while (moved) {
        moved = false;
        for (uint32_t j = 0; j < k; j++) {
            const bool apart =
                kept[j].at + kept[j].size <= kept[k].at || kept[k].at + kept[k].size <= kept[j].at;
            if (kept[j].last < k || apart)
                continue;
            kept[k].at = kept[j].at + kept[j].size;
            moved = true;
            if (kept[k].at > UINT64_MAX / 4)
                return false;
        }
    }
    if (kept[k].at + kept[k].size > *end)
        *end = kept[k].at + kept[k].size;
    return true;
}

static qf_status plan_kept(qfi_builder *b, uint32_t result, const qfi_segment **segment)
{
    qf_pipe *pipe = b->pipe;
    uint32_t n = 0;

    for (uint32_t id = 0; id <= result; id++)
        n += b->value[id].keep;
    qfi_kept *kept = qfi_bump_get(&pipe->pool, n, sizeof *kept);
    if (!kept)
        return no_memory(b->diag);
    for (uint32_t id = 0; id <= result; id++) {
        if (!b->value[id].keep)
            continue;
        kept[pipe->n_kept] = (qfi_kept){ .last = pipe->n_kept,
                                         .size = qfi_lines(b->value[id].bytes),
                                         .segment = segment[id] };
        if (kept[pipe->n_kept].size > UINT64_MAX / 4)
            QF_FAIL(b->diag, QF_ERR_LIMIT, "a value of %llu bytes must be kept",
                    (unsigned long long)b->value[id].bytes);
        b->value[id].kept = ++pipe->n_kept;
    }
    pipe->kept = kept;
    for (uint32_t k = 0; k < n; k++)
        use_kept(b, kept, kept[k].segment, k);
    use_kept(b, kept, pipe->result, n);
    for (uint32_t k = 0; k < n; k++)
        if (!place(kept, k, &pipe->cost.scratch))
            QF_FAIL(b->diag, QF_ERR_LIMIT, "kept values exceed any memory");
    for (uint32_t k = 0; k < n; k++)
        number_operands(b, kept[k].segment);
    number_operands(b, pipe->result);
    for (uint32_t x = 0; x < b->n_breaker; x++)
        for (int j = 0; j < b->breaker[x]->n_in; j++)
            number_operands(b, b->breaker[x]->in[j]);
    return QF_OK;
}

/* What the one breaker has enough of is enough for a result that is nothing else. */
static uint64_t enough(const qfi_builder *b)
{
    const qfi_segment *s = b->pipe->result;
    const qfi_piece *p = s->n_piece == 1 ? s->piece[0] : NULL;
    const bool alone = p && p->n_operand == 1 && p->n_stage == 0 &&
                       p->operand[0].source == QFI_PANEL && b->n_breaker == 1 &&
                       b->pipe->n_kept == 0;

    return alone ? b->breaker[0]->enough : 0;
}

static qf_status plan_memory(qfi_builder *b, uint32_t result)
{
    qf_pipe *pipe = b->pipe;
    qf_cost *cost = &pipe->cost;
    uint64_t least;

    bool works = pipe->result->reads || b->n_breaker > 0;
    uint64_t most = 0;
    for (uint32_t k = 0; k < pipe->n_kept; k++)
        works |= pipe->kept[k].segment->reads;
    for (uint32_t x = 0; x < b->n_breaker; x++)
        most = b->breaker[x]->work > most ? b->breaker[x]->work : most;
    pipe->work = works ? QFI_LEAST_WORK + most : 0;
    pipe->enough = enough(b);
    cost->written = b->value[result].bytes;
    cost->window = QFI_SLOT * pipe->n_slot +
                   (cost->written < LEAST_WINDOW ? cost->written : LEAST_WINDOW) + pipe->work +
                   SLACK;
    if (!qf_add(cost->scratch, cost->window, &least) || least > b->ctx->memory)
        QF_FAIL(b->diag, QF_ERR_LIMIT,
                "%llu bytes of scratch and %llu of working memory exceed %llu",
                (unsigned long long)cost->scratch, (unsigned long long)cost->window,
                (unsigned long long)b->ctx->memory);
    return QF_OK;
}

/* Payload that is read: each distinct element of each input once. */
static uint64_t input_bytes(const qf_tensor *t)
{
    uint64_t n = 1;
    for (int d = 0; d < t->rank; d++)
        n *= t->stride[d] == 0 && t->shape[d] > 0 ? 1 : (uint64_t)t->shape[d];
    const unsigned bits = qf_dtype_get(t->dtype)->bits;
    return bits < 8 ? (n * bits + 7) / 8 : n * (bits / 8);
}

/* What the builder notes about inputs while it lowers. */
static qf_status list_inputs(qfi_builder *b)
{
    qf_pipe *pipe = b->pipe;

    pipe->n_input = b->program->n_input;
    pipe->input = qfi_bump_get(&pipe->pool, pipe->n_input, sizeof *pipe->input);
    pipe->joined = qfi_bump_get(&pipe->pool, pipe->n_input, sizeof *pipe->joined);
    return pipe->input && pipe->joined ? QF_OK : no_memory(b->diag);
}

static void hold_inputs(qfi_builder *b, const bool *needed)
{
    qf_pipe *pipe = b->pipe;
    const qf_program *p = b->program;

    for (uint32_t id = 0; id < p->n_input; id++) {
        if (!needed[id])
            continue;
        pipe->cost.read += input_bytes(&p->input[id]);
        pipe->input[id] = p->input[id];
        qf_storage_ref(p->input[id].storage);
    }
    for (uint32_t x = 0; x < b->n_breaker; x++)
        pipe->cost.flops += qfi_breaker_flops(b->breaker[x]);
}

static qf_status check_order(qfi_builder *b, const qf_type *type, const uint8_t *order)
{
    uint32_t seen = 0;

    for (int k = 0; order && k < type->rank; k++) {
        if (order[k] >= type->rank || seen >> order[k] & 1)
            QF_FAIL(b->diag, QF_ERR_ARG, "the order is no permutation of the dims");
        seen |= 1u << order[k];
    }
    return QF_OK;
}

static qf_status build(qfi_builder *b, uint32_t result, const uint8_t *order)
{
    const size_t n = (size_t)result + 1;
    bool *needed = qfi_bump_get(&b->temp, n, sizeof *needed);
    const qfi_segment **segment = qfi_bump_get(&b->temp, n, sizeof *segment);

    b->value = qfi_bump_get(&b->temp, n, sizeof *b->value);
    b->breaker = qfi_bump_get(&b->pipe->pool, n, sizeof(qfi_breaker *));
    if (!needed || !segment || !b->value || !b->breaker)
        return no_memory(b->diag);
    QF_TRY(mark_needed(b->program, result, needed, b->diag));
    QF_TRY(infer_all(b, needed, result));
    QF_TRY(check_order(b, &b->value[result].type, order));
    QF_TRY(list_inputs(b));
    b->pipe->type = b->value[result].type;
    b->pipe->bits = qf_dtype_get(b->pipe->type.dtype)->bits;
    QF_TRY(make_segments(b, result, order, segment));
    b->pipe->breaker = b->breaker;
    b->pipe->n_breaker = b->n_breaker;
    QF_TRY(plan_kept(b, result, segment));
    QF_TRY(plan_memory(b, result));
    hold_inputs(b, needed);
    return QF_OK;
}

qf_status qf_pipe_build(const qf_ctx *user, const qf_program *program, uint32_t result,
                        const uint8_t *order, qf_pipe **out, qf_diag *diag)
{
    qf_ctx ctx;
    qfi_bump pool = { 0 }, temp = { 0 };
    qf_status st;

    *out = NULL;
    QF_TRY(qfi_ctx_make(user, &ctx, diag));
    if (result >= (uint64_t)program->n_input + program->n_step)
        QF_FAIL(diag, QF_ERR_ARG, "value %u does not exist", (unsigned)result);
    pool.from = temp.from = ctx.allocator;
    qfi_builder *b = qfi_bump_take(&temp, sizeof *b);
    qf_pipe *pipe = qfi_bump_get(&pool, 1, sizeof *pipe);
    if (!b || !pipe) {
        st = no_memory(diag);
        goto out;
    }
    memset(b, 0, offsetof(qfi_builder, operand));
    b->ctx = &ctx;
    b->table = ctx.table;
    b->diag = diag;
    b->pipe = pipe;
    b->program = program;
    b->budget = ctx.memory;
    b->temp = temp;
    pipe->pool = pool;
    pipe->refs = 1;
    st = build(b, result, order);
    pool = pipe->pool;
    temp = b->temp;
    if (st == QF_OK)
        *out = pipe;
out:
    qfi_bump_free(&temp);
    if (!*out)
        qfi_bump_free(&pool);
    return st;
}

qf_cost qf_pipe_cost(const qf_pipe *pipe)
{
    return pipe->cost;
}

qf_type qf_pipe_type(const qf_pipe *pipe)
{
    return pipe->type;
}
