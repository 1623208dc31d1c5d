/* Moves views under a dequantize (R5): in weight -> dequantize -> permute -> linear the integers
 * are stored permuted, and scale, zero point and channel axis go with them, so that the views
 * vanish and nothing gets wider. Several that are concatenated become one, and one that is split
 * becomes several.
 *
 * Looks at dequantizes that the frontier found to stay, and follows each through the views of
 * which it has only one. The longest run of views after which the operator can still say it is
 * carried. */
#include "carry.h"

#include <string.h>

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

static bool is_view_of(const qfi_carrier *c, qfi_id n, qfi_id value)
{
    const qfi_ref ref = c->fold->ref[c->fold->graph->node[n].first_out];
    qfi_ref path[QF_MAX_RANK];
    int length;
    return ref != QFI_NONE &&
           views_between(&c->fold->prog, c->fold->ref[value], ref, path, &length);
}

static bool is_widening(const qfi_carrier *c, qfi_id n)
{
    return c->run->member[n] == QFI_HELD && c->run->live[n] &&
           c->fold->node[n].reason == QF_REASON_quantised;
}

/* The only node that needs a value, if it might be a view under which the dequantize can stand. */
static qfi_id next_view(const qfi_carrier *c, qfi_id value)
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

static qfi_ref operand_ref(const qfi_carrier *c, const qfi_node *node, uint32_t k)
{
    return k < node->n_in ? c->run->read[node->first_in + k] : QFI_NONE;
}

/* The axis, or the groups, of a dequantize; false if its blocks are neither, nor the whole. */
static bool read_blocks(const qfi_carrier *c, const qfi_def *def, qfi_quantised *q)
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

static bool read_quantised(const qfi_carrier *c, qfi_id n, qfi_quantised *q)
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

/* ---------------------------------------- following */

static qfi_chain chain_from(qfi_id node, qfi_id value)
{
    return (qfi_chain){ .node = node,
                        .value = value,
                        .first_part = QFI_NONE,
                        .next_part = QFI_NONE,
                        .first_piece = QFI_NONE,
                        .next_piece = QFI_NONE };
}

/* What the operator says of result k of a node behind a chain, if it can. */
static qf_status carry_result(const qfi_carrier *c, const qfi_chain *ch, qfi_id result,
                              qfi_quantised *out, bool *carried, qf_diag *diag)
{
    const qfi_ref ref = c->fold->ref[result];
    qfi_ref path[QF_MAX_RANK];
    int n_path;
    *out = ch->now;
    *carried = ref != QFI_NONE &&
               views_between(&c->fold->prog, c->fold->ref[ch->value], ref, path, &n_path);
    for (int i = 0; *carried && i < n_path; i++)
        QF_TRY(qfi_carry_view(c->fold, path[i], out, carried, diag));
    return QF_OK;
}

/* The node that takes a value apart, if nobody else needs the value; else QFI_NONE. */
static qfi_id next_split(const qfi_carrier *c, qfi_id value)
{
    const qf_graph *g = c->fold->graph;
    const qfi_id n = c->user[value];
    if (c->run->kept_use[value] != 1 || n == QFI_NONE || !is_widening(c, n))
        return QFI_NONE;
    const qfi_node *node = &g->node[n];
    const bool splits = node->effect == QFI_PURE && node->n_out > 1 &&
                        g->operand[node->first_in] == value && !node->dequantize;
    return splits ? n : QFI_NONE;
}

static bool is_cat(const qfi_carrier *c, qfi_id n);
static qf_status add_chain(qfi_carrier *c, qfi_chain ch, uint32_t root, qf_diag *diag);

/* What becomes of the results of node n behind a chain; *carried: whether the operator can say all
 * that somebody needs. */
static qf_status carry_results(const qfi_carrier *c, const qfi_chain *ch, qfi_id n,
                               qfi_quantised *piece, bool *carried, qf_diag *diag)
{
    const qfi_node *node = &c->fold->graph->node[n];
    *carried = true;
    for (uint32_t k = 0; *carried && k < node->n_out; k++)
        if (c->run->kept_use[node->first_out + k])
            QF_TRY(carry_result(c, ch, node->first_out + k, &piece[k], carried, diag));
    return QF_OK;
}

/* Whether one of the chains from `first` on ends at a concatenation, which looks for whole ones. */
static bool any_joined(const qfi_carrier *c, size_t first)
{
    for (size_t i = first; i < c->n_chain; i++) {
        const qfi_id user = c->user[c->chain[i].value];
        if (user != QFI_NONE && is_cat(c, user))
            return true;
    }
    return false;
}

/* A chain for each piece that somebody needs; pieces of pieces are pieces of `root` too. Only at
 * top level: the writer of bodies knows one dequantize where one was. */
static qf_status take_apart(qfi_carrier *c, uint32_t number, uint32_t root, bool *apart,
                            qf_diag *diag)
{
    const qf_graph *g = c->fold->graph;
    const qfi_chain whole = c->chain[number];
    const qfi_id n = next_split(c, whole.value);
    const uint32_t before = c->chain[root].first_piece;
    const size_t first = c->n_chain;
    *apart = false;
    if (n == QFI_NONE)
        return QF_OK;
    const qfi_node *node = &g->node[n];
    qfi_quantised *piece = qfi_pool_alloc(&c->run->pool, node->n_out, sizeof *piece);
    if (!piece)
        return QFI_NO_MEMORY(diag);
    c->fold->node[n].reason = QF_REASON_quant_shared;
    if (qfi_node_part(&c->fold->whole, n) || qfi_node_part(&c->fold->whole, whole.node))
        return QF_OK;
    QF_TRY(carry_results(c, &whole, n, piece, apart, diag));
    if (!*apart)
        c->fold->node[n].reason = QF_REASON_quant_layout;
    for (uint32_t k = node->n_out; *apart && k-- > 0;) {
        if (!c->run->kept_use[node->first_out + k])
            continue;
        qfi_chain ch = chain_from(whole.node, node->first_out + k);
        ch.before = whole.before;
        ch.now = piece[k];
        ch.taken = true;
        QF_TRY(add_chain(c, ch, root, diag));
    }
    *apart = *apart && !any_joined(c, first);
    if (!*apart)
        c->chain[root].first_piece = before;
    return QF_OK;
}

/* Takes over as many views as the operator can express; the first that it cannot gets its reason.
 */
static qf_status follow(const qfi_carrier *c, qfi_chain *ch, qf_diag *diag)
{
    for (qfi_id view; (view = next_view(c, ch->value)) != QFI_NONE;) {
        const qfi_id out = c->fold->graph->node[view].first_out;
        qfi_quantised moved;
        bool carried;
        if (!is_view_of(c, view, ch->value))
            break;
        QF_TRY(carry_result(c, ch, out, &moved, &carried, diag));
        if (!carried) {
            c->fold->node[view].reason = QF_REASON_quant_layout;
            break;
        }
        ch->now = moved;
        ch->value = out;
    }
    return QF_OK;
}

/* root: the chain of which it is a piece, QFI_NONE. */
static qf_status add_chain(qfi_carrier *c, qfi_chain ch, uint32_t root, qf_diag *diag)
{
    qfi_chain *chains =
        qfi_pool_grow(&c->run->pool, c->chain, c->n_chain, &c->cap_chain, sizeof *chains);
    const uint32_t number = (uint32_t)c->n_chain;
    bool apart;
    if (!chains)
        return QFI_NO_MEMORY(diag);
    c->chain = chains;
    c->n_chain++;
    chains[number] = ch;
    QF_TRY(follow(c, &chains[number], diag));
    if (root == QFI_NONE)
        c->chain_of[chains[number].value] = number;
    QF_TRY(take_apart(c, number, root == QFI_NONE ? number : root, &apart, diag));
    if (root == QFI_NONE || apart)
        return QF_OK;
    c->chain[number].next_piece = c->chain[root].first_piece;
    c->chain[root].first_piece = number;
    return QF_OK;
}

/* Scales or zero points as a grid of blocks, which the operator need not have them in. */
static qf_status as_grid(const qfi_carrier *c, const qfi_quantised *q, qfi_ref *ref, qf_diag *diag)
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

static qf_status start_chain(qfi_carrier *c, qfi_id n, qf_diag *diag)
{
    const qfi_node *node = &c->fold->graph->node[n];
    qfi_chain ch = chain_from(n, node->first_out);
    if (read_quantised(c, n, &ch.before)) {
        ch.now = ch.before;
        if (ch.now.by_blocks) {
            QF_TRY(as_grid(c, &ch.now, &ch.now.scale, diag));
            QF_TRY(as_grid(c, &ch.now, &ch.now.zero, diag));
        }
        return add_chain(c, ch, QFI_NONE, diag);
    }
    const qfi_id view = node->n_out == 1 ? next_view(c, node->first_out) : QFI_NONE;
    if (view != QFI_NONE && is_view_of(c, view, node->first_out))
        c->fold->node[view].reason = QF_REASON_quant_layout;
    return QF_OK;
}

/* ---------------------------------------- several in one */

/* Whether two dequantizes say the same but for data, scales, zero points and axis. */
static bool same_operator(const qfi_carrier *c, qfi_id a, qfi_id b)
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
static bool find_parts(const qfi_carrier *c, const qfi_node *node, qfi_quantised *part,
                       uint32_t *last)
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

static bool is_cat(const qfi_carrier *c, qfi_id n)
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

static qf_status join_chains(qfi_carrier *c, qfi_id n, qf_diag *diag)
{
    const qf_graph *g = c->fold->graph;
    const qfi_node *node = &g->node[n];
    const qfi_def *def = &c->fold->prog.def[c->fold->ref[node->first_out]];
    qfi_quantised *part = qfi_pool_alloc(&c->run->pool, node->n_in, sizeof *part);
    qfi_chain ch = chain_from(QFI_NONE, node->first_out);
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
    return add_chain(c, ch, QFI_NONE, diag);
}

/* A view that stays because the value under it has other users too, which would see it moved. */
static void mark_shared(const qfi_carrier *c)
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
    qfi_carrier c = { .fold = fold, .run = run };
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
        QF_TRY(qfi_carry_apply(&c, &c.chain[i], diag));
    mark_shared(&c);
    return QF_OK;
}
