/* Nodes that stay: scalars that became numbers, and dequantize nodes whose operands moved. */
#include "pt2_write.h"

/* A node, or a list of arguments, while it is read again. patch: NULL if only numbers change. */
typedef struct rewriting {
    qfi_pt2_writing *w;
    qfi_splices *splices;
    const qfi_part *part;
    const qfi_node *holder; /* in the whole, of open bodies; else NULL */
    const qfi_patch *patch;
    uint32_t operand;
    bool again; /* one more node in the place of one that is patched */
} rewriting;

/* The number that a scalar is from now on, as an Argument or element of a list. */
static qf_str literal_text(const qfi_pt2_writing *w, qfi_id value)
{
    const qf_scalar *v = &w->edits->literal[value];
    const qf_dtype dtype = w->edits->whole->graph.value[value].type.dtype;
    qfi_text t = { .pool = w->pool };
    if (dtype == QF_DT_b8) {
        qfi_text_format(&t, "{\"as_bool\": %s}", v->i ? "true" : "false");
    } else if (dtype == QF_DT_f64) {
        qfi_text_str(&t, "{\"as_float\": ");
        qfi_text_double(&t, v->is_int ? (double)v->i : v->f);
        qfi_text_str(&t, "}");
    } else {
        qfi_text_format(&t, "{\"as_int\": %lld}", (long long)v->i);
    }
    return t.failed ? (qf_str){ 0 } : (qf_str){ t.p, t.n };
}

static void put_name(const rewriting *r, const qfi_json *j, const qfi_pt2_leaf *leaf, qf_str name)
{
    const size_t begin = (size_t)(leaf->name.p - j->text);
    qfi_splice_add(r->splices, begin, begin + leaf->name.n, name);
}

/* A number, or another placeholder, where a value was named. */
static bool put_instead(const rewriting *r, qfi_json *j, const qfi_pt2_leaf *leaf)
{
    const qfi_id local = leaf->name.p ? qfi_pt2_value(r->part->graph, leaf->name) : QFI_NONE;
    const qfi_id id = local == QFI_NONE ? QFI_NONE : qfi_part_value(r->part, local);
    if (id != QFI_NONE && r->w->renamed[id].p)
        put_name(r, j, leaf, r->w->renamed[id]);
    if (id == QFI_NONE || !r->w->edits->is_literal[id])
        return true;
    const qf_str text = literal_text(r->w, id);
    if (!text.p)
        return qfi_json_fail(j, QF_ERR_NOMEM, "out of memory");
    qfi_splice_add(r->splices, leaf->span.begin, leaf->span.end, text);
    return true;
}

static bool operand_leaf(void *user, qfi_json *j, const qfi_pt2_leaf *leaf)
{
    rewriting *r = user;
    if (leaf->kind == QFI_PT2_LITERAL)
        return true;
    const uint32_t k = r->operand++;
    const uint32_t gain = r->patch && k < 3 ? r->patch->new_operand[k] : QFI_NONE;
    if (gain == QFI_NONE)
        return put_instead(r, j, leaf);
    if (!leaf->name.p)
        return qfi_json_fail(j, QF_ERR_INTERNAL, "a patch of an absent operand");
    put_name(r, j, leaf, r->w->gain[gain].local);
    return true;
}

/* The first result takes the name of the last moved view. */
static bool result_leaf(void *user, qfi_json *j, const qfi_pt2_leaf *leaf)
{
    rewriting *r = user;
    if (r->operand++ == 0)
        put_name(r, j, leaf, r->w->edits->whole->graph.value[r->patch->result].name);
    return true;
}

static qf_str axis_text(const rewriting *r)
{
    const char *text = qfi_pool_format(r->w->pool, "{\"as_int\": %d}", r->patch->axis);
    return text ? qfi_str_of(text) : (qf_str){ 0 };
}

static qf_str block_text(const rewriting *r)
{
    qfi_text t = { .pool = r->w->pool };
    qfi_text_str(&t, "{\"as_ints\": [");
    for (int8_t i = 0; i < r->patch->n_block; i++) {
        qfi_text_str(&t, i ? ", " : "");
        qfi_text_int(&t, r->patch->block[i]);
    }
    qfi_text_str(&t, "]}");
    return t.failed ? (qf_str){ 0 } : (qf_str){ t.p, t.n };
}

/* {"name", "arg", "kind"}; the axis or the blocks of a patched node become its new ones. */
static bool rewrite_argument(rewriting *r, qfi_json *j)
{
    const qfi_pt2_visitor visitor = { .leaf = operand_leaf, .user = r };
    qf_str key, name = { 0 };
    qfi_pt2_span arg = { 0 };
    if (!qfi_json_enter(j, QFI_JSON_OBJECT))
        return false;
    while (qfi_json_key(j, &key)) {
        const size_t begin = qfi_pt2_at(j);
        const bool is_arg = qfi_str_is(key, "arg");
        if (is_arg
                ? !qfi_pt2_argument(j, &visitor)
                : !(qfi_str_is(key, "name") ? qfi_json_string(j, &name) : qfi_json_skip(j, NULL)))
            return false;
        arg = is_arg ? (qfi_pt2_span){ begin, j->at } : arg;
    }
    if (j->status != QF_OK || !r->patch)
        return j->status == QF_OK;
    const bool axis = r->patch->axis >= 0 && qfi_str_is(name, "axis");
    if (!axis && !(r->patch->n_block && qfi_str_is(name, "block_size")))
        return true;
    const qf_str text = axis ? axis_text(r) : block_text(r);
    if (!text.p)
        return qfi_json_fail(j, QF_ERR_NOMEM, "out of memory");
    qfi_splice_add(r->splices, arg.begin, arg.end, text);
    return true;
}

static bool rewrite_results(rewriting *r, qfi_json *j)
{
    const qfi_pt2_visitor visitor = { .leaf = result_leaf, .user = r };
    if (!r->patch)
        return qfi_json_skip(j, NULL);
    r->operand = 0;
    if (!qfi_json_enter(j, QFI_JSON_ARRAY))
        return false;
    while (qfi_json_next(j))
        if (!qfi_pt2_argument(j, &visitor))
            return false;
    return j->status == QF_OK;
}

/* An argument of a node with open bodies: those in front of and between them are its own, what
 * stands behind are captures, which are tensors or go, so that no number comes in their place. */
static bool rewrite_own(rewriting *r, qfi_json *j)
{
    const uint32_t own = r->holder->n_in - r->holder->n_result;
    return r->operand < own ? rewrite_argument(r, j) : qfi_json_skip(j, NULL);
}

static bool rewrite_operands(rewriting *r, qfi_json *j)
{
    const bool captures = r->holder;
    const size_t begin = qfi_pt2_at(j);
    r->operand = 0;
    if (!qfi_json_enter(j, QFI_JSON_ARRAY))
        return false;
    while (qfi_json_next(j))
        if (captures ? !rewrite_own(r, j) : !rewrite_argument(r, j))
            return false;
    if (j->status != QF_OK || !captures)
        return j->status == QF_OK;
    const qf_status st = qfi_pt2_write_captures(
        r->w, r->splices, &r->w->part[r->holder->first_body], (qfi_pt2_span){ begin, j->at });
    return st == QF_OK || qfi_json_fail(j, st, "the operands of bodies");
}

/* A node that is written once more is called as its result is. */
static bool rewrite_name(rewriting *r, qfi_json *j)
{
    qf_str name = { 0 };
    if (!r->again || qfi_json_peek(j) == QFI_JSON_NULL)
        return qfi_json_skip(j, NULL);
    if (!qfi_json_string(j, &name))
        return false;
    const size_t begin = (size_t)(name.p - j->text);
    qfi_splice_add(r->splices, begin, begin + name.n,
                   r->w->edits->whole->graph.value[r->patch->result].name);
    return true;
}

static qf_status rewrite_node(rewriting *r, const qfi_node *node)
{
    qfi_json j = { .text = r->splices->source.p,
                   .n = (size_t)node->text_end,
                   .at = (size_t)node->text_begin,
                   .name = "program",
                   .diag = r->w->diag };
    qf_str key;
    if (!qfi_json_enter(&j, QFI_JSON_OBJECT))
        return j.status;
    while (qfi_json_key(&j, &key)) {
        bool ok;
        if (qfi_str_is(key, "inputs"))
            ok = rewrite_operands(r, &j);
        else if (qfi_str_is(key, "outputs"))
            ok = rewrite_results(r, &j);
        else if (qfi_str_is(key, "name"))
            ok = rewrite_name(r, &j);
        else
            ok = qfi_json_skip(&j, NULL);
        if (!ok)
            return j.status;
    }
    return j.status;
}

/* The node once more, as another patch has it, behind itself. */
static qf_status write_again(const rewriting *first, const qfi_patch *patch, const qfi_node *node)
{
    const qfi_splices *s = first->splices;
    qfi_splices copy = { .pool = s->pool, .source = { s->source.p, (size_t)node->text_end } };
    rewriting r = *first;
    qfi_parts parts;
    r.splices = &copy;
    r.patch = patch;
    r.again = true;
    qfi_splice_add(&copy, 0, (size_t)node->text_begin, qfi_str_of(", "));
    QF_TRY(rewrite_node(&r, node));
    const qf_str text = qfi_splice_parts(&copy, &parts)
                            ? qfi_pool_join(s->pool, parts.n, parts.part)
                            : (qf_str){ 0 };
    if (!text.p)
        QF_FAIL(first->w->diag, QF_ERR_NOMEM, "out of memory");
    qfi_splice_add(first->splices, (size_t)node->text_end, (size_t)node->text_end, text);
    return QF_OK;
}

qf_status qfi_pt2_write_node(qfi_pt2_writing *w, qfi_splices *s, const qfi_part *part, qfi_id node)
{
    const qfi_node *n = &part->graph->node[node];
    const qfi_edits *edits = w->edits;
    const qfi_id number = qfi_part_node(part, node);
    const qfi_node *whole = &edits->whole->graph.node[number];
    const qfi_id patch = w->patch_of[number];
    rewriting r = { .w = w,
                    .splices = s,
                    .part = part,
                    .holder = qfi_is_holder(whole) ? whole : NULL,
                    .patch = patch == QFI_NONE ? NULL : &edits->patch[patch] };
    QF_TRY(rewrite_node(&r, n));
    if (patch == QFI_NONE)
        return QF_OK;
    for (uint32_t i = patch + 1; i < edits->n_patch && edits->patch[i].node == number; i++)
        QF_TRY(write_again(&r, &edits->patch[i], n));
    return QF_OK;
}

static bool argument_leaf(void *user, qfi_json *j, const qfi_pt2_leaf *leaf)
{
    return put_instead(user, j, leaf);
}

/* {"user_output": {"arg": Argument}}; other specs name tensors. */
static bool rewrite_spec(rewriting *r, qfi_json *j, const qfi_pt2_visitor *visitor)
{
    qf_str tag, key;
    (void)r;
    if (!qfi_json_enter(j, QFI_JSON_OBJECT))
        return false;
    while (qfi_json_key(j, &tag)) {
        if (!qfi_str_is(tag, "user_output")) {
            if (!qfi_json_skip(j, NULL))
                return false;
            continue;
        }
        if (!qfi_json_enter(j, QFI_JSON_OBJECT))
            return false;
        while (qfi_json_key(j, &key))
            if (qfi_str_is(key, "arg") ? !qfi_pt2_argument(j, visitor) : !qfi_json_skip(j, NULL))
                return false;
    }
    return j->status == QF_OK;
}

qf_status qfi_pt2_write_arguments(qfi_pt2_writing *w, qfi_splices *s, const qfi_part *part,
                                  qfi_pt2_span whole, bool are_specs)
{
    rewriting r = { .w = w, .splices = s, .part = part };
    const qfi_pt2_visitor visitor = { .leaf = argument_leaf, .user = &r };
    qfi_json j = {
        .text = s->source.p, .n = whole.end, .at = whole.begin, .name = "program", .diag = w->diag
    };
    if (!qfi_json_enter(&j, QFI_JSON_ARRAY))
        return j.status;
    while (qfi_json_next(&j))
        if (are_specs ? !rewrite_spec(&r, &j, &visitor) : !qfi_pt2_argument(&j, &visitor))
            return j.status;
    return j.status;
}
