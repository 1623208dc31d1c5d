/* What a chain of carried views changes: the moves of its dequantize, and the nodes that nobody
 * needs any more. */
#include "carry.h"

#include <string.h>

/* Bytes that are stored no more once nobody but the chain read an operand of its dequantizes.
 * viewed: what is moved views what is stored. */
static qfi_sum freed_by(const qfi_carrier *c, qfi_id v, bool viewed)
{
    const qfi_id payload = c->fold->graph->value[v].payload;
    const uint32_t old = c->run->unit_of[v];
    qfi_sum freed = 0;
    if (c->run->kept_use[v] != 1)
        return 0;
    if (payload != QFI_NONE && !viewed && c->run->payload_use[payload] == 1)
        freed += c->fold->graph->payload[payload].packed;
    if (old != QFI_NONE && c->run->unit[old].n == 1)
        freed += c->run->unit[old].bytes;
    return freed;
}

/* What the parts of a concatenation, but the one whose dequantize stays, read no more. */
static qfi_sum freed_by_parts(const qfi_carrier *c, const qfi_chain *ch, qfi_id stays)
{
    const qf_graph *g = c->fold->graph;
    qfi_sum freed = 0;
    for (uint32_t p = ch->first_part; p != QFI_NONE; p = c->chain[p].next_part) {
        const qfi_chain *part = &c->chain[p];
        const qfi_node *node = &g->node[part->node];
        for (uint32_t k = 0; part->node != stays && k < node->n_in; k++)
            if (g->operand[node->first_in + k] != QFI_NONE)
                freed += freed_by(c, g->operand[node->first_in + k], false);
    }
    return freed;
}

static qfi_id operand_of(const qfi_carrier *c, const qfi_move *move, uint32_t k)
{
    const qf_graph *g = c->fold->graph;
    return g->operand[g->node[move->node].first_in + k];
}

/* Whether no move of a dequantize takes its operand k as it was. */
static bool all_change(const qfi_move *move, size_t n, uint32_t k)
{
    for (size_t i = 0; i < n; i++)
        if (move[i].ref[k] == QFI_NONE)
            return false;
    return true;
}

/* Bytes that have to be stored for operand k of the moves of a dequantize, less those of the old
 * one if nobody reads it any more. */
static qfi_sum growth_of_operand(const qfi_carrier *c, const qfi_move *move, size_t n, uint32_t k)
{
    qfi_sum growth = 0;
    bool viewed = false;
    for (size_t i = 0; i < n; i++) {
        const qfi_form *form = &move[i].form[k];
        if (move[i].ref[k] == QFI_NONE)
            continue;
        const uint32_t u = form->stored == QFI_NONE ? qfi_unit_find(c->fold, form) : QFI_NONE;
        if (form->stored == QFI_NONE && (u == QFI_NONE || !c->run->unit[u].n))
            growth += form->bytes;
        viewed |= form->stored != QFI_NONE &&
                  form->stored == c->fold->graph->value[operand_of(c, move, k)].payload;
    }
    return all_change(move, n, k) ? growth - freed_by(c, operand_of(c, move, k), viewed) : growth;
}

/* Bytes that n moves of one dequantize add to the file, the text of n - 1 more nodes among them. */
static qfi_sum growth_of(const qfi_carrier *c, const qfi_chain *ch, const qfi_move *move, size_t n)
{
    const qfi_node *node = &c->fold->graph->node[move->node];
    qfi_sum growth = (qfi_sum)(n - 1) * (qfi_sum)(node->text_end - node->text_begin);
    for (uint32_t k = 0; k < 3; k++)
        growth += growth_of_operand(c, move, n, k);
    return growth - freed_by_parts(c, ch, move->node);
}

/* A node whose result the chain yields in another way: nobody needs it. */
static void let_go(const qfi_carrier *c, qfi_id n)
{
    const qf_graph *g = c->fold->graph;
    const qfi_node *node = &g->node[n];
    c->fold->node[n].verdict = QF_FOLDED;
    c->fold->node[n].reason = QF_REASON_none;
    c->fold->node[n].carried = true;
    c->run->member[n] = QFI_FOLD;
    c->run->live[n] = false;
    for (uint32_t k = 0; k < node->n_in; k++)
        if (g->operand[node->first_in + k] != QFI_NONE)
            qfi_unuse(c->fold, g->operand[node->first_in + k]);
}

/* Everything between the dequantizes and the last view, and the dequantizes but one. */
static qf_status let_go_chain(const qfi_carrier *c, const qfi_move *move, qf_diag *diag)
{
    const qf_graph *g = c->fold->graph;
    qfi_stack todo = { 0 };
    if (!qfi_push(&c->run->pool, &todo, g->value[move->result].node))
        return QFI_NO_MEMORY(diag);
    while (todo.n) {
        const qfi_id n = todo.item[--todo.n];
        const qfi_node *node = &g->node[n];
        if (n == move->node || !c->run->live[n])
            continue;
        const uint32_t n_source = node->dequantize ? 0 : node->n_in;
        for (uint32_t k = 0; k < n_source; k++) {
            const qfi_id v = g->operand[node->first_in + k];
            const qfi_id source = v == QFI_NONE ? QFI_NONE : g->value[v].node;
            const bool ours = source != QFI_NONE && (source == move->node || c->run->live[source]);
            if (ours && !qfi_push(&c->run->pool, &todo, source))
                return QFI_NO_MEMORY(diag);
        }
        let_go(c, n);
    }
    return QF_OK;
}

/* The first n moves from `move` on, all of one dequantize, are made. */
static qf_status make_moves(const qfi_carrier *c, const qfi_move *move, size_t n, qf_diag *diag)
{
    for (uint32_t k = 0; k < 3; k++) {
        for (size_t i = 0; i < n; i++)
            if (move[i].ref[k] != QFI_NONE)
                QF_TRY(qfi_unit_hold(c->fold, &move[i].form[k], diag));
        if (all_change(move, n, k))
            qfi_unuse(c->fold, operand_of(c, move, k));
    }
    c->fold->node[move->node].carried = true;
    for (size_t i = 0; i < n; i++)
        QF_TRY(let_go_chain(c, &move[i], diag));
    return QF_OK;
}

static void note_change(const qfi_carrier *c, qfi_move *move, uint32_t k, qfi_ref before,
                        qfi_ref now)
{
    move->ref[k] = before == now ? QFI_NONE : now;
    if (before != now)
        move->form[k] = qfi_form_of(c->fold, now, NULL);
}

static qf_status add_move(const qfi_carrier *c, const qfi_chain *ch, qf_diag *diag)
{
    qfi_run *run = c->run;
    qfi_move move = { .node = ch->node, .result = ch->value, .axis = ch->now.axis };
    qfi_move *moves =
        qfi_pool_grow(&run->pool, run->move, run->n_move, &run->cap_move, sizeof *moves);
    if (!moves)
        return QFI_NO_MEMORY(diag);
    if (ch->now.by_blocks)
        move.n_block = c->fold->prog.def[ch->now.data].type.rank;
    memcpy(move.block, ch->now.block, sizeof move.block);
    note_change(c, &move, 0, ch->before.data, ch->now.data);
    note_change(c, &move, 1, ch->before.scale, ch->now.scale);
    note_change(c, &move, 2, ch->before.zero, ch->now.zero);
    run->move = moves;
    moves[run->n_move++] = move;
    return QF_OK;
}

/* Where that is too much, what a concatenation put together moves alone, and what stands in front
 * of a split alone. */
static qf_status refuse(const qfi_carrier *c, qfi_chain *ch, qf_diag *diag)
{
    const qfi_id maker = c->fold->graph->value[ch->value].node;
    const bool split = ch->first_piece != QFI_NONE;
    c->fold->node[split ? c->user[ch->value] : maker].reason = QF_REASON_growth;
    ch->first_piece = QFI_NONE;
    if (split)
        return qfi_carry_apply(c, ch, diag);
    for (uint32_t p = ch->first_part; p != QFI_NONE; p = c->chain[p].next_part)
        c->chain[p].taken = false;
    return QF_OK;
}

qf_status qfi_carry_apply(const qfi_carrier *c, qfi_chain *ch, qf_diag *diag)
{
    qfi_run *run = c->run;
    const size_t first = run->n_move;
    const bool moved = ch->value != c->fold->graph->node[ch->node].first_out;
    if (ch->taken || (!moved && ch->first_piece == QFI_NONE))
        return QF_OK;
    if (ch->first_piece == QFI_NONE)
        QF_TRY(add_move(c, ch, diag));
    for (uint32_t p = ch->first_piece; p != QFI_NONE; p = c->chain[p].next_piece)
        QF_TRY(add_move(c, &c->chain[p], diag));
    const qfi_sum growth = growth_of(c, ch, run->move + first, run->n_move - first);
    if (growth > 0 && growth > qfi_growth_left(c->fold)) {
        run->n_move = first;
        return refuse(c, ch, diag);
    }
    run->growth += growth > 0 ? growth : 0;
    return make_moves(c, run->move + first, run->n_move - first, diag);
}
