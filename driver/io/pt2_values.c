/* tensor_values of a graph: the recorded type and layout of its values. */
#include <string.h>

#include "../graph/hash.h"
#include "pt2.h"

/* A program has few different types: the values whose TensorMeta was read last, by its first bytes.
 * One whose text is the same means the same. */
#define RECENT 64
#define RECENT_HEAD 64
typedef struct recent {
    qfi_id value[RECENT];
} recent;

/* Where a TensorMeta that begins at `at` would be; NULL if the text ends soon. */
static qfi_id *recent_slot(recent *r, const qfi_json *j, size_t at)
{
    if (j->n - at < RECENT_HEAD)
        return NULL;
    return &r->value[qfi_hash_bytes(0, j->text + at, RECENT_HEAD) % RECENT];
}

/* Moves over a TensorMeta that reads like that of `old`. */
static bool is_recent(const qf_graph *g, qfi_json *j, size_t at, qfi_id old)
{
    if (old == QFI_NONE)
        return false;
    const qfi_pt2_span span = qfi_pt2_scope_of(g)->meta[old];
    const size_t n = span.end - span.begin;
    if (j->n - at < n || memcmp(j->text + at, j->text + span.begin, n))
        return false;
    j->at = at + n;
    return true;
}

/* One entry of tensor_values: what it says of value `id`. */
static bool read_tensor_value(qf_graph *g, qfi_json *j, recent *r, qfi_id id)
{
    qfi_value *v = &g->value[id];
    const size_t begin = qfi_pt2_at(j);
    qfi_id *slot = recent_slot(r, j, begin);
    if (slot && is_recent(g, j, begin, *slot)) {
        const qfi_value *like = &g->value[*slot];
        v->type = like->type;
        memcpy(v->stride, like->stride, sizeof v->stride);
        v->offset = like->offset;
        v->strided = like->strided;
        v->requires_grad = like->requires_grad;
    } else {
        qfi_pt2_meta meta;
        if (!qfi_pt2_meta_read(qfi_pt2_of(g), j, &meta))
            return false;
        v->strided = qfi_pt2_meta_type(&meta, &v->type, v->stride, &v->offset);
        v->requires_grad = meta.requires_grad;
    }
    qfi_pt2_scope_of(g)->meta[id] = (qfi_pt2_span){ begin, j->at };
    if (slot)
        *slot = id;
    return true;
}

/* Entries of names that no node defines are allowed and ignored. */
bool qfi_pt2_values_read(qf_graph *g, qfi_json *j)
{
    qfi_pt2_scope *s = qfi_pt2_scope_of(g);
    recent r;
    qf_str name;
    qfi_id id = QFI_NONE;
    for (size_t i = 0; i < RECENT; i++)
        r.value[i] = QFI_NONE;
    s->tensor_values.begin = qfi_pt2_at(j);
    if (!qfi_json_enter(j, QFI_JSON_OBJECT))
        return false;
    while (qfi_json_key(j, &name)) {
        id = qfi_pt2_value_near(g, name, id + 1); /* they stand in the order of the program */
        if (id == QFI_NONE ? !qfi_json_skip(j, NULL) : !read_tensor_value(g, j, &r, id))
            return false;
        s->typed =
            qfi_pool_grow(&s->top->pool, s->typed, s->n_typed, &s->cap_typed, sizeof *s->typed);
        if (!s->typed)
            return qfi_json_fail(j, QF_ERR_NOMEM, "out of memory");
        s->typed[s->n_typed++] = (qfi_pt2_typed){ { (size_t)(name.p - j->text) - 1, j->at }, id };
    }
    s->tensor_values.end = j->at;
    return j->status == QF_OK;
}
