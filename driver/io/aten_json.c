/* Arguments of a node of a torch.export graph, read from its JSON object. */
#include "aten_build.h"

#include "json.h"
#include "pt2.h"

#define LAYOUT_STRIDED 7

/* Reads a span of the program's text, so that messages tell its place in the file. */
static qfi_json reader_of(const qf_graph *graph, qf_str text, qf_diag *diag)
{
    const qfi_pt2 *pt2 = qfi_pt2_of(graph);
    const size_t at = (size_t)(text.p - pt2->model.p);
    return (qfi_json){
        .text = pt2->model.p, .n = at + text.n, .at = at, .name = pt2->model_label, .diag = diag
    };
}

/* ---- one JSON value, by the tag that announces it ---- */

/* The value of a name that the node's text gives. */
static qfi_id find_value(qfi_lowering *l, const qfi_json *j, qf_str name)
{
    /* Mostly the node names its operands in the order in which the graph has them. */
    const qfi_node *node = &l->graph->node[l->node];
    const uint32_t k = l->n_read++;
    const qfi_id next = k < node->n_in ? l->graph->operand[node->first_in + k] : QFI_NONE;
    const qfi_id value = qfi_pt2_value_near(l->graph, name, next);
    if (value == QFI_NONE)
        l->status = qf_fail(l->diag, QF_ERR_NAME, "%s: node %.*s names the unknown value '%.*s'",
                            j->name, QFI_STR(l->graph->node[l->node].name), QFI_STR(name));
    return value;
}

static void give_tensor(qfi_lowering *l, const qfi_json *j, qf_str name, qfi_arg *arg)
{
    arg->kind = QFI_ARG_TENSOR;
    arg->value = find_value(l, j, name);
}

/* The value that {"name": N} or "N" names. */
static qfi_id read_value_name(qfi_lowering *l, qfi_json *j)
{
    qf_str key, name = { NULL, 0 };

    if (qfi_json_peek(j) == QFI_JSON_STRING) {
        qfi_json_string(j, &name);
    } else if (qfi_json_enter(j, QFI_JSON_OBJECT)) {
        while (qfi_json_key(j, &key))
            if (!qfi_str_is(key, "name") || !qfi_json_string(j, &name))
                qfi_json_skip(j, NULL);
    }
    return j->status == QF_OK ? find_value(l, j, name) : QFI_NONE;
}

/* A literal: the JSON type tells booleans, `is_float` tells 1 from 1.0. */
static void read_literal(qfi_json *j, bool is_float, qfi_number *out)
{
    const qfi_json_type type = qfi_json_peek(j);
    bool truth = false;

    *out = (qfi_number){ .kind = is_float ? QFI_NUMBER_FLOAT : QFI_NUMBER_INT };
    if (type == QFI_JSON_TRUE || type == QFI_JSON_FALSE) {
        qfi_json_bool(j, &truth);
        *out = (qfi_number){ { .is_int = true, .i = truth }, QFI_NUMBER_BOOL };
    } else if (is_float) {
        qfi_json_double(j, &out->v.f);
    } else {
        out->v.is_int = true;
        qfi_json_int(j, &out->v.i);
    }
}

/* {"as_name": N}, {"as_int": 1}, {"as_float": 1.0}, {"as_bool": true}: a number that may be
 * computed by the program. */
static void read_symbol(qfi_lowering *l, qfi_json *j, uint8_t kind, qfi_number *out)
{
    qf_str key;

    *out = (qfi_number){ .kind = kind };
    if (!qfi_json_enter(j, QFI_JSON_OBJECT))
        return;
    while (qfi_json_key(j, &key)) {
        if (!qfi_str_is(key, "as_name")) {
            read_literal(j, kind == QFI_NUMBER_FLOAT, out);
            continue;
        }
        const qfi_id value = read_value_name(l, j);
        if (value != QFI_NONE && qfi_lowering_ok(l) && !l->env->scalar(l->env, value, &out->v))
            qfi_refuse(l, QF_REASON_runtime, "%.*s", QFI_STR(l->graph->value[value].name));
    }
}

static void read_none(qfi_lowering *l, qfi_json *j, qfi_arg *arg)
{
    (void)l;
    qfi_json_skip(j, NULL);
    arg->kind = QFI_ARG_NONE;
}

static void read_ignored(qfi_lowering *l, qfi_json *j, qfi_arg *arg)
{
    (void)l;
    qfi_json_skip(j, NULL);
    arg->kind = QFI_ARG_IGNORED;
}

static void read_tensor(qfi_lowering *l, qfi_json *j, qfi_arg *arg)
{
    arg->kind = QFI_ARG_TENSOR;
    arg->value = read_value_name(l, j);
}

/* One of {"as_tensor": {"name": N}}, {"as_none": true}, {"name": N}. */
static qfi_id read_optional(qfi_lowering *l, qfi_json *j)
{
    qf_str key, span;
    qfi_id value = QFI_NONE;

    if (!qfi_json_skip(j, &span))
        return QFI_NONE;
    qfi_json inner = reader_of(l->graph, span, j->diag);
    if (qfi_json_enter(&inner, QFI_JSON_OBJECT))
        while (qfi_json_key(&inner, &key)) {
            if (qfi_str_is(key, "as_tensor") || qfi_str_is(key, "name"))
                value = read_value_name(l, &inner);
            else
                qfi_json_skip(&inner, NULL);
        }
    if (l->status == QF_OK)
        l->status = inner.status;
    return value;
}

static void read_tensors(qfi_lowering *l, qfi_json *j, qfi_arg *arg)
{
    qfi_id *list = NULL;
    size_t cap = 0;

    arg->kind = QFI_ARG_TENSORS;
    arg->n = 0;
    if (!qfi_json_enter(j, QFI_JSON_ARRAY))
        return;
    while (qfi_json_next(j)) {
        list = qfi_pool_grow(&l->env->prog->pool, list, arg->n, &cap, sizeof *list);
        if (!list) {
            l->status = qf_fail(l->diag, QF_ERR_NOMEM, "list of tensors");
            return;
        }
        list[arg->n++] = read_optional(l, j);
    }
    arg->values = list;
}

static void read_optional_tensor(qfi_lowering *l, qfi_json *j, qfi_arg *arg)
{
    arg->value = read_optional(l, j);
    arg->kind = arg->value == QFI_NONE ? QFI_ARG_NONE : QFI_ARG_TENSOR;
}

static void read_int(qfi_lowering *l, qfi_json *j, qfi_arg *arg)
{
    (void)l;
    arg->kind = QFI_ARG_NUMBER;
    read_literal(j, false, &arg->number);
}

static void read_float(qfi_lowering *l, qfi_json *j, qfi_arg *arg)
{
    (void)l;
    arg->kind = QFI_ARG_NUMBER;
    read_literal(j, true, &arg->number);
}

static void read_sym_int(qfi_lowering *l, qfi_json *j, qfi_arg *arg)
{
    arg->kind = QFI_ARG_NUMBER;
    read_symbol(l, j, QFI_NUMBER_INT, &arg->number);
}

static void read_sym_float(qfi_lowering *l, qfi_json *j, qfi_arg *arg)
{
    arg->kind = QFI_ARG_NUMBER;
    read_symbol(l, j, QFI_NUMBER_FLOAT, &arg->number);
}

static void read_sym_bool(qfi_lowering *l, qfi_json *j, qfi_arg *arg)
{
    arg->kind = QFI_ARG_NUMBER;
    read_symbol(l, j, QFI_NUMBER_BOOL, &arg->number);
}

/* A list of literals and symbols; `kind` is the kind of its symbols and tells floats. */
static void read_list(qfi_lowering *l, qfi_json *j, qfi_arg *arg, uint8_t kind)
{
    qfi_number *list = NULL;
    size_t cap = 0;

    arg->kind = QFI_ARG_NUMBERS;
    arg->n = 0;
    if (!qfi_json_enter(j, QFI_JSON_ARRAY))
        return;
    while (qfi_json_next(j)) {
        list = qfi_pool_grow(&l->env->prog->pool, list, arg->n, &cap, sizeof *list);
        if (!list) {
            l->status = qf_fail(l->diag, QF_ERR_NOMEM, "list of numbers");
            return;
        }
        if (qfi_json_peek(j) == QFI_JSON_OBJECT)
            read_symbol(l, j, kind, &list[arg->n++]);
        else
            read_literal(j, kind == QFI_NUMBER_FLOAT, &list[arg->n++]);
    }
    arg->numbers = list;
}

static void read_ints(qfi_lowering *l, qfi_json *j, qfi_arg *arg)
{
    read_list(l, j, arg, QFI_NUMBER_INT);
}
static void read_bools(qfi_lowering *l, qfi_json *j, qfi_arg *arg)
{
    read_list(l, j, arg, QFI_NUMBER_BOOL);
}

static void read_floats(qfi_lowering *l, qfi_json *j, qfi_arg *arg)
{
    read_list(l, j, arg, QFI_NUMBER_FLOAT);
}

static void read_dtype(qfi_lowering *l, qfi_json *j, qfi_arg *arg)
{
    int64_t number = 0;

    arg->kind = QFI_ARG_DTYPE;
    if (!qfi_json_int(j, &number))
        return;
    arg->dtype = qf_dtype_from_torch(number);
    if (arg->dtype == QF_DT_none)
        qfi_refuse(l, QF_REASON_unsupported_dtype, "element type %lld", (long long)number);
}

static void read_layout(qfi_lowering *l, qfi_json *j, qfi_arg *arg)
{
    int64_t number = 0;

    arg->kind = QFI_ARG_IGNORED;
    if (qfi_json_int(j, &number) && number != LAYOUT_STRIDED)
        qfi_refuse(l, QF_REASON_unsupported_argument, "layout %lld", (long long)number);
}

static void read_text(qfi_lowering *l, qfi_json *j, qfi_arg *arg)
{
    (void)l;
    arg->kind = QFI_ARG_TEXT;
    qfi_json_string(j, &arg->text);
}

static const struct {
    const char *tag;
    void (*read)(qfi_lowering *l, qfi_json *j, qfi_arg *arg);
} readers[] = {
    { "as_tensor", read_tensor },
    { "as_int", read_int },
    { "as_ints", read_ints },
    { "as_none", read_none },
    { "as_float", read_float },
    { "as_bool", read_int },
    { "as_scalar_type", read_dtype },
    { "as_device", read_ignored },
    { "as_tensors", read_tensors },
    { "as_optional_tensors", read_tensors },
    { "as_optional_tensor", read_optional_tensor },
    { "as_sym_int", read_sym_int },
    { "as_sym_ints", read_ints },
    { "as_sym_float", read_sym_float },
    { "as_sym_floats", read_floats },
    { "as_sym_bool", read_sym_bool },
    { "as_sym_bools", read_bools },
    { "as_floats", read_floats },
    { "as_bools", read_bools },
    { "as_memory_format", read_ignored },
    { "as_layout", read_layout },
    { "as_string", read_text },
};

/* ---- the node's inputs ---- */

/* {"tag": value} into an argument. */
static void read_argument(qfi_lowering *l, qfi_json *j, qfi_arg *arg)
{
    qf_str tag, name;

    if (qfi_pt2_plain_tensor(j, &name)) {
        give_tensor(l, j, name, arg);
        return;
    }
    if (!qfi_json_enter(j, QFI_JSON_OBJECT))
        return;
    while (qfi_json_key(j, &tag)) {
        size_t i = 0;
        while (i < sizeof readers / sizeof *readers && !qfi_str_is(tag, readers[i].tag))
            i++;
        if (i < sizeof readers / sizeof *readers) {
            readers[i].read(l, j, arg);
        } else {
            qfi_refuse(l, QF_REASON_unsupported_argument, "%.*s: %.*s", QFI_STR(arg->name),
                       QFI_STR(tag));
            qfi_json_skip(j, NULL);
        }
    }
}

/* One of the node's inputs, {"name": N, "arg": A, "kind": K} in any order, as spans. */
static void split_input(qfi_json *j, qf_str *name, qf_str *value)
{
    qf_str key;

    *name = *value = (qf_str){ NULL, 0 };
    if (!qfi_json_enter(j, QFI_JSON_OBJECT))
        return;
    while (qfi_json_key(j, &key)) {
        if (qfi_str_is(key, "name") && qfi_json_peek(j) == QFI_JSON_STRING)
            qfi_json_string(j, name);
        else
            qfi_json_skip(j, qfi_str_is(key, "arg") ? value : NULL);
    }
}

static qfi_arg *find_arg(qfi_lowering *l, qf_str name)
{
    for (uint32_t i = 0; i < l->n_arg; i++)
        if (qfi_str_equal(name, l->arg[i].name))
            return &l->arg[i];
    qfi_refuse(l, QF_REASON_unsupported_argument, "argument %.*s", QFI_STR(name));
    return NULL;
}

/* The argument behind its name is read where it stands, one in front of it at the end. */
static void parse_input(qfi_lowering *l, qfi_json *j)
{
    qf_str key, value, name = { NULL, 0 }, early = { NULL, 0 };

    if (qfi_pt2_plain_input(j, &name, &value)) {
        qfi_arg *arg = find_arg(l, name);
        if (arg)
            give_tensor(l, j, value, arg);
        return;
    }
    if (!qfi_json_enter(j, QFI_JSON_OBJECT))
        return;
    while (qfi_json_key(j, &key)) {
        const bool is_arg = qfi_str_is(key, "arg");
        qfi_arg *arg = is_arg && name.p ? find_arg(l, name) : NULL;
        if (arg)
            read_argument(l, j, arg);
        else if (!name.p && qfi_str_is(key, "name") && qfi_json_peek(j) == QFI_JSON_STRING)
            qfi_json_string(j, &name);
        else
            qfi_json_skip(j, is_arg && !name.p ? &early : NULL);
    }
    qfi_arg *arg = j->status == QF_OK && early.n ? find_arg(l, name) : NULL;
    if (!arg)
        return;
    qfi_json inner = reader_of(l->graph, early, j->diag);
    read_argument(l, &inner, arg);
    if (l->status == QF_OK)
        l->status = inner.status;
}

/* Moves to the array of the node's inputs; false if there is none. */
static bool enter_inputs(qfi_json *j)
{
    qf_str key;

    if (qfi_pt2_plain_node(j))
        return true;
    if (!qfi_json_enter(j, QFI_JSON_OBJECT))
        return false;
    while (qfi_json_key(j, &key)) {
        if (qfi_str_is(key, "inputs"))
            return qfi_json_enter(j, QFI_JSON_ARRAY);
        qfi_json_skip(j, NULL);
    }
    return false;
}

/* The operands by their names, where there is nothing else to read. */
static bool take_operands(qfi_lowering *l, qf_str text)
{
    const qfi_pt2_argname *name = qfi_pt2_argnames(l->graph, l->node);
    const qfi_node *node = &l->graph->node[l->node];

    for (uint32_t k = 0; name && k < node->n_in; k++) {
        qfi_arg *arg = find_arg(l, (qf_str){ text.p + name[k].at, name[k].n });
        if (!arg)
            break;
        arg->kind = QFI_ARG_TENSOR;
        arg->value = l->graph->operand[node->first_in + k];
    }
    return name != NULL;
}

void qfi_aten_parse(qfi_lowering *l, qf_str text)
{
    if (take_operands(l, text))
        return;
    qfi_json j = reader_of(l->graph, text, l->diag);

    if (enter_inputs(&j))
        while (qfi_json_next(&j))
            parse_input(l, &j);
    if (l->status == QF_OK)
        l->status = j.status;
}

bool qfi_aten_bool_at(qf_str text, uint32_t index, bool *out)
{
    qfi_json j = { .text = text.p, .n = text.n, .name = "node" };
    qf_str name, value, tag;

    if (!enter_inputs(&j))
        return false;
    for (uint32_t i = 0; qfi_json_next(&j); i++) {
        split_input(&j, &name, &value);
        if (i < index)
            continue;
        qfi_json inner = { .text = value.p, .n = value.n, .name = "node" };
        return qfi_json_enter(&inner, QFI_JSON_OBJECT) && qfi_json_key(&inner, &tag) &&
               qfi_str_is(tag, "as_bool") && qfi_json_bool(&inner, out);
    }
    return false;
}
