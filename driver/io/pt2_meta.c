/* Small readers that every part of a .pt2 needs: names, objects by parts, and TensorMeta. */
#include <string.h>

#include "pt2.h"

size_t qfi_pt2_at(const qfi_json *j)
{
    size_t at = j->at;
    while (at < j->n && (j->text[at] == ' ' || j->text[at] == '\n' || j->text[at] == '\r' ||
                         j->text[at] == '\t'))
        at++;
    return at;
}

bool qfi_pt2_string(qfi_json *j, qfi_pool *pool, qf_str *out)
{
    qf_str raw;
    if (!qfi_json_string(j, &raw))
        return false;
    return qfi_json_unescape(pool, raw, out) ||
           qfi_json_fail(j, QF_ERR_JSON, "a string with a broken escape");
}

bool qfi_pt2_named(qfi_json *j, qf_str *name)
{
    qf_str key;
    bool found = false;
    if (!qfi_json_enter(j, QFI_JSON_OBJECT))
        return false;
    while (qfi_json_key(j, &key)) {
        const bool is_name = qfi_str_is(key, "name");
        if (is_name ? !qfi_json_string(j, name) : !qfi_json_skip(j, NULL))
            return false;
        found = found || is_name;
    }
    return j->status == QF_OK && (found || qfi_json_fail(j, QF_ERR_SCHEMA, "'name' is missing"));
}

/* Reads a part that had to wait, where it stands. */
static bool read_deferred(qf_graph *graph, qfi_json *j, const qfi_pt2_part *part, qf_str text)
{
    qfi_json late = *j;
    late.at = (size_t)(text.p - j->text);
    late.n = late.at + text.n;
    const bool ok = part->read(graph, &late);
    j->status = late.status;
    return ok;
}

bool qfi_pt2_parts(qf_graph *graph, qfi_json *j, const qfi_pt2_part *part, uint32_t n,
                   const char *what)
{
    uint32_t seen = 0, done = 0;
    qf_str key, text[16];
    if (!qfi_json_enter(j, QFI_JSON_OBJECT))
        return false;
    while (qfi_json_key(j, &key)) {
        uint32_t i = 0;
        while (i < n && !qfi_str_is(key, part[i].key))
            i++;
        const uint32_t bit = i < n ? UINT32_C(1) << i : 0;
        if (seen & bit)
            return qfi_json_fail(j, QF_ERR_SCHEMA, "%s has '%s' twice", what, part[i].key);
        const bool now = bit && !(part[i].needs & ~done);
        if (now ? !part[i].read(graph, j) : !qfi_json_skip(j, bit ? &text[i] : NULL))
            return false;
        seen |= bit;
        done |= now ? bit : 0;
    }
    for (uint32_t i = 0; i < n && j->status == QF_OK; i++) {
        const uint32_t bit = UINT32_C(1) << i;
        if (part[i].required && !(seen & bit))
            return qfi_json_fail(j, QF_ERR_SCHEMA, "%s lacks '%s'", what, part[i].key);
        if ((seen & ~done & bit) && !read_deferred(graph, j, &part[i], text[i]))
            return false;
    }
    return j->status == QF_OK;
}

/* The number of a symbolic size: equal texts are equal sizes. */
static bool read_symbol(qfi_pt2 *pt2, qfi_json *j, int64_t *out)
{
    qf_str key, text = { 0 };
    if (!qfi_json_enter(j, QFI_JSON_OBJECT))
        return false;
    while (qfi_json_key(j, &key))
        if (qfi_str_is(key, "expr_str") ? !qfi_json_string(j, &text) : !qfi_json_skip(j, NULL))
            return false;
    if (j->status != QF_OK)
        return false;
    if (!text.p)
        return qfi_json_fail(j, QF_ERR_SCHEMA, "'expr_str' is missing");
    const uint32_t next = (uint32_t)pt2->symbols.n;
    uint32_t was;
    if (!qfi_names_put(&pt2->symbols, text, next, &was))
        return qfi_json_fail(j, QF_ERR_NOMEM, "out of memory");
    *out = ~(int64_t)(was == UINT32_MAX ? next : was);
    return true;
}

/* {"as_int": n} or {"as_expr": …}, which clears *concrete. */
static bool read_size(qfi_pt2 *pt2, qfi_json *j, int64_t *out, bool *concrete)
{
    qf_str key;
    int n = 0;
    if (!qfi_json_enter(j, QFI_JSON_OBJECT))
        return false;
    while (qfi_json_key(j, &key)) {
        const bool number = qfi_str_is(key, "as_int");
        if (n++ || (!number && !qfi_str_is(key, "as_expr")))
            return qfi_json_fail(j, QF_ERR_SCHEMA, "a size with tag '%.*s'", QFI_STR(key));
        if (number ? !qfi_json_int(j, out) : !read_symbol(pt2, j, out))
            return false;
        if (number && *out < 0)
            return qfi_json_fail(j, QF_ERR_SCHEMA, "a negative size, stride or offset");
        *concrete = *concrete && number;
    }
    return j->status == QF_OK && (n || qfi_json_fail(j, QF_ERR_SCHEMA, "a size without a tag"));
}

static bool read_sizes(qfi_pt2 *pt2, qfi_json *j, int64_t *out, uint32_t *n, bool *concrete)
{
    *n = 0;
    if (!qfi_json_enter(j, QFI_JSON_ARRAY))
        return false;
    while (qfi_json_next(j)) {
        if (*n == QFI_PT2_MAX_RANK)
            return qfi_json_fail(j, QF_ERR_SCHEMA, "more than %d dimensions", QFI_PT2_MAX_RANK);
        if (!read_size(pt2, j, &out[(*n)++], concrete))
            return false;
    }
    return j->status == QF_OK;
}

bool qfi_pt2_on_meta(qf_str device)
{
    qf_diag quiet = { 0 };
    qfi_json j = { .text = device.p, .n = device.n, .name = "device", .diag = &quiet };
    qf_str key, type = { 0 };
    if (!qfi_json_enter(&j, QFI_JSON_OBJECT))
        return false;
    while (qfi_json_key(&j, &key))
        if (qfi_str_is(key, "type") ? !qfi_json_string(&j, &type) : !qfi_json_skip(&j, NULL))
            return false;
    return qfi_str_is(type, "meta");
}

static const char *const meta_keys[] = { "dtype",   "sizes",          "requires_grad", "device",
                                         "strides", "storage_offset", "layout" };
enum { DTYPE, SIZES, REQUIRES_GRAD, DEVICE, STRIDES, OFFSET, LAYOUT, N_META };

static bool read_meta_key(qfi_pt2 *pt2, qfi_json *j, uint32_t key, qfi_pt2_meta *m)
{
    switch (key) {
    case DTYPE:
        return qfi_json_int(j, &m->dtype);
    case SIZES:
        return read_sizes(pt2, j, m->size, &m->rank, &m->concrete);
    case REQUIRES_GRAD:
        return qfi_json_bool(j, &m->requires_grad);
    case DEVICE:
        return qfi_json_skip(j, &m->device);
    case STRIDES:
        return read_sizes(pt2, j, m->stride, &m->n_stride, &m->concrete_strides);
    case OFFSET:
        return read_size(pt2, j, &m->offset, &m->concrete_strides);
    case LAYOUT:
        return qfi_json_skip(j, &m->layout);
    default:
        return qfi_json_skip(j, NULL);
    }
}

bool qfi_pt2_meta_read(qfi_pt2 *pt2, qfi_json *j, qfi_pt2_meta *out)
{
    uint32_t seen = 0;
    qf_str key;
    out->concrete = out->concrete_strides = true;
    if (!qfi_json_enter(j, QFI_JSON_OBJECT))
        return false;
    while (qfi_json_key(j, &key)) {
        uint32_t i = 0;
        while (i < N_META && !qfi_str_is(key, meta_keys[i]))
            i++;
        if (!read_meta_key(pt2, j, i, out))
            return false;
        seen |= UINT32_C(1) << i;
    }
    for (uint32_t i = 0; i < N_META && j->status == QF_OK; i++)
        if (!(seen >> i & 1))
            return qfi_json_fail(j, QF_ERR_SCHEMA, "'%s' is missing", meta_keys[i]);
    if (j->status != QF_OK)
        return false;
    if (out->n_stride != out->rank)
        return qfi_json_fail(j, QF_ERR_SCHEMA, "%u strides for %u sizes", out->n_stride, out->rank);
    out->strided = qfi_str_is(out->layout, "7");
    return true;
}

bool qfi_pt2_meta_type(const qfi_pt2_meta *meta, qf_type *type, int64_t *stride, int64_t *offset)
{
    *type = (qf_type){ .dtype = qf_dtype_from_torch(meta->dtype), .rank = -1 };
    if (meta->rank > QF_MAX_RANK || !meta->strided)
        return false;
    type->rank = (int8_t)meta->rank;
    memcpy(type->dim, meta->size, meta->rank * sizeof *type->dim);
    memcpy(stride, meta->stride, meta->rank * sizeof *stride);
    *offset = meta->offset;
    return meta->concrete_strides;
}
