/* The changed texts: the program, and the payload configs. */
#include <string.h>

#include "pt2_write.h"

/* A list of texts with commas between them. */
static void comma(qfi_text *t)
{
    if (t->n)
        qfi_text_str(t, ", ");
}

/* "name":  */
static void write_key(qfi_text *t, qf_str name)
{
    qfi_text_str(t, "\"");
    qfi_text_add(t, name.p, name.n);
    qfi_text_str(t, "\": ");
}

static qf_str text_of(const qfi_text *t)
{
    return (qf_str){ t->p, t->n };
}

static void write_ints(qfi_text *t, const int64_t *v, int8_t n)
{
    for (int8_t i = 0; i < n; i++) {
        qfi_text_str(t, i ? ", {\"as_int\": " : "{\"as_int\": ");
        qfi_text_int(t, v[i]);
        qfi_text_str(t, "}");
    }
}

/* The device that a TensorMeta of the program tells, as written; most tell the same in the same
 * words. */
static qf_str device_of(qfi_pt2_writing *w, qfi_pt2_span span)
{
    const qf_str text = { w->pt2->model.p + span.begin, span.end - span.begin };
    qf_diag quiet = { 0 };
    qfi_pt2_meta meta;
    qfi_json j = {
        .text = w->pt2->model.p, .n = span.end, .at = span.begin, .name = "program", .diag = &quiet
    };
    if (w->meta.p && qfi_str_equal(w->meta, text))
        return w->device;
    w->meta = text;
    w->device = qfi_str_of("{\"type\": \"cpu\", \"index\": null}");
    if (text.n && qfi_pt2_meta_read(w->pt2, &j, &meta))
        w->device = meta.device;
    return w->device;
}

void qfi_pt2_write_meta(qfi_pt2_writing *w, qfi_text *t, const qfi_constant *c)
{
    const qfi_id like = c->value != QFI_NONE ? c->value : c->like;
    const qf_str device = device_of(w, w->metas[like]);
    qfi_text_str(t, "{\"dtype\": ");
    qfi_text_int(t, qf_dtype_get(c->type.dtype)->torch);
    qfi_text_str(t, ", \"sizes\": [");
    write_ints(t, c->type.dim, c->type.rank);
    qfi_text_str(t, "], \"requires_grad\": false, \"device\": ");
    qfi_text_add(t, device.p, device.n);
    qfi_text_str(t, ", \"strides\": [");
    write_ints(t, c->stride, c->type.rank);
    qfi_text_str(t, "], \"storage_offset\": {\"as_int\": ");
    qfi_text_int(t, c->offset);
    qfi_text_str(t, "}, \"layout\": 7}");
}

/* ---- configs ---- */

/* Whether every placeholder that was bound to an entry vanishes. */
static qf_status dropped_entries(qfi_pt2_writing *w, uint8_t which, bool **out)
{
    const qfi_pt2_config *c = &w->pt2->config[which];
    uint32_t *gone = qfi_pool_alloc(w->pool, c->n + 1u, sizeof *gone);
    bool *drop = qfi_pool_alloc(w->pool, c->n + 1u, sizeof *drop);
    if (!gone || !drop)
        QF_FAIL(w->diag, QF_ERR_NOMEM, "out of memory");
    for (uint32_t i = 0; i < w->graph->n_input; i++) {
        const qfi_pt2_bound *b = &w->pt2->bound[i];
        if (b->entry && b->config == which && w->edits->drop_value[i])
            gone[b->entry - c->entry]++;
    }
    for (uint32_t i = 0; i < c->n; i++)
        drop[i] = c->entry[i].users && gone[i] == c->entry[i].users;
    *out = drop;
    return QF_OK;
}

qf_status qfi_pt2_mark_kept(qfi_pt2_writing *w)
{
    const qf_graph *g = w->graph;
    for (uint32_t i = 0; i < g->n_payload; i++)
        w->keep_payload[i] = w->pt2->stored[i].foreign || w->pt2->stored[i].has_opaque_user;
    for (uint32_t i = 0; i < w->edits->n_constant; i++)
        if (w->edits->constant[i].payload < g->n_payload)
            w->keep_payload[w->edits->constant[i].payload] = true;
    for (uint8_t which = 0; which < 2; which++) {
        const qfi_pt2_config *c = &w->pt2->config[which];
        QF_TRY(dropped_entries(w, which, &w->drop_entry[which]));
        for (uint32_t i = 0; i < c->n; i++)
            if (!w->drop_entry[which][i] && c->entry[i].payload != QFI_NONE)
                w->keep_payload[c->entry[i].payload] = true;
    }
    /* The first entry of an empty member says how many zeros it stands for: it stays while others
     * view them. */
    for (uint32_t i = 0; i < g->n_payload; i++)
        if (w->keep_payload[i] && w->pt2->stored[i].empty)
            w->drop_entry[w->pt2->stored[i].config][w->pt2->stored[i].first] = false;
    return QF_OK;
}

static void write_entry(qfi_pt2_writing *w, qfi_text *t, const qfi_pt2_new *gain)
{
    comma(t);
    write_key(t, gain->fqn);
    qfi_text_str(t, "{\"path_name\": ");
    qfi_text_quote(t, gain->path, strlen(gain->path));
    qfi_text_str(t, ", \"is_param\": false, \"use_pickle\": false, \"tensor_meta\": ");
    qfi_pt2_write_meta(w, t, gain->constant);
    qfi_text_str(t, "}");
}

qf_status qfi_pt2_write_config(qfi_pt2_writing *w, uint8_t which, qfi_parts *out)
{
    const qfi_pt2_config *c = &w->pt2->config[which];
    qfi_splices s = { .pool = w->pool, .source = c->text };
    qfi_text more = { .pool = w->pool };
    qfi_pt2_span *entry = qfi_pool_alloc(w->pool, c->n + 1u, sizeof *entry);
    if (!entry)
        QF_FAIL(w->diag, QF_ERR_NOMEM, "out of memory");
    for (uint32_t i = 0; i < c->n; i++)
        entry[i] = c->entry[i].text;
    for (uint32_t i = 0; i < w->edits->n_constant; i++)
        if (w->gain[i].config == which && w->gain[i].same_as == QFI_NONE)
            write_entry(w, &more, &w->gain[i]);
    qfi_splice_list(&s, c->entries, entry, w->drop_entry[which], c->n, c->n, text_of(&more));
    if (more.failed || !qfi_splice_parts(&s, out))
        QF_FAIL(w->diag, QF_ERR_NOMEM, "out of memory");
    return QF_OK;
}

/* ---- program ---- */

/* Whether a value, or a body's placeholder, has no name any more in the output. */
static bool is_gone_value(const qfi_pt2_writing *w, qfi_id value)
{
    const qfi_value *v = &w->edits->whole->graph.value[value];
    if (w->replaced_by[value] != QFI_NONE || w->is_result[value])
        return false;
    if (v->node == QFI_NONE)
        return value < w->graph->n_input && w->edits->drop_value[value] &&
               w->pt2->bound[value].entry;
    return w->edits->drop_node[v->node] || w->patch_of[v->node] != QFI_NONE;
}

static bool is_gone(const qfi_pt2_writing *w, const qfi_pt2_part_writing *p, qfi_id local)
{
    if (p->drop_input && local < p->part->graph->n_input)
        return p->drop_input[local];
    return is_gone_value(w, qfi_part_value(p->part, local));
}

/* Where new placeholders go: behind the last stored one, else in front of the first that the user
 * gives. */
static uint32_t insertion_point(const qfi_pt2_writing *w)
{
    const uint32_t n = w->graph->n_input;
    uint32_t at = 0;
    for (uint32_t i = n; i > 0 && !at; i--)
        at = w->pt2->bound[i - 1].entry ? i : 0;
    while (!at && at < n && !w->pt2->bound[at].is_user)
        at++;
    return at;
}

static void write_spec(qfi_text *t, const qfi_pt2_new *gain)
{
    const bool buffer = gain->config == QFI_PT2_WEIGHTS;
    comma(t);
    qfi_text_str(t, buffer ? "{\"buffer\": {\"arg\": {\"name\": \""
                           : "{\"tensor_constant\": {\"arg\": {\"name\": \"");
    qfi_text_add(t, gain->name.p, gain->name.n);
    qfi_text_str(t, buffer ? "\"}, \"buffer_name\": \"" : "\"}, \"tensor_constant_name\": \"");
    qfi_text_add(t, gain->fqn.p, gain->fqn.n);
    qfi_text_str(t, buffer ? "\", \"persistent\": true}}" : "\"}}");
}

static void write_input(qfi_text *t, const qfi_pt2_new *gain)
{
    comma(t);
    qfi_text_str(t, "{\"as_tensor\": {\"name\": \"");
    qfi_text_add(t, gain->name.p, gain->name.n);
    qfi_text_str(t, "\"}}");
}

static qf_status write_inputs(qfi_pt2_writing *w, qfi_splices *s)
{
    const qf_graph *g = w->graph;
    const qfi_pt2_span wholes[2] = { qfi_pt2_scope_of(g)->inputs, w->pt2->input_specs };
    qfi_text text[2] = { { .pool = w->pool }, { .pool = w->pool } };
    bool *drop = qfi_pool_alloc(w->pool, g->n_input + 1u, sizeof *drop);
    if (!drop)
        QF_FAIL(w->diag, QF_ERR_NOMEM, "out of memory");
    for (uint32_t i = 0; i < g->n_input; i++)
        drop[i] = w->pt2->bound[i].entry && w->edits->drop_value[i];
    for (uint32_t i = 0; i < w->edits->n_constant; i++) {
        if (w->gain[i].same_as != QFI_NONE)
            continue;
        write_input(&text[0], &w->gain[i]);
        write_spec(&text[1], &w->gain[i]);
    }
    for (int k = 0; k < 2; k++) {
        qfi_pt2_entries e;
        QF_TRY(qfi_pt2_entries_of(s->source, wholes[k], w->pool, &e, w->diag));
        qfi_splice_list(s, wholes[k], e.entry, drop, e.n, insertion_point(w), text_of(&text[k]));
        s->failed = s->failed || text[k].failed;
    }
    return QF_OK;
}

static bool changes(const qfi_pt2_writing *w, const qfi_part *part, qfi_id n)
{
    const qfi_node *node = &part->graph->node[n];
    const qfi_id whole = qfi_part_node(part, n);
    bool any = w->patch_of[whole] != QFI_NONE || qfi_is_holder(&w->edits->whole->graph.node[whole]);
    for (uint32_t k = 0; k < node->n_in && !any; k++) {
        const qfi_id id = part->graph->operand[node->first_in + k];
        any = id != QFI_NONE && (w->edits->is_literal[qfi_part_value(part, id)] ||
                                 w->renamed[qfi_part_value(part, id)].p);
    }
    return any;
}

static qf_status write_nodes(qfi_pt2_writing *w, qfi_splices *s, const qfi_part *part)
{
    const qf_graph *g = part->graph;
    qfi_pt2_span *entry = qfi_pool_alloc(w->pool, g->n_node + 1u, sizeof *entry);
    bool *drop = qfi_pool_alloc(w->pool, g->n_node + 1u, sizeof *drop);
    if (!entry || !drop)
        QF_FAIL(w->diag, QF_ERR_NOMEM, "out of memory");
    for (uint32_t i = 0; i < g->n_node; i++) {
        const qfi_node *n = &g->node[i];
        entry[i] = (qfi_pt2_span){ (size_t)n->text_begin, (size_t)n->text_end };
        drop[i] = w->edits->drop_node[qfi_part_node(part, i)];
        if (!drop[i] && changes(w, part, i))
            QF_TRY(qfi_pt2_write_node(w, s, part, i));
    }
    qfi_splice_list(s, (qfi_pt2_span){ 0 }, entry, drop, g->n_node, g->n_node, (qf_str){ 0 });
    return QF_OK;
}

static qf_status write_tensor_values(qfi_pt2_writing *w, qfi_splices *s,
                                     const qfi_pt2_part_writing *p)
{
    const qfi_pt2_scope *scope = qfi_pt2_scope_of(p->part->graph);
    qfi_text more = { .pool = w->pool };
    const uint32_t n = (uint32_t)scope->n_typed;
    qfi_pt2_span *entry = qfi_pool_alloc(w->pool, n + 1u, sizeof *entry);
    bool *drop = qfi_pool_alloc(w->pool, n + 1u, sizeof *drop);
    if (!entry || !drop)
        QF_FAIL(w->diag, QF_ERR_NOMEM, "out of memory");
    for (uint32_t i = 0; i < n; i++) {
        const qfi_pt2_typed *typed = &scope->typed[i];
        entry[i] = typed->text;
        drop[i] = typed->value != QFI_NONE && is_gone(w, p, typed->value);
    }
    for (uint32_t i = 0; i < p->n_handed; i++) {
        const qfi_pt2_handed *h = &p->handed[i];
        const qfi_constant *c = w->gain[h->gain].constant;
        const qfi_pt2_span old = h->in_place ? w->metas[c->value] : (qfi_pt2_span){ 0 };
        qfi_text meta = { .pool = w->pool };
        qfi_text *t = old.end ? &meta : &more;
        if (!old.end) {
            comma(t);
            write_key(t, h->name);
        }
        qfi_pt2_write_meta(w, t, c);
        if (old.end)
            qfi_splice_add(s, old.begin, old.end, text_of(t));
        s->failed = s->failed || t->failed;
    }
    qfi_splice_list(s, scope->tensor_values, entry, drop, n, n, text_of(&more));
    return QF_OK;
}

static qf_status write_scalar_values(qfi_pt2_writing *w, qfi_splices *s,
                                     const qfi_pt2_part_writing *p, qfi_pt2_span whole)
{
    qfi_pt2_entries e;
    if (!whole.end)
        return QF_OK;
    QF_TRY(qfi_pt2_entries_of(s->source, whole, w->pool, &e, w->diag));
    bool *drop = qfi_pool_alloc(w->pool, e.n + 1u, sizeof *drop);
    if (!drop)
        QF_FAIL(w->diag, QF_ERR_NOMEM, "out of memory");
    for (uint32_t i = 0; i < e.n; i++) {
        const qfi_id id = qfi_pt2_value(p->part->graph, e.key[i]);
        drop[i] = id != QFI_NONE && is_gone(w, p, id);
    }
    qfi_splice_list(s, whole, e.entry, drop, e.n, e.n, (qf_str){ 0 });
    return QF_OK;
}

static qf_status write_part(qfi_pt2_writing *w, qfi_splices *s, const qfi_pt2_part_writing *p)
{
    const qfi_pt2_scope *scope = qfi_pt2_scope_of(p->part->graph);
    if (p->part->depth)
        QF_TRY(qfi_pt2_write_body_inputs(w, s, p));
    QF_TRY(write_nodes(w, s, p->part));
    QF_TRY(write_tensor_values(w, s, p));
    for (int i = 0; i < 3; i++)
        QF_TRY(write_scalar_values(w, s, p, scope->scalar_values[i]));
    return qfi_pt2_write_arguments(w, s, p->part, scope->outputs, false);
}

qf_status qfi_pt2_write_model(qfi_pt2_writing *w, qfi_parts *out)
{
    qfi_splices s = { .pool = w->pool, .source = w->pt2->model };
    QF_TRY(write_inputs(w, &s));
    for (uint32_t i = 0; i < w->edits->whole->n_part; i++)
        if (w->part[i].written)
            QF_TRY(write_part(w, &s, &w->part[i]));
    QF_TRY(qfi_pt2_write_arguments(w, &s, w->part[0].part, w->pt2->output_specs, true));
    if (!qfi_splice_parts(&s, out))
        QF_FAIL(w->diag, QF_ERR_NOMEM, "out of memory");
    return QF_OK;
}
