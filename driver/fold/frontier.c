/* What the nodes that stay need from those that go: the boundary. Grows only: whenever a later pass
 * lets a node stay, its operands join the boundary, and what they would need to be stored is added
 * to the sums.
 *
 * R5 is held here: a value that was dequantized and would be stored wider than its integers makes
 * its node stay at once. */
#include "work.h"

#include <string.h>

static qf_status push(qfi_run *run, qfi_stack *stack, uint32_t item, qf_diag *diag)
{
    return qfi_push(&run->pool, stack, item) ? QF_OK : QFI_NO_MEMORY(diag);
}

/* ---------------------------------------- units */

static void count_bytes(qfi_run *run, const qfi_unit *unit, int sign)
{
    run->stored += sign * (qfi_sum)unit->bytes;
}

/* A payload gains or loses a reader that stays. */
static void use_payload(qfi_fold *fold, qfi_id payload, int change)
{
    qfi_run *run = &qfi_work_of(fold)->run;
    const qfi_sum size = fold->graph->payload[payload].packed;
    const uint32_t before = run->payload_use[payload];
    run->payload_use[payload] = (uint32_t)((int64_t)before + change);
    if (before == 0)
        run->saved -= size;
    else if (run->payload_use[payload] == 0)
        run->saved += size;
}

uint32_t qfi_unit_find(const qfi_fold *fold, const qfi_form *form)
{
    const qfi_run *run = &qfi_work_of(fold)->run;
    const size_t rank = (size_t)fold->prog.def[form->base].type.rank;
    uint32_t u = form->base < run->n_first_unit ? run->first_unit[form->base] : QFI_NONE;
    while (u != QFI_NONE && memcmp(run->unit[u].order, form->order, rank))
        u = run->unit[u].next;
    return u;
}

/* Room in first_unit for every definition there is; moves under dequantizes add some. */
static bool grow_first_unit(qfi_fold *fold)
{
    qfi_run *run = &qfi_work_of(fold)->run;
    if (fold->prog.n <= run->n_first_unit)
        return true;
    const size_t n = fold->prog.n * 2;
    uint32_t *first = qfi_pool_alloc(&run->pool, n, sizeof *first);
    if (!first)
        return false;
    for (size_t i = 0; i < n; i++)
        first[i] = i < run->n_first_unit ? run->first_unit[i] : QFI_NONE;
    run->first_unit = first;
    run->n_first_unit = n;
    return true;
}

static qf_status find_unit(qfi_fold *fold, const qfi_form *form, uint32_t *out, qf_diag *diag)
{
    qfi_run *run = &qfi_work_of(fold)->run;
    *out = qfi_unit_find(fold, form);
    if (*out != QFI_NONE)
        return QF_OK;
    if (!grow_first_unit(fold))
        return QFI_NO_MEMORY(diag);
    qfi_unit *units =
        qfi_pool_grow(&run->pool, run->unit, run->n_unit, &run->cap_unit, sizeof *units);
    if (!units)
        return QFI_NO_MEMORY(diag);
    run->unit = units;
    qfi_unit unit = { .bytes = form->bytes,
                      .base = form->base,
                      .next = run->first_unit[form->base],
                      .first = QFI_NONE };
    memcpy(unit.order, form->order, sizeof unit.order);
    *out = run->first_unit[form->base] = (uint32_t)run->n_unit;
    units[run->n_unit++] = unit;
    return QF_OK;
}

static qf_status unit_add(qfi_fold *fold, qfi_id value, qf_diag *diag)
{
    qfi_run *run = &qfi_work_of(fold)->run;
    const qfi_form *form = &run->form[value];
    if (form->stored != QFI_NONE) {
        use_payload(fold, form->stored, 1);
        return QF_OK;
    }
    uint32_t u = QFI_NONE;
    QF_TRY(find_unit(fold, form, &u, diag));
    qfi_unit *unit = &run->unit[u];
    if (unit->n++ == 0) {
        count_bytes(run, unit, 1);
        QF_TRY(push(run, &run->joined, u, diag));
    }
    run->unit_of[value] = u;
    run->next_in_unit[value] = unit->first;
    unit->first = value;
    return QF_OK;
}

qf_status qfi_unit_hold(qfi_fold *fold, const qfi_form *form, qf_diag *diag)
{
    qfi_run *run = &qfi_work_of(fold)->run;
    if (form->stored != QFI_NONE) {
        use_payload(fold, form->stored, 1);
        return QF_OK;
    }
    uint32_t u = QFI_NONE;
    QF_TRY(find_unit(fold, form, &u, diag));
    if (run->unit[u].n++ == 0)
        count_bytes(run, &run->unit[u], 1);
    return QF_OK;
}

static void unit_remove(qfi_fold *fold, qfi_id value)
{
    qfi_run *run = &qfi_work_of(fold)->run;
    const uint32_t u = run->unit_of[value];
    if (u == QFI_NONE) {
        if (run->form[value].stored != QFI_NONE)
            use_payload(fold, run->form[value].stored, -1);
        return;
    }
    qfi_unit *unit = &run->unit[u];
    qfi_id *link = &unit->first;
    while (*link != value)
        link = &run->next_in_unit[*link];
    *link = run->next_in_unit[value];
    run->unit_of[value] = QFI_NONE;
    if (--unit->n == 0)
        count_bytes(run, unit, -1);
}

/* ---------------------------------------- the boundary */

static qf_status enqueue(qfi_fold *fold, qfi_id node, qf_diag *diag)
{
    qfi_run *run = &qfi_work_of(fold)->run;
    run->live[node] = true;
    return push(run, &run->queue, node, diag);
}

/* A node that stays next to constant writes to the memory that it makes would undo them: then none
 * of them folds. */
static qf_status give_up_written(qfi_fold *fold, const qfi_node *node, qf_reason reason,
                                 qf_diag *diag)
{
    const qfi_run *run = &qfi_work_of(fold)->run;
    for (uint32_t k = 0; k < node->n_out; k++) {
        const uint32_t root = run->slot[node->first_out + k].root;
        if (run->root[root].written)
            QF_TRY(qfi_root_give_up(fold, root, reason, diag));
    }
    return QF_OK;
}

static qf_status make_live(qfi_fold *fold, qfi_id n, qf_diag *diag)
{
    if (qfi_work_of(fold)->run.live[n])
        return QF_OK;
    const qf_reason reason = fold->node[n].reason;
    QF_TRY(give_up_written(fold, &fold->graph->node[n], reason, diag));
    return enqueue(fold, n, diag);
}

qf_status qfi_deny(qfi_fold *fold, qfi_id n, qf_reason reason, qf_diag *diag)
{
    qfi_run *run = &qfi_work_of(fold)->run;
    const qfi_node *node = &fold->graph->node[n];
    if (run->member[n] != QFI_FOLD)
        return QF_OK;
    run->member[n] = QFI_HELD;
    fold->node[n].verdict = QF_KEPT;
    fold->node[n].reason = reason;
    for (uint32_t k = 0; k < node->n_out; k++) {
        const qfi_id v = node->first_out + k;
        if (run->boundary[v] != QFI_NONE && fold->graph->value[v].kind != QF_VALUE_SCALAR)
            unit_remove(fold, v);
        run->boundary[v] = QFI_NONE;
    }
    QF_TRY(qfi_keep_writes(fold, n, diag));
    return make_live(fold, n, diag);
}

static bool is_widened(const qfi_fold *fold, qfi_ref ref)
{
    const qfi_run *run = &qfi_work_of(fold)->run;
    const uint64_t integers = ref < run->n_def ? run->integers[ref] : 0;
    uint64_t bytes;
    return integers && qf_type_bytes(&fold->prog.def[ref].type, &bytes) && bytes > integers;
}

/* Whether a value in a body shares memory with what the body yields. */
static bool is_outside(const qfi_fold *fold, qfi_id v)
{
    const qfi_run *run = &qfi_work_of(fold)->run;
    const uint32_t outside = run->root[run->slot[v].root].outside;
    return outside && fold->whole.part[qfi_value_part(&fold->whole, v)].depth >= outside;
}

static qf_status join_boundary(qfi_fold *fold, qfi_id v, qfi_ref ref, qf_diag *diag)
{
    qfi_run *run = &qfi_work_of(fold)->run;
    const qfi_value *value = &fold->graph->value[v];
    if (is_outside(fold, v))
        return qfi_deny(fold, value->node, QF_REASON_control_flow, diag);
    run->boundary[v] = ref;
    run->form[v] = (qfi_form){ .stored = QFI_NONE, .base = QFI_NONE };
    run->unit_of[v] = QFI_NONE;
    if (value->kind == QF_VALUE_SCALAR)
        return QF_OK;
    if (!fold->options->fold_dequant && is_widened(fold, ref))
        return qfi_deny(fold, value->node, QF_REASON_quantised, diag);
    run->form[v] = qfi_form_of(fold, ref, value->strided ? value->stride : NULL);
    return unit_add(fold, v, diag);
}

/* One more use of a value, with contents `ref` (QFI_NONE: not constant), by a node that stays or an
 * output. */
static qf_status use_value(qfi_fold *fold, qfi_id v, qfi_ref ref, qf_diag *diag)
{
    qfi_run *run = &qfi_work_of(fold)->run;
    const qfi_value *value = &fold->graph->value[v];
    const bool first = run->kept_use[v]++ == 0;
    if (value->node == QFI_NONE) {
        if (first && value->payload != QFI_NONE)
            use_payload(fold, value->payload, 1);
        return QF_OK;
    }
    if (run->member[value->node] == QFI_HELD)
        return make_live(fold, value->node, diag);
    if (run->member[value->node] != QFI_FOLD || ref == QFI_NONE)
        return QF_OK;
    if (run->boundary[v] == QFI_NONE)
        return join_boundary(fold, v, ref, diag);
    /* One name cannot be two constants: what it held before and after a write. */
    if (run->boundary[v] != ref)
        return qfi_root_give_up(fold, run->slot[v].root, QF_REASON_state, diag);
    return QF_OK;
}

void qfi_unuse(qfi_fold *fold, qfi_id v)
{
    qfi_run *run = &qfi_work_of(fold)->run;
    const qfi_value *value = &fold->graph->value[v];
    if (--run->kept_use[v])
        return;
    if (value->node == QFI_NONE && value->payload != QFI_NONE)
        use_payload(fold, value->payload, -1);
    if (run->boundary[v] != QFI_NONE && value->kind != QF_VALUE_SCALAR)
        unit_remove(fold, v);
    run->boundary[v] = QFI_NONE;
}

/* A number that stays is stated in terms of symbols, which the nodes that its operands come from
 * bind: a literal in their place would leave the symbols unbound. */
static bool binds_symbols(const qf_graph *g, const qfi_node *user, qfi_id v)
{
    bool number = false;
    for (uint32_t k = 0; k < user->n_out; k++)
        number |= g->value[user->first_out + k].kind == QF_VALUE_SCALAR;
    return number && g->value[v].kind == QF_VALUE_SCALAR && g->value[v].node != QFI_NONE;
}

qf_status qfi_settle(qfi_fold *fold, qf_diag *diag)
{
    const qf_graph *g = fold->graph;
    qfi_run *run = &qfi_work_of(fold)->run;
    while (run->queue.n) {
        const qfi_node *node = &g->node[run->queue.item[--run->queue.n]];
        for (uint32_t k = 0; k < node->n_in; k++) {
            const uint32_t at = node->first_in + k;
            const qfi_id v = g->operand[at];
            if (v == QFI_NONE)
                continue;
            if (binds_symbols(g, node, v))
                QF_TRY(qfi_deny(fold, g->value[v].node, QF_REASON_output_kind, diag));
            QF_TRY(use_value(fold, v, run->read[at], diag));
        }
    }
    return QF_OK;
}

/* ---------------------------------------- second thoughts */

/* A node that a constant could replace after all: nothing but its results, and nobody writes those.
 */
static bool may_reopen(const qfi_fold *fold, qfi_id n)
{
    const qfi_run *run = &qfi_work_of(fold)->run;
    const qfi_node *node = &fold->graph->node[n];
    for (uint32_t k = 0; k < node->n_out; k++)
        if (run->root[run->slot[node->first_out + k].root].written)
            return false;
    return node->effect == QFI_PURE && run->member[n] == QFI_HELD && run->live[n];
}

static bool is_unused(const qfi_run *run, const qfi_node *node)
{
    for (uint32_t k = 0; k < node->n_out; k++)
        if (run->kept_use[node->first_out + k])
            return false;
    return true;
}

/* Nodes that stay only for the sake of this one go with it; *steps counts what that took. */
static qf_status release(qfi_fold *fold, qfi_id n, uint64_t *steps, qf_diag *diag)
{
    const qf_graph *g = fold->graph;
    qfi_run *run = &qfi_work_of(fold)->run;
    run->released.n = 0;
    QF_TRY(push(run, &run->released, n, diag));
    for (size_t i = 0; i < run->released.n; i++) {
        const qfi_node *node = &g->node[run->released.item[i]];
        run->member[run->released.item[i]] = QFI_FOLD;
        run->live[run->released.item[i]] = false;
        for (uint32_t k = 0; k < node->n_in; k++) {
            const qfi_id v = g->operand[node->first_in + k];
            ++*steps;
            if (v == QFI_NONE)
                continue;
            qfi_unuse(fold, v);
            const qfi_id producer = g->value[v].node;
            if (producer != QFI_NONE && may_reopen(fold, producer) &&
                is_unused(run, &g->node[producer]))
                QF_TRY(push(run, &run->released, producer, diag));
        }
    }
    return QF_OK;
}

static void accept(qfi_fold *fold)
{
    const qfi_run *run = &qfi_work_of(fold)->run;
    for (size_t i = 0; i < run->released.n; i++) {
        fold->node[run->released.item[i]].verdict = QF_FOLDED;
        fold->node[run->released.item[i]].reason = QF_REASON_none;
    }
}

static qf_status take_back(qfi_fold *fold, qf_diag *diag)
{
    qfi_run *run = &qfi_work_of(fold)->run;
    for (size_t i = 0; i < run->released.n; i++) {
        const qfi_id n = run->released.item[i];
        QF_TRY(qfi_deny(fold, n, fold->node[n].reason, diag));
    }
    return qfi_settle(fold, diag);
}

qf_status qfi_reopen(qfi_fold *fold, qfi_id n, qfi_sum left, uint64_t *steps, bool *reopened,
                     qf_diag *diag)
{
    qfi_run *run = &qfi_work_of(fold)->run;
    const qfi_node *node = &fold->graph->node[n];
    const qfi_sum before = run->stored - run->saved;
    *reopened = false;
    if (!may_reopen(fold, n) || fold->node[n].reason != QF_REASON_growth)
        return QF_OK;
    QF_TRY(release(fold, n, steps, diag));
    for (uint32_t k = 0; k < node->n_out; k++) {
        const qfi_id v = node->first_out + k;
        if (run->kept_use[v] && run->member[n] == QFI_FOLD)
            QF_TRY(join_boundary(fold, v, fold->ref[v], diag));
    }
    QF_TRY(qfi_settle(fold, diag));
    const qfi_sum growth = run->stored - run->saved - before;
    *reopened = run->member[n] == QFI_FOLD && (growth <= 0 || growth <= left);
    if (!*reopened) {
        QF_TRY(take_back(fold, diag));
        fold->node[n].reason = QF_REASON_growth; /* whatever else stands in its way alone */
        return QF_OK;
    }
    run->growth += growth > 0 ? growth : 0;
    accept(fold);
    return QF_OK;
}

/* ---------------------------------------- the pass */

static qf_status start(qfi_fold *fold, qf_diag *diag)
{
    const qf_graph *g = fold->graph;
    qfi_run *run = &qfi_work_of(fold)->run;
    run->kept_use = qfi_pool_alloc(&run->pool, g->n_value, sizeof *run->kept_use);
    run->boundary = qfi_pool_alloc(&run->pool, g->n_value, sizeof *run->boundary);
    run->form = qfi_pool_alloc(&run->pool, g->n_value, sizeof *run->form);
    run->unit_of = qfi_pool_alloc(&run->pool, g->n_value, sizeof *run->unit_of);
    run->next_in_unit = qfi_pool_alloc(&run->pool, g->n_value, sizeof *run->next_in_unit);
    run->payload_use = qfi_pool_alloc(&run->pool, g->n_payload, sizeof *run->payload_use);
    run->live = qfi_pool_alloc(&run->pool, g->n_node, sizeof *run->live);
    if (!run->kept_use || !run->boundary || !run->form || !run->unit_of || !run->next_in_unit ||
        !run->payload_use || !run->live)
        return QFI_NO_MEMORY(diag);
    for (qfi_id v = 0; v < g->n_value; v++)
        run->boundary[v] = run->unit_of[v] = QFI_NONE;
    for (uint32_t p = 0; p < g->n_payload; p++)
        run->saved += g->payload[p].packed;
    return QF_OK;
}

/* Stored values that stay whoever reads them. */
static void use_fixed_values(qfi_fold *fold)
{
    const qf_graph *g = fold->graph;
    for (qfi_id v = 0; v < g->n_value; v++) {
        const qfi_value *value = &g->value[v];
        if (value->payload != QFI_NONE && (value->mutated || value->pinned))
            use_payload(fold, value->payload, 1);
    }
}

qf_status qfi_frontier(qfi_fold *fold, qf_diag *diag)
{
    const qf_graph *g = fold->graph;
    qfi_run *run = &qfi_work_of(fold)->run;
    if (*run->assertion)
        QF_FAIL(diag, QF_ERR_ASSERT, "%s", run->assertion);
    QF_TRY(start(fold, diag));
    use_fixed_values(fold);
    for (qfi_id n = g->n_node; n-- > 0;)
        if (run->member[n] == QFI_RUNTIME)
            QF_TRY(enqueue(fold, n, diag));
    for (uint32_t i = 0; i < g->n_output; i++)
        if (g->output[i] != QFI_NONE)
            QF_TRY(use_value(fold, g->output[i], run->output[i], diag));
    return qfi_settle(fold, diag);
}
