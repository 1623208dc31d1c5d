/* A text with cuts and insertions: what is not touched keeps its bytes. */
#include <stdlib.h>
#include <string.h>

#include "pt2_write.h"

void qfi_splice_add(qfi_splices *s, size_t begin, size_t end, qf_str text)
{
    qfi_splice *last = s->n ? &s->splice[s->n - 1] : NULL;
    if (begin == end && !text.n)
        return;
    if (last && last->end == begin && begin < end && !text.n && !last->text.n) {
        last->end = end; /* cuts of neighbours are one */
        return;
    }
    qfi_splice *p = qfi_pool_grow(s->pool, s->splice, s->n, &s->cap, sizeof *p);
    if (!p || s->n >= UINT32_MAX) {
        s->failed = true;
        return;
    }
    s->splice = p;
    p[s->n] = (qfi_splice){ begin, end, text, (uint32_t)s->n };
    s->n++;
}

/* The bytes that vanish with entry i: the separator in front of it if something stands there that
 * stays, else the one behind it. */
static qfi_pt2_span cut_of(const qfi_pt2_span *entry, uint32_t n, uint32_t i, bool kept_before)
{
    if (kept_before)
        return (qfi_pt2_span){ entry[i - 1].end, entry[i].end };
    return (qfi_pt2_span){ entry[i].begin, i + 1 < n ? entry[i + 1].begin : entry[i].end };
}

static void insert(qfi_splices *s, size_t at, const char *before, qf_str text, const char *after)
{
    qfi_splice_add(s, at, at, qfi_str_of(before));
    qfi_splice_add(s, at, at, text);
    qfi_splice_add(s, at, at, qfi_str_of(after));
}

void qfi_splice_list(qfi_splices *s, qfi_pt2_span whole, const qfi_pt2_span *entry,
                     const bool *drop, uint32_t n, uint32_t at, qf_str text)
{
    bool before = false, behind = false;
    for (uint32_t i = 0; i < n; i++) {
        before = before || (i < at && !drop[i]);
        behind = behind || (i >= at && !drop[i]);
    }
    if (text.n && !before && !behind)
        insert(s, whole.begin + 1, "", text, "");
    bool kept = false;
    for (uint32_t i = 0; i <= n; i++) {
        if (text.n && i == at && before)
            insert(s, entry[i - 1].end, ", ", text, "");
        else if (text.n && i == at && behind)
            insert(s, entry[i].begin, "", text, ", ");
        if (i == n)
            break;
        if (drop[i]) {
            const qfi_pt2_span cut = cut_of(entry, n, i, kept);
            qfi_splice_add(s, cut.begin, cut.end, (qf_str){ 0 });
        }
        kept = kept || !drop[i];
    }
}

static int by_place(const void *a, const void *b)
{
    const qfi_splice *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

static void add_part(qfi_parts *parts, qf_str part)
{
    if (part.n)
        parts->part[parts->n++] = part;
}

bool qfi_splice_parts(qfi_splices *s, qfi_parts *out)
{
    size_t at = 0;
    *out = (qfi_parts){ 0 };
    if (s->failed)
        return false;
    if (!s->n)
        return true;
    qsort(s->splice, s->n, sizeof *s->splice, by_place);
    out->part = qfi_pool_alloc(s->pool, 2 * s->n + 1, sizeof *out->part);
    if (!out->part)
        return false;
    for (size_t i = 0; i < s->n; at = s->splice[i++].end) {
        add_part(out, (qf_str){ s->source.p + at, s->splice[i].begin - at });
        add_part(out, s->splice[i].text);
    }
    add_part(out, (qf_str){ s->source.p + at, s->source.n - at });
    return true;
}

qf_status qfi_pt2_entries_of(qf_str text, qfi_pt2_span whole, qfi_pool *pool, qfi_pt2_entries *out,
                             qf_diag *diag)
{
    qfi_json j = {
        .text = text.p, .n = whole.end, .at = whole.begin, .name = "program", .diag = diag
    };
    const bool object = qfi_json_peek(&j) == QFI_JSON_OBJECT;
    size_t cap = 0, cap_key = 0;
    qf_str key = { 0 };
    *out = (qfi_pt2_entries){ 0 };
    if (!qfi_json_enter(&j, object ? QFI_JSON_OBJECT : QFI_JSON_ARRAY))
        return j.status;
    while (object ? qfi_json_key(&j, &key) : qfi_json_next(&j)) {
        const size_t begin = object ? (size_t)(key.p - text.p) - 1 : qfi_pt2_at(&j);
        out->entry = qfi_pool_grow(pool, out->entry, out->n, &cap, sizeof *out->entry);
        out->key = qfi_pool_grow(pool, out->key, out->n, &cap_key, sizeof *out->key);
        if (!out->entry || !out->key)
            QF_FAIL(diag, QF_ERR_NOMEM, "out of memory");
        if (!qfi_json_skip(&j, NULL))
            return j.status;
        out->key[out->n] = key;
        out->entry[out->n++] = (qfi_pt2_span){ begin, j.at };
    }
    return j.status;
}
