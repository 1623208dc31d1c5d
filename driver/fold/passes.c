/* The passes in their order, and the loop that runs them again when one of them learned something.
 */
#include "work.h"

#include <string.h>

/* One array, no solver. A pass reads what the ones before it made, and changes none of it but
 * verdicts. */
static const qfi_pass passes[] = {
    { "classify", qfi_classify }, { "number", qfi_number },   { "frontier", qfi_frontier },
    { "carry", qfi_carry },       { "policy", qfi_policy },   { "apart", qfi_keep_apart },
    { "plan", qfi_make_plan },    { "rewrite", qfi_rewrite },
};

static void forget_run(qfi_fold *fold)
{
    qfi_work *work = qfi_work_of(fold);
    for (uint32_t i = 0; i < fold->n_pipe; i++)
        qf_pipe_free(fold->pipe[i]);
    fold->pipe = NULL;
    fold->nonfinite = NULL;
    fold->accident = NULL;
    fold->n_pipe = 0;
    qfi_pool_free(&work->run.pool);
    qfi_pool_free(&fold->edits.pool);
    work->run = (qfi_run){ 0 };
    fold->edits = (qfi_edits){ 0 };
    work->restart = false;
}

static qf_status start(qfi_fold *fold, qf_diag *diag)
{
    QF_TRY(qfi_whole_make(fold->top, &fold->pool, &fold->whole, diag));
    const qf_graph *g = fold->graph = &fold->whole.graph;
    qfi_work *work = qfi_pool_alloc(&fold->pool, 1, sizeof *work);
    fold->node = qfi_pool_alloc(&fold->pool, g->n_node, sizeof *fold->node);
    fold->ref = qfi_pool_alloc(&fold->pool, g->n_value, sizeof *fold->ref);
    if (!work || !fold->node || !fold->ref)
        return QFI_NO_MEMORY(diag);
    work->payload_state = qfi_pool_alloc(&fold->pool, g->n_payload, sizeof *work->payload_state);
    work->value_state = qfi_pool_alloc(&fold->pool, g->n_value, sizeof *work->value_state);
    work->hold = qfi_pool_alloc(&fold->pool, g->n_node, sizeof *work->hold);
    work->refused = qfi_pool_alloc(&fold->pool, g->n_node, sizeof *work->refused);
    if (!work->payload_state || !work->value_state || !work->hold || !work->refused)
        return QFI_NO_MEMORY(diag);
    fold->prog.graph = g;
    fold->private_data = work;
    return QF_OK;
}

static qf_status run_passes(qfi_fold *fold, qf_diag *diag)
{
    const qfi_work *work = qfi_work_of(fold);
    for (size_t i = 0; i < sizeof passes / sizeof *passes && !work->restart; i++)
        QF_TRY(passes[i].run(fold, diag));
    return QF_OK;
}

/* --strict: what has constant operands must fold, unless it is in its nature or was asked for. */
static qf_status check_strict(const qfi_fold *fold, qf_diag *diag)
{
    for (qfi_id n = 0; fold->options->strict && n < fold->graph->n_node; n++) {
        const qfi_node *node = &fold->graph->node[n];
        const qfi_node_state *state = &fold->node[n];
        const qf_reason_class kind = qf_reason_class_of(state->reason);
        if (state->verdict == QF_KEPT && (kind == QF_REASONS_MISSING || kind == QF_REASONS_FAILED))
            QF_FAIL(diag, QF_ERR_STRICT, "%.*s (%.*s) has constant operands and stays: %s",
                    QFI_STR(node->name), QFI_STR(node->op), qf_reason_text(state->reason));
    }
    return QF_OK;
}

qf_status qfi_fold_plan(qfi_fold *fold, qf_diag *diag)
{
    if (!fold->private_data)
        QF_TRY(start(fold, diag));
    for (;;) {
        forget_run(fold);
        QF_TRY(run_passes(fold, diag));
        if (!qfi_work_of(fold)->restart)
            return check_strict(fold, diag);
        qfi_work_of(fold)->restarts++;
    }
}

qfi_ref qfi_fold_next_read(const qfi_fold *fold, qfi_id value, size_t *at)
{
    const qf_graph *g = fold->graph;
    const qfi_run *run = &qfi_work_of(fold)->run;
    while (*at < (size_t)g->n_operand + g->n_output) {
        const size_t i = (*at)++;
        const bool operand = i < g->n_operand;
        const size_t k = operand ? i : i - g->n_operand;
        const qfi_ref ref = operand ? run->read[k] : run->output[k];
        if ((operand ? g->operand[k] : g->output[k]) == value && ref != QFI_NONE)
            return ref;
    }
    return QFI_NONE;
}

bool qfi_fold_is_idle(const qfi_fold *fold)
{
    return qfi_work_of(fold)->idle;
}

void qfi_fold_free(qfi_fold *fold)
{
    if (fold->private_data)
        forget_run(fold);
    qfi_prog_free(&fold->prog);
    qfi_pool_free(&fold->pool);
    *fold = (qfi_fold){ 0 };
}
