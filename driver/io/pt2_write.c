/* The members of the output: names for what is new, what stays, and the order in which torch writes
 * them. */
#include "pt2_write.h"

#include <string.h>

static bool is_free_fqn(const qfi_pt2_writing *w, const qfi_names *given, qf_str name)
{
    return qfi_names_get(given, name) == UINT32_MAX &&
           qfi_names_get(&w->pt2->config[0].fqns, name) == UINT32_MAX &&
           qfi_names_get(&w->pt2->config[1].fqns, name) == UINT32_MAX &&
           qfi_names_get(&w->pt2->fqns, name) == UINT32_MAX;
}

/* "_folded_" + base, with a number behind it if that is taken. */
static qf_status new_fqn(qfi_pt2_writing *w, qfi_names *given, qf_str base, qf_str *out)
{
    static const char prefix[] = "_folded_";
    qf_str name = qfi_pool_join(w->pool, 2, (const qf_str[]){ qfi_str_of(prefix), base });
    uint32_t was;
    for (uint32_t k = 1; name.p && !is_free_fqn(w, given, name); k++) {
        const char *numbered = qfi_pool_format(w->pool, "%s%.*s_%u", prefix, QFI_STR(base), k);
        name = numbered ? qfi_str_of(numbered) : (qf_str){ 0 };
    }
    if (!name.p || !qfi_names_put(given, name, 0, &was))
        QF_FAIL(w->diag, QF_ERR_NOMEM, "out of memory");
    *out = name;
    return QF_OK;
}

/* One more than the largest N of the members data/constants/tensor_N. */
static uint64_t first_free_number(const qfi_pt2 *pt2)
{
    static const char prefix[] = "/data/constants/tensor_";
    uint64_t next = 0;
    for (uint32_t i = 0; i < pt2->zip.n_member; i++) {
        const qf_str name = pt2->zip.member[i].name;
        size_t at = pt2->root.n + sizeof prefix - 1;
        if (name.n <= at || memcmp(name.p + pt2->root.n, prefix, sizeof prefix - 1))
            continue;
        uint64_t v = 0;
        while (at < name.n && name.p[at] >= '0' && name.p[at] <= '9' && v < UINT32_MAX)
            v = v * 10 + (uint64_t)(name.p[at++] - '0');
        if (at == name.n && v >= next)
            next = v + 1;
    }
    return next;
}

#define FOLDER "/data/constants/"

/* root/data/constants/tensor_N, one for each new payload. */
static qf_status name_payloads(qfi_pt2_writing *w)
{
    for (uint32_t i = 0; i < w->edits->n_new_payload; i++) {
        qfi_text t = { .pool = w->pool };
        qfi_text_add(&t, w->pt2->root.p, w->pt2->root.n);
        qfi_text_str(&t, FOLDER "tensor_");
        qfi_text_int(&t, (int64_t)(w->first_number + i));
        if (t.failed)
            QF_FAIL(w->diag, QF_ERR_NOMEM, "out of memory");
        w->member[i] = (qf_str){ t.p, t.n };
    }
    return QF_OK;
}

/* Operands of bodies that are the same bytes are one. last: per payload, the latest constant of a
 * body that stands for itself. */
static uint32_t same_before(const qfi_pt2_writing *w, uint32_t *last, uint32_t i)
{
    const qfi_constant *c = &w->edits->constant[i];
    const uint32_t before = last[c->payload];
    const qfi_constant *old = before == QFI_NONE ? NULL : &w->edits->constant[before];
    if (!c->part || c->value == QFI_NONE)
        return QFI_NONE;
    if (old && qf_type_equal(&old->type, &c->type) && old->offset == c->offset &&
        !memcmp(old->stride, c->stride, sizeof c->stride))
        return before;
    last[c->payload] = i;
    return QFI_NONE;
}

static qf_status name_constants(qfi_pt2_writing *w)
{
    qfi_names fqns = { .pool = w->pool };
    const size_t n_payload = (size_t)w->graph->n_payload + w->edits->n_new_payload;
    uint32_t *last = qfi_pool_alloc(w->pool, n_payload, sizeof *last);
    if (!last)
        QF_FAIL(w->diag, QF_ERR_NOMEM, "out of memory");
    for (size_t i = 0; i < n_payload; i++)
        last[i] = QFI_NONE;
    for (uint32_t i = 0; i < w->edits->n_constant; i++) {
        const qfi_constant *c = &w->edits->constant[i];
        qfi_pt2_new *gain = &w->gain[i];
        const bool stored = c->payload < w->graph->n_payload;
        gain->constant = c;
        gain->local = w->edits->whole->graph.value[c->value != QFI_NONE ? c->value : c->like].name;
        gain->same_as = same_before(w, last, i);
        if (gain->same_as != QFI_NONE)
            continue;
        if (c->value != QFI_NONE)
            w->replaced_by[c->value] = i;
        if (c->value != QFI_NONE && !c->part)
            gain->name = gain->local;
        else
            QF_TRY(qfi_pt2_new_name(w, &w->part[0], gain->local, "_folded", &gain->name));
        if (!c->part)
            gain->local = gain->name;
        QF_TRY(new_fqn(w, &fqns, gain->name, &gain->fqn));
        gain->config = stored ? w->pt2->stored[c->payload].config : QFI_PT2_CONSTANTS;
        gain->path = stored ? w->pt2->stored[c->payload].path
                            : w->member[c->payload - w->graph->n_payload].p + w->pt2->root.n +
                                  strlen(FOLDER);
    }
    return QF_OK;
}

/* Metas by numbers in the whole. A capture is described by what it is a capture of. */
static bool collect_metas(qfi_pt2_writing *w)
{
    const qfi_whole *whole = w->edits->whole;
    if (whole->n_part == 1) {
        w->metas = qfi_pt2_scope_of(w->graph)->meta;
        return true;
    }
    qfi_pt2_span *meta = qfi_pool_alloc(w->pool, whole->graph.n_value, sizeof *meta);
    for (uint32_t i = whole->n_part; meta && i-- > 0;) {
        const qfi_part *part = &whole->part[i];
        for (qfi_id v = 0; v < part->graph->n_value; v++)
            meta[qfi_part_value(part, v)] = qfi_pt2_scope_of(part->graph)->meta[v];
    }
    w->metas = meta;
    return meta;
}

static qf_status prepare(qfi_pt2_writing *w)
{
    const qf_graph *g = w->graph, *all = &w->edits->whole->graph;
    const uint32_t n_part = w->edits->whole->n_part;
    w->gain = qfi_pool_alloc(w->pool, w->edits->n_constant + 1u, sizeof *w->gain);
    w->member = qfi_pool_alloc(w->pool, w->edits->n_new_payload + 1u, sizeof *w->member);
    w->replaced_by = qfi_pool_alloc(w->pool, all->n_value + 1u, sizeof *w->replaced_by);
    w->renamed = qfi_pool_alloc(w->pool, all->n_value + 1u, sizeof *w->renamed);
    w->is_result = qfi_pool_alloc(w->pool, all->n_value + 1u, sizeof *w->is_result);
    w->patch_of = qfi_pool_alloc(w->pool, all->n_node + 1u, sizeof *w->patch_of);
    w->keep_payload = qfi_pool_alloc(w->pool, g->n_payload + 1u, sizeof *w->keep_payload);
    w->part = qfi_pool_alloc(w->pool, n_part, sizeof *w->part);
    if (!w->part || !collect_metas(w) || !w->renamed || !w->gain || !w->member || !w->replaced_by ||
        !w->is_result || !w->patch_of || !w->keep_payload)
        QF_FAIL(w->diag, QF_ERR_NOMEM, "out of memory");
    for (uint32_t i = 0; i < n_part; i++)
        w->part[i].part = &w->edits->whole->part[i];
    for (uint32_t i = 0; i < all->n_value; i++)
        w->replaced_by[i] = QFI_NONE;
    for (uint32_t i = 0; i < all->n_node; i++)
        w->patch_of[i] = QFI_NONE;
    for (uint32_t i = w->edits->n_patch; i-- > 0;) {
        w->patch_of[w->edits->patch[i].node] = i;
        w->is_result[w->edits->patch[i].result] = true;
    }
    w->first_number = first_free_number(w->pt2);
    QF_TRY(name_payloads(w));
    QF_TRY(name_constants(w));
    QF_TRY(qfi_pt2_hand_down(w));
    return qfi_pt2_mark_kept(w);
}

/* ---- members ---- */

static qf_status put_payloads(qfi_pt2_writing *w, qfi_zip_writer *zip)
{
    for (uint32_t i = 0; i < w->edits->n_new_payload; i++)
        QF_TRY(qfi_zip_put_value(zip, w->member[i], i, w->edits->new_payload[i].size, w->diag));
    return QF_OK;
}

static qf_str stamp_name(const qfi_pt2_writing *w)
{
    return qfi_pool_join(w->pool, 2,
                         (const qf_str[]){ w->pt2->root, qfi_str_of("/" QFI_PT2_STAMP) });
}

static qf_status put_changed(qfi_pt2_writing *w, qfi_zip_writer *zip, const qfi_zip_member *member,
                             const qfi_parts *now)
{
    return now->part ? qfi_zip_put_parts(zip, member->name, now, w->diag)
                     : qfi_zip_put_member(zip, member->name, member, w->diag);
}

static qf_status put_stamp(qfi_pt2_writing *w, qfi_zip_writer *zip)
{
    const bool contiguous = w->edits->contiguous || w->pt2->stamped_contiguous;
    const char *text = qfi_pool_format(
        w->pool, "{\"schema\": \"qfold.stamp.v1\", \"spent\": %llu, \"contiguous\": %s}\n",
        (unsigned long long)w->edits->spent, contiguous ? "true" : "false");
    const qf_str name = stamp_name(w);
    if (!text || !name.p)
        QF_FAIL(w->diag, QF_ERR_NOMEM, "out of memory");
    return qfi_zip_put_text(zip, name, qfi_str_of(text), w->diag);
}

/* One member of the input, or what takes its place. below: its name below the root. */
static qf_status put_member(qfi_pt2_writing *w, qfi_zip_writer *zip, const qfi_zip_member *member,
                            qf_str below, const qfi_parts *texts)
{
    const qfi_pt2 *pt2 = w->pt2;
    const uint32_t payload = qfi_names_get(&pt2->payloads, below);
    if (payload != UINT32_MAX && !w->keep_payload[payload])
        return QF_OK;
    if (member == pt2->model_member)
        return put_changed(w, zip, member, &texts[2]);
    for (uint8_t which = 0; which < 2; which++) {
        if (member != pt2->config[which].member)
            continue;
        if (which == QFI_PT2_CONSTANTS)
            QF_TRY(put_payloads(w, zip));
        return put_changed(w, zip, member, &texts[which]);
    }
    if (qfi_str_is(below, QFI_PT2_STAMP))
        return put_stamp(w, zip);
    return qfi_zip_put_member(zip, member->name, member, w->diag);
}

static qf_status put_members(qfi_pt2_writing *w, qfi_zip_writer *zip)
{
    const qfi_pt2 *pt2 = w->pt2;
    const qf_str stamp = stamp_name(w);
    qfi_parts texts[3];
    if (!stamp.p)
        QF_FAIL(w->diag, QF_ERR_NOMEM, "out of memory");
    QF_TRY(qfi_pt2_write_config(w, QFI_PT2_WEIGHTS, &texts[0]));
    QF_TRY(qfi_pt2_write_config(w, QFI_PT2_CONSTANTS, &texts[1]));
    QF_TRY(qfi_pt2_write_model(w, &texts[2]));
    const bool new_stamp =
        (w->edits->spent || w->edits->contiguous) && !qfi_zip_find(&pt2->zip, stamp);
    for (uint32_t i = 0; i < pt2->zip.n_member; i++) {
        const qfi_zip_member *member = &pt2->zip.member[i];
        const qf_str below = { member->name.p + pt2->root.n + 1, member->name.n - pt2->root.n - 1 };
        if (new_stamp && qfi_str_is(below, "archive_format"))
            QF_TRY(put_stamp(w, zip));
        QF_TRY(put_member(w, zip, member, below, texts));
    }
    return qfi_zip_finish(zip, w->diag);
}

qf_status qfi_pt2_layout(const qf_graph *graph, const qfi_prog *prog, const qfi_edits *edits,
                         qfi_layout *out, qf_diag *diag)
{
    (void)prog;
    if (!edits)
        return qfi_layout_add(out, (qfi_extent){ .kind = QFI_COPY, .size = graph->file_size },
                              diag);
    qfi_pt2_writing w = {
        .graph = graph, .edits = edits, .pt2 = qfi_pt2_of(graph), .pool = &out->pool, .diag = diag
    };
    QF_TRY(prepare(&w));
    qfi_zip_writer *zip = qfi_zip_writer_new(out);
    if (!zip)
        QF_FAIL(diag, QF_ERR_NOMEM, "out of memory");
    return put_members(&w, zip);
}
