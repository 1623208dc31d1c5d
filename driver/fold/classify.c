/* The first pass: reads the program in order and tells, value by value, what is constant, and node
 * by node, what may fold.
 *
 * Deny by default: a node folds only if all its operands are constant and the format can express it
 * by internal calls. That a fresh result belongs to the constant region alone is assumed until
 * somebody who stays writes it (alias.c); then the pass starts again, knowing better. */
#include "work.h"

#include <stdio.h>
#include <string.h>

/* What became of a node. known: its results are constant (held: it stays all the same if somebody
 * needs it). */
typedef struct outcome {
    qf_reason reason;
    bool known, held;
    char detail[160];
} outcome;

typedef struct visitor {
    qfi_fold *fold;
    qfi_run *run;
} visitor;

static void keep(outcome *o, qf_reason reason, const char *detail)
{
    size_t n = strlen(detail);
    if (n >= sizeof o->detail)
        n = sizeof o->detail - 1;
    *o = (outcome){ .reason = reason };
    memcpy(o->detail, detail, n);
}

/* ---------------------------------------- operands */

/* Brings every operand up to date; remembers what it held; those that are not constant give the
 * reason. */
static qf_status read_operands(const visitor *v, const qfi_node *node, outcome *o, qf_diag *diag)
{
    const qfi_id reader = (qfi_id)(node - v->fold->graph->node);
    for (uint32_t k = 0; k < node->n_in; k++) {
        const qfi_id value = v->fold->graph->operand[node->first_in + k];
        if (value == QFI_NONE)
            continue;
        QF_TRY(qfi_slot_refresh(v->fold, value, diag));
        const qfi_ref ref = v->run->slot[value].ref;
        v->run->read[node->first_in + k] = ref;
        if (ref == QFI_NONE)
            qfi_blame(v->fold, reader, value, &o->reason, o->detail, sizeof o->detail);
    }
    if (o->reason != QF_REASON_none && node->effect == QFI_ASSERT)
        keep(o, QF_REASON_assertion, "");
    return QF_OK;
}

/* ---------------------------------------- evaluated nodes */

/* A symbolic dim in the record says nothing against a number. */
static bool fits(const qf_type *computed, const qf_type *recorded)
{
    if (recorded->rank < 0)
        return true;
    if (computed->dtype != recorded->dtype || computed->rank != recorded->rank)
        return false;
    for (int8_t i = 0; i < computed->rank; i++)
        if (recorded->dim[i] >= 0 && recorded->dim[i] != computed->dim[i])
            return false;
    return true;
}

/* A number becomes a literal of the program at once, so that chains of them cost one evaluation
 * each. */
static qf_status settle_scalar(const visitor *v, qfi_ref *ref, outcome *o, qf_diag *diag)
{
    const qf_type type = v->fold->prog.def[*ref].type;
    qf_attrs attrs = { .full = { .type = type } };
    bool known;
    QF_TRY(qfi_evaluate_scalar(v->fold, *ref, &attrs.full.value, &known, diag));
    if (!known) {
        const bool undefined = v->fold->prog.def[*ref].undefined;
        keep(o, undefined ? QF_REASON_undefined : QF_REASON_output_kind,
             "a number that is not known ahead");
        return QF_OK;
    }
    return qfi_prog_call(&v->fold->prog, QF_OP_full, &attrs, NULL, 0, ref, diag);
}

static qf_status check_result(const visitor *v, const qfi_value *value, qfi_ref *ref, outcome *o,
                              qf_diag *diag)
{
    if (*ref == QFI_NONE) {
        if (value->n_use)
            keep(o, QF_REASON_unsupported_argument, "a result that is used cannot be computed");
        return QF_OK;
    }
    if (value->kind == QF_VALUE_SCALAR)
        return settle_scalar(v, ref, o, diag);
    if (value->kind != QF_VALUE_COMPUTED) {
        keep(o, QF_REASON_output_kind, "");
        return QF_OK;
    }
    const qf_type *type = &v->fold->prog.def[*ref].type;
    if (!fits(type, &value->type))
        keep(o, QF_REASON_type_mismatch, qf_dtype_get(type->dtype)->name);
    return QF_OK;
}

/* Whether a result whose row says "a view when the layout allows" can be one: the layout must
 * allow it, and where the result's own is recorded, be what a view has. */
static bool may_be_view(const qfi_value *whole, const qfi_value *part)
{
    int64_t stride[QF_MAX_RANK];
    if (whole->type.dtype != part->type.dtype)
        return false;
    if (!whole->strided || whole->type.rank < 0 || part->type.rank < 0)
        return true;
    if (!qf_strides_reshape((uint8_t)whole->type.rank, whole->type.dim, whole->stride,
                            (uint8_t)part->type.rank, part->type.dim, stride))
        return false;
    for (int8_t i = 0; part->strided && i < part->type.rank; i++)
        if (part->type.dim[i] > 1 && part->stride[i] != stride[i])
            return false;
    return true;
}

static qf_status bind_result(const visitor *v, const qfi_node *node, uint32_t k, qfi_ref ref,
                             qf_diag *diag)
{
    const qf_graph *graph = v->fold->graph;
    const qfi_id value = node->first_out + k;
    const uint32_t which = node->alias == QFI_ALIAS_EACH ? k : 0;
    const qfi_id first = which < node->n_in ? graph->operand[node->first_in + which] : QFI_NONE;
    const qfi_value *values = graph->value;
    const bool maybe = node->alias == QFI_ALIAS_MAYBE && first != QFI_NONE;
    const bool sure =
        (node->alias == QFI_ALIAS || node->alias == QFI_ALIAS_EACH) && first != QFI_NONE;
    const bool number = values[value].kind == QF_VALUE_SCALAR;
    if (number || (!sure && !(maybe && may_be_view(&values[first], &values[value]))))
        return qfi_root_add(v->fold, value, ref, diag);
    qfi_slot_alias(v->run, value, first, false, ref);
    v->run->root[v->run->slot[value].root].unsure |= maybe;
    return QF_OK;
}

/* What lower() said of a node with constant operands, before its results are looked at. */
static qf_status lower_node(const visitor *v, qfi_id n, qfi_env *env, outcome *o, qf_diag *diag)
{
    QF_TRY(qfi_lower(v->fold, n, env, diag));
    if (env->reason != QF_REASON_none)
        keep(o, env->reason, env->detail);
    else if (v->fold->options->exact && env->inexact)
        keep(o, QF_REASON_inexact, "");
    return QF_OK;
}

/* A result whose memory somebody writes who stays. */
static qf_reason reason_of_results(const visitor *v, const qfi_node *node)
{
    const qfi_work *work = qfi_work_of(v->fold);
    for (uint32_t k = 0; k < node->n_out; k++)
        if (work->value_state[node->first_out + k])
            return (qf_reason)work->value_state[node->first_out + k];
    return QF_REASON_none;
}

static qf_status visit_pure(const visitor *v, qfi_id n, outcome *o, qf_diag *diag)
{
    const qf_graph *graph = v->fold->graph;
    const qfi_node *node = &graph->node[n];
    qfi_env env = { 0 };
    const qf_reason state = reason_of_results(v, node);
    if (state != QF_REASON_none) {
        keep(o, state, "");
        return QF_OK;
    }
    QF_TRY(lower_node(v, n, &env, o, diag));
    for (uint32_t k = 0; k < node->n_out && o->reason == QF_REASON_none; k++)
        QF_TRY(check_result(v, &graph->value[node->first_out + k], &env.out[k], o, diag));
    if (o->reason != QF_REASON_none)
        return QF_OK;
    for (uint32_t k = 0; k < node->n_out; k++)
        QF_TRY(bind_result(v, node, k, env.out[k], diag));
    o->known = true;
    return QF_OK;
}

/* Whether a part runs exactly once for each run of `outer`, a part around it or itself. */
static bool runs_once(const visitor *v, uint32_t part, uint32_t outer)
{
    const qfi_part *all = v->fold->whole.part;
    while (all[part].depth > all[outer].depth && all[part].once)
        part = all[part].parent;
    return all[part].depth <= all[outer].depth;
}

static qf_status visit_assert(const visitor *v, qfi_id n, outcome *o, qf_diag *diag)
{
    const qfi_node *node = &v->fold->graph->node[n];
    qfi_env env = { 0 };
    QF_TRY(lower_node(v, n, &env, o, diag));
    if (o->reason != QF_REASON_none)
        return QF_OK;
    if (!env.holds && !runs_once(v, qfi_node_part(&v->fold->whole, n), 0)) {
        keep(o, QF_REASON_assertion, "does not hold, in a body that need not run");
        return QF_OK;
    }
    /* No error yet: what is asserted may turn out to be state in a later run. */
    if (!env.holds && !*v->run->assertion)
        snprintf(v->run->assertion, sizeof v->run->assertion, "%.*s (%.*s) does not hold",
                 QFI_STR(node->name), QFI_STR(node->op));
    o->known = true;
    return QF_OK;
}

/* The part in which the memory of a value was made. */
static uint32_t part_of_root(const visitor *v, qfi_id value)
{
    return qfi_value_part(&v->fold->whole, v->run->root[v->run->slot[value].root].value);
}

static qf_status visit_write(const visitor *v, qfi_id n, outcome *o, qf_diag *diag)
{
    const qfi_node *node = &v->fold->graph->node[n];
    const qfi_id target =
        node->n_in ? v->fold->graph->operand[node->first_in + qfi_written_operand(node)] : QFI_NONE;
    if (target == QFI_NONE) {
        keep(o, QF_REASON_unsupported_argument, "nothing to write to");
        return QF_OK;
    }
    const uint32_t root = v->run->slot[target].root;
    qfi_env env = { 0 };
    if (v->run->root[root].payload != QFI_NONE ||
        !runs_once(v, qfi_node_part(&v->fold->whole, n), part_of_root(v, target))) {
        keep(o, QF_REASON_state, "");
        return QF_OK;
    }
    QF_TRY(lower_node(v, n, &env, o, diag));
    if (o->reason != QF_REASON_none)
        return QF_OK;
    const qf_type *now = &v->fold->prog.def[v->run->slot[target].ref].type;
    if (env.written == QFI_NONE || !qf_type_equal(now, &v->fold->prog.def[env.written].type)) {
        keep(o, QF_REASON_type_mismatch, "the written value has another type");
        return QF_OK;
    }
    QF_TRY(qfi_slot_write(v->fold, target, env.written, diag));
    if (v->run->root[root].state) {
        keep(o, (qf_reason)v->run->root[root].state, "");
        return QF_OK;
    }
    QF_TRY(qfi_slot_refresh(v->fold, target, diag));
    for (uint32_t k = 0; k < node->n_out; k++)
        qfi_slot_alias(v->run, node->first_out + k, target, true, v->run->slot[target].ref);
    o->known = true;
    return QF_OK;
}

/* ---------------------------------------- bodies */

/* Memory that a body's outputs name is not the body's own: a constant in its place would be handed
 * out by every run. */
static void mark_outside(const visitor *v, const qfi_node *node, uint32_t depth)
{
    const qf_graph *graph = v->fold->graph;
    for (uint32_t k = node->n_in - node->n_result; k < node->n_in; k++) {
        const qfi_id value = graph->operand[node->first_in + k];
        const uint32_t root = value == QFI_NONE ? QFI_NONE : v->run->slot[value].root;
        if (root == QFI_NONE)
            continue;
        qfi_root *r = &v->run->root[root];
        r->outside = r->outside && r->outside < depth ? r->outside : depth;
    }
}

/* The first node of a body that is not known; QFI_NONE if all are. */
static qfi_id first_unknown(const visitor *v, const qfi_part *body)
{
    for (qfi_id i = 0; i < body->graph->n_node; i++)
        if (v->run->member[body->node[i]] == QFI_RUNTIME)
            return body->node[i];
    return QFI_NONE;
}

/* What a body that runs once yields is what the node yields, if all of it is known. */
static qf_status visit_region(const visitor *v, qfi_id n, outcome *o, qf_diag *diag)
{
    const qf_graph *graph = v->fold->graph;
    const qfi_node *node = &graph->node[n];
    const qfi_id *from = graph->operand + node->first_in + node->n_in - node->n_result;
    const qf_reason state = reason_of_results(v, node);
    if (!qfi_is_holder(node)) {
        keep(o, QF_REASON_control_flow, "");
        return QF_OK;
    }
    const qfi_id unknown = first_unknown(v, &v->fold->whole.part[node->first_body]);
    if (unknown != QFI_NONE) {
        const qfi_node_state *part = &v->fold->node[unknown];
        const qf_str name = graph->node[unknown].name;
        keep(o, part->reason, "");
        snprintf(o->detail, sizeof o->detail, "because of %.*s in its body: %.60s",
                 (int)(name.n < 60 ? name.n : 60), name.p, part->detail);
        return QF_OK;
    }
    if (state != QF_REASON_none) {
        keep(o, state, "");
        return QF_OK;
    }
    for (uint32_t k = 0; k < node->n_out; k++) {
        if (from[k] == QFI_NONE) {
            keep(o, QF_REASON_output_kind, "");
            return QF_OK;
        }
        qfi_ref ref = v->run->slot[from[k]].ref;
        QF_TRY(check_result(v, &graph->value[node->first_out + k], &ref, o, diag));
        if (o->reason != QF_REASON_none)
            return QF_OK;
        qfi_slot_alias(v->run, node->first_out + k, from[k], true, ref);
    }
    o->known = true;
    return QF_OK;
}

static qf_status visit_unknown(const visitor *v, qfi_id n, outcome *o, qf_diag *diag)
{
    (void)v, (void)n, (void)diag;
    keep(o, QF_REASON_unknown_op, "");
    return QF_OK;
}

typedef qf_status visit_fn(const visitor *v, qfi_id n, outcome *o, qf_diag *diag);

static visit_fn *const visits[] = {
    [QFI_PURE] = visit_pure,       [QFI_KEEP] = visit_unknown,  [QFI_ASSERT] = visit_assert,
    [QFI_WRITE] = visit_write,     [QFI_REGION] = visit_region, [QFI_CONTROL] = visit_unknown,
    [QFI_UNKNOWN] = visit_unknown,
};

/* A node that writes and is refused makes state of what it writes, so the next run finds state
 * where this one found its own reason, which tells the user more. */
static qf_status own_reason(const visitor *v, qfi_id n, outcome *o, qf_diag *diag)
{
    qfi_refusal *refused = &qfi_work_of(v->fold)->refused[n];
    const qfi_node *node = &v->fold->graph->node[n];
    if (node->effect != QFI_WRITE && node->effect != QFI_REGION)
        return QF_OK;
    if (o->reason == QF_REASON_state && refused->reason != QF_REASON_none)
        keep(o, (qf_reason)refused->reason, refused->detail);
    if (o->reason == QF_REASON_state || o->reason == QF_REASON_runtime ||
        o->reason == QF_REASON_operand || refused->reason != QF_REASON_none)
        return QF_OK;
    refused->detail = qfi_pool_text(&v->fold->pool, o->detail, strlen(o->detail));
    refused->reason = (uint16_t)o->reason;
    return refused->detail ? QF_OK : QFI_NO_MEMORY(diag);
}

static qf_status visit(const visitor *v, qfi_id n, outcome *o, qf_diag *diag)
{
    const qf_graph *graph = v->fold->graph;
    const qfi_node *node = &graph->node[n];
    const qf_reason held = qfi_reason_held(v->fold, n);
    QF_TRY(read_operands(v, node, o, diag));
    if (qfi_is_holder(node))
        mark_outside(v, node, v->fold->whole.part[node->first_body].depth);
    const qf_reason asked = qfi_reason_asked(v->fold, n);
    const bool stays = node->effect == QFI_KEEP || node->effect == QFI_CONTROL;
    if (asked != QF_REASON_none && (stays || o->reason != QF_REASON_runtime))
        keep(o, asked, "");
    const bool holdable = node->effect == QFI_PURE || node->effect == QFI_REGION;
    if (held != QF_REASON_none && !holdable && o->reason == QF_REASON_none)
        keep(o, held, "");
    if (o->reason == QF_REASON_none)
        QF_TRY(visits[node->effect](v, n, o, diag));
    if (!o->known) {
        QF_TRY(own_reason(v, n, o, diag));
        return qfi_keep_effects(v->fold, n, diag);
    }
    o->held = held != QF_REASON_none;
    o->reason = held;
    return o->held ? qfi_keep_writes(v->fold, n, diag) : QF_OK;
}

/* ---------------------------------------- the whole graph */

static bool is_known_type(const qf_type *type)
{
    uint64_t bytes;
    return type->dtype != QF_DT_none && qf_type_bytes(type, &bytes);
}

static qf_status bind_placeholder(qfi_fold *fold, qfi_id v, qf_diag *diag)
{
    qfi_run *run = &qfi_work_of(fold)->run;
    const qfi_value *value = &fold->graph->value[v];
    qfi_ref leaf = QFI_NONE;
    if (value->payload == QFI_NONE)
        return qfi_root_add(fold, v, QFI_NONE, diag);
    if (is_known_type(&value->type) && !fold->graph->training)
        QF_TRY(qfi_prog_leaf(&fold->prog, v, &leaf, diag));
    uint32_t *root = &run->payload_root[value->payload];
    if (*root == QFI_NONE) {
        QF_TRY(qfi_root_add(fold, v, leaf, diag));
        *root = run->slot[v].root;
        return QF_OK;
    }
    run->slot[v].root = *root;
    run->slot[v].ref = run->root[*root].state ? QFI_NONE : leaf;
    return QF_OK;
}

/* Arrays indexed by ids of the graph; QFI_NONE where nothing is known. */
static qf_status start_run(qfi_fold *fold, qf_diag *diag)
{
    qfi_run *run = &qfi_work_of(fold)->run;
    const qf_graph *g = fold->graph;
    run->payload_root = qfi_pool_alloc(&run->pool, g->n_payload, sizeof *run->payload_root);
    run->read = qfi_pool_alloc(&run->pool, g->n_operand, sizeof *run->read);
    run->output = qfi_pool_alloc(&run->pool, g->n_output, sizeof *run->output);
    run->member = qfi_pool_alloc(&run->pool, g->n_node, sizeof *run->member);
    run->slot = qfi_pool_alloc(&run->pool, g->n_value, sizeof *run->slot);
    run->fed = qfi_pool_alloc(&run->pool, g->n_node, sizeof *run->fed);
    if (!run->slot || !run->payload_root || !run->read || !run->output || !run->member || !run->fed)
        return QFI_NO_MEMORY(diag);
    for (uint32_t i = 0; i < g->n_payload; i++)
        run->payload_root[i] = QFI_NONE;
    for (uint32_t i = 0; i < g->n_operand; i++)
        run->read[i] = QFI_NONE;
    for (qfi_id v = 0; v < g->n_value; v++)
        if (g->value[v].mutated && g->value[v].payload != QFI_NONE)
            qfi_work_of(fold)->payload_state[g->value[v].payload] = QF_REASON_state;
    for (qfi_id v = 0; v < g->n_value; v++)
        run->slot[v] = (qfi_slot){ .ref = QFI_NONE, .root = QFI_NONE, .parent = QFI_NONE };
    for (qfi_id v = 0; v < g->n_value; v++)
        if (g->value[v].node == QFI_NONE)
            QF_TRY(bind_placeholder(fold, v, diag));
    return QF_OK;
}

static qf_status record(qfi_fold *fold, qfi_id n, const outcome *o, qf_diag *diag)
{
    qfi_run *run = &qfi_work_of(fold)->run;
    qfi_node_state *state = &fold->node[n];
    *state = (qfi_node_state){ .verdict = o->known && !o->held ? QF_FOLDED : QF_KEPT,
                               .reason = o->reason,
                               .detail = "" };
    run->member[n] = !o->known ? QFI_RUNTIME : o->held ? QFI_HELD : QFI_FOLD;
    if (!*o->detail)
        return QF_OK;
    state->detail = qfi_pool_text(&run->pool, o->detail, strlen(o->detail));
    return state->detail ? QF_OK : QFI_NO_MEMORY(diag);
}

qf_status qfi_classify(qfi_fold *fold, qf_diag *diag)
{
    qfi_run *run = &qfi_work_of(fold)->run;
    const qf_graph *g = fold->graph;
    QF_TRY(start_run(fold, diag));
    for (qfi_id n = 0; n < g->n_node; n++) {
        const visitor v = { .fold = fold, .run = run };
        outcome o = { 0 };
        QF_TRY(visit(&v, n, &o, diag));
        QF_TRY(record(fold, n, &o, diag));
    }
    for (uint32_t i = 0; i < g->n_output; i++) {
        run->output[i] = QFI_NONE;
        if (g->output[i] == QFI_NONE)
            continue;
        QF_TRY(qfi_slot_refresh(fold, g->output[i], diag));
        run->output[i] = run->slot[g->output[i]].ref;
    }
    for (qfi_id v = 0; v < g->n_value; v++)
        fold->ref[v] = run->slot[v].ref;
    return QF_OK;
}
