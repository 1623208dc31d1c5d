/* Which values share memory, and what a write to one does to the others.
 *
 * Every value hangs at a root, the memory that it lives in. A constant write gives the root a new
 * version: the write is carried up from the view through which it went by scattering into the
 * view's parent, and the other views are derived again when somebody reads them. A write that is
 * not constant makes the whole root state of the program. */
#include "work.h"

#include <string.h>

#define MAX_BODY_DEPTH 32
/* After so many runs that started from a wrong guess, nothing that is written counts as constant.
 */
#define MAX_GUESSES 16u

qf_status qfi_root_add(qfi_fold *fold, uint32_t slot, qfi_ref contents, qf_diag *diag)
{
    qfi_work *work = qfi_work_of(fold);
    qfi_run *run = &work->run;
    qfi_root *roots =
        qfi_pool_grow(&run->pool, run->root, run->n_root, &run->cap_root, sizeof *roots);
    if (!roots)
        return QFI_NO_MEMORY(diag);
    run->root = roots;
    qfi_slot *s = &run->slot[slot];
    qfi_root root = { .contents = contents,
                      .link = QFI_NONE,
                      .payload = fold->graph->value[slot].payload,
                      .value = slot };
    root.state =
        root.payload != QFI_NONE ? work->payload_state[root.payload] : work->value_state[slot];
    s->root = (uint32_t)run->n_root;
    s->parent = QFI_NONE;
    s->ref = root.state ? QFI_NONE : contents;
    roots[run->n_root++] = root;
    return QF_OK;
}

void qfi_slot_alias(qfi_run *run, uint32_t slot, uint32_t parent, bool same, qfi_ref ref)
{
    qfi_slot *s = &run->slot[slot];
    s->root = run->slot[parent].root;
    s->parent = parent;
    s->same = same;
    s->ref = run->root[s->root].state ? QFI_NONE : ref;
    s->version = run->root[s->root].version;
}

/* ---------------------------------------- roots that are state after all */

static void give_up_one(qfi_work *work, qfi_root *root, qf_reason reason)
{
    root->state = (uint16_t)(root->contents == QFI_NONE ? QF_REASON_runtime : reason);
    if (root->contents == QFI_NONE)
        return;
    if (root->payload != QFI_NONE && !work->payload_state[root->payload]) {
        work->payload_state[root->payload] = (uint16_t)reason;
        work->restart = true;
    } else if (root->payload == QFI_NONE && !work->value_state[root->value]) {
        work->value_state[root->value] = (uint16_t)reason;
        work->restart = true;
    }
}

qf_status qfi_root_give_up(qfi_fold *fold, uint32_t root, qf_reason reason, qf_diag *diag)
{
    qfi_work *work = qfi_work_of(fold);
    qfi_run *run = &work->run;
    qfi_stack *todo = &run->giving_up;
    todo->n = 0;
    if (!qfi_push(&run->pool, todo, root))
        return QFI_NO_MEMORY(diag);
    while (todo->n) {
        qfi_root *r = &run->root[todo->item[--todo->n]];
        if (r->state)
            continue;
        give_up_one(work, r, reason);
        for (uint32_t l = r->link; l != QFI_NONE; l = run->link[l].next)
            if (!qfi_push(&run->pool, todo, run->link[l].root))
                return QFI_NO_MEMORY(diag);
    }
    return QF_OK;
}

/* ---------------------------------------- views after a write */

static bool is_stale(const qfi_run *run, uint32_t slot)
{
    const qfi_slot *s = &run->slot[slot];
    return s->ref != QFI_NONE && s->version != run->root[s->root].version;
}

/* A slot that must be brought up to date before this one, QFI_NONE if there is none. */
static uint32_t stale_source(const qf_graph *graph, const qfi_run *run, uint32_t slot)
{
    const qfi_slot *s = &run->slot[slot];
    if (s->parent == QFI_NONE || is_stale(run, s->parent))
        return s->parent; /* a base has no sources */
    const qfi_node *node = s->same ? NULL : qfi_producer(graph, slot);
    for (uint32_t k = 0; node && k < node->n_in; k++) {
        const qfi_id v = graph->operand[node->first_in + k];
        if (v != QFI_NONE && is_stale(run, v))
            return v;
    }
    return QFI_NONE;
}

/* The producer's calls once more, on what its operands hold now. */
static qf_status derive_again(qfi_fold *fold, uint32_t slot, qf_diag *diag)
{
    qfi_run *run = &qfi_work_of(fold)->run;
    const uint32_t root = run->slot[slot].root;
    const qfi_id n = fold->graph->value[slot].node;
    const qfi_id which = slot - fold->graph->node[n].first_out;
    qfi_env env = { 0 };
    QF_TRY(qfi_lower(fold, n, &env, diag));
    const qfi_ref ref = env.reason == QF_REASON_none ? env.out[which] : QFI_NONE;
    run->slot[slot].version = run->root[root].version;
    run->slot[slot].ref = ref;
    return ref == QFI_NONE ? qfi_root_give_up(fold, root, QF_REASON_alias, diag) : QF_OK;
}

static qf_status refresh_one(qfi_fold *fold, uint32_t slot, qf_diag *diag)
{
    qfi_run *run = &qfi_work_of(fold)->run;
    qfi_slot *s = &run->slot[slot];
    if (s->parent != QFI_NONE && !s->same)
        return derive_again(fold, slot, diag);
    s->ref = s->parent == QFI_NONE ? run->root[s->root].contents : run->slot[s->parent].ref;
    s->version = run->root[s->root].version;
    return QF_OK;
}

qf_status qfi_slot_refresh(qfi_fold *fold, uint32_t slot, qf_diag *diag)
{
    qfi_run *run = &qfi_work_of(fold)->run;
    if (!is_stale(run, slot))
        return QF_OK;
    qfi_stack *todo = &run->refreshing;
    todo->n = 0;
    if (!qfi_push(&run->pool, todo, slot))
        return QFI_NO_MEMORY(diag);
    while (todo->n) {
        const uint32_t top = todo->item[todo->n - 1];
        const uint32_t source = is_stale(run, top) ? stale_source(fold->graph, run, top) : QFI_NONE;
        if (source != QFI_NONE) {
            if (!qfi_push(&run->pool, todo, source))
                return QFI_NO_MEMORY(diag);
            continue;
        }
        if (is_stale(run, top))
            QF_TRY(refresh_one(fold, top, diag));
        todo->n--;
    }
    return QF_OK;
}

/* ---------------------------------------- constant writes */

/* The whole from a part: contents of the operand of the view `view` once the view has the contents
 * `part`. *out stays QFI_NONE where no call says that. */
static qf_status scatter(qfi_fold *fold, qfi_ref view, qfi_ref part, qfi_ref *out, qf_diag *diag)
{
    const qfi_def def = fold->prog.def[view];
    const qf_type whole = fold->prog.def[def.in[0]].type;
    const qfi_ref in[2] = { def.in[0], part };
    qf_attrs attrs = { 0 };
    qfi_prog *prog = &fold->prog;
    *out = QFI_NONE;
    switch (def.op) {
    case QF_OP_permute:
        for (int8_t i = 0; i < whole.rank; i++)
            attrs.dims.dim[def.attrs->dims.dim[i]] = i;
        return qfi_prog_call(prog, QF_OP_permute, &attrs, &part, 1, out, diag);
    case QF_OP_reshape:
        attrs.shape.rank = (uint8_t)whole.rank;
        memcpy(attrs.shape.dim, whole.dim, sizeof attrs.shape.dim);
        return qfi_prog_call(prog, QF_OP_reshape, &attrs, &part, 1, out, diag);
    case QF_OP_slice:
        return qfi_prog_call(prog, QF_OP_slice_scatter, def.attrs, in, 2, out, diag);
    case QF_OP_select:
        return qfi_prog_call(prog, QF_OP_select_scatter, def.attrs, in, 2, out, diag);
    case QF_OP_squeeze:
        return qfi_prog_call(prog, QF_OP_unsqueeze, def.attrs, &part, 1, out, diag);
    case QF_OP_unsqueeze:
        return qfi_prog_call(prog, QF_OP_squeeze, def.attrs, &part, 1, out, diag);
    default:
        return QF_OK;
    }
}

qf_status qfi_slot_write(qfi_fold *fold, uint32_t slot, qfi_ref written, qf_diag *diag)
{
    qfi_work *work = qfi_work_of(fold);
    qfi_run *run = &work->run;
    const uint32_t number = run->slot[slot].root;
    const qfi_root root = run->root[number];
    if (root.payload != QFI_NONE)
        return qfi_root_give_up(fold, number, QF_REASON_state, diag);
    if (root.unsure || root.watched)
        return qfi_root_give_up(fold, number, QF_REASON_alias, diag);
    if (work->restarts > MAX_GUESSES)
        return qfi_root_give_up(fold, number, QF_REASON_state, diag);
    qfi_ref view = run->slot[slot].ref;
    while (view != root.contents) {
        const qfi_def *def = &fold->prog.def[view];
        qfi_ref whole = QFI_NONE;
        if (def->n_in == 1)
            QF_TRY(scatter(fold, view, written, &whole, diag));
        if (whole == QFI_NONE)
            return qfi_root_give_up(fold, number, QF_REASON_alias, diag);
        view = fold->prog.def[view].in[0];
        written = whole;
    }
    run->root[number].contents = written;
    run->root[number].version++;
    run->root[number].written = true;
    return QF_OK;
}

/* ---------------------------------------- nodes that stay */

static bool ends_with(qf_str text, const char *tail)
{
    const size_t n = strlen(tail);
    return text.n >= n && !memcmp(text.p + text.n - n, tail, n);
}

/* Overloads that fill operands, where "out" is no part of the name. */
static const char *const filling[] = {
    "values",      "values_stable",
    "dim_max",     "dim_min",
    "dim_values",  "grad_input",
    "output",      "a",
    "U",           "Q",
    "X",           "L",
    "inverse",     "result",
    "sign",        "eigvals",
    "eigenvalues",
};

static bool fills_operands(qf_str overload)
{
    for (size_t i = 0; i < sizeof filling / sizeof *filling; i++)
        if (qfi_str_is(overload, filling[i]))
            return true;
    for (size_t i = 0; i + 3 <= overload.n; i++)
        if (!memcmp(overload.p + i, "out", 3) || !memcmp(overload.p + i, "Out", 3))
            return true;
    return false;
}

/* torch's spelling: add_ and __iadd__ work in place, __add__ does not; some overloads fill others,
 * whatever their name. */
static bool is_in_place(qf_str op)
{
    qf_str name = op;
    while (name.n && name.p[name.n - 1] != '.')
        name.n--;
    if (name.n && fills_operands((qf_str){ op.p + name.n, op.n - name.n }))
        return true;
    name.n = name.n ? name.n - 1 : op.n;
    size_t begin = name.n;
    while (begin && name.p[begin - 1] != '.')
        begin--;
    name = (qf_str){ name.p + begin, name.n - begin };
    return ends_with(name, "__") ? name.n > 3 && !memcmp(name.p, "__i", 3) : ends_with(name, "_");
}

/* Whether an operator that is not evaluated writes operand k. What returns nothing and is not known
 * is there for what it writes. */
static bool writes_operand(const qfi_node *node, uint32_t k)
{
    if (node->effect == QFI_WRITE)
        return k == qfi_written_operand(node);
    if (node->effect == QFI_UNKNOWN && !node->n_out)
        return true;
    return (node->effect == QFI_KEEP || node->effect == QFI_UNKNOWN) && is_in_place(node->op);
}

/* Which placeholder a value of a body is a part of: its number + 1; 0: none; ANY: cannot be told.
 */
#define ANY UINT32_MAX

static void mark_written(bool *written, uint32_t n, uint32_t origin)
{
    for (uint32_t i = 0; i < n; i++)
        written[i] |= origin == ANY || origin == i + 1;
}

static uint32_t origin_of_results(const qf_graph *body, const qfi_node *node,
                                  const uint32_t *origin)
{
    uint32_t any = 0;
    for (uint32_t k = 0; k < node->n_in; k++) {
        const qfi_id v = body->operand[node->first_in + k];
        if (v == QFI_NONE || !origin[v])
            continue;
        if (k == qfi_written_operand(node) && node->alias != QFI_ALIAS_EACH &&
            (node->alias != QFI_FRESH || node->effect == QFI_WRITE))
            return origin[v];
        any = ANY;
    }
    return node->effect == QFI_UNKNOWN || node->effect == QFI_REGION ||
                   node->alias == QFI_ALIAS_EACH
               ? any
               : 0;
}

static qf_status body_writes(qfi_pool *pool, const qf_graph *body, int depth, bool *written,
                             qf_diag *diag);

static qf_status node_writes(qfi_pool *pool, const qf_graph *body, const qfi_node *node, int depth,
                             const uint32_t *origin, bool *written, qf_diag *diag)
{
    const qfi_id *operand = body->operand + node->first_in;
    for (uint32_t k = 0; k < node->n_in; k++)
        if (operand[k] != QFI_NONE && writes_operand(node, k))
            mark_written(written, body->n_input, origin[operand[k]]);
    for (uint32_t b = 0; b < node->n_body; b++) {
        const qf_graph *inner = body->body[node->first_body + b];
        bool *deep = qfi_pool_alloc(pool, inner->n_input, sizeof *deep);
        if (!deep)
            return QFI_NO_MEMORY(diag);
        QF_TRY(body_writes(pool, inner, depth + 1, deep, diag));
        for (uint32_t i = 0; i < inner->n_input && i < node->n_in; i++) {
            const uint32_t k = node->n_in - 1 - i;
            if (deep[inner->n_input - 1 - i] && operand[k] != QFI_NONE)
                mark_written(written, body->n_input, origin[operand[k]]);
        }
    }
    return QF_OK;
}

/* Which placeholders of a body it writes. */
static qf_status body_writes(qfi_pool *pool, const qf_graph *body, int depth, bool *written,
                             qf_diag *diag)
{
    if (depth > MAX_BODY_DEPTH) {
        mark_written(written, body->n_input, ANY);
        return QF_OK;
    }
    uint32_t *origin = qfi_pool_alloc(pool, body->n_value, sizeof *origin);
    if (!origin)
        return QFI_NO_MEMORY(diag);
    for (uint32_t i = 0; i < body->n_input; i++)
        origin[i] = i + 1;
    for (qfi_id n = 0; n < body->n_node; n++) {
        const qfi_node *node = &body->node[n];
        QF_TRY(node_writes(pool, body, node, depth, origin, written, diag));
        for (uint32_t k = 0; k < node->n_out; k++)
            origin[node->first_out + k] = origin_of_results(body, node, origin);
    }
    return QF_OK;
}

static qf_status give_up_operand(qfi_fold *fold, qfi_id value, qf_diag *diag)
{
    const uint32_t root = value == QFI_NONE ? QFI_NONE : qfi_work_of(fold)->run.slot[value].root;
    return root == QFI_NONE ? QF_OK : qfi_root_give_up(fold, root, QF_REASON_state, diag);
}

/* Closed bodies; what open ones write is told by their own nodes. */
static qf_status keep_body_writes(qfi_fold *fold, const qfi_node *node, qf_diag *diag)
{
    qfi_run *run = &qfi_work_of(fold)->run;
    const qf_graph *graph = fold->graph;
    const qfi_id *operand = graph->operand + node->first_in;
    for (uint32_t b = 0; b < node->n_body; b++) {
        const qf_graph *body = graph->body[node->first_body + b];
        bool *written = qfi_pool_alloc(&run->pool, body->n_input, sizeof *written);
        if (!written)
            return QFI_NO_MEMORY(diag);
        QF_TRY(body_writes(&run->pool, body, 0, written, diag));
        for (uint32_t i = 0; i < body->n_input && i < node->n_in; i++)
            if (written[body->n_input - 1 - i])
                QF_TRY(give_up_operand(fold, operand[node->n_in - 1 - i], diag));
    }
    return QF_OK;
}

qf_status qfi_keep_writes(qfi_fold *fold, qfi_id n, qf_diag *diag)
{
    const qfi_node *node = &fold->graph->node[n];
    for (uint32_t k = 0; k < node->n_in; k++)
        if (writes_operand(node, k))
            QF_TRY(give_up_operand(fold, fold->graph->operand[node->first_in + k], diag));
    return qfi_is_holder(node) ? QF_OK : keep_body_writes(fold, node, diag);
}

static qf_status link_root(qfi_fold *fold, uint32_t from, uint32_t to, qf_diag *diag)
{
    qfi_run *run = &qfi_work_of(fold)->run;
    qfi_link *links =
        qfi_pool_grow(&run->pool, run->link, run->n_link, &run->cap_link, sizeof *links);
    if (!links)
        return QFI_NO_MEMORY(diag);
    run->link = links;
    links[run->n_link] = (qfi_link){ .root = to, .next = run->root[from].link };
    run->root[from].link = (uint32_t)run->n_link++;
    run->root[to].watched = true;
    return QF_OK;
}

/* The result of an operator of which nothing is known may be a part of any operand; that of one
 * which holds bodies, of what they yield. */
static qf_status link_operands(qfi_fold *fold, const qfi_node *node, uint32_t slot, qf_diag *diag)
{
    const qfi_run *run = &qfi_work_of(fold)->run;
    for (uint32_t k = 0; k < node->n_in; k++) {
        const qfi_id v = fold->graph->operand[node->first_in + k];
        const uint32_t root = v == QFI_NONE ? QFI_NONE : run->slot[v].root;
        if (root != QFI_NONE)
            QF_TRY(link_root(fold, run->slot[slot].root, root, diag));
    }
    return QF_OK;
}

/* The slot whose memory result k of a node shares; QFI_NONE if it has its own. */
static uint32_t shared_slot(const qf_graph *graph, const qfi_run *run, const qfi_node *node,
                            uint32_t k)
{
    const uint32_t which = node->alias == QFI_ALIAS_EACH ? k : qfi_written_operand(node);
    const bool shares = node->alias != QFI_FRESH || node->effect == QFI_WRITE;
    const qfi_id v =
        shares && which < node->n_in ? graph->operand[node->first_in + which] : QFI_NONE;

    return v != QFI_NONE && run->slot[v].root != QFI_NONE ? v : QFI_NONE;
}

qf_status qfi_keep_effects(qfi_fold *fold, qfi_id n, qf_diag *diag)
{
    qfi_run *run = &qfi_work_of(fold)->run;
    const qfi_node *node = &fold->graph->node[n];
    QF_TRY(qfi_keep_writes(fold, n, diag));
    for (uint32_t k = 0; k < node->n_out; k++) {
        const uint32_t slot = node->first_out + k;
        const uint32_t shared = shared_slot(fold->graph, run, node, k);
        if (shared != QFI_NONE) {
            qfi_slot_alias(run, slot, shared, false, QFI_NONE);
            run->root[run->slot[slot].root].watched = true;
            continue;
        }
        QF_TRY(qfi_root_add(fold, slot, QFI_NONE, diag));
        if (node->effect == QFI_UNKNOWN || qfi_is_holder(node))
            QF_TRY(link_operands(fold, node, slot, diag));
    }
    return QF_OK;
}
