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

/* A name, alone or behind the path of the body that it stands in. */
static bool matches_in(qfi_pool *pool, const char *const *globs, qf_str path, qf_str name)
{
    if (!globs || !*globs || matches(pool, globs, name))
        return globs && *globs;
    const qf_str part[] = { path, name };
    return path.n && matches(pool, globs, qfi_pool_join(pool, 2, part));
}

static bool names_node(const qfi_fold *fold, const char *const *globs, qfi_id n)
{
    const qfi_node *node = &fold->graph->node[n];
    const qf_str path = fold->whole.part[qfi_node_part(&fold->whole, n)].graph->path;
    qfi_pool *pool = &qfi_work_of(fold)->run.pool;
    if (matches_in(pool, globs, path, node->name))
        return true;
    for (uint32_t k = 0; globs && k < node->n_out; k++)
        if (matches_in(pool, globs, path, fold->graph->value[node->first_out + k].name))
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

qf_reason qfi_reason_asked(qfi_fold *fold, qfi_id n)
{
    const qf_fold_options *options = fold->options;
    const qfi_node *node = &fold->graph->node[n];
    if (fold->graph->training)
        return QF_REASON_training;
    if (node->effect == QFI_KEEP || node->effect == QFI_CONTROL)
        return node->reason ? (qf_reason)node->reason : QF_REASON_effect;
    if (names_node(fold, options->keep, n))
        return QF_REASON_keep_name;
    if (matches(&qfi_work_of(fold)->run.pool, options->keep_op, node->op))
        return QF_REASON_keep_op;
    return is_pinned(fold->graph, node) ? QF_REASON_signature : QF_REASON_none;
}

qf_reason qfi_reason_held(qfi_fold *fold, qfi_id n)
{
    const char *const *only = fold->options->only;
    const qfi_work *work = qfi_work_of(fold);
    const qfi_node *node = &fold->graph->node[n];
    if (node->effect == QFI_PURE && node->reason)
        return (qf_reason)node->reason;
    if (work->hold[n])
        return (qf_reason)work->hold[n];
    const bool selected = !only || !*only || names_node(fold, only, n);
    return selected ? QF_REASON_none : QF_REASON_not_selected;
}
