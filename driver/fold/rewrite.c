/* The last pass: verdicts, and the overlay of edits that a format writes. */
#include "work.h"

typedef struct rewriter {
    qfi_fold *fold;
    qfi_run *run;
    const qf_graph *graph;
    qfi_edits *edits;
    bool *needed; /* per node that is not live: a constant comes from it */
} rewriter;

/* ---------------------------------------- verdicts */

static void need_operands(const rewriter *r, const qfi_node *node)
{
    for (uint32_t k = 0; k < node->n_in; k++) {
        const qfi_id v = r->graph->operand[node->first_in + k];
        if (v != QFI_NONE && r->graph->value[v].node != QFI_NONE)
            r->needed[r->graph->value[v].node] = true;
    }
}

static bool stores_result(const rewriter *r, const qfi_node *node)
{
    for (uint32_t k = 0; k < node->n_out; k++)
        if (r->run->boundary[node->first_out + k] != QFI_NONE)
            return true;
    return false;
}

/* What goes away is folded if something stored comes from it, dead otherwise. Asserts need nothing,
 * constant writes are part of what they write. */
static void give_verdicts(const rewriter *r)
{
    for (size_t m = 0; m < r->run->n_move; m++)
        need_operands(r, &r->graph->node[r->run->move[m].node]);
    for (qfi_id n = r->graph->n_node; n-- > 0;) {
        const qfi_node *node = &r->graph->node[n];
        qfi_node_state *state = &r->fold->node[n];
        if (r->run->member[n] == QFI_RUNTIME || r->run->live[n])
            continue;
        if (node->effect == QFI_ASSERT) {
            state->verdict = QF_FOLDED;
            continue;
        }
        const bool stays_in =
            r->needed[n] || stores_result(r, node) || state->carried || node->effect == QFI_WRITE;
        state->verdict = stays_in ? QF_FOLDED : QF_DEAD;
        state->reason = QF_REASON_none;
        if (stays_in && (!state->carried || node->dequantize))
            need_operands(r, node);
    }
}

/* ---------------------------------------- what is dropped */

static bool is_stored(const qfi_value *value)
{
    return value->payload != QFI_NONE && value->node == QFI_NONE &&
           (value->kind == QF_VALUE_PARAM || value->kind == QF_VALUE_BUFFER ||
            value->kind == QF_VALUE_CONST);
}

static void drop_values(const rewriter *r)
{
    const qf_graph *g = r->graph;
    for (qfi_id v = 0; v < g->n_value; v++) {
        if (r->run->boundary[v] != QFI_NONE)
            r->fold->ref[v] = r->run->boundary[v]; /* not what a later write left there */
        const qfi_value *value = &g->value[v];
        const bool constant = r->run->boundary[v] != QFI_NONE && value->kind != QF_VALUE_SCALAR;
        if (value->node != QFI_NONE)
            r->edits->drop_value[v] = r->edits->drop_node[value->node] && !constant;
        else
            r->edits->drop_value[v] = is_stored(value) && !r->run->kept_use[v] && !value->mutated &&
                                      !value->pinned && !value->is_output;
    }
    for (size_t m = 0; m < r->run->n_move; m++) {
        const qfi_move *move = &r->run->move[m];
        r->edits->drop_value[g->node[move->node].first_out] = true;
        r->edits->drop_value[move->result] = false;
    }
}

/* A payload goes when values viewed it and none does any more. */
static qf_status drop_payloads(const rewriter *r, qf_diag *diag)
{
    const qf_graph *g = r->graph;
    bool *stays = qfi_pool_alloc(&r->run->pool, g->n_payload, sizeof *stays);
    if (!stays)
        return QFI_NO_MEMORY(diag);
    for (qfi_id v = 0; v < g->n_value; v++) {
        const qfi_id payload = g->value[v].payload;
        if (payload == QFI_NONE)
            continue;
        r->edits->drop_payload[payload] = true;
        stays[payload] |= !r->edits->drop_value[v];
    }
    for (uint32_t i = 0; i < r->edits->n_constant; i++)
        if (r->edits->constant[i].payload < g->n_payload)
            stays[r->edits->constant[i].payload] = true;
    for (uint32_t p = 0; p < g->n_payload; p++)
        r->edits->drop_payload[p] &= !stays[p];
    return QF_OK;
}

static qf_status set_literals(const rewriter *r, qf_diag *diag)
{
    for (qfi_id v = 0; v < r->graph->n_value; v++) {
        const qfi_value *value = &r->graph->value[v];
        if (r->run->boundary[v] == QFI_NONE || value->kind != QF_VALUE_SCALAR)
            continue;
        bool known;
        QF_TRY(
            qfi_evaluate_scalar(r->fold, r->run->boundary[v], &r->edits->literal[v], &known, diag));
        if (!known)
            QF_FAIL(diag, QF_ERR_INTERNAL, "%.*s is no number", QFI_STR(value->name));
        r->edits->is_literal[v] = true;
    }
    return QF_OK;
}

/* ---------------------------------------- bytes, for the report */

/* A new payload counts for the first node whose result it stores, a vanished one for the first node
 * that read it. */
static qf_status count_bytes(const rewriter *r, qf_diag *diag)
{
    const qf_graph *g = r->graph;
    bool *counted =
        qfi_pool_alloc(&r->run->pool, (size_t)g->n_payload + r->edits->n_new_payload, 1);
    if (!counted)
        return QFI_NO_MEMORY(diag);
    for (uint32_t i = 0; i < r->edits->n_constant; i++) {
        const qfi_constant *constant = &r->edits->constant[i];
        const qfi_id node = g->value[constant->like].node;
        if (constant->payload < g->n_payload || counted[constant->payload] || node == QFI_NONE)
            continue;
        counted[constant->payload] = true;
        r->fold->node[node].bytes_after +=
            r->edits->new_payload[constant->payload - g->n_payload].size;
    }
    for (qfi_id n = 0; n < g->n_node; n++) {
        for (uint32_t k = 0; k < g->node[n].n_in; k++) {
            const qfi_id v = g->operand[g->node[n].first_in + k];
            const qfi_id payload = v == QFI_NONE ? QFI_NONE : g->value[v].payload;
            if (payload == QFI_NONE || counted[payload] || !r->edits->drop_payload[payload])
                continue;
            counted[payload] = true;
            r->fold->node[n].bytes_before += g->payload[payload].packed;
        }
    }
    return QF_OK;
}

/* ---------------------------------------- the pass */

static qf_status start(const rewriter *r, qf_diag *diag)
{
    const qf_graph *g = r->graph;
    qfi_edits *edits = r->edits;
    edits->whole = &r->fold->whole;
    edits->drop_node = qfi_pool_alloc(&edits->pool, g->n_node, sizeof *edits->drop_node);
    edits->drop_value = qfi_pool_alloc(&edits->pool, g->n_value, sizeof *edits->drop_value);
    edits->drop_payload = qfi_pool_alloc(&edits->pool, g->n_payload, sizeof *edits->drop_payload);
    edits->is_literal = qfi_pool_alloc(&edits->pool, g->n_value, sizeof *edits->is_literal);
    edits->literal = qfi_pool_alloc(&edits->pool, g->n_value, sizeof *edits->literal);
    if (!edits->drop_node || !edits->drop_value || !edits->drop_payload || !edits->is_literal ||
        !edits->literal)
        return QFI_NO_MEMORY(diag);
    return QF_OK;
}

/* Stored values that nobody reads are only taken out on the way; alone they are no reason to write
 * another file. */
static bool changes_anything(const rewriter *r)
{
    for (qfi_id n = 0; n < r->graph->n_node; n++)
        if (r->edits->drop_node[n])
            return true;
    return false;
}

qf_status qfi_rewrite(qfi_fold *fold, qf_diag *diag)
{
    rewriter r = {
        .fold = fold, .run = &qfi_work_of(fold)->run, .graph = fold->graph, .edits = &fold->edits
    };
    r.needed = qfi_pool_alloc(&r.run->pool, fold->graph->n_node, sizeof *r.needed);
    if (!r.needed)
        return QFI_NO_MEMORY(diag);
    QF_TRY(start(&r, diag));
    give_verdicts(&r);
    for (qfi_id n = 0; n < fold->graph->n_node; n++)
        fold->edits.drop_node[n] = fold->node[n].verdict != QF_KEPT;
    fold->edits.spent = fold->graph->spent + (uint64_t)r.run->growth;
    qfi_work_of(fold)->idle = !changes_anything(&r);
    if (qfi_work_of(fold)->idle)
        return QF_OK;
    fold->edits.contiguous = fold->options->contiguous;
    drop_values(&r);
    QF_TRY(drop_payloads(&r, diag));
    QF_TRY(set_literals(&r, diag));
    return count_bytes(&r, diag);
}
