/* Moves views under a dequantize (R5): in weight -> dequantize -> permute -> linear the integers
 * are stored permuted, and scale, zero point and channel axis go with them, so that the views
 * vanish and nothing gets wider.
 *
 * Looks at dequantizes that the frontier found to stay, and follows each through the views of which
 * it has only one. The longest run of views after which the operator can still say it (one axis, or
 * none) is carried. */
#include "work.h"

#include <string.h>

/* A dequantized value under a view: operands as the foreign operator takes them. axis: -1 when per
 * tensor. */
typedef struct quantised {
    qfi_ref data, scale, zero;
    int8_t axis;
} quantised;

typedef struct carrier {
    qfi_fold *fold;
    qfi_run *run;
    qfi_id *user; /* per value: a node that stays and reads it, QFI_NONE */
} carrier;

/* ---------------------------------------- one view */

/* Where the axis is after a view, -1 if it is no dim of its own any more. in: type of the view's
 * operand. */
typedef int8_t move_fn(const qfi_def *view, const qf_type *in, int8_t axis);

static int8_t move_permute(const qfi_def *view, const qf_type *in, int8_t axis)
{
    (void)in;
    for (int8_t i = 0; i < view->type.rank; i++)
        if (view->attrs->dims.dim[i] == axis)
            return i;
    return -1;
}

static int8_t move_reshape(const qfi_def *view, const qf_type *in, int8_t axis)
{
    int64_t before = 1, seen = 1;
    for (int8_t i = 0; i < axis; i++)
        before *= in->dim[i];
    for (int8_t i = 0; i < view->type.rank; seen *= view->type.dim[i++])
        if (seen == before && view->type.dim[i] == in->dim[axis])
            return i;
    return -1;
}

static int8_t move_slice(const qfi_def *view, const qf_type *in, int8_t axis)
{
    (void)view, (void)in;
    return axis;
}

static int8_t move_select(const qfi_def *view, const qf_type *in, int8_t axis)
{
    const uint8_t dim = view->attrs->slice.dim;
    (void)in;
    return dim == axis ? -1 : (int8_t)(axis - (dim < axis));
}

static int8_t move_squeeze(const qfi_def *view, const qf_type *in, int8_t axis)
{
    int8_t before = 0;
    (void)in;
    for (int8_t i = 0; i < axis; i++)
        before = (int8_t)(before + (int)(view->attrs->mask.dims >> i & 1));
    return view->attrs->mask.dims >> axis & 1 ? -1 : (int8_t)(axis - before);
}

static int8_t move_unsqueeze(const qfi_def *view, const qf_type *in, int8_t axis)
{
    (void)in;
    for (int8_t i = 0; i < view->type.rank; i++)
        if (!(view->attrs->mask.dims >> i & 1) && axis-- == 0)
            return i;
    return -1;
}

/* The views that can move under a dequantize. */
static move_fn *const axis_after[QF_OP_COUNT] = {
    [QF_OP_permute] = move_permute, [QF_OP_reshape] = move_reshape,
    [QF_OP_slice] = move_slice,     [QF_OP_select] = move_select,
    [QF_OP_squeeze] = move_squeeze, [QF_OP_unsqueeze] = move_unsqueeze,
};

static bool is_carried(qf_op op)
{
    return op < QF_OP_COUNT && axis_after[op];
}

/* Scale or zero point of the channels that a slice along the axis leaves. */
static qf_status slice_channels(qfi_fold *fold, const qfi_def *view, qfi_ref *vector, qf_diag *diag)
{
    qf_attrs attrs = *view->attrs;
    attrs.slice.dim = 0;
    if (*vector == QFI_NONE)
        return QF_OK;
    return qfi_prog_call(&fold->prog, QF_OP_slice, &attrs, vector, 1, vector, diag);
}

static qf_status carry_view(qfi_fold *fold, qfi_ref ref, quantised *q, bool *carried, qf_diag *diag)
{
    const qfi_def view = fold->prog.def[ref];
    const qf_type in = fold->prog.def[q->data].type;
    *carried = false;
    if (!is_carried(view.op))
        return QF_OK;
    const int8_t axis = q->axis < 0 ? -1 : axis_after[view.op](&view, &in, q->axis);
    if (q->axis >= 0 && axis < 0)
        return QF_OK;
    if (q->axis >= 0 && view.op == QF_OP_slice && view.attrs->slice.dim == q->axis) {
        QF_TRY(slice_channels(fold, &view, &q->scale, diag));
        QF_TRY(slice_channels(fold, &view, &q->zero, diag));
    }
    QF_TRY(qfi_prog_call(&fold->prog, view.op, view.attrs, &q->data, 1, &q->data, diag));
    q->axis = axis;
    *carried = true;
    return QF_OK;
}

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

/* The operands of a dequantize; false unless its blocks are one axis or none. */
static bool read_quantised(const carrier *c, qfi_id n, quantised *q)
{
    const qfi_node *node = &c->fold->graph->node[n];
    const qfi_def *def = &c->fold->prog.def[c->fold->ref[node->first_out]];
    if (node->n_out != 1 || def->leaf != QFI_NONE || def->op != QF_OP_dequantize)
        return false;
    *q = (quantised){ .data = operand_ref(c, node, 0),
                      .scale = operand_ref(c, node, 1),
                      .zero = operand_ref(c, node, 2),
                      .axis = -1 };
    if (q->data != def->in[0])
        return false;
    const bool channels = q->scale != QFI_NONE && c->fold->prog.def[q->scale].type.rank == 1;
    const int64_t n_channel = channels ? c->fold->prog.def[q->scale].type.dim[0] : 0;
    if (channels && n_channel == 1)
        return false; /* the axis cannot be told from other dims of size 1 */
    for (int8_t i = 0; i < def->type.rank; i++) {
        const int64_t block = def->attrs->quant.block[i], dim = def->type.dim[i];
        if (block != dim && (block != 1 || !channels))
            return false;
        if (channels && q->axis < 0 && block == 1 && dim == n_channel)
            q->axis = i;
    }
    return !channels || q->axis >= 0;
}

/* Bytes that the move adds to the file: what has to be stored less what nobody reads any more. */
static qfi_sum growth_of(const carrier *c, const qfi_node *node, const qfi_move *move)
{
    qfi_sum growth = 0;
    for (uint32_t k = 0; k < 3; k++) {
        if (move->ref[k] == QFI_NONE)
            continue;
        const qfi_form *form = &move->form[k];
        const uint32_t u = form->stored == QFI_NONE ? qfi_unit_find(c->fold, form) : QFI_NONE;
        if (form->stored == QFI_NONE && (u == QFI_NONE || !c->run->unit[u].n))
            growth += form->bytes;
        const qfi_id v = c->fold->graph->operand[node->first_in + k];
        const qfi_id payload = c->fold->graph->value[v].payload;
        const uint32_t old = c->run->unit_of[v];
        if (c->run->kept_use[v] != 1)
            continue;
        if (payload != QFI_NONE && payload != form->stored && c->run->payload_use[payload] == 1)
            growth -= c->fold->graph->payload[payload].packed;
        if (old != QFI_NONE && c->run->unit[old].n == 1)
            growth -= c->run->unit[old].bytes;
    }
    return growth;
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
    for (qfi_id n = g->value[move->result].node; n != move->node;) {
        const qfi_node *node = &g->node[n];
        c->fold->node[n].verdict = QF_FOLDED;
        c->fold->node[n].reason = QF_REASON_none;
        c->fold->node[n].carried = true;
        run->member[n] = QFI_FOLD;
        run->live[n] = false;
        for (uint32_t k = 0; k < node->n_in; k++)
            if (g->operand[node->first_in + k] != QFI_NONE)
                qfi_unuse(c->fold, g->operand[node->first_in + k]);
        n = g->value[g->operand[node->first_in]].node;
    }
    return QF_OK;
}

static void note_change(const carrier *c, qfi_move *move, uint32_t k, qfi_ref before, qfi_ref now)
{
    move->ref[k] = before == now ? QFI_NONE : now;
    if (before != now)
        move->form[k] = qfi_form_of(c->fold, now, NULL);
}

/* Takes over as many views as the operator can express; *stop: the first that it cannot, QFI_NONE.
 */
static qf_status follow(const carrier *c, qfi_id n, quantised *q, qfi_id *result, qfi_id *stop,
                        qf_diag *diag)
{
    const qf_graph *g = c->fold->graph;
    qfi_id value = g->node[n].first_out;
    *result = *stop = QFI_NONE;
    for (qfi_id view; (view = next_view(c, value)) != QFI_NONE; value = *result) {
        const qfi_id out = g->node[view].first_out;
        qfi_ref path[QF_MAX_RANK];
        quantised moved = *q;
        int n_path;
        bool carried =
            views_between(&c->fold->prog, c->fold->ref[value], c->fold->ref[out], path, &n_path);
        if (!carried)
            return QF_OK; /* no view at all */
        for (int i = 0; carried && i < n_path; i++)
            QF_TRY(carry_view(c->fold, path[i], &moved, &carried, diag));
        if (!carried) {
            *stop = view;
            return QF_OK;
        }
        *q = moved;
        *result = out;
    }
    return QF_OK;
}

static qf_status carry_one(const carrier *c, qfi_id n, qf_diag *diag)
{
    const qf_graph *g = c->fold->graph;
    const qfi_node *node = &g->node[n];
    quantised before;
    if (!read_quantised(c, n, &before)) {
        const qfi_id view = node->n_out == 1 ? next_view(c, node->first_out) : QFI_NONE;
        if (view != QFI_NONE && is_view_of(c, view, node->first_out))
            c->fold->node[view].reason = QF_REASON_quant_layout;
        return QF_OK;
    }
    quantised q = before;
    qfi_id result, stop;
    QF_TRY(follow(c, n, &q, &result, &stop, diag));
    if (stop != QFI_NONE)
        c->fold->node[stop].reason = QF_REASON_quant_layout;
    if (result == QFI_NONE)
        return QF_OK;
    qfi_move move = { .node = n, .result = result, .axis = q.axis };
    note_change(c, &move, 0, before.data, q.data);
    note_change(c, &move, 1, before.scale, q.scale);
    note_change(c, &move, 2, before.zero, q.zero);
    const qfi_sum growth = growth_of(c, node, &move);
    if (growth > 0 && growth > qfi_growth_left(c->fold)) {
        c->fold->node[g->value[result].node].reason = QF_REASON_growth;
        return QF_OK;
    }
    c->run->growth += growth > 0 ? growth : 0;
    return apply_move(c, &move, diag);
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
        if (def->leaf == QFI_NONE && is_carried(def->op))
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
    if (!c.user)
        return QFI_NO_MEMORY(diag);
    for (qfi_id v = 0; v < g->n_value; v++)
        c.user[v] = QFI_NONE;
    for (qfi_id n = 0; n < g->n_node; n++)
        for (uint32_t k = 0; run->live[n] && k < g->node[n].n_in; k++)
            if (g->operand[g->node[n].first_in + k] != QFI_NONE)
                c.user[g->operand[g->node[n].first_in + k]] = n;
    for (qfi_id n = 0; n < g->n_node; n++)
        if (g->node[n].dequantize && is_widening(&c, n))
            QF_TRY(carry_one(&c, n, diag));
    mark_shared(&c);
    return QF_OK;
}
