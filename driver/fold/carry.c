/* Moves views under a dequantize (R5): in weight -> dequantize -> permute -> linear the integers
 * are stored permuted, and scale, zero point and channel axis go with them, so that the views
 * vanish and nothing gets wider. Several that are concatenated become one.
 *
 * Looks at dequantizes that the frontier found to stay, and follows each through the views of
 * which it has only one. The longest run of views after which the operator can still say it is
 * carried. */
#include "work.h"

#include <string.h>

/* A dequantize and the views that it takes over so far: node yields `value`, its operands were
 * `before` and are `now`. first_part: the first of the chains that a concatenation put together,
 * next_part the next of them; QFI_NONE. taken: part of another chain. */
typedef struct chain {
    qfi_id node, value;
    qfi_quantised before, now;
    uint32_t first_part, next_part;
    bool taken;
} chain;

typedef struct carrier {
    qfi_fold *fold;
    qfi_run *run;
    qfi_id *user; /* per value: a node that stays and reads it, QFI_NONE */
    chain *chain;
    size_t n_chain, cap_chain;
    uint32_t *chain_of; /* per value: the chain that ends there, QFI_NONE */
} carrier;

/* ---------------------------------------- one dequantize */

/* The views between two contents, nearest to `from` first; at most QF_MAX_RANK calls make one
 * foreign view. */
static bool views_between(const qfi_prog *prog, qfi_ref from, qfi_ref to, qfi_ref *path, int *n)
{
    for (*n = 0; to != from; to = prog->def[to].in[0]) {
        if (*n == QF_MAX_RANK || prog->def[to].n_in != 1 || prog->def[to].op >= QF_OP_COUNT)
            return false;
        path[(*n)++] = to;
    }
    for (int a = 0, b = *n - 1; a < b; a++, b--) {
        const qfi_ref swap = path[a];
        path[a] = path[b];
        path[b] = swap;
    }
    return true;
}

static bool is_view_of(const carrier *c, qfi_id n, qfi_id value)
{
    const qfi_ref ref = c->fold->ref[c->fold->graph->node[n].first_out];
    qfi_ref path[QF_MAX_RANK];
    int length;
    return ref != QFI_NONE &&
           views_between(&c->fold->prog, c->fold->ref[value], ref, path, &length);
}

static bool is_widening(const carrier *c, qfi_id n)
{
    return c->run->member[n] == QFI_HELD && c->run->live[n] &&
           c->fold->node[n].reason == QF_REASON_quantised;
}

/* The only node that needs a value, if it might be a view under which the dequantize can stand. */
static qfi_id next_view(const carrier *c, qfi_id value)
{
    const qf_graph *g = c->fold->graph;
    const qfi_id n = c->user[value];
    if (c->run->kept_use[value] != 1 || n == QFI_NONE || !is_widening(c, n))
        return QFI_NONE;
    const qfi_node *node = &g->node[n];
    const qfi_whole *whole = &c->fold->whole;
    const bool same_body = qfi_node_part(whole, n) == qfi_value_part(whole, value);
    const bool plain = same_body && node->effect == QFI_PURE && node->n_out == 1 && node->n_in &&
                       g->operand[node->first_in] == value && !node->dequantize;
    return plain ? n : QFI_NONE;
}

static qfi_ref operand_ref(const carrier *c, const qfi_node *node, uint32_t k)
{
    return k < node->n_in ? c->run->read[node->first_in + k] : QFI_NONE;
}

/* The axis, or the groups, of a dequantize; false if its blocks are neither, nor the whole. */
static bool read_blocks(const carrier *c, const qfi_def *def, qfi_quantised *q)
{
    const qf_type *scale = q->scale == QFI_NONE ? NULL : &c->fold->prog.def[q->scale].type;
    const int64_t *block = def->attrs->quant.block, *dim = def->type.dim;
    const bool channels = scale && scale->rank == 1;
    if (scale && scale->rank == 2) {
        q->group = block[1];
        return def->type.rank == 2 && block[0] == 1 && q->group > 0 && scale->dim[0] == dim[0] &&
               scale->dim[1] * q->group == dim[1];
    }
    if (channels && scale->dim[0] == 1)
        return false; /* the axis cannot be told from other dims of size 1 */
    for (int8_t i = 0; i < def->type.rank; i++) {
        if (block[i] != dim[i] && (block[i] != 1 || !channels))
            return false;
        if (channels && q->axis < 0 && block[i] == 1 && dim[i] == scale->dim[0])
            q->axis = i;
    }
    return !channels || q->axis >= 0;
}

static bool read_quantised(const carrier *c, qfi_id n, qfi_quantised *q)
{
    const qfi_node *node = &c->fold->graph->node[n];
    const qfi_def *def = &c->fold->prog.def[c->fold->ref[node->first_out]];
    if (node->n_out != 1 || def->leaf != QFI_NONE || def->op != QF_OP_dequantize)
        return false;
    *q = (qfi_quantised){ .data = operand_ref(c, node, 0),
                          .scale = operand_ref(c, node, 1),
                          .zero = operand_ref(c, node, 2),
                          .axis = -1 };
    q->by_blocks = node->dequantize == QFI_DEQUANTIZE_BLOCKS;
    memcpy(q->block, def->attrs->quant.block, sizeof q->block);
    for (int8_t i = 0; q->by_blocks && i < def->type.rank; i++)
        if (q->block[i] < 1 || def->type.dim[i] < 1 || def->type.dim[i] % q->block[i])
            return false;
    if (q->data != def->in[0] || (q->by_blocks && q->scale == QFI_NONE))
        return false;
    return q->by_blocks || read_blocks(c, def, q);
}

/* ---------------------------------------- applying */

/* Bytes that are stored no more once nobody but the chain read an operand of its dequantizes. */
static qfi_sum freed_by(const carrier *c, qfi_id v, qfi_id stored)
{
    const qfi_id payload = c->fold->graph->value[v].payload;
    const uint32_t old = c->run->unit_of[v];
    qfi_sum freed = 0;
    if (c->run->kept_use[v] != 1)
        return 0;
    if (payload != QFI_NONE && payload != stored && c->run->payload_use[payload] == 1)
        freed += c->fold->graph->payload[payload].packed;
    if (old != QFI_NONE && c->run->unit[old].n == 1)
        freed += c->run->unit[old].bytes;
    return freed;
}

/* What the parts of a concatenation, but the one whose dequantize stays, read no more. */
static qfi_sum freed_by_parts(const carrier *c, const chain *ch, qfi_id stays)
{
    const qf_graph *g = c->fold->graph;
    qfi_sum freed = 0;
    for (uint32_t p = ch->first_part; p != QFI_NONE; p = c->chain[p].next_part) {
        const chain *part = &c->chain[p];
        const qfi_node *node = &g->node[part->node];
        for (uint32_t k = 0; part->node != stays && k < node->n_in; k++)
            if (g->operand[node->first_in + k] != QFI_NONE)
                freed += freed_by(c, g->operand[node->first_in + k], QFI_NONE);
    }
    return freed;
}

/* Bytes that the move adds to the file: what has to be stored less what nobody reads any more. */
static qfi_sum growth_of(const carrier *c, const chain *ch, const qfi_move *move)
{
    const qf_graph *g = c->fold->graph;
    qfi_sum growth = 0;
    for (uint32_t k = 0; k < 3; k++) {
        if (move->ref[k] == QFI_NONE)
            continue;
        const qfi_form *form = &move->form[k];
        const uint32_t u = form->stored == QFI_NONE ? qfi_unit_find(c->fold, form) : QFI_NONE;
        if (form->stored == QFI_NONE && (u == QFI_NONE || !c->run->unit[u].n))
            growth += form->bytes;
        growth -= freed_by(c, g->operand[g->node[move->node].first_in + k], form->stored);
    }
    return growth - freed_by_parts(c, ch, move->node);
}

/* A node whose result the chain yields in another way: nobody needs it. */
static void let_go(const carrier *c, qfi_id n)
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
static qf_status let_go_chain(const carrier *c, const qfi_move *move, qf_diag *diag)
{
    const qf_graph *g = c->fold->graph;
    qfi_stack todo = { 0 };
    if (!qfi_push(&c->run->pool, &todo, g->value[move->result].node))
        return QFI_NO_MEMORY(diag);
    while (todo.n) {
        const qfi_id n = todo.item[--todo.n];
        const qfi_node *node = &g->node[n];
        if (n == move->node)
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

static qf_status apply_move(const carrier *c, const qfi_move *move, qf_diag *diag)
{
    const qf_graph *g = c->fold->graph;
    qfi_run *run = c->run;
    qfi_move *moves =
        qfi_pool_grow(&run->pool, run->move, run->n_move, &run->cap_move, sizeof *moves);
    if (!moves)
        return QFI_NO_MEMORY(diag);
    run->move = moves;
    moves[run->n_move++] = *move;
    for (uint32_t k = 0; k < 3; k++) {
        if (move->ref[k] == QFI_NONE)
            continue;
        QF_TRY(qfi_unit_hold(c->fold, &move->form[k], diag));
        qfi_unuse(c->fold, g->operand[g->node[move->node].first_in + k]);
    }
    c->fold->node[move->node].carried = true;
    return let_go_chain(c, move, diag);
}

static void note_change(const carrier *c, qfi_move *move, uint32_t k, qfi_ref before, qfi_ref now)
{
    move->ref[k] = before == now ? QFI_NONE : now;
    if (before != now)
        move->form[k] = qfi_form_of(c->fold, now, NULL);
}

/* What a concatenation that is refused put together moves alone. */
static qf_status apply_chain(const carrier *c, const chain *ch, qf_diag *diag)
{
    const qf_graph *g = c->fold->graph;
    qfi_move move = { .node = ch->node, .result = ch->value, .axis = ch->now.axis };
    if (ch->taken || ch->value == g->node[ch->node].first_out)
        return QF_OK;
    if (ch->now.by_blocks)
        move.n_block = c->fold->prog.def[ch->now.data].type.rank;
    memcpy(move.block, ch->now.block, sizeof move.block);
    note_change(c, &move, 0, ch->before.data, ch->now.data);
    note_change(c, &move, 1, ch->before.scale, ch->now.scale);
    note_change(c, &move, 2, ch->before.zero, ch->now.zero);
    const qfi_sum growth = growth_of(c, ch, &move);
    if (growth > 0 && growth > qfi_growth_left(c->fold)) {
        c->fold->node[g->value[ch->value].node].reason = QF_REASON_growth;
        for (uint32_t p = ch->first_part; p != QFI_NONE; p = c->chain[p].next_part)
            c->chain[p].taken = false;
        return QF_OK;
    }
    c->run->growth += growth > 0 ? growth : 0;
    return apply_move(c, &move, diag);
}

/* ---------------------------------------- following */

/* A node that takes several views of a value, each of which would need a dequantize of its own. */
static void mark_split(const carrier *c, qfi_id value)
{
    const qf_graph *g = c->fold->graph;
    const qfi_id n = c->user[value];
    if (c->run->kept_use[value] == 1 && n != QFI_NONE && is_widening(c, n) &&
        g->node[n].n_out > 1 && g->operand[g->node[n].first_in] == value && !g->node[n].dequantize)
        c->fold->node[n].reason = QF_REASON_quant_shared;
}

/* Takes over as many views as the operator can express; the first that it cannot gets its reason.
 */
static qf_status follow(const carrier *c, chain *ch, qf_diag *diag)
{
    const qf_graph *g = c->fold->graph;
    for (qfi_id view; (view = next_view(c, ch->value)) != QFI_NONE;) {
        const qfi_id out = g->node[view].first_out;
        qfi_ref path[QF_MAX_RANK];
        qfi_quantised moved = ch->now;
        int n_path;
        bool carried = views_between(&c->fold->prog, c->fold->ref[ch->value], c->fold->ref[out],
                                     path, &n_path);
        if (!carried)
            break; /* no view at all */
        for (int i = 0; carried && i < n_path; i++)
            QF_TRY(qfi_carry_view(c->fold, path[i], &moved, &carried, diag));
        if (!carried) {
            c->fold->node[view].reason = QF_REASON_quant_layout;
            break;
        }
        ch->now = moved;
        ch->value = out;
    }
    mark_split(c, ch->value);
    c->chain_of[ch->value] = (uint32_t)(ch - c->chain);
    return QF_OK;
}

static qf_status add_chain(carrier *c, chain ch, qf_diag *diag)
{
    chain *chains =
        qfi_pool_grow(&c->run->pool, c->chain, c->n_chain, &c->cap_chain, sizeof *chains);
    if (!chains)
        return QFI_NO_MEMORY(diag);
    c->chain = chains;
    c->chain[c->n_chain] = ch;
    return follow(c, &c->chain[c->n_chain++], diag);
}

/* Scales or zero points as a grid of blocks, which the operator need not have them in. */
static qf_status as_grid(const carrier *c, const qfi_quantised *q, qfi_ref *ref, qf_diag *diag)
{
    const qf_type data = c->fold->prog.def[q->data].type;
    qf_attrs attrs = { .shape = { .rank = (uint8_t)data.rank } };
    qf_type grid = { .rank = data.rank };
    if (*ref == QFI_NONE)
        return QF_OK;
    for (int8_t i = 0; i < data.rank; i++)
        attrs.shape.dim[i] = grid.dim[i] = data.dim[i] / q->block[i];
    grid.dtype = c->fold->prog.def[*ref].type.dtype;
    if (qf_type_equal(&grid, &c->fold->prog.def[*ref].type))
        return QF_OK;
    return qfi_prog_call(&c->fold->prog, QF_OP_reshape, &attrs, ref, 1, ref, diag);
}

static qf_status start_chain(carrier *c, qfi_id n, qf_diag *diag)
{
    const qfi_node *node = &c->fold->graph->node[n];
    chain ch = {
        .node = n, .value = node->first_out, .first_part = QFI_NONE, .next_part = QFI_NONE
    };
    if (read_quantised(c, n, &ch.before)) {
        ch.now = ch.before;
        if (ch.now.by_blocks) {
            QF_TRY(as_grid(c, &ch.now, &ch.now.scale, diag));
            QF_TRY(as_grid(c, &ch.now, &ch.now.zero, diag));
        }
        return add_chain(c, ch, diag);
    }
    const qfi_id view = node->n_out == 1 ? next_view(c, node->first_out) : QFI_NONE;
    if (view != QFI_NONE && is_view_of(c, view, node->first_out))
        c->fold->node[view].reason = QF_REASON_quant_layout;
    return QF_OK;
}

/* ---------------------------------------- several in one */

/* Whether two dequantizes say the same but for data, scales, zero points and axis. */
static bool same_operator(const carrier *c, qfi_id a, qfi_id b)
{
    const qf_graph *g = c->fold->graph;
    const qfi_node *x = &g->node[a], *y = &g->node[b];
    const qfi_def *dx = &c->fold->prog.def[c->fold->ref[x->first_out]];
    const qfi_def *dy = &c->fold->prog.def[c->fold->ref[y->first_out]];
    const bool numbers = operand_ref(c, x, 1) == QFI_NONE && operand_ref(c, y, 1) == QFI_NONE;
    if (!qfi_str_equal(x->op, y->op) || x->n_in != y->n_in ||
        qfi_node_part(&c->fold->whole, a) != qfi_node_part(&c->fold->whole, b))
        return false;
    for (uint32_t k = 3; k < x->n_in; k++)
        if (operand_ref(c, x, k) != operand_ref(c, y, k))
            return false;
    return dx->attrs->quant.qmin == dy->attrs->quant.qmin &&
           dx->attrs->quant.qmax == dy->attrs->quant.qmax && dx->type.dtype == dy->type.dtype &&
           dx->attrs->quant.rule == dy->attrs->quant.rule &&
           (!numbers || (dx->in[1] == dy->in[1] && dx->in[2] == dy->in[2]));
}

/* The chains that a concatenation reads, in their order, as parts of the last dequantize of them.
 * false: an operand is no chain of its own, or the dequantizes differ. */
static bool find_parts(const carrier *c, const qfi_node *node, qfi_quantised *part, uint32_t *last)
{
    const qf_graph *g = c->fold->graph;
    *last = QFI_NONE;
    for (uint32_t k = 0; k < node->n_in; k++) {
        const qfi_id v = g->operand[node->first_in + k];
        const uint32_t i = v == QFI_NONE ? QFI_NONE : c->chain_of[v];
        if (i == QFI_NONE || c->run->kept_use[v] != 1 ||
            (*last != QFI_NONE && !same_operator(c, c->chain[i].node, c->chain[*last].node)))
            return false;
        if (*last == QFI_NONE || c->chain[i].node > c->chain[*last].node)
            *last = i;
        part[k] = c->chain[i].now;
    }
    return *last != QFI_NONE;
}

static bool is_cat(const carrier *c, qfi_id n)
{
    const qf_graph *g = c->fold->graph;
    const qfi_node *node = &g->node[n];
    const qfi_ref ref = node->n_out == 1 ? c->fold->ref[node->first_out] : QFI_NONE;
    const qfi_def *def = ref == QFI_NONE ? NULL : &c->fold->prog.def[ref];
    if (!def || !is_widening(c, n) || def->op != QF_OP_cat || def->n_in != node->n_in ||
        node->effect != QFI_PURE)
        return false;
    for (uint32_t k = 0; k < node->n_in; k++)
        if (def->in[k] != operand_ref(c, node, k))
            return false;
    return true;
}

static qf_status join_chains(carrier *c, qfi_id n, qf_diag *diag)
{
    const qf_graph *g = c->fold->graph;
    const qfi_node *node = &g->node[n];
    const qfi_def *def = &c->fold->prog.def[c->fold->ref[node->first_out]];
    qfi_quantised *part = qfi_pool_alloc(&c->run->pool, node->n_in, sizeof *part);
    chain ch = { .value = node->first_out, .first_part = QFI_NONE, .next_part = QFI_NONE };
    uint32_t last;
    bool carried;
    if (!part)
        return QFI_NO_MEMORY(diag);
    if (!find_parts(c, node, part, &last))
        return QF_OK;
    QF_TRY(qfi_carry_cat(c->fold, def->attrs->dim.dim, part, node->n_in, &ch.now, &carried, diag));
    if (!carried) {
        c->fold->node[n].reason = QF_REASON_quant_layout;
        return QF_OK;
    }
    ch.node = c->chain[last].node;
    ch.before = c->chain[last].before;
    for (uint32_t k = node->n_in; k-- > 0;) {
        const uint32_t i = c->chain_of[g->operand[node->first_in + k]];
        c->chain[i].taken = true;
        c->chain[i].next_part = ch.first_part;
        ch.first_part = i;
    }
    return add_chain(c, ch, diag);
}

/* A view that stays because the value under it has other users too, which would see it moved. */
static void mark_shared(const carrier *c)
{
    const qf_graph *g = c->fold->graph;
    for (qfi_id n = 0; n < g->n_node; n++) {
        const qfi_node *node = &g->node[n];
        const qfi_id from = node->n_in ? g->operand[node->first_in] : QFI_NONE;
        const qfi_ref ref = node->n_out ? c->fold->ref[node->first_out] : QFI_NONE;
        if (!is_widening(c, n) || from == QFI_NONE || ref == QFI_NONE ||
            g->value[from].node == QFI_NONE || c->run->kept_use[from] < 2)
            continue;
        const qfi_def *def = &c->fold->prog.def[ref];
        if (def->leaf == QFI_NONE && qfi_is_carried(def->op))
            c->fold->node[n].reason = QF_REASON_quant_shared;
    }
}

qf_status qfi_carry(qfi_fold *fold, qf_diag *diag)
{
    const qf_graph *g = fold->graph;
    qfi_run *run = &qfi_work_of(fold)->run;
    carrier c = { .fold = fold, .run = run };
    if (fold->options->fold_dequant)
        return QF_OK;
    c.user = qfi_pool_alloc(&run->pool, g->n_value, sizeof *c.user);
    c.chain_of = qfi_pool_alloc(&run->pool, g->n_value, sizeof *c.chain_of);
    if (!c.user || !c.chain_of)
        return QFI_NO_MEMORY(diag);
    for (qfi_id v = 0; v < g->n_value; v++)
        c.user[v] = c.chain_of[v] = QFI_NONE;
    for (qfi_id n = 0; n < g->n_node; n++)
        for (uint32_t k = 0; run->live[n] && k < g->node[n].n_in; k++)
            if (g->operand[g->node[n].first_in + k] != QFI_NONE)
                c.user[g->operand[g->node[n].first_in + k]] = n;
    for (qfi_id n = 0; n < g->n_node; n++) {
        if (g->node[n].dequantize && is_widening(&c, n))
            QF_TRY(start_chain(&c, n, diag));
        else if (is_cat(&c, n))
            QF_TRY(join_chains(&c, n, diag));
    }
    for (size_t i = c.n_chain; i-- > 0;) /* a concatenation before its parts */
        QF_TRY(apply_chain(&c, &c.chain[i], diag));
    mark_shared(&c);
    return QF_OK;
}
