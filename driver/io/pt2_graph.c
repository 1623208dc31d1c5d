/* A Graph object of the program -> qf_graph, in one pass over its text. Bodies of control flow are
 * graphs of their own. */
#include <string.h>

#include "pt2.h"

static bool no_memory(qfi_json *j)
{
    return qfi_json_fail(j, QF_ERR_NOMEM, "out of memory");
}

static qfi_pool *pool_of(const qf_graph *g)
{
    return &qfi_pt2_scope_of(g)->top->pool;
}

qf_str qfi_pt2_node_text(const qf_graph *graph, qfi_id node)
{
    const qfi_node *n = &graph->node[node];
    return (qf_str){ qfi_pt2_of(graph)->model.p + n->text_begin,
                     (size_t)(n->text_end - n->text_begin) };
}

qfi_id qfi_pt2_value(const qf_graph *graph, qf_str name)
{
    return qfi_names_get(&qfi_pt2_scope_of(graph)->names, name);
}

qfi_id qfi_pt2_value_near(const qf_graph *graph, qf_str name, qfi_id guess)
{
    const bool right = guess < graph->n_value && qfi_str_equal(graph->value[guess].name, name);
    return right && name.n ? guess : qfi_pt2_value(graph, name);
}

/* Appends a value; *taken: whether its name is in use already (then nothing is appended). */
static bool add_value(qf_graph *g, qfi_json *j, qfi_value value, bool *taken)
{
    qfi_pt2_scope *s = qfi_pt2_scope_of(g);
    const uint32_t n = g->n_value;
    uint32_t was = UINT32_MAX;
    g->value = qfi_pool_grow(pool_of(g), g->value, n, &s->cap_value, sizeof *g->value);
    s->meta = qfi_pool_grow(pool_of(g), s->meta, n, &s->cap_meta, sizeof *s->meta);
    if (!g->value || !s->meta)
        return no_memory(j);
    if (value.name.n && !qfi_names_put(&s->names, value.name, n, &was))
        return no_memory(j);
    *taken = was != UINT32_MAX;
    if (!*taken)
        g->value[g->n_value++] = value;
    return true;
}

/* The type that the kind of a leaf alone says. */
static qf_type scalar_type(qfi_pt2_kind kind)
{
    const qf_dtype dtype = kind == QFI_PT2_INT     ? QF_DT_i64
                           : kind == QFI_PT2_FLOAT ? QF_DT_f64
                           : kind == QFI_PT2_BOOL  ? QF_DT_b8
                                                   : QF_DT_none;
    return (qf_type){ .dtype = dtype, .rank = dtype ? 0 : -1 };
}

static bool is_scalar(qfi_pt2_kind kind)
{
    return kind == QFI_PT2_INT || kind == QFI_PT2_FLOAT || kind == QFI_PT2_BOOL;
}

/* ---- inputs and outputs of the graph ---- */

static bool input_leaf(void *user, qfi_json *j, const qfi_pt2_leaf *leaf)
{
    qf_graph *g = user;
    const bool given = leaf->kind == QFI_PT2_TENSOR || is_scalar(leaf->kind);
    bool taken;
    const qfi_value value = { .name = leaf->name,
                              .type = scalar_type(leaf->kind),
                              .payload = QFI_NONE,
                              .node = QFI_NONE,
                              .kind = given ? QF_VALUE_INPUT : QF_VALUE_OTHER };
    if (!add_value(g, j, value, &taken))
        return false;
    return !taken || qfi_json_fail(j, QF_ERR_NAME, "two inputs named '%.*s'", QFI_STR(leaf->name));
}

static bool read_arguments(qf_graph *g, qfi_json *j, qfi_pt2_span *span,
                           bool (*leaf)(void *user, qfi_json *j, const qfi_pt2_leaf *leaf))
{
    const qfi_pt2_visitor visitor = { .leaf = leaf, .user = g };
    span->begin = qfi_pt2_at(j);
    if (!qfi_json_enter(j, QFI_JSON_ARRAY))
        return false;
    while (qfi_json_next(j))
        if (!qfi_pt2_argument(j, &visitor))
            return false;
    span->end = j->at;
    return j->status == QF_OK;
}

static bool read_inputs(qf_graph *g, qfi_json *j)
{
    const bool ok = read_arguments(g, j, &qfi_pt2_scope_of(g)->inputs, input_leaf);
    g->n_input = g->n_value;
    return ok;
}

static bool output_leaf(void *user, qfi_json *j, const qfi_pt2_leaf *leaf)
{
    qf_graph *g = user;
    const qfi_id id = leaf->name.p ? qfi_pt2_value(g, leaf->name) : QFI_NONE;
    if (leaf->name.p && id == QFI_NONE)
        return qfi_json_fail(j, QF_ERR_NAME, "the output '%.*s' is not defined",
                             QFI_STR(leaf->name));
    g->output = qfi_pool_grow(pool_of(g), g->output, g->n_output, &qfi_pt2_scope_of(g)->cap_output,
                              sizeof *g->output);
    if (!g->output)
        return no_memory(j);
    g->output[g->n_output++] = id;
    if (id != QFI_NONE) {
        g->value[id].n_use++;
        g->value[id].is_output = true;
    }
    return true;
}

static bool read_outputs(qf_graph *g, qfi_json *j)
{
    return read_arguments(g, j, &qfi_pt2_scope_of(g)->outputs, output_leaf);
}

/* ---- nodes ---- */

/* A node while it is read. Its name comes last in the text, so what is wrong with its operands is
 * told at its end. */
typedef struct building {
    qf_graph *graph;
    qfi_node node;
    qf_str target, undefined, twice;
    size_t last_argument;      /* where its text begins */
    uint32_t n_last, n_behind; /* operands of it; arguments behind the last body */
    bool plain;                /* those are one operand each */
    bool named;                /* so far, every argument is a tensor by itself */
    bool has_inputs, has_outputs;
} building;

static bool add_operand(building *b, qfi_json *j, qfi_id id)
{
    qf_graph *g = b->graph;
    qfi_pt2_scope *s = qfi_pt2_scope_of(g);
    const uint32_t n = g->n_operand;
    g->operand = qfi_pool_grow(pool_of(g), g->operand, n, &s->cap_operand, sizeof *g->operand);
    s->argname = qfi_pool_grow(pool_of(g), s->argname, n, &s->cap_argname, sizeof *s->argname);
    if (!g->operand || !s->argname)
        return no_memory(j);
    g->operand[g->n_operand++] = id;
    if (id != QFI_NONE)
        g->value[id].n_use++;
    return true;
}

/* Literals are no operands, but keep the place of a body's placeholder. */
static bool operand_leaf(void *user, qfi_json *j, const qfi_pt2_leaf *leaf)
{
    building *b = user;
    if (leaf->kind == QFI_PT2_LITERAL && !b->node.n_body)
        return true;
    const qfi_id id = leaf->name.p ? qfi_pt2_value(b->graph, leaf->name) : QFI_NONE;
    const bool known = id != QFI_NONE && (!b->has_outputs || id < b->node.first_out);
    if (leaf->name.p && !known && leaf->kind != QFI_PT2_OBJECT) {
        b->undefined = b->undefined.p ? b->undefined : leaf->name;
        return true;
    }
    return add_operand(b, j, known ? id : QFI_NONE);
}

static bool read_body(qf_graph *body, qfi_json *j)
{
    return qfi_pt2_graph_read(body, j);
}

static bool read_label(qf_graph *body, qfi_json *j)
{
    return qfi_json_string(j, &qfi_pt2_scope_of(body)->label);
}

static const qfi_pt2_part body_parts[] = {
    { "name", read_label, 0, true },
    { "graph", read_body, 0, true },
};

static bool operand_graph(void *user, qfi_json *j)
{
    building *b = user;
    qf_graph *g = b->graph;
    qfi_pt2_scope *s = qfi_pt2_scope_of(g);
    qf_graph *body = qfi_pool_alloc(pool_of(g), 1, sizeof *body);
    qfi_pt2_scope *scope = qfi_pool_alloc(pool_of(g), 1, sizeof *scope);
    g->body = qfi_pool_grow(pool_of(g), g->body, g->n_body, &s->cap_body, sizeof *g->body);
    if (!body || !scope || !g->body)
        return no_memory(j);
    *scope = (qfi_pt2_scope){ .pt2 = s->pt2, .top = s->top, .names = { .pool = pool_of(g) } };
    *body = (qf_graph){ .format = g->format,
                        .source = scope,
                        .file_size = g->file_size,
                        .payload = g->payload,
                        .n_payload = g->n_payload,
                        .parent = g,
                        .lower = g->lower };
    g->body[g->n_body++] = body;
    b->node.n_body++;
    return qfi_pt2_parts(body, j, body_parts, 2, "a body");
}

/* A tensor that is given by itself. */
static bool read_plain(building *b, qfi_json *j, qf_str name, const qfi_pt2_leaf *leaf)
{
    const size_t at = (size_t)(name.p - j->text) - b->node.text_begin;
    const uint32_t n = b->graph->n_operand;
    if (!operand_leaf(b, j, leaf))
        return false;
    b->named =
        b->named && b->graph->n_operand > n && name.n && at <= UINT32_MAX && name.n <= UINT32_MAX;
    if (b->named)
        qfi_pt2_scope_of(b->graph)->argname[n] =
            (qfi_pt2_argname){ (uint32_t)at, (uint32_t)name.n };
    return true;
}

/* {"name", "arg", "kind"} */
static bool read_argument(building *b, qfi_json *j)
{
    const qfi_pt2_visitor visitor = { .leaf = operand_leaf, .graph = operand_graph, .user = b };
    qf_str key;
    bool found = false;
    qfi_pt2_leaf plain = { .kind = QFI_PT2_TENSOR };
    if (qfi_pt2_plain_input(j, &key, &plain.name))
        return read_plain(b, j, key, &plain);
    b->named = false;
    if (!qfi_json_enter(j, QFI_JSON_OBJECT))
        return false;
    while (qfi_json_key(j, &key)) {
        if (!qfi_str_is(key, "arg")) {
            if (!qfi_json_skip(j, NULL))
                return false;
            continue;
        }
        if (!qfi_pt2_argument(j, &visitor))
            return false;
        found = true;
    }
    return j->status == QF_OK && (found || qfi_json_fail(j, QF_ERR_SCHEMA, "'arg' is missing"));
}

static bool read_operands(building *b, qfi_json *j)
{
    if (b->has_inputs)
        return qfi_json_fail(j, QF_ERR_SCHEMA, "a node has 'inputs' twice");
    b->has_inputs = b->named = true;
    b->node.first_in = b->graph->n_operand;
    b->node.first_body = b->graph->n_body;
    if (!qfi_json_enter(j, QFI_JSON_ARRAY))
        return false;
    while (qfi_json_next(j)) {
        const uint32_t n_operand = b->graph->n_operand, n_body = b->node.n_body;
        b->last_argument = qfi_pt2_at(j);
        if (!read_argument(b, j))
            return false;
        b->n_last = b->graph->n_operand - n_operand;
        b->plain = b->node.n_body > n_body || (b->plain && b->n_last == 1);
        b->n_behind = b->node.n_body > n_body ? 0 : b->n_behind + 1;
    }
    b->node.n_in = b->graph->n_operand - b->node.first_in;
    if (b->node.n_in && !b->named)
        qfi_pt2_scope_of(b->graph)->argname[b->node.first_in].n = 0;
    return j->status == QF_OK;
}

static bool result_leaf(void *user, qfi_json *j, const qfi_pt2_leaf *leaf)
{
    building *b = user;
    qf_graph *g = b->graph;
    const qf_value_kind kind = leaf->kind == QFI_PT2_TENSOR ? QF_VALUE_COMPUTED
                               : is_scalar(leaf->kind)      ? QF_VALUE_SCALAR
                                                            : QF_VALUE_OTHER;
    const qfi_value value = { .name = leaf->name,
                              .type = scalar_type(leaf->kind),
                              .payload = QFI_NONE,
                              .node = g->n_node,
                              .slot = g->n_value - b->node.first_out,
                              .kind = (uint8_t)kind };
    bool taken;
    if (!add_value(g, j, value, &taken))
        return false;
    if (taken && !b->twice.p)
        b->twice = leaf->name;
    return true;
}

static bool read_results(building *b, qfi_json *j)
{
    const qfi_pt2_visitor visitor = { .leaf = result_leaf, .user = b };
    if (b->has_outputs)
        return qfi_json_fail(j, QF_ERR_SCHEMA, "a node has 'outputs' twice");
    b->has_outputs = true;
    b->node.first_out = b->graph->n_value;
    if (!qfi_json_enter(j, QFI_JSON_ARRAY))
        return false;
    while (qfi_json_next(j))
        if (!qfi_pt2_argument(j, &visitor))
            return false;
    b->node.n_out = b->graph->n_value - b->node.first_out;
    return j->status == QF_OK;
}

static bool read_name(building *b, qfi_json *j)
{
    return qfi_json_peek(j) == QFI_JSON_NULL ? qfi_json_null(j) : qfi_json_string(j, &b->node.name);
}

static bool read_node_key(building *b, qfi_json *j, qf_str key)
{
    if (qfi_str_is(key, "target"))
        return qfi_json_string(j, &b->target);
    if (qfi_str_is(key, "inputs"))
        return read_operands(b, j);
    if (qfi_str_is(key, "outputs"))
        return read_results(b, j);
    if (qfi_str_is(key, "name"))
        return read_name(b, j);
    return qfi_json_skip(j, NULL);
}

static bool check_node(const building *b, qfi_json *j)
{
    if (!b->target.p || !b->has_inputs || !b->has_outputs)
        return qfi_json_fail(j, QF_ERR_SCHEMA, "a node lacks '%s'",
                             !b->target.p     ? "target"
                             : !b->has_inputs ? "inputs"
                                              : "outputs");
    const qf_str wrong = b->undefined.p ? b->undefined : b->twice;
    return !wrong.p ||
           qfi_json_fail(j, QF_ERR_NAME, "node '%.*s': '%.*s' is %s", QFI_STR(b->node.name),
                         QFI_STR(wrong), b->undefined.p ? "not defined" : "defined twice");
}

/* Whether the argument at `at` is a list of tensors in so many words, which can be made longer. */
static bool is_tensor_list(const qfi_json *j, size_t at)
{
    qf_diag quiet = { 0 };
    qfi_json arg = { .text = j->text, .n = j->n, .at = at, .name = j->name, .diag = &quiet };
    qf_str key;
    if (!qfi_json_enter(&arg, QFI_JSON_OBJECT))
        return false;
    while (qfi_json_key(&arg, &key)) {
        if (!qfi_str_is(key, "arg")) {
            if (!qfi_json_skip(&arg, NULL))
                return false;
            continue;
        }
        return qfi_json_enter(&arg, QFI_JSON_OBJECT) && qfi_json_key(&arg, &key) &&
               qfi_str_is(key, "as_tensors");
    }
    return false;
}

static bool describe(building *b, qfi_json *j)
{
    static const char prefix[] = "torch.ops.";
    const size_t n = sizeof prefix - 1;
    qfi_node *node = &b->node;
    node->op = b->target;
    if (node->op.n > n && !memcmp(node->op.p, prefix, n))
        node->op = (qf_str){ node->op.p + n, node->op.n - n };
    if (!qfi_aten_meet(&qfi_pt2_of(b->graph)->ops, node->op, node))
        return no_memory(j);
    if (node->effect == QFI_REGION && b->plain)
        node->n_capture = b->n_behind;
    if (node->effect == QFI_CONTROL && is_tensor_list(j, b->last_argument))
        node->n_capture = b->n_last;
    else if (node->effect == QFI_CONTROL)
        node->effect = QFI_KEEP;
    qfi_aten_describe_region(
        (qf_str){ j->text + node->text_begin, (size_t)(node->text_end - node->text_begin) }, node);
    return true;
}

static bool read_node(qf_graph *g, qfi_json *j)
{
    building b = { .graph = g, .node = { .text_begin = qfi_pt2_at(j) } };
    qf_str key;
    g->node = qfi_pool_grow(pool_of(g), g->node, g->n_node, &qfi_pt2_scope_of(g)->cap_node,
                            sizeof *g->node);
    if (!g->node)
        return no_memory(j);
    if (!qfi_json_enter(j, QFI_JSON_OBJECT))
        return false;
    while (qfi_json_key(j, &key))
        if (!read_node_key(&b, j, key))
            return false;
    if (j->status != QF_OK)
        return false;
    b.node.text_end = j->at;
    if (!b.node.name.p)
        b.node.name = b.node.n_out ? g->value[b.node.first_out].name : b.target;
    if (!check_node(&b, j) || !describe(&b, j))
        return false;
    g->node[g->n_node++] = b.node;
    return true;
}

/* A node, with its types, takes that much text in nearly all programs. Room for so many at once
 * saves making arrays larger; what is not used is not touched. */
#define NODE_TEXT 400

static bool reserve(qf_graph *g, qfi_json *j)
{
    qfi_pt2_scope *s = qfi_pt2_scope_of(g);
    const size_t n = g->parent ? 0 : j->n / NODE_TEXT;
    if (n <= s->cap_value)
        return true;
    qfi_value *value = qfi_pool_alloc(pool_of(g), n, sizeof *value);
    qfi_pt2_span *meta = qfi_pool_alloc(pool_of(g), n, sizeof *meta);
    g->node = qfi_pool_alloc(pool_of(g), n, sizeof *g->node);
    g->operand = qfi_pool_alloc(pool_of(g), 2 * n, sizeof *g->operand);
    s->typed = qfi_pool_alloc(pool_of(g), n, sizeof *s->typed);
    s->argname = qfi_pool_alloc(pool_of(g), 2 * n, sizeof *s->argname);
    if (!value || !meta || !g->node || !g->operand || !s->typed || !s->argname ||
        !qfi_names_reserve(&s->names, n))
        return no_memory(j);
    if (g->n_value) {
        memcpy(value, g->value, g->n_value * sizeof *value);
        memcpy(meta, s->meta, g->n_value * sizeof *meta);
    }
    g->value = value;
    s->meta = meta;
    s->cap_value = s->cap_meta = s->cap_node = s->cap_typed = n;
    s->cap_operand = s->cap_argname = 2 * n;
    return true;
}

static bool read_nodes(qf_graph *g, qfi_json *j)
{
    if (!reserve(g, j))
        return false;
    if (!qfi_json_enter(j, QFI_JSON_ARRAY))
        return false;
    while (qfi_json_next(j))
        if (!read_node(g, j))
            return false;
    return j->status == QF_OK;
}

/* ---- the graph ---- */

static bool read_scalars(qf_graph *g, qfi_json *j, int which)
{
    qfi_pt2_span *span = &qfi_pt2_scope_of(g)->scalar_values[which];
    span->begin = qfi_pt2_at(j);
    if (qfi_json_peek(j) != QFI_JSON_OBJECT)
        return qfi_json_fail(j, QF_ERR_SCHEMA, "expected an object of scalar values");
    const bool ok = qfi_json_skip(j, NULL);
    span->end = j->at;
    return ok;
}

static bool read_ints(qf_graph *g, qfi_json *j)
{
    return read_scalars(g, j, 0);
}
static bool read_bools(qf_graph *g, qfi_json *j)
{
    return read_scalars(g, j, 1);
}
static bool read_floats(qf_graph *g, qfi_json *j)
{
    return read_scalars(g, j, 2);
}

/* Bits: inputs 1, nodes 2. */
static const qfi_pt2_part graph_parts[] = {
    { "inputs", read_inputs, 0, true },
    { "nodes", read_nodes, 1, true },
    { "outputs", read_outputs, 1 | 2, true },
    { "tensor_values", qfi_pt2_values_read, 1 | 2, true },
    { "sym_int_values", read_ints, 0, true },
    { "sym_bool_values", read_bools, 0, false },
    { "sym_float_values", read_floats, 0, false },
};

bool qfi_pt2_graph_read(qf_graph *g, qfi_json *j)
{
    const uint32_t n = sizeof graph_parts / sizeof *graph_parts;
    if (!qfi_pt2_parts(g, j, graph_parts, n, "a graph"))
        return false;
    for (uint32_t i = 0; i < g->n_input; i++)
        if (g->value[i].kind == QF_VALUE_INPUT && !g->value[i].type.dtype &&
            !qfi_pt2_scope_of(g)->meta[i].end)
            return qfi_json_fail(j, QF_ERR_SCHEMA, "the input '%.*s' has no tensor_values entry",
                                 QFI_STR(g->value[i].name));
    return true;
}
