/* Nodes that stay because somebody asked for it, whatever their operands are. */
#include "work.h"

#include <fnmatch.h>

/* Names are spans of a larger text; globs want a terminator. NULL when out of memory. */
static bool matches(qfi_pool *pool, const char *const *globs, qf_str name)
{
    const char *text = globs && *globs ? qfi_pool_text(pool, name.p, name.n) : NULL;
    for (size_t i = 0; text && globs[i]; i++)
        if (fnmatch(globs[i], text, 0) == 0)
            return true;
    return false;
}

static bool names_node(qfi_pool *pool, const char *const *globs, const qf_graph *graph,
                       const qfi_node *node)
{
    if (matches(pool, globs, node->name))
        return true;
    for (uint32_t k = 0; globs && k < node->n_out; k++)
        if (matches(pool, globs, graph->value[node->first_out + k].name))
            return true;
    return false;
}

static bool is_pinned(const qf_graph *graph, const qfi_node *node)
{
    for (uint32_t k = 0; k < node->n_out; k++)
        if (graph->value[node->first_out + k].pinned)
            return true;
    return false;
}

qf_reason qfi_reason_asked(qfi_fold *fold, const qf_graph *graph, const qfi_node *node)
{
    const qf_fold_options *options = fold->options;
    qfi_pool *pool = &qfi_work_of(fold)->run.pool;
    if (fold->graph->training)
        return QF_REASON_training;
    if (node->effect == QFI_KEEP)
        return node->reason ? (qf_reason)node->reason : QF_REASON_effect;
    if (names_node(pool, options->keep, graph, node))
        return QF_REASON_keep_name;
    if (matches(pool, options->keep_op, node->op))
        return QF_REASON_keep_op;
    return is_pinned(graph, node) ? QF_REASON_signature : QF_REASON_none;
}

qf_reason qfi_reason_held(qfi_fold *fold, qfi_id n)
{
    const char *const *only = fold->options->only;
    qfi_work *work = qfi_work_of(fold);
    if (work->hold[n])
        return (qf_reason)work->hold[n];
    const bool selected =
        !only || !*only || names_node(&work->run.pool, only, fold->graph, &fold->graph->node[n]);
    return selected ? QF_REASON_none : QF_REASON_not_selected;
}
