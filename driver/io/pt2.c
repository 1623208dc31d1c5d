/* The .pt2 format: recognises and opens an archive, and reads it in order: members, payload
 * configs, program, stamp. */
#include "pt2.h"

#include <string.h>

#include "format.h"
#include "pt2_write.h"

#define SMALL_LIMIT 4096
#define MODEL_LIMIT (UINT64_C(1) << 32)
#define RESAVE "was written by torch 2.8 or older: load and save it with torch >= 2.9"

static bool sniff(const uint8_t *head, size_t head_size, const uint8_t *tail, size_t tail_size)
{
    (void)tail, (void)tail_size;
    return head_size >= 4 && !memcmp(head, "PK\3\4", 4);
}

const qfi_zip_member *qfi_pt2_member(qf_graph *graph, const char *path)
{
    const qfi_pt2 *pt2 = qfi_pt2_of(graph);
    return qfi_zip_find_in(&pt2->zip, pt2->root, qfi_str_of(path));
}

const char *qfi_pt2_label(qf_graph *graph, const char *path)
{
    const char *file = qfi_pt2_of(graph)->file.path, *slash = strrchr(file, '/');
    return qfi_pool_format(&graph->pool, "%s: %s", slash ? slash + 1 : file, path);
}

static bool ends_with(qf_str s, const char *end)
{
    const size_t n = strlen(end);
    return s.n >= n && !memcmp(s.p + s.n - n, end, n);
}

/* Layouts of torch <= 2.8 by their telling members. */
static bool is_old(const qfi_zip *zip)
{
    static const char *const telling[] = { "serialized_exported_program.json",
                                           "data/weights/model.pt", "data/constants/model.pt" };
    for (uint32_t i = 0; i < zip->n_member; i++)
        for (size_t k = 0; k < sizeof telling / sizeof *telling; k++)
            if (ends_with(zip->member[i].name, telling[k]))
                return true;
    return false;
}

/* The one folder that holds every member. */
static qf_status find_root(qfi_pt2 *pt2, qf_diag *diag)
{
    const qfi_zip *zip = &pt2->zip;
    if (is_old(zip))
        QF_FAIL(diag, QF_ERR_VERSION, "%s " RESAVE, pt2->file.path);
    if (!zip->n_member)
        QF_FAIL(diag, QF_ERR_FORMAT, "%s is an empty archive", pt2->file.path);
    const qf_str first = zip->member[0].name;
    const char *slash = memchr(first.p, '/', first.n);
    if (!slash || slash == first.p)
        QF_FAIL(diag, QF_ERR_FORMAT, "%s is no .pt2 archive: member '%.*s' lies in no folder",
                pt2->file.path, QFI_STR(first));
    pt2->root = (qf_str){ first.p, (size_t)(slash - first.p) };
    for (uint32_t i = 0; i < zip->n_member; i++) {
        const qf_str name = zip->member[i].name;
        if (name.n <= pt2->root.n || memcmp(name.p, first.p, pt2->root.n + 1))
            QF_FAIL(diag, QF_ERR_FORMAT,
                    "%s is no .pt2 archive: member '%.*s' lies outside '%.*s/'", pt2->file.path,
                    QFI_STR(name), QFI_STR(pt2->root));
    }
    return QF_OK;
}

static qf_status read_small(qf_graph *g, const char *path, qf_str *out, qf_diag *diag)
{
    const qfi_zip_member *member = qfi_pt2_member(g, path);
    if (!member)
        QF_FAIL(diag, QF_ERR_MEMBER, "%s is no .pt2 archive: there is no member '%s'",
                qfi_pt2_of(g)->file.path, path);
    return qfi_zip_read(&qfi_pt2_of(g)->zip, member, SMALL_LIMIT, &g->pool, out, diag);
}

/* A decimal of 1 … 10, white space around it. */
static bool is_known_version(qf_str text)
{
    size_t i = 0;
    unsigned v = 0;
    while (i < text.n && text.p[i] >= '0' && text.p[i] <= '9' && v <= 10)
        v = v * 10 + (unsigned)(text.p[i++] - '0');
    const bool digits = i > 0;
    while (i < text.n && (text.p[i] == '\n' || text.p[i] == '\r' || text.p[i] == ' '))
        i++;
    return digits && i == text.n && v >= 1 && v <= 10;
}

static qf_status check_marks(qf_graph *g, qf_diag *diag)
{
    const char *path = qfi_pt2_of(g)->file.path;
    qf_str text;
    if (qfi_pt2_member(g, "data.pkl") && !qfi_pt2_member(g, "archive_format"))
        QF_FAIL(diag, QF_ERR_FORMAT,
                "%s is an archive of torch.save or torch.jit.save, not of torch.export.save", path);
    QF_TRY(read_small(g, "archive_format", &text, diag));
    if (!qfi_str_is(text, "pt2"))
        QF_FAIL(diag, QF_ERR_FORMAT, "%s: archive_format is '%.*s'", path,
                (int)(text.n < 40 ? text.n : 40), text.p);
    QF_TRY(read_small(g, "archive_version", &text, diag));
    if (!qfi_str_is(text, "0"))
        QF_FAIL(diag, QF_ERR_VERSION, "%s: archive_version is '%.*s', known is '0'", path,
                (int)(text.n < 40 ? text.n : 40), text.p);
    QF_TRY(read_small(g, ".data/version", &text, diag));
    if (!is_known_version(text))
        QF_FAIL(diag, QF_ERR_VERSION, "%s: .data/version is '%.*s', known are 1 to 10", path,
                (int)(text.n < 40 ? text.n : 40), text.p);
    if (!qfi_pt2_member(g, "byteorder"))
        return QF_OK;
    QF_TRY(read_small(g, "byteorder", &text, diag));
    if (qfi_str_is(text, "big"))
        QF_FAIL(diag, QF_ERR_UNSUPPORTED, "%s holds big-endian tensors", path);
    return QF_OK;
}

/* The program called "model", or the only one. */
static qf_status find_model(qf_graph *g, qf_diag *diag)
{
    static const char dir[] = "models/", suffix[] = ".json";
    qfi_pt2 *pt2 = qfi_pt2_of(g);
    const size_t skip = pt2->root.n + 1 + sizeof dir - 1, tail = sizeof suffix - 1;
    uint32_t n = 0;
    for (uint32_t i = 0; i < pt2->zip.n_member; i++) {
        const qf_str name = pt2->zip.member[i].name;
        if (name.n <= skip + tail || memcmp(name.p + pt2->root.n + 1, dir, sizeof dir - 1) ||
            !ends_with(name, suffix) || memchr(name.p + skip, '/', name.n - skip))
            continue;
        const qf_str model = { name.p + skip, name.n - skip - tail };
        const bool chosen = qfi_str_is(model, "model");
        if (!n++ || chosen) {
            pt2->name = model;
            pt2->model_member = &pt2->zip.member[i];
        }
        if (chosen)
            n = 1;
        if (chosen)
            break;
    }
    if (n != 1)
        QF_FAIL(diag, QF_ERR_MEMBER, "%s holds %s, and none is called 'model'", pt2->file.path,
                n ? "several programs" : "no program");
    const char *inputs =
        qfi_pool_format(&g->pool, "data/sample_inputs/%.*s.pt", QFI_STR(pt2->name));
    if (!inputs)
        QF_FAIL(diag, QF_ERR_NOMEM, "%s: out of memory", pt2->file.path);
    if (!qfi_pt2_member(g, inputs))
        QF_FAIL(diag, QF_ERR_MEMBER, "%s: there is no member '%s'", pt2->file.path, inputs);
    return QF_OK;
}

/* ---- the program ---- */

static bool read_version(qf_graph *g, qfi_json *j)
{
    qf_str key;
    int64_t major = 0;
    (void)g;
    if (!qfi_json_enter(j, QFI_JSON_OBJECT))
        return false;
    while (qfi_json_key(j, &key))
        if (qfi_str_is(key, "major") ? !qfi_json_int(j, &major) : !qfi_json_skip(j, NULL))
            return false;
    return j->status == QF_OK &&
           (major == 8 ||
            qfi_json_fail(j, QF_ERR_VERSION, "schema version %lld, known is 8", (long long)major));
}

static const qfi_pt2_part module_parts[] = {
    { "graph", qfi_pt2_graph_read, 0, true },
    { "signature", qfi_pt2_signature_read, 1, true },
    { "module_call_graph", qfi_pt2_calls_read, 1, true },
};

static bool read_module(qf_graph *g, qfi_json *j)
{
    return qfi_pt2_parts(g, j, module_parts, 3, "the graph module");
}

static const qfi_pt2_part program_parts[] = {
    { "schema_version", read_version, 0, true },
    { "graph_module", read_module, 0, true },
};

static qf_status read_program(qf_graph *g, qf_diag *diag)
{
    qfi_pt2 *pt2 = qfi_pt2_of(g);
    QF_TRY(qfi_zip_read(&pt2->zip, pt2->model_member, MODEL_LIMIT, &g->pool, &pt2->model, diag));
    const char *path = qfi_pool_format(&g->pool, "models/%.*s.json", QFI_STR(pt2->name));
    pt2->model_label = path ? qfi_pt2_label(g, path) : NULL;
    if (!pt2->model_label)
        QF_FAIL(diag, QF_ERR_NOMEM, "out of memory");
    qfi_json j = {
        .text = pt2->model.p, .n = pt2->model.n, .name = pt2->model_label, .diag = diag
    };
    if (qfi_pt2_parts(g, &j, program_parts, 2, "the program"))
        qfi_json_done(&j);
    return j.status;
}

/* Names of bodies need those of the nodes around them, which are read after them. */
static qf_status name_bodies(qf_graph *g, qfi_pool *pool, qf_diag *diag)
{
    for (uint32_t i = 0; i < g->n_node; i++)
        for (uint32_t k = 0; k < g->node[i].n_body; k++) {
            qf_graph *body = g->body[g->node[i].first_body + k];
            const char *path =
                qfi_pool_format(pool, "%.*s%.*s/%.*s/", QFI_STR(g->path), QFI_STR(g->node[i].name),
                                QFI_STR(qfi_pt2_scope_of(body)->label));
            if (!path)
                QF_FAIL(diag, QF_ERR_NOMEM, "out of memory");
            body->path = (qf_str){ path, strlen(path) };
            QF_TRY(name_bodies(body, pool, diag));
        }
    return QF_OK;
}

/* Buffers whose bytes another program of the archive, or an opaque tensor, uses too may change
 * behind our back. */
static void mark_shared(qf_graph *g)
{
    const qfi_pt2 *pt2 = qfi_pt2_of(g);
    for (uint32_t i = 0; i < g->n_input; i++) {
        qfi_value *v = &g->value[i];
        if (v->payload == QFI_NONE)
            continue;
        const qfi_pt2_stored *s = &pt2->stored[v->payload];
        if ((s->foreign && v->kind == QF_VALUE_BUFFER) || s->has_opaque_user)
            v->mutated = true;
    }
}

/* {"schema": "qfold.stamp.v1", "spent": n, "contiguous": b}: what earlier folds left. */
static qf_status read_stamp(qf_graph *g, qf_diag *diag)
{
    static const char path[] = QFI_PT2_STAMP;
    qf_str text, key;
    int64_t spent = 0;
    if (!qfi_pt2_member(g, path))
        return QF_OK;
    QF_TRY(read_small(g, path, &text, diag));
    const char *name = qfi_pt2_label(g, path);
    if (!name)
        QF_FAIL(diag, QF_ERR_NOMEM, "out of memory");
    qfi_json j = { .text = text.p, .n = text.n, .name = name, .diag = diag };
    if (!qfi_json_enter(&j, QFI_JSON_OBJECT))
        return j.status;
    while (qfi_json_key(&j, &key)) {
        bool ok;
        if (qfi_str_is(key, "spent"))
            ok = qfi_json_int(&j, &spent);
        else if (qfi_str_is(key, "contiguous"))
            ok = qfi_json_bool(&j, &qfi_pt2_of(g)->stamped_contiguous);
        else
            ok = qfi_json_skip(&j, NULL);
        if (!ok)
            return j.status;
    }
    if (j.status == QF_OK && spent < 0)
        qfi_json_fail(&j, QF_ERR_SCHEMA, "a negative growth");
    g->spent = (uint64_t)spent;
    return j.status;
}

static void free_graph(qf_graph *g, bool close_file)
{
    qfi_pt2 *pt2 = qfi_pt2_of(g);
    for (uint32_t i = 0; i < g->n_payload; i++)
        qf_storage_unref(g->payload[i].storage);
    if (close_file)
        qfi_file_close(&pt2->file);
    qfi_pool pool = g->pool; /* the graph itself lies in it */
    qfi_pool_free(&pool);
}

static void close_graph(qf_graph *g)
{
    free_graph(g, true);
}

/* An empty graph over the file; NULL when out of memory. */
static qf_graph *new_graph(qfi_file *file)
{
    qfi_pool pool = { 0 };
    qf_graph *g = qfi_pool_alloc(&pool, 1, sizeof *g);
    qfi_pt2_scope *scope = qfi_pool_alloc(&pool, 1, sizeof *scope);
    qfi_pt2 *pt2 = qfi_pool_alloc(&pool, 1, sizeof *pt2);
    if (!g || !scope || !pt2) {
        qfi_pool_free(&pool);
        return NULL;
    }
    *g = (qf_graph){ .pool = pool,
                     .format = &qfi_format_pt2,
                     .source = scope,
                     .close = close_graph,
                     .file_size = file->size,
                     .file = &pt2->file,
                     .lower = qfi_aten_lower };
    *scope = (qfi_pt2_scope){ .pt2 = pt2, .top = g, .names = { .pool = &g->pool } };
    *pt2 = (qfi_pt2){ .file = *file,
                      .payloads = { .pool = &g->pool },
                      .symbols = { .pool = &g->pool },
                      .fqns = { .pool = &g->pool },
                      .ops = { .names = { .pool = &g->pool } } };
    return g;
}

static qf_status load(qfi_file *file, qf_graph **out, qf_diag *diag)
{
    qf_status st;
    qf_graph *g = new_graph(file);
    if (!g)
        QF_FAIL(diag, QF_ERR_NOMEM, "out of memory");
    qfi_pt2 *pt2 = qfi_pt2_of(g);
    QF_TRY_OUT(qfi_zip_open(&pt2->file, &g->pool, &pt2->zip, diag));
    QF_TRY_OUT(find_root(pt2, diag));
    QF_TRY_OUT(check_marks(g, diag));
    QF_TRY_OUT(find_model(g, diag));
    QF_TRY_OUT(qfi_pt2_configs_read(g, diag));
    QF_TRY_OUT(qfi_pt2_foreign_read(g, diag));
    QF_TRY_OUT(read_program(g, diag));
    QF_TRY_OUT(name_bodies(g, &g->pool, diag));
    QF_TRY_OUT(read_stamp(g, diag));
    mark_shared(g);
    *out = g;
    g = NULL;
out:
    if (g)
        free_graph(g, false);
    return st;
}

const qfi_format qfi_format_pt2 = {
    .name = "pt2",
    .suffixes = ".pt2",
    .sniff = sniff,
    .load = load,
    .layout = qfi_pt2_layout,
};
