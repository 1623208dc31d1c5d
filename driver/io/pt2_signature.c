/* The signature of a program: what its placeholders are bound to, and what it writes. */
#include <string.h>

#include "pt2.h"

/* ---- inputs ---- */

/* One kind of input spec. fqn: key of its tensor's name, NULL if it has none.  is_argument: "arg"
 * is an Argument. */
typedef struct spec_row {
    const char *tag, *fqn;
    uint8_t kind; /* qf_value_kind */
    bool is_argument;
} spec_row;

static const spec_row input_rows[] = {
    { "parameter", "parameter_name", QF_VALUE_PARAM, false },
    { "buffer", "buffer_name", QF_VALUE_BUFFER, false },
    { "tensor_constant", "tensor_constant_name", QF_VALUE_CONST, false },
    { "user_input", NULL, QF_VALUE_INPUT, true },
    { "custom_obj", "custom_obj_name", QF_VALUE_OTHER, false },
    { "token", NULL, QF_VALUE_OTHER, false },
    { "constant_input", NULL, QF_VALUE_OTHER, false },
};

/* What a written output writes. */
enum { NOTHING, BUFFER, PARAMETER, USER_INPUT, TRAINING };

static const struct output_row {
    const char *tag, *target;
    int writes;
    bool is_argument;
} output_rows[] = {
    { "user_output", NULL, NOTHING, true },
    { "buffer_mutation", "buffer_name", BUFFER, false },
    { "parameter_mutation", "parameter_name", PARAMETER, false },
    { "user_input_mutation", "user_input_name", USER_INPUT, false },
    { "token", NULL, NOTHING, false },
    { "loss_output", NULL, TRAINING, false },
    { "gradient_to_parameter", "parameter_name", TRAINING, false },
    { "gradient_to_user_input", "user_input_name", TRAINING, false },
};

/* A spec of either kind, read. */
typedef struct spec {
    qf_str name, target;
    bool persistent;
} spec;

static bool spec_leaf(void *user, qfi_json *j, const qfi_pt2_leaf *leaf)
{
    (void)j;
    ((spec *)user)->name = leaf->name;
    return true;
}

static bool read_arg(qfi_json *j, bool is_argument, spec *s)
{
    const qfi_pt2_visitor visitor = { .leaf = spec_leaf, .user = s };
    return is_argument ? qfi_pt2_argument(j, &visitor) : qfi_pt2_named(j, &s->name);
}

/* The object behind a tag. target: the key that names a tensor, NULL for none. */
static bool read_spec(qf_graph *g, qfi_json *j, bool is_argument, const char *target, spec *s)
{
    qf_str key;
    *s = (spec){ 0 };
    if (!qfi_json_enter(j, QFI_JSON_OBJECT))
        return false;
    while (qfi_json_key(j, &key)) {
        bool ok;
        if (qfi_str_is(key, "arg"))
            ok = read_arg(j, is_argument, s);
        else if (qfi_str_is(key, "name"))
            ok = qfi_json_string(j, &s->name);
        else if (target && qfi_str_is(key, target))
            ok = qfi_pt2_string(j, &g->pool, &s->target);
        else if (qfi_str_is(key, "persistent"))
            ok = qfi_json_bool(j, &s->persistent);
        else
            ok = qfi_json_skip(j, NULL);
        if (!ok)
            return false;
    }
    if (j->status == QF_OK && target && !s->target.p)
        return qfi_json_fail(j, QF_ERR_SCHEMA, "'%s' is missing", target);
    return j->status == QF_OK;
}

/* The value of a stored tensor is what the config says, whatever the graph recorded. */
static bool bind(qf_graph *g, qfi_json *j, qfi_value *v, const spec *s, qfi_pt2_bound *bound)
{
    const bool weight = v->kind == QF_VALUE_PARAM || (v->kind == QF_VALUE_BUFFER && s->persistent);
    bound->config = weight ? QFI_PT2_WEIGHTS : QFI_PT2_CONSTANTS;
    qfi_pt2_config *config = &qfi_pt2_of(g)->config[bound->config];
    const uint32_t i = qfi_names_get(&config->fqns, s->target);
    if (i == UINT32_MAX)
        return qfi_json_fail(j, QF_ERR_MEMBER, "'%.*s' is not among the stored %s",
                             QFI_STR(s->target), weight ? "weights" : "constants");
    qfi_pt2_entry *e = &config->entry[i];
    if (v->kind == QF_VALUE_PARAM && !e->is_param)
        return qfi_json_fail(j, QF_ERR_SCHEMA, "the parameter '%.*s' is stored as a buffer",
                             QFI_STR(s->target));
    e->users++;
    bound->entry = e;
    v->type = e->type;
    v->payload = e->payload;
    v->strided = !e->opaque;
    v->offset = e->offset;
    v->requires_grad = v->requires_grad || e->requires_grad;
    memcpy(v->stride, e->stride, sizeof v->stride);
    return true;
}

static bool read_input_spec(qf_graph *g, qfi_json *j, uint32_t i, qf_str tag)
{
    qfi_pt2 *pt2 = qfi_pt2_of(g);
    spec s;
    size_t k = 0;
    while (k < sizeof input_rows / sizeof *input_rows && !qfi_str_is(tag, input_rows[k].tag))
        k++;
    if (k == sizeof input_rows / sizeof *input_rows)
        return qfi_json_fail(j, QF_ERR_SCHEMA, "unknown input spec '%.*s'", QFI_STR(tag));
    const spec_row *row = &input_rows[k];
    if (!read_spec(g, j, row->is_argument, row->fqn, &s))
        return false;
    qfi_value *v = &g->value[i];
    if (v->name.p && !qfi_str_equal(v->name, s.name))
        return qfi_json_fail(j, QF_ERR_SCHEMA, "input %u is '%.*s' in the graph, '%.*s' here", i,
                             QFI_STR(v->name), QFI_STR(s.name));
    if (!v->name.p && row->kind != QF_VALUE_OTHER && row->kind != QF_VALUE_INPUT)
        return qfi_json_fail(j, QF_ERR_SCHEMA, "input %u is no tensor", i);
    if (!v->name.p)
        v->name = s.name;
    v->kind = v->kind == QF_VALUE_INPUT ? row->kind : QF_VALUE_OTHER;
    pt2->bound[i].is_user = qfi_str_is(tag, "user_input") || qfi_str_is(tag, "constant_input");
    if (!row->fqn)
        return true;
    uint32_t was;
    if (!qfi_names_put(&pt2->fqns, s.target, i, &was))
        return qfi_json_fail(j, QF_ERR_NOMEM, "out of memory");
    return v->kind == QF_VALUE_OTHER || bind(g, j, v, &s, &pt2->bound[i]);
}

/* Reads {"tag": …} through `read`. */
static bool read_union(qf_graph *g, qfi_json *j, uint32_t i,
                       bool (*read)(qf_graph *g, qfi_json *j, uint32_t i, qf_str tag))
{
    qf_str tag;
    int n = 0;
    if (!qfi_json_enter(j, QFI_JSON_OBJECT))
        return false;
    while (qfi_json_key(j, &tag)) {
        if (n++)
            return qfi_json_fail(j, QF_ERR_SCHEMA, "a union with two tags");
        if (!read(g, j, i, tag))
            return false;
    }
    return j->status == QF_OK && (n || qfi_json_fail(j, QF_ERR_SCHEMA, "a union without a tag"));
}

static bool read_specs(qf_graph *g, qfi_json *j, uint32_t want, qfi_pt2_span *span,
                       bool (*read)(qf_graph *g, qfi_json *j, uint32_t i, qf_str tag))
{
    uint32_t n = 0;
    span->begin = qfi_pt2_at(j);
    if (!qfi_json_enter(j, QFI_JSON_ARRAY))
        return false;
    while (qfi_json_next(j)) {
        if (n == want)
            return qfi_json_fail(j, QF_ERR_SCHEMA, "more than %u specs for %u values", want, want);
        if (!read_union(g, j, n++, read))
            return false;
    }
    span->end = j->at;
    return j->status == QF_OK &&
           (n == want || qfi_json_fail(j, QF_ERR_SCHEMA, "%u specs for %u values", n, want));
}

static bool read_input_specs(qf_graph *g, qfi_json *j)
{
    qfi_pt2 *pt2 = qfi_pt2_of(g);
    pt2->bound = qfi_pool_alloc(&g->pool, g->n_input, sizeof *pt2->bound);
    pt2->fqns.pool = &g->pool;
    if (!pt2->bound)
        return qfi_json_fail(j, QF_ERR_NOMEM, "out of memory");
    return read_specs(g, j, g->n_input, &pt2->input_specs, read_input_spec);
}

/* ---- outputs ---- */

static bool mark_written(qf_graph *g, qfi_json *j, int writes, const spec *s)
{
    const qfi_id target = writes == USER_INPUT ? qfi_pt2_value(g, s->target)
                                               : qfi_names_get(&qfi_pt2_of(g)->fqns, s->target);
    if (target == QFI_NONE)
        return qfi_json_fail(j, QF_ERR_NAME, "the program writes '%.*s', which it does not have",
                             QFI_STR(s->target));
    g->value[target].mutated = true;
    g->value[target].pinned = true;
    const qfi_id source = qfi_pt2_value(g, s->name);
    if (source != QFI_NONE)
        g->value[source].pinned = true;
    return true;
}

static bool read_output_spec(qf_graph *g, qfi_json *j, uint32_t i, qf_str tag)
{
    const size_t n = sizeof output_rows / sizeof *output_rows;
    spec s;
    size_t k = 0;
    while (k < n && !qfi_str_is(tag, output_rows[k].tag))
        k++;
    if (k == n)
        return qfi_json_fail(j, QF_ERR_SCHEMA, "unknown output spec '%.*s'", QFI_STR(tag));
    if (!read_spec(g, j, output_rows[k].is_argument, output_rows[k].target, &s))
        return false;
    const qfi_id output = g->output[i];
    if (output != QFI_NONE && !qfi_str_equal(g->value[output].name, s.name))
        return qfi_json_fail(j, QF_ERR_SCHEMA, "output %u is '%.*s' in the graph, '%.*s' here", i,
                             QFI_STR(g->value[output].name), QFI_STR(s.name));
    if (output_rows[k].writes == TRAINING)
        g->training = true;
    else if (output_rows[k].writes != NOTHING)
        return mark_written(g, j, output_rows[k].writes, &s);
    return true;
}

static bool read_output_specs(qf_graph *g, qfi_json *j)
{
    return read_specs(g, j, g->n_output, &qfi_pt2_of(g)->output_specs, read_output_spec);
}

static const qfi_pt2_part signature_parts[] = {
    { "input_specs", read_input_specs, 0, true },
    { "output_specs", read_output_specs, 1, true },
};

bool qfi_pt2_signature_read(qf_graph *g, qfi_json *j)
{
    return qfi_pt2_parts(g, j, signature_parts, 2, "the signature");
}

/* ---- module calls ---- */

static bool pin_leaf(void *user, qfi_json *j, const qfi_pt2_leaf *leaf)
{
    qf_graph *g = user;
    const qfi_id id = leaf->name.p ? qfi_pt2_value(g, leaf->name) : QFI_NONE;
    (void)j;
    if (id != QFI_NONE)
        g->value[id].pinned = true;
    return true;
}

static bool pin_arguments(qf_graph *g, qfi_json *j)
{
    const qfi_pt2_visitor visitor = { .leaf = pin_leaf, .user = g };
    if (!qfi_json_enter(j, QFI_JSON_ARRAY))
        return false;
    while (qfi_json_next(j))
        if (!qfi_pt2_argument(j, &visitor))
            return false;
    return j->status == QF_OK;
}

static const qfi_pt2_part call_signature_parts[] = {
    { "inputs", pin_arguments, 0, true },
    { "outputs", pin_arguments, 0, true },
};

static bool read_call_signature(qf_graph *g, qfi_json *j)
{
    return qfi_json_peek(j) == QFI_JSON_NULL
               ? qfi_json_null(j)
               : qfi_pt2_parts(g, j, call_signature_parts, 2, "the signature of a module call");
}

static const qfi_pt2_part call_parts[] = { { "signature", read_call_signature, 0, false } };

bool qfi_pt2_calls_read(qf_graph *g, qfi_json *j)
{
    int n = 0;
    if (!qfi_json_enter(j, QFI_JSON_ARRAY))
        return false;
    for (; qfi_json_next(j); n++)
        if (!qfi_pt2_parts(g, j, call_parts, 1, "a module call"))
            return false;
    return j->status == QF_OK &&
           (n || qfi_json_fail(j, QF_ERR_SCHEMA, "the module_call_graph is empty"));
}
