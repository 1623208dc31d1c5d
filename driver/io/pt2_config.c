/* Payload configs: which tensor lies where in which member. Every entry is checked against the
 * bytes that are there. */
#include <string.h>

#include "pt2.h"

#define CONFIG_LIMIT (UINT64_C(1) << 30)

static const char *const config_dirs[] = { "data/weights/", "data/constants/" };
static const char *const config_suffixes[] = { "weights_config.json", "constants_config.json" };

/* Constants are read by their prefix; of weights every name is a tensor. */
static bool is_tensor_path(uint8_t config, qf_str path)
{
    static const char prefix[] = "tensor_";
    return config == QFI_PT2_WEIGHTS ||
           (path.n >= sizeof prefix - 1 && !memcmp(path.p, prefix, sizeof prefix - 1));
}

static bool is_object_path(qf_str path)
{
    static const char *const prefixes[] = { "custom_obj_", "opaque_obj_" };
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (path.n >= strlen(prefixes[i]) && !memcmp(path.p, prefixes[i], strlen(prefixes[i])))
            return true;
    return false;
}

/* One entry while it is read: the texts of its keys. */
typedef struct reading {
    qf_graph *graph;
    qfi_json *j;
    qfi_pt2_config *config;
    uint8_t which;
    qfi_pt2_entry entry;
    qf_str path;
    qfi_pt2_meta meta;
    bool has_meta, pickled;
} reading;

static bool fail(const reading *r, qf_status code, const char *what)
{
    return qfi_json_fail(r->j, code, "tensor '%.*s': %s", QFI_STR(r->entry.fqn), what);
}

static bool read_meta(reading *r)
{
    if (qfi_json_peek(r->j) == QFI_JSON_NULL)
        return qfi_json_null(r->j);
    r->has_meta = true;
    return qfi_pt2_meta_read(qfi_pt2_of(r->graph), r->j, &r->meta);
}

static const char *const entry_keys[] = { "path_name", "is_param", "use_pickle", "tensor_meta" };
#define N_KEYS (sizeof entry_keys / sizeof *entry_keys)

static bool read_key(reading *r, size_t key)
{
    switch (key) {
    case 0:
        return qfi_pt2_string(r->j, &r->graph->pool, &r->path);
    case 1:
        return qfi_json_bool(r->j, &r->entry.is_param);
    case 2:
        return qfi_json_bool(r->j, &r->pickled);
    case 3:
        return read_meta(r);
    default:
        return qfi_json_skip(r->j, NULL);
    }
}

static bool read_keys(reading *r)
{
    uint32_t seen = 0;
    qf_str key;
    if (!qfi_json_enter(r->j, QFI_JSON_OBJECT))
        return false;
    while (qfi_json_key(r->j, &key)) {
        size_t i = 0;
        while (i < N_KEYS && !qfi_str_is(key, entry_keys[i]))
            i++;
        if (!read_key(r, i))
            return false;
        seen |= UINT32_C(1) << i;
    }
    for (size_t i = 0; i < N_KEYS && r->j->status == QF_OK; i++)
        if (!(seen >> i & 1))
            return qfi_json_fail(r->j, QF_ERR_SCHEMA, "tensor '%.*s' lacks '%s'",
                                 QFI_STR(r->entry.fqn), entry_keys[i]);
    return r->j->status == QF_OK;
}

/* Elements of a shape, and of the storage that a view reaches into; false on overflow. */
static bool reach(const qfi_pt2_meta *m, uint64_t *elements, uint64_t *needed)
{
    uint64_t last = (uint64_t)m->offset, part;
    *elements = 1;
    for (uint32_t i = 0; i < m->rank; i++)
        if (!m->size[i]) {
            *elements = *needed = 0;
            return true;
        }
    for (uint32_t i = 0; i < m->rank; i++)
        if (!qf_mul(*elements, (uint64_t)m->size[i], elements) ||
            !qf_mul((uint64_t)m->size[i] - 1, (uint64_t)m->stride[i], &part) ||
            !qf_add(last, part, &last))
            return false;
    return qf_add(last, 1, needed);
}

static qf_status read_zeros(void *ctx, uint64_t at, void *dst, size_t n, qf_diag *diag)
{
    (void)ctx, (void)at, (void)diag;
    memset(dst, 0, n);
    return QF_OK;
}

/* A new payload over a member; the first entry that names it fixes dtype and, for an empty member,
 * size. */
static bool add_payload(reading *r, const qfi_zip_member *member, qf_str name, uint64_t zeros)
{
    qf_graph *g = r->graph;
    qfi_pt2 *pt2 = qfi_pt2_of(g);
    const uint32_t n = g->n_payload;
    g->payload = qfi_pool_grow(&g->pool, g->payload, n, &pt2->cap_payload, sizeof *g->payload);
    pt2->stored = qfi_pool_grow(&g->pool, pt2->stored, n, &pt2->cap_stored, sizeof *pt2->stored);
    if (!g->payload || !pt2->stored)
        return fail(r, QF_ERR_NOMEM, "out of memory");
    const bool empty = !member->size && zeros;
    qf_storage *storage = NULL;
    if (empty) {
        storage = qf_storage_from_reader(zeros, read_zeros, NULL, NULL);
        if (!storage)
            return fail(r, QF_ERR_NOMEM, "out of memory");
    } else {
        r->j->status = qfi_zip_storage(&pt2->zip, member, &storage, r->j->diag);
        if (r->j->status != QF_OK)
            return false;
    }
    g->payload[n] = (qfi_payload){ .name = name,
                                   .size = empty ? zeros : member->size,
                                   .packed = member->packed,
                                   .file_offset = member->data,
                                   .storage = storage,
                                   .copyable = !member->method && !empty };
    pt2->stored[n] = (qfi_pt2_stored){ .member = member,
                                       .path = name.p + strlen(config_dirs[r->which]),
                                       .config = r->which,
                                       .dtype = r->entry.type.dtype,
                                       .first = r->config->n,
                                       .empty = empty };
    g->n_payload++;
    return true;
}

static bool find_payload(reading *r, uint64_t zeros)
{
    qf_graph *g = r->graph;
    qfi_pt2 *pt2 = qfi_pt2_of(g);
    const char *path = qfi_pool_format(&g->pool, "%s%.*s", config_dirs[r->which], QFI_STR(r->path));
    if (!path)
        return fail(r, QF_ERR_NOMEM, "out of memory");
    const qf_str name = { path, strlen(path) };
    uint32_t was;
    if (!qfi_names_put(&pt2->payloads, name, g->n_payload, &was))
        return fail(r, QF_ERR_NOMEM, "out of memory");
    r->entry.payload = was == UINT32_MAX ? g->n_payload : was;
    if (was != UINT32_MAX)
        return true;
    const qfi_zip_member *member = qfi_pt2_member(g, path);
    if (!member)
        return qfi_json_fail(r->j, QF_ERR_MEMBER, "tensor '%.*s': there is no member '%s'",
                             QFI_STR(r->entry.fqn), path);
    return add_payload(r, member, name, zeros);
}

/* Binds the entry to its bytes. */
static bool place(reading *r)
{
    const qf_dtype dtype = qf_dtype_from_torch(r->meta.dtype);
    const uint64_t item = qf_dtype_get(dtype)->bits / 8u;
    uint64_t elements, reached, zeros, needed;
    if (!dtype || !item)
        return qfi_json_fail(r->j, QF_ERR_DTYPE, "tensor '%.*s' has dtype %lld",
                             QFI_STR(r->entry.fqn), (long long)r->meta.dtype);
    if (!r->meta.concrete || !r->meta.concrete_strides)
        return fail(r, QF_ERR_SCHEMA, "a stored tensor with symbolic sizes");
    if (!reach(&r->meta, &elements, &reached) || !qf_mul(elements, item, &zeros) ||
        !qf_mul(reached, item, &needed))
        return fail(r, QF_ERR_OVERFLOW, "its size does not fit in 64 bits");
    r->entry.type.dtype = dtype;
    if (!find_payload(r, zeros))
        return false;
    const qfi_payload *p = &r->graph->payload[r->entry.payload];
    qfi_pt2_stored *s = &qfi_pt2_of(r->graph)->stored[r->entry.payload];
    if (s->dtype != dtype)
        return qfi_json_fail(r->j, QF_ERR_DTYPE, "tensor '%.*s': another dtype than '%.*s' in %.*s",
                             QFI_STR(r->entry.fqn), QFI_STR(r->config->entry[s->first].fqn),
                             QFI_STR(p->name));
    if (needed > p->size)
        return qfi_json_fail(r->j, QF_ERR_RANGE, "tensor '%.*s' needs %llu bytes, %.*s has %llu",
                             QFI_STR(r->entry.fqn), (unsigned long long)needed, QFI_STR(p->name),
                             (unsigned long long)p->size);
    if (p->size % item)
        return qfi_json_fail(r->j, QF_ERR_RANGE,
                             "tensor '%.*s': the %llu bytes of %.*s are no whole elements",
                             QFI_STR(r->entry.fqn), (unsigned long long)p->size, QFI_STR(p->name));
    if (!qfi_pt2_meta_type(&r->meta, &r->entry.type, r->entry.stride, &r->entry.offset)) {
        /* Its bytes may be shared: what shares them must not be taken for constant. */
        s->has_opaque_user = true;
        r->entry.opaque = true;
        r->entry.payload = QFI_NONE;
    }
    return true;
}

static bool read_entry(reading *r)
{
    if (!read_keys(r))
        return false;
    r->entry.payload = QFI_NONE;
    r->entry.opaque = true;
    r->entry.type.rank = -1;
    if (!is_tensor_path(r->which, r->path))
        return is_object_path(r->path) || fail(r, QF_ERR_SCHEMA, "its path has no known prefix");
    if (r->pickled)
        return true;
    if (!r->has_meta)
        return fail(r, QF_ERR_SCHEMA, "it has no tensor_meta");
    r->entry.requires_grad = r->meta.requires_grad;
    if (qfi_pt2_on_meta(r->meta.device))
        return true;
    r->entry.opaque = false;
    return place(r);
}

static bool add_entry(reading *r)
{
    qfi_pt2_config *c = r->config;
    uint32_t was;
    c->entry = qfi_pool_grow(&r->graph->pool, c->entry, c->n, &c->cap, sizeof *c->entry);
    if (!c->entry || !qfi_names_put(&c->fqns, r->entry.fqn, c->n, &was))
        return fail(r, QF_ERR_NOMEM, "out of memory");
    if (was != UINT32_MAX)
        return fail(r, QF_ERR_NAME, "listed twice");
    c->entry[c->n++] = r->entry;
    return true;
}

static bool read_entries(qf_graph *g, qfi_json *j, uint8_t which)
{
    qfi_pt2_config *c = &qfi_pt2_of(g)->config[which];
    reading r = { .graph = g, .j = j, .config = c, .which = which };
    qf_str raw;
    c->entries.begin = qfi_pt2_at(j);
    if (!qfi_json_enter(j, QFI_JSON_OBJECT))
        return false;
    while (qfi_json_key(j, &raw)) {
        r.entry = (qfi_pt2_entry){ .text.begin = (size_t)(raw.p - j->text) - 1 };
        r.path = (qf_str){ 0 };
        r.has_meta = r.pickled = false;
        if (!qfi_json_unescape(&g->pool, raw, &r.entry.fqn))
            return qfi_json_fail(j, QF_ERR_JSON, "a name with a broken escape");
        if (!read_entry(&r))
            return false;
        r.entry.text.end = j->at;
        if (!add_entry(&r))
            return false;
    }
    c->entries.end = j->at;
    return j->status == QF_OK;
}

static bool read_weights(qf_graph *g, qfi_json *j)
{
    return read_entries(g, j, QFI_PT2_WEIGHTS);
}
static bool read_constants(qf_graph *g, qfi_json *j)
{
    return read_entries(g, j, QFI_PT2_CONSTANTS);
}

static const qfi_pt2_part config_parts[2] = {
    { "config", read_weights, 0, true },
    { "config", read_constants, 0, true },
};

/* Reads a config member with one part; NULL member: an error naming what is missing. */
static qf_status read_member(qf_graph *g, const char *path, const qfi_pt2_part *part,
                             qfi_pt2_config *config, qf_diag *diag)
{
    const qfi_zip_member *member = path ? qfi_pt2_member(g, path) : NULL;
    const char *name = path ? qfi_pt2_label(g, path) : NULL;
    qf_str text;
    if (!name)
        QF_FAIL(diag, QF_ERR_NOMEM, "out of memory");
    if (!member)
        QF_FAIL(diag, QF_ERR_MEMBER, "%s is missing", name);
    QF_TRY(qfi_zip_read(&qfi_pt2_of(g)->zip, member, CONFIG_LIMIT, &g->pool, &text, diag));
    if (config) {
        config->member = member;
        config->text = text;
        config->fqns.pool = &g->pool;
    }
    qfi_json j = { .text = text.p, .n = text.n, .name = name, .diag = diag };
    if (qfi_pt2_parts(g, &j, part, 1, "a payload config"))
        qfi_json_done(&j);
    return j.status;
}

static const char *config_path(qf_graph *g, uint8_t which, qf_str model)
{
    return qfi_pool_format(&g->pool, "%s%.*s_%s", config_dirs[which], QFI_STR(model),
                           config_suffixes[which]);
}

qf_status qfi_pt2_configs_read(qf_graph *g, qf_diag *diag)
{
    qfi_pt2 *pt2 = qfi_pt2_of(g);
    for (uint8_t which = 0; which < 2; which++)
        QF_TRY(read_member(g, config_path(g, which, pt2->name), &config_parts[which],
                           &pt2->config[which], diag));
    return QF_OK;
}

/* Marks the payload that an entry of another model's config names. */
static bool mark_entries(qf_graph *g, qfi_json *j, uint8_t which)
{
    qfi_pt2 *pt2 = qfi_pt2_of(g);
    qf_str fqn, key, path = { 0 };
    if (!qfi_json_enter(j, QFI_JSON_OBJECT))
        return false;
    while (qfi_json_key(j, &fqn)) {
        if (!qfi_json_enter(j, QFI_JSON_OBJECT))
            return false;
        while (qfi_json_key(j, &key))
            if (qfi_str_is(key, "path_name") ? !qfi_pt2_string(j, &g->pool, &path)
                                             : !qfi_json_skip(j, NULL))
                return false;
        const char *name = qfi_pool_format(&g->pool, "%s%.*s", config_dirs[which], QFI_STR(path));
        if (!name)
            return qfi_json_fail(j, QF_ERR_NOMEM, "out of memory");
        const uint32_t payload = qfi_names_get(&pt2->payloads, (qf_str){ name, strlen(name) });
        if (payload != UINT32_MAX)
            pt2->stored[payload].foreign = true;
    }
    return j->status == QF_OK;
}

static bool mark_weights(qf_graph *g, qfi_json *j)
{
    return mark_entries(g, j, QFI_PT2_WEIGHTS);
}
static bool mark_constants(qf_graph *g, qfi_json *j)
{
    return mark_entries(g, j, QFI_PT2_CONSTANTS);
}

static const qfi_pt2_part foreign_parts[2] = {
    { "config", mark_weights, 0, true },
    { "config", mark_constants, 0, true },
};

qf_status qfi_pt2_foreign_read(qf_graph *g, qf_diag *diag)
{
    const qfi_pt2 *pt2 = qfi_pt2_of(g);
    for (uint32_t i = 0; i < pt2->zip.n_member; i++) {
        const qf_str name = pt2->zip.member[i].name;
        const size_t skip = pt2->root.n + 1;
        for (uint8_t which = 0; which < 2; which++) {
            const size_t dir = strlen(config_dirs[which]),
                         tail = strlen(config_suffixes[which]) + 1;
            if (name.n <= skip + dir + tail || memcmp(name.p + skip, config_dirs[which], dir) ||
                memcmp(name.p + name.n - tail + 1, config_suffixes[which], tail - 1) ||
                &pt2->zip.member[i] == pt2->config[which].member)
                continue;
            const char *path = qfi_pool_text(&g->pool, name.p + skip, name.n - skip);
            QF_TRY(read_member(g, path, &foreign_parts[which], NULL, diag));
        }
    }
    return QF_OK;
}
