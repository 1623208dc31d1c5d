/* What the bodies of control flow are handed: new constants come in through every body around the
 * place where they are read, as operands behind those that the holder passes already; operands that
 * no body reads any more go. */
#include "pt2_write.h"

#include <string.h>

static qf_status no_memory(const qfi_pt2_writing *w)
{
    return qf_fail(w->diag, QF_ERR_NOMEM, "out of memory");
}

qf_status qfi_pt2_new_name(qfi_pt2_writing *w, qfi_pt2_part_writing *part, qf_str base,
                           const char *suffix, qf_str *out)
{
    const qf_graph *g = part->part->graph;
    qf_str name = qfi_pool_join(w->pool, 2, (const qf_str[]){ base, qfi_str_of(suffix) });
    uint32_t was;
    part->given.pool = w->pool;
    for (uint32_t k = 1; name.p && (qfi_pt2_value(g, name) != QFI_NONE ||
                                    qfi_names_get(&part->given, name) != UINT32_MAX);
         k++) {
        const char *numbered = qfi_pool_format(w->pool, "%.*s%s_%u", QFI_STR(base), suffix, k);
        name = numbered ? qfi_str_of(numbered) : (qf_str){ 0 };
    }
    if (!name.p || !qfi_names_put(&part->given, name, 0, &was))
        return no_memory(w);
    *out = name;
    return QF_OK;
}

/* ---- which operands go ---- */

/* Placeholders of a part that nodes which stay, or outputs, name. */
static void mark_read(const qfi_pt2_writing *w, const qfi_part *part, qfi_id local, bool *read)
{
    if (local != QFI_NONE && local < part->graph->n_input &&
        !w->edits->is_literal[part->value[local]])
        read[local] = true;
}

/* Captures that are dropped are no reads. */
static void mark_node(const qfi_pt2_writing *w, const qfi_part *part, qfi_id n, bool *read)
{
    const qfi_id whole = part->node[n];
    const qfi_node *node = &part->graph->node[n], *in_whole = &w->edits->whole->graph.node[whole];
    const qfi_patch *patch =
        w->patch_of[whole] == QFI_NONE ? NULL : &w->edits->patch[w->patch_of[whole]];
    const bool *drop = qfi_is_holder(in_whole) ? w->part[in_whole->first_body].drop_input : NULL;
    const uint32_t own = drop ? node->n_in - node->n_capture : node->n_in;
    const uint32_t capture = drop ? w->part[in_whole->first_body].part->capture : 0;
    for (uint32_t k = 0; k < node->n_in; k++) {
        const bool moved = patch && k < 3 && patch->new_operand[k] != QFI_NONE;
        if (!moved && (k < own || !drop[capture + k - own]))
            mark_read(w, part, part->graph->operand[node->first_in + k], read);
    }
}

static qf_status find_unread(qfi_pt2_writing *w, uint32_t number, bool *read)
{
    const qfi_part *part = w->part[number].part;
    const qf_graph *g = part->graph;
    for (qfi_id n = 0; n < g->n_node; n++)
        if (!w->edits->drop_node[part->node[n]])
            mark_node(w, part, n, read);
    for (uint32_t i = 0; i < g->n_output; i++)
        mark_read(w, part, g->output[i], read);
    w->part[number].drop_input = qfi_pool_alloc(w->pool, g->n_input, sizeof(bool));
    return w->part[number].drop_input ? QF_OK : no_memory(w);
}

/* All bodies of a holder take the same captures. */
static void drop_together(qfi_pt2_writing *w, uint32_t first, bool *const *read)
{
    const uint32_t n = w->part[first].part->graph->n_input - w->part[first].part->capture;
    for (uint32_t k = 0; k < n; k++) {
        bool any = false;
        for (uint32_t b = first; b != QFI_NONE; b = w->part[b].part->sibling)
            any |= read[b][w->part[b].part->capture + k];
        for (uint32_t b = first; b != QFI_NONE; b = w->part[b].part->sibling)
            w->part[b].drop_input[w->part[b].part->capture + k] = !any;
    }
}

/* Bodies in bodies have higher numbers, and what they drop is known first. */
static qf_status drop_captures(qfi_pt2_writing *w)
{
    const qfi_whole *whole = w->edits->whole;
    bool **read = qfi_pool_alloc(w->pool, whole->n_part, sizeof *read);
    if (!read)
        return no_memory(w);
    for (uint32_t i = whole->n_part; i-- > 1;) {
        read[i] = qfi_pool_alloc(w->pool, whole->part[i].graph->n_input, sizeof(bool));
        if (!read[i])
            return no_memory(w);
        QF_TRY(find_unread(w, i, read[i]));
        if (whole->part[i].which == 0)
            drop_together(w, i, read);
    }
    return QF_OK;
}

/* ---- what is new ---- */

static qf_status hand(qfi_pt2_writing *w, uint32_t number, qfi_pt2_handed handed)
{
    qfi_pt2_part_writing *p = &w->part[number];
    p->handed = qfi_pool_grow(w->pool, p->handed, p->n_handed, &p->cap_handed, sizeof *p->handed);
    if (!p->handed)
        return no_memory(w);
    p->handed[p->n_handed++] = handed;
    return QF_OK;
}

/* The name under which a part knows what it is handed; none if it is not handed that. */
static qf_str name_in(const qfi_pt2_part_writing *part, uint32_t gain)
{
    for (uint32_t i = 0; i < part->n_handed; i++)
        if (part->handed[i].gain == gain)
            return part->handed[i].name;
    return (qf_str){ 0 };
}

static qf_status hand_to_bodies(qfi_pt2_writing *w, uint32_t gain, uint32_t number)
{
    const qfi_whole *whole = w->edits->whole;
    const qfi_constant *c = w->gain[gain].constant;
    const qfi_id holder = whole->part[number].holder;
    for (uint32_t b = whole->graph.node[holder].first_body; b != QFI_NONE;
         b = whole->part[b].sibling) {
        if (name_in(&w->part[b], gain).p)
            continue; /* on behalf of another constant */
        qfi_pt2_handed h = { .gain = gain, .in_place = b == c->part && c->value != QFI_NONE };
        if (h.in_place)
            h.name = w->gain[gain].local;
        else
            QF_TRY(qfi_pt2_new_name(w, &w->part[b], w->gain[gain].name, "", &h.name));
        if (b == c->part)
            w->gain[gain].local = h.name;
        QF_TRY(hand(w, b, h));
    }
    return QF_OK;
}

qf_status qfi_pt2_hand_down(qfi_pt2_writing *w)
{
    const qfi_whole *whole = w->edits->whole;
    for (uint32_t i = 0; i < w->edits->n_constant; i++) {
        const qfi_constant *c = w->gain[i].constant;
        const bool in_place = c->part == 0 && c->value != QFI_NONE,
                   same = w->gain[i].same_as != QFI_NONE;
        const uint32_t gain = same ? w->gain[i].same_as : i;
        if (!same)
            QF_TRY(hand(w, 0, (qfi_pt2_handed){ i, w->gain[i].name, in_place }));
        for (uint32_t p = c->part; p; p = whole->part[p].parent)
            QF_TRY(hand_to_bodies(w, gain, p));
        if (same)
            w->renamed[c->value] = name_in(&w->part[c->part], gain);
    }
    for (uint32_t i = 0; i < whole->n_part; i++) {
        const qfi_part *part = &whole->part[i];
        w->part[i].written =
            !i || (w->part[part->parent].written && !w->edits->drop_node[part->holder]);
    }
    return drop_captures(w);
}

/* ---- texts ---- */

static qf_status splice_captures(qfi_pt2_writing *w, qfi_splices *s, qfi_pt2_span list,
                                 const bool *drop, uint32_t n_drop, const qfi_text *more)
{
    qfi_pt2_entries e;
    QF_TRY(qfi_pt2_entries_of(s->source, list, w->pool, &e, w->diag));
    bool *all = qfi_pool_alloc(w->pool, e.n + 1u, sizeof *all);
    if (!all || more->failed)
        return no_memory(w);
    memcpy(all + (e.n - n_drop), drop, n_drop * sizeof *drop);
    qfi_splice_list(s, list, e.entry, all, e.n, e.n, (qf_str){ more->p, more->n });
    return QF_OK;
}

qf_status qfi_pt2_write_body_inputs(qfi_pt2_writing *w, qfi_splices *s,
                                    const qfi_pt2_part_writing *body)
{
    const qf_graph *g = body->part->graph;
    qfi_text more = { .pool = w->pool };
    for (uint32_t i = 0; i < body->n_handed; i++) {
        qfi_text_str(&more,
                     i ? ", {\"as_tensor\": {\"name\": \"" : "{\"as_tensor\": {\"name\": \"");
        qfi_text_add(&more, body->handed[i].name.p, body->handed[i].name.n);
        qfi_text_str(&more, "\"}}");
    }
    return splice_captures(w, s, qfi_pt2_scope_of(g)->inputs, body->drop_input, g->n_input, &more);
}

/* The list in the last argument of a holder that takes one: {"name", "arg": {"as_tensors": […]}}.
 */
static qf_status find_list(qfi_pt2_writing *w, const qfi_splices *s, qfi_pt2_span inputs,
                           qfi_pt2_span *list)
{
    qfi_json j = {
        .text = s->source.p, .n = inputs.end, .at = inputs.begin, .name = "program", .diag = w->diag
    };
    qfi_pt2_entries e;
    qf_str key;
    QF_TRY(qfi_pt2_entries_of(s->source, inputs, w->pool, &e, w->diag));
    j.at = e.entry[e.n - 1].begin;
    if (!qfi_json_enter(&j, QFI_JSON_OBJECT))
        return j.status;
    while (qfi_json_key(&j, &key) && !qfi_str_is(key, "arg"))
        if (!qfi_json_skip(&j, NULL))
            return j.status;
    if (!qfi_json_enter(&j, QFI_JSON_OBJECT) || !qfi_json_key(&j, &key))
        return j.status;
    list->begin = qfi_pt2_at(&j);
    if (!qfi_json_skip(&j, NULL))
        return j.status;
    list->end = j.at;
    return QF_OK;
}

qf_status qfi_pt2_write_captures(qfi_pt2_writing *w, qfi_splices *s,
                                 const qfi_pt2_part_writing *body, qfi_pt2_span inputs)
{
    const qfi_part *part = body->part;
    const uint32_t n = part->graph->n_input - part->capture;
    const char *begin =
        part->once ? "{\"name\": \"\", \"arg\": {\"as_tensor\": {\"name\": \"" : "{\"name\": \"";
    qfi_text more = { .pool = w->pool };
    qfi_pt2_span list = inputs;
    for (uint32_t i = 0; i < body->n_handed; i++) {
        const qf_str name = name_in(&w->part[part->parent], body->handed[i].gain);
        qfi_text_str(&more, i ? ", " : "");
        qfi_text_str(&more, begin);
        qfi_text_add(&more, name.p, name.n);
        qfi_text_str(&more, part->once ? "\"}}, \"kind\": 1}" : "\"}");
    }
    if (!part->once)
        QF_TRY(find_list(w, s, inputs, &list));
    return splice_captures(w, s, list, body->drop_input + part->capture, n, &more);
}
