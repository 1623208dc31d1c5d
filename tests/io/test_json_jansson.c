/* The JSON reader against jansson: random documents and mutations of them are accepted or refused
 * alike, and mean the same. */
#include "io_support.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "io/json.h"

/* Where neither is wrong: jansson stores numbers and strings, so it refuses what it cannot hold. */
static bool beyond_jansson(const json_error_t *e)
{
    const enum json_error_code code = json_error_code(e);
    return code == json_error_numeric_overflow || code == json_error_null_byte_in_key ||
           strstr(e->text, "invalid Unicode");
}

static json_t *build(qfi_json *j, qfi_pool *pool);

static json_t *build_object(qfi_json *j, qfi_pool *pool)
{
    json_t *o = json_object();
    qf_str key;
    assert_true(qfi_json_enter(j, QFI_JSON_OBJECT));
    while (qfi_json_key(j, &key)) {
        assert_true(qfi_json_unescape(pool, key, &key));
        json_object_set_new(o, qfi_pool_text(pool, key.p, key.n), build(j, pool));
    }
    return o;
}

static json_t *build_array(qfi_json *j, qfi_pool *pool)
{
    json_t *a = json_array();
    assert_true(qfi_json_enter(j, QFI_JSON_ARRAY));
    while (qfi_json_next(j))
        json_array_append_new(a, build(j, pool));
    return a;
}

static json_t *build_number(qfi_json *j)
{
    qfi_json again = *j;
    qf_str span;
    int64_t i;
    double d;
    assert_true(qfi_json_skip(&again, &span));
    if (memchr(span.p, '.', span.n) || memchr(span.p, 'e', span.n) || memchr(span.p, 'E', span.n)) {
        assert_true(qfi_json_double(j, &d));
        return json_real(d);
    }
    assert_true(qfi_json_int(j, &i));
    return json_integer(i);
}

/* The next value as jansson's tree. */
static json_t *build(qfi_json *j, qfi_pool *pool)
{
    qf_str s;
    bool b;
    switch (qfi_json_peek(j)) {
    case QFI_JSON_OBJECT:
        return build_object(j, pool);
    case QFI_JSON_ARRAY:
        return build_array(j, pool);
    case QFI_JSON_NUMBER:
        return build_number(j);
    case QFI_JSON_STRING:
        assert_true(qfi_json_string(j, &s) && qfi_json_unescape(pool, s, &s));
        return json_stringn(s.p, s.n);
    case QFI_JSON_TRUE:
    case QFI_JSON_FALSE:
        assert_true(qfi_json_bool(j, &b));
        return json_boolean(b);
    default:
        assert_true(qfi_json_null(j));
        return json_null();
    }
}

/* Compares one text; whether it was valid. The copy ends where the text does, so that the
 * sanitizers see a step too far. */
static bool compare(const char *text, size_t n)
{
    char *exact = malloc(n ? n : 1);
    memcpy(exact, text, n);
    qf_diag diag = { 0 };
    qfi_json j = { .text = exact, .n = n, .name = "random", .diag = &diag };
    const bool ours = qfi_json_skip(&j, NULL) && qfi_json_done(&j);
    if (memchr(text, 0, n)) { /* jansson takes a NUL for the end */
        assert_false(ours);
        free(exact);
        return false;
    }
    json_error_t error;
    json_t *theirs = json_loadb(text, n, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    if (theirs) {
        qfi_pool pool = { 0 };
        qfi_json again = { .text = exact, .n = n, .name = "random", .diag = &diag };
        if (!ours)
            fail_msg("refused: %.*s: %s", (int)n, text, diag.text);
        json_t *tree = build(&again, &pool);
        if (!json_equal(tree, theirs))
            fail_msg("means something else: %.*s", (int)n, text);
        json_decref(tree);
        qfi_pool_free(&pool);
    } else if (ours && !beyond_jansson(&error)) {
        fail_msg("accepted: %.*s: %s", (int)n, text, error.text);
    }
    json_decref(theirs);
    free(exact);
    return ours;
}

typedef struct text {
    char p[4096];
    size_t n;
} text;

static void add(text *t, const char *s)
{
    const size_t n = strlen(s);
    if (n < sizeof t->p - t->n) {
        memcpy(t->p + t->n, s, n);
        t->n += n;
    }
}

static uint64_t pick(uint64_t *rng, uint64_t n)
{
    return random_next(rng) % n;
}

static const char *const spaces[] = { "", "", "", "", " ", "\n", "\t ", "\r\n" };
static const char *const pieces[] = { "a",
                                      "key",
                                      "\\n",
                                      "\\u00e9",
                                      "\xc3\xa9",
                                      "\\\"",
                                      "0",
                                      "\xe2\x82\xac",
                                      "\\ud83d\\ude00",
                                      "/",
                                      "long plain text without anything special" };
static const char *const scalars[] = { "true",         "false",
                                       "null",         "0",
                                       "-1",           "3.25",
                                       "1e-05",        "9223372036854775807",
                                       "-0.0",         "-9223372036854775808",
                                       "123456.789e3", "1E+22" };

static void add_string(text *t, uint64_t *rng)
{
    add(t, "\"");
    for (uint64_t n = pick(rng, 4); n; n--)
        add(t, pieces[pick(rng, sizeof pieces / sizeof *pieces)]);
    add(t, "\"");
}

static void space(text *t, uint64_t *rng)
{
    add(t, spaces[pick(rng, sizeof spaces / sizeof *spaces)]);
}

static void add_value(text *t, uint64_t *rng, int depth)
{
    const uint64_t kind = pick(rng, depth ? 6 : 3);
    space(t, rng);
    if (kind < 2)
        add(t, scalars[pick(rng, sizeof scalars / sizeof *scalars)]);
    else if (kind == 2)
        add_string(t, rng);
    else {
        const bool object = kind == 3;
        add(t, object ? "{" : "[");
        for (uint64_t n = pick(rng, 5), i = 0; i < n; i++) {
            add(t, i ? "," : "");
            space(t, rng);
            if (object) {
                add_string(t, rng);
                space(t, rng);
                add(t, ":");
            }
            add_value(t, rng, depth - 1);
        }
        space(t, rng);
        add(t, object ? "}" : "]");
    }
    space(t, rng);
}

static void mutate(text *t, uint64_t *rng)
{
    static const char structural[] = "{}[],:\"\\ 0-.eE\ntfn\x80u";
    const size_t at = t->n ? pick(rng, t->n) : 0;
    switch (pick(rng, 4)) {
    case 0:
        t->p[at] = (char)(t->p[at] ^ (1 << pick(rng, 8)));
        break;
    case 1:
        t->p[at] = structural[pick(rng, sizeof structural - 1)];
        break;
    case 2:
        memmove(t->p + at, t->p + at + 1, t->n - at - 1);
        t->n--;
        break;
    default:
        t->n = at;
        break;
    }
}

static void test_random(void **state)
{
    (void)state;
    uint64_t rng = 20240229;
    size_t valid = 0, mutants = 0;
    for (int i = 0; i < 4000; i++) {
        text t = { .n = 0 };
        add_value(&t, &rng, 5);
        if (t.n > 3900) /* cut by the buffer */
            continue;
        assert_true(compare(t.p, t.n));
        for (int k = 0; k < 12 && t.n; k++, mutants++) {
            text m = t;
            for (uint64_t steps = 1 + pick(&rng, 2); steps && m.n; steps--)
                mutate(&m, &rng);
            valid += compare(m.p, m.n);
        }
    }
    /* Both kinds occurred often. */
    assert_true(valid > mutants / 20 && valid < mutants / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_random) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
