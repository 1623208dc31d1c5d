/* The table of results as JSON. */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "../driver/io/json.h"

#define SCHEMA "qfold.bench.v1"
#define LARGEST ((long)1 << 28)

static void add_result(qfi_text *t, const qfb_result *r)
{
    qfi_text_str(t, "{\"name\":");
    qfi_text_quote(t, r->name, strlen(r->name));
    qfi_text_format(t, ",\"repetition\":%d,\"seconds\":", r->repetition);
    qfi_text_double(t, r->seconds);
    if (r->skipped) {
        qfi_text_str(t, ",\"skipped\":");
        qfi_text_quote(t, r->skipped, strlen(r->skipped));
    }
    qfi_text_str(t, ",\"figures\":{");
    for (size_t i = 0; i < r->n; i++) {
        qfi_text_str(t, i ? "," : "");
        qfi_text_quote(t, r->figure[i].name, strlen(r->figure[i].name));
        qfi_text_str(t, ":");
        qfi_text_double(t, r->figure[i].value);
    }
    qfi_text_str(t, "}}");
}

bool qfb_write_json(FILE *out, const qfb_results *results)
{
    qfi_pool pool = { 0 };
    qfi_text t = { .pool = &pool };
    qfi_text_str(&t, "{\"schema\":\"" SCHEMA "\",\"caps\":");
    qfi_text_quote(&t, results->caps, strlen(results->caps));
    qfi_text_str(&t, ",\"cpu\":");
    qfi_text_quote(&t, results->cpu, strlen(results->cpu));
    qfi_text_str(&t, ",\"results\":[");
    for (size_t i = 0; i < results->n; i++) {
        qfi_text_str(&t, i ? ",\n" : "\n");
        add_result(&t, &results->result[i]);
    }
    qfi_text_str(&t, "\n]}\n");
    const bool done = !t.failed && fwrite(t.p, 1, t.n, out) == t.n && !fflush(out);
    qfi_pool_free(&pool);
    return done;
}

/* A string as terminated text in the pool. */
static char *read_text(qfi_json *j, qfi_pool *pool)
{
    qf_str raw, text;
    if (!qfi_json_string(j, &raw))
        return NULL;
    if (qfi_json_unescape(pool, raw, &text))
        return qfi_pool_text(pool, text.p, text.n);
    qfi_json_fail(j, QF_ERR_JSON, "text that cannot be read");
    return NULL;
}

static void read_figures(qfi_json *j, qfi_pool *pool, qfb_measured *m)
{
    const char **name = NULL;
    double *value = NULL;
    size_t names = 0, values = 0;
    qf_str key, text;
    m->n = 0;
    for (qfi_json_enter(j, QFI_JSON_OBJECT); qfi_json_key(j, &key); m->n++) {
        name = qfi_pool_grow(pool, name, m->n, &names, sizeof *name);
        value = qfi_pool_grow(pool, value, m->n, &values, sizeof *value);
        if (!name || !value || !qfi_json_unescape(pool, key, &text))
            abort();
        name[m->n] = qfi_pool_text(pool, text.p, text.n);
        qfi_json_double(j, &value[m->n]);
    }
    m->counter = name;
    m->value = value;
}

static void read_result(qfi_json *j, qfi_pool *pool, qfb_results *out)
{
    qfb_measured m = { 0 };
    int64_t repetition = 0;
    qf_str key;
    qfi_json_enter(j, QFI_JSON_OBJECT);
    while (qfi_json_key(j, &key)) {
        if (qfi_str_is(key, "name"))
            m.name = read_text(j, pool);
        else if (qfi_str_is(key, "skipped"))
            m.skipped = read_text(j, pool);
        else if (qfi_str_is(key, "repetition"))
            qfi_json_int(j, &repetition);
        else if (qfi_str_is(key, "seconds"))
            qfi_json_double(j, &m.seconds);
        else if (qfi_str_is(key, "figures"))
            read_figures(j, pool, &m);
        else
            qfi_json_skip(j, NULL);
    }
    m.repetition = (int)repetition;
    if (j->status == QF_OK && !m.name)
        qfi_json_fail(j, QF_ERR_JSON, "a result without a name");
    if (j->status == QF_OK)
        qfb_results_add(out, &m);
}

static void read_all(qfi_json *j, qfi_pool *pool, qfb_results *out)
{
    qf_str key;
    const char *schema = NULL, *caps = NULL, *cpu = NULL;
    qfi_json_enter(j, QFI_JSON_OBJECT);
    while (qfi_json_key(j, &key)) {
        if (qfi_str_is(key, "schema"))
            schema = read_text(j, pool);
        else if (qfi_str_is(key, "caps"))
            caps = read_text(j, pool);
        else if (qfi_str_is(key, "cpu"))
            cpu = read_text(j, pool);
        else if (!qfi_str_is(key, "results"))
            qfi_json_skip(j, NULL);
        else if (qfi_json_enter(j, QFI_JSON_ARRAY))
            while (qfi_json_next(j))
                read_result(j, pool, out);
    }
    if (j->status == QF_OK && (!schema || strcmp(schema, SCHEMA) != 0))
        qfi_json_fail(j, QF_ERR_JSON, "not of schema " SCHEMA);
    snprintf(out->caps, sizeof out->caps, "%s", caps ? caps : "");
    snprintf(out->cpu, sizeof out->cpu, "%s", cpu ? cpu : "");
}

/* The whole file in the pool. */
static bool slurp(const char *path, qfi_pool *pool, qf_str *out)
{
    FILE *in = fopen(path, "rb");
    long size = -1;
    if (in && !fseek(in, 0, SEEK_END))
        size = ftell(in);
    char *text = size >= 0 && size < LARGEST ? qfi_pool_alloc(pool, (size_t)size + 1, 1) : NULL;
    const bool done =
        text && !fseek(in, 0, SEEK_SET) && fread(text, 1, (size_t)size, in) == (size_t)size;
    if (in)
        fclose(in);
    *out = (qf_str){ text, done ? (size_t)size : 0 };
    return done;
}

bool qfb_read_json(const char *path, qfb_results *out)
{
    qfi_pool pool = { 0 };
    qf_diag diag = { 0 };
    qf_str text;
    if (!slurp(path, &pool, &text)) {
        (void)qf_fail(&diag, QF_ERR_OPEN, "%s: cannot be read", path);
    } else {
        qfi_json j = { .text = text.p, .n = text.n, .name = path, .diag = &diag };
        read_all(&j, &pool, out);
    }
    if (diag.code != QF_OK)
        fprintf(stderr, "qfold-bench: %s\n", diag.text);
    qfi_pool_free(&pool);
    return diag.code == QF_OK;
}
