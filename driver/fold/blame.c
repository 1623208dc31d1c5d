/* Why an operand is not constant, which is why its reader stays. */
#include "work.h"

#include <stdio.h>

static qf_reason reason_of_slot(const qfi_fold *fold, uint32_t slot)
{
    const qfi_run *run = &qfi_work_of(fold)->run;
    const qfi_value *value = &fold->graph->value[slot];
    const uint32_t root = run->slot[slot].root;
    const uint16_t state = root == QFI_NONE ? 0 : run->root[root].state;
    if (state)
        return (qf_reason)state;
    const bool stored = value->kind == QF_VALUE_PARAM || value->kind == QF_VALUE_BUFFER ||
                        value->kind == QF_VALUE_CONST;
    return stored || value->kind == QF_VALUE_OTHER ? QF_REASON_opaque : QF_REASON_runtime;
}

/* The node that made the value of a slot, if it stays though no input reaches it; else QFI_NONE. */
static qfi_id stayed(const qfi_fold *fold, uint32_t slot)
{
    const qfi_run *run = &qfi_work_of(fold)->run;
    const uint32_t root = run->slot[slot].root;
    const qfi_id maker = fold->graph->value[slot].node;
    const bool written = root != QFI_NONE && run->root[root].state;
    return maker == QFI_NONE || written || run->fed[maker] ? QFI_NONE : maker;
}

void qfi_blame(const qfi_fold *fold, qfi_id reader, uint32_t slot, qf_reason *reason, char *detail,
               size_t n)
{
    bool *fed = &qfi_work_of(fold)->run.fed[reader];
    const qf_reason now = reason_of_slot(fold, slot);
    const qfi_id maker = now == QF_REASON_runtime ? stayed(fold, slot) : QFI_NONE;
    if (maker == QFI_NONE) {
        *fed |= now == QF_REASON_runtime;
        if (*reason != QF_REASON_none && (*reason != QF_REASON_operand || now == QF_REASON_state))
            return;
        *reason = now;
        *detail = 0;
        return;
    }
    if (*reason != QF_REASON_none && (*reason != QF_REASON_state || *fed))
        return;
    const qfi_node_state *state = &fold->node[maker];
    *reason = QF_REASON_operand;
    if (state->reason == QF_REASON_operand)
        snprintf(detail, n, "%s", state->detail);
    else
        snprintf(detail, n, "%.*s: %s", QFI_STR(fold->graph->node[maker].name),
                 qf_reason_name(state->reason));
}
