/* Arguments of nodes: a union of one tag, which is a row here. Reads them for whoever needs the
 * names inside. */
#include "json_scan.h"
#include "pt2.h"

typedef enum form { LITERAL, NAMED, SYMBOLIC, OPTIONAL, GRAPH, MAP, NOTHING } form;

/* lists: how many arrays stand around the leaves. */
typedef struct tag_row {
    const char *tag;
    form form;
    qfi_pt2_kind kind;
    int lists;
} tag_row;

static const tag_row tag_rows[] = {
    { "as_tensor", NAMED, QFI_PT2_TENSOR, 0 },
    { "as_int", LITERAL, QFI_PT2_LITERAL, 0 },
    { "as_ints", LITERAL, QFI_PT2_LITERAL, 0 },
    { "as_float", LITERAL, QFI_PT2_LITERAL, 0 },
    { "as_bool", LITERAL, QFI_PT2_LITERAL, 0 },
    { "as_none", NOTHING, QFI_PT2_ABSENT, 0 },
    { "as_device", LITERAL, QFI_PT2_LITERAL, 0 },
    { "as_scalar_type", LITERAL, QFI_PT2_LITERAL, 0 },
    { "as_layout", LITERAL, QFI_PT2_LITERAL, 0 },
    { "as_memory_format", LITERAL, QFI_PT2_LITERAL, 0 },
    { "as_tensors", NAMED, QFI_PT2_TENSOR, 1 },
    { "as_nested_tensors", NAMED, QFI_PT2_TENSOR, 2 },
    { "as_optional_tensor", OPTIONAL, QFI_PT2_TENSOR, 0 },
    { "as_optional_tensors", OPTIONAL, QFI_PT2_TENSOR, 1 },
    { "as_sym_int", SYMBOLIC, QFI_PT2_INT, 0 },
    { "as_sym_ints", SYMBOLIC, QFI_PT2_INT, 1 },
    { "as_sym_float", SYMBOLIC, QFI_PT2_FLOAT, 0 },
    { "as_sym_floats", SYMBOLIC, QFI_PT2_FLOAT, 1 },
    { "as_sym_bool", SYMBOLIC, QFI_PT2_BOOL, 0 },
    { "as_sym_bools", SYMBOLIC, QFI_PT2_BOOL, 1 },
    { "as_custom_obj", NAMED, QFI_PT2_OBJECT, 0 },
    { "as_graph", GRAPH, QFI_PT2_LITERAL, 0 },
    { "as_string_to_argument", MAP, QFI_PT2_LITERAL, 0 },
    { "as_floats", LITERAL, QFI_PT2_LITERAL, 0 },
    { "as_bools", LITERAL, QFI_PT2_LITERAL, 0 },
    { "as_string", LITERAL, QFI_PT2_LITERAL, 0 },
    { "as_strings", LITERAL, QFI_PT2_LITERAL, 0 },
    { "as_operator", LITERAL, QFI_PT2_LITERAL, 0 },
    { "as_complex", LITERAL, QFI_PT2_LITERAL, 0 },
    { "as_int_lists", LITERAL, QFI_PT2_LITERAL, 0 },
    { "as_float_lists", LITERAL, QFI_PT2_LITERAL, 0 },
};

/* One union in the making: its span is known only at its end. */
typedef struct reading {
    const qfi_pt2_visitor *visitor;
    const tag_row *row;
    size_t begin;
    qfi_pt2_leaf leaf;
    bool pending;
} reading;

static bool emit(reading *r, qfi_json *j, size_t begin)
{
    r->leaf.span = (qfi_pt2_span){ begin, j->at };
    return r->visitor->leaf(r->visitor->user, j, &r->leaf);
}

/* To the one key of a union; false at its end, or after a failure. n: keys so far. */
static bool next_tag(qfi_json *j, qf_str *key, int *n)
{
    if (qfi_json_key(j, key))
        return *n == 0 ? ++*n : qfi_json_fail(j, QF_ERR_SCHEMA, "a union with two tags");
    if (j->status == QF_OK && *n == 0)
        qfi_json_fail(j, QF_ERR_SCHEMA, "a union without a tag");
    return false;
}

static bool unknown_tag(qfi_json *j, qf_str key)
{
    return qfi_json_fail(j, QF_ERR_SCHEMA, "unknown tag '%.*s'", QFI_STR(key));
}

/* {"as_name": X} or a number. */
static bool read_symbolic(reading *r, qfi_json *j)
{
    qf_str key;
    int n = 0;
    if (!qfi_json_enter(j, QFI_JSON_OBJECT))
        return false;
    while (next_tag(j, &key, &n)) {
        if (qfi_str_is(key, "as_name")) {
            if (!qfi_json_string(j, &r->leaf.name))
                return false;
        } else if (qfi_str_is(key, "as_int") || qfi_str_is(key, "as_float") ||
                   qfi_str_is(key, "as_bool")) {
            r->leaf.kind = QFI_PT2_LITERAL;
            if (!qfi_json_skip(j, NULL))
                return false;
        } else {
            return unknown_tag(j, key);
        }
    }
    return j->status == QF_OK;
}

/* {"as_tensor": {"name": X}} or {"as_none": true}. */
static bool read_optional(reading *r, qfi_json *j)
{
    qf_str key;
    int n = 0;
    if (!qfi_json_enter(j, QFI_JSON_OBJECT))
        return false;
    while (next_tag(j, &key, &n)) {
        if (qfi_str_is(key, "as_tensor")) {
            if (!qfi_pt2_named(j, &r->leaf.name))
                return false;
        } else if (qfi_str_is(key, "as_none")) {
            r->leaf.kind = QFI_PT2_ABSENT;
            if (!qfi_json_skip(j, NULL))
                return false;
        } else {
            return unknown_tag(j, key);
        }
    }
    return j->status == QF_OK;
}

static bool read_leaf(reading *r, qfi_json *j)
{
    r->leaf = (qfi_pt2_leaf){ .kind = r->row->kind };
    switch (r->row->form) {
    case NAMED:
        return qfi_pt2_named(j, &r->leaf.name);
    case SYMBOLIC:
        return read_symbolic(r, j);
    case OPTIONAL:
        return read_optional(r, j);
    default:
        return qfi_json_skip(j, NULL);
    }
}

/* The leaves inside so many arrays; list elements are told here, a lone leaf by the caller. */
static bool read_list(reading *r, qfi_json *j, int lists)
{
    if (!qfi_json_enter(j, QFI_JSON_ARRAY))
        return false;
    while (qfi_json_next(j)) {
        const size_t begin = qfi_pt2_at(j);
        if (lists > 1 ? !read_list(r, j, lists - 1) : !read_leaf(r, j) || !emit(r, j, begin))
            return false;
    }
    return j->status == QF_OK;
}

/* {"key": Argument, …} */
static bool read_map(reading *r, qfi_json *j)
{
    qf_str key;
    if (!qfi_json_enter(j, QFI_JSON_OBJECT))
        return false;
    while (qfi_json_key(j, &key))
        if (!qfi_pt2_argument(j, r->visitor))
            return false;
    return j->status == QF_OK;
}

static bool read_value(reading *r, qfi_json *j)
{
    if (r->row->lists)
        return read_list(r, j, r->row->lists);
    if (r->row->form == MAP)
        return read_map(r, j);
    if (r->row->form == GRAPH)
        return r->visitor->graph ? r->visitor->graph(r->visitor->user, j) : qfi_json_skip(j, NULL);
    r->pending = true;
    return read_leaf(r, j);
}

static const tag_row *find_row(qf_str tag)
{
    for (size_t i = 0; i < sizeof tag_rows / sizeof *tag_rows; i++)
        if (qfi_str_is(tag, tag_rows[i].tag))
            return &tag_rows[i];
    return NULL;
}

/* What most arguments and inputs of nodes are, as Python and as other writers set them. */
#define SPAN(text)                                                                                 \
    {                                                                                              \
        text, sizeof text - 1                                                                      \
    }
static const qf_str tensor_frames[][2] = {
    { SPAN("{\"as_tensor\": {\"name\": \""), SPAN("\"}}") },
    { SPAN("{\"as_tensor\":{\"name\":\""), SPAN("\"}}") },
};
static const qf_str input_frames[][3] = {
    { SPAN("{\"name\": \""), SPAN("\", \"arg\": {\"as_tensor\": {\"name\": \""),
      SPAN("\"}}, \"kind\": 1}") },
    { SPAN("{\"name\":\""), SPAN("\",\"arg\":{\"as_tensor\":{\"name\":\""),
      SPAN("\"}},\"kind\":1}") },
};

static const qf_str node_frames[][2] = {
    { SPAN("{\"target\": \""), SPAN("\", \"inputs\": [") },
    { SPAN("{\"target\":\""), SPAN("\",\"inputs\":[") },
};

bool qfi_pt2_plain_node(qfi_json *j)
{
    qf_str target;
    if (j->depth + 2 > QFI_JSON_DEPTH || (!qfi_json_framed(j, 1, node_frames[0], &target) &&
                                          !qfi_json_framed(j, 1, node_frames[1], &target)))
        return false;
    j->depth += 2;
    return true;
}

bool qfi_pt2_plain_tensor(qfi_json *j, qf_str *name)
{
    return j->depth + 2 <= QFI_JSON_DEPTH && (qfi_json_framed(j, 1, tensor_frames[0], name) ||
                                              qfi_json_framed(j, 1, tensor_frames[1], name));
}

bool qfi_pt2_plain_input(qfi_json *j, qf_str *name, qf_str *value)
{
    qf_str text[2];
    if (j->depth + 3 > QFI_JSON_DEPTH || (!qfi_json_framed(j, 2, input_frames[0], text) &&
                                          !qfi_json_framed(j, 2, input_frames[1], text)))
        return false;
    *name = text[0];
    *value = text[1];
    return true;
}

bool qfi_pt2_argument(qfi_json *j, const qfi_pt2_visitor *visitor)
{
    reading r = { .visitor = visitor, .begin = qfi_pt2_at(j), .leaf = { .kind = QFI_PT2_TENSOR } };
    qf_str tag;
    int n = 0;
    if (qfi_pt2_plain_tensor(j, &r.leaf.name))
        return emit(&r, j, r.begin);
    if (!qfi_json_enter(j, QFI_JSON_OBJECT))
        return false;
    while (next_tag(j, &tag, &n)) {
        r.row = find_row(tag);
        if (!r.row)
            return unknown_tag(j, tag);
        if (!read_value(&r, j))
            return false;
    }
    if (j->status != QF_OK)
        return false;
    return !r.pending || emit(&r, j, r.begin);
}

const qfi_pt2_argname *qfi_pt2_argnames(const qf_graph *graph, qfi_id node)
{
    const qfi_node *n = &graph->node[node];
    const qfi_pt2_argname *names = qfi_pt2_scope_of(graph)->argname;
    return n->n_in && names[n->first_in].n ? &names[n->first_in] : NULL;
}
