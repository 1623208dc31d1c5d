/* A report as JSON, read back by jansson: keys and their order, numbers, strings that need care,
 * what is absent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>
#include <qfold/fold.h>

typedef struct text {
    char *p;
    size_t n;
} text;

static bool append(void *user, const char *p, size_t n)
{
    text *t = user;
    t->p = realloc(t->p, t->n + n + 1);
    assert_non_null(t->p);
    memcpy(t->p + t->n, p, n);
    t->n += n;
    t->p[t->n] = 0;
    return true;
}

static bool refuse(void *user, const char *p, size_t n)
{
    (void)user;
    (void)p;
    (void)n;
    return false;
}

/* Every string is one that must be escaped or repaired. */
static const char *const sources[] = { "a\"b", "tab\there" };
static const char *const inputs[] = { "p_w", "<view>" };
static const char *const globs[] = { "layer.*", NULL };
static const qf_report_node nodes[] = {
    { .graph = "",
      .name = "mul",
      .op = "aten.mul.Tensor",
      .detail = "",
      .verdict = QF_FOLDED,
      .bytes = 64,
      .bytes_before = 32,
      .bytes_after = INT64_MAX,
      .sources = sources,
      .n_sources = 2,
      .inputs = inputs,
      .n_inputs = 2 },
    { .graph = "cond/true/",
      .name = "r\xc3\xa9",
      .op = "aten.rand.default",
      .detail = "line\nbreak \\ \x01 \xff",
      .verdict = QF_KEPT,
      .reason = QF_REASON_random },
    { .graph = "", .name = "unused", .op = "aten.neg.default", .detail = "", .verdict = QF_DEAD },
};
static const char *const constant_nodes[] = { "mul" };
static const qf_report_constant constants[] = {
    { .name = "mul",
      .type = { QF_DT_bf16, 2, { 4, 8 } },
      .bytes = 64,
      .nonfinite = 3,
      .nodes = constant_nodes,
      .n_nodes = 1 },
    { .name = "number", .type = { QF_DT_i64, 0, { 0 } }, .view = true },
};
static const qf_report_reason reasons[] = { { QF_REASON_random, 1, 0 } };
static const qf_report_note notes[] = { { "warning", "nonfinite", "mul",
                                          "3 elements are not finite" } };

static qf_report sample(void)
{
    return (qf_report){
        .caps = "avx2",
        .input = "in \xfe.pt2",
        .format = "pt2",
        .output = "out.pt2",
        .input_bytes = 1000,
        .output_bytes = 900,
        .options = { .struct_size = sizeof(qf_fold_options),
                     .max_growth = 4096,
                     .keep = globs,
                     .strict = true },
        .n_folded = 1,
        .n_kept = 1,
        .n_dead = 1,
        .n_carried = 0,
        .bytes_before = 32,
        .bytes_after = 64,
        .node = nodes,
        .n_nodes = 3,
        .constant = constants,
        .n_constants = 2,
        .reason = reasons,
        .n_reasons = 1,
        .note = notes,
        .n_notes = 1,
        .seconds = 0.125,
        .read_bytes = 10,
        .written_bytes = 20,
        .peak_bytes = 30,
        .threads = 2,
    };
}

static json_t *read_back(const qf_report *report)
{
    text t = { 0 };
    qf_diag diag = { 0 };
    json_error_t error;
    assert_int_equal(qf_report_json(report, append, &t, &diag), QF_OK);
    json_t *root = json_loadb(t.p, t.n, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        fail_msg("line %d: %s", error.line, error.text);
    free(t.p);
    return root;
}

static void assert_keys(json_t *object, const char *const *key)
{
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value)
    {
        assert_non_null(*key);
        assert_string_equal(name, *key++);
        assert_non_null(value);
    }
    assert_null(*key);
}

static const char *string_at(json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    assert_non_null(value);
    return value;
}

static json_int_t int_at(json_t *object, const char *key)
{
    assert_true(json_is_integer(json_object_get(object, key)));
    return json_integer_value(json_object_get(object, key));
}

static void keys_and_order(void **state)
{
    (void)state;
    const qf_report report = sample();
    json_t *root = read_back(&report);
    assert_keys(root, (const char *const[]){ "schema", "tool", "input", "output", "options",
                                             "summary", "reasons", "nodes", "constants",
                                             "diagnostics", "run", NULL });
    assert_string_equal(string_at(root, "schema"), "qfold.report.v1");
    assert_keys(json_object_get(root, "summary"),
                (const char *const[]){ "nodes", "folded", "kept", "dead", "carried", "bytes_before",
                                       "bytes_after", NULL });
    assert_keys(json_object_get(root, "run"),
                (const char *const[]){ "seconds", "read_bytes", "written_bytes", "peak_bytes",
                                       "threads", NULL });
    assert_true(json_real_value(json_object_get(json_object_get(root, "run"), "seconds")) == 0.125);
    assert_int_equal(int_at(json_object_get(root, "summary"), "nodes"), 3);
    assert_int_equal(int_at(json_object_get(root, "options"), "max_growth"), 4096);
    assert_int_equal(int_at(json_object_get(root, "options"), "memory"), 134217728);
    assert_int_equal(json_array_size(json_object_get(json_object_get(root, "options"), "keep")), 1);
    json_decref(root);
}

static void nodes_and_strings(void **state)
{
    (void)state;
    const qf_report report = sample();
    json_t *root = read_back(&report);
    json_t *list = json_object_get(root, "nodes");
    json_t *first = json_array_get(list, 0), *second = json_array_get(list, 1),
           *third = json_array_get(list, 2);
    assert_keys(first, (const char *const[]){ "graph", "name", "op", "verdict", "reason", "detail",
                                              "bytes", "bytes_before", "bytes_after", "sources",
                                              "inputs", NULL });
    assert_string_equal(json_string_value(json_array_get(json_object_get(first, "inputs"), 1)),
                        inputs[1]);
    assert_string_equal(string_at(first, "verdict"), "folded");
    assert_string_equal(string_at(first, "reason"), "");
    assert_int_equal(int_at(first, "bytes_after"), INT64_MAX);
    assert_string_equal(json_string_value(json_array_get(json_object_get(first, "sources"), 0)),
                        sources[0]);
    assert_string_equal(json_string_value(json_array_get(json_object_get(first, "sources"), 1)),
                        sources[1]);
    assert_string_equal(string_at(second, "graph"), "cond/true/");
    assert_string_equal(string_at(second, "name"), "r\xc3\xa9");
    assert_string_equal(string_at(second, "reason"), "random");
    assert_string_equal(string_at(second, "detail"), "line\nbreak \\ \x01 \xef\xbf\xbd");
    assert_string_equal(string_at(third, "verdict"), "dead");
    assert_string_equal(string_at(json_object_get(root, "input"), "path"), "in \xef\xbf\xbd.pt2");
    json_decref(root);
}

static void large_numbers_stay_exact(void **state)
{
    (void)state;
    text t = { 0 };
    qf_report report = sample();
    report.bytes_after = UINT64_MAX; /* more than jansson reads */
    assert_int_equal(qf_report_json(&report, append, &t, NULL), QF_OK);
    assert_non_null(strstr(t.p, "\"bytes_after\": 18446744073709551615"));
    free(t.p);
}

static void rows(void **state)
{
    (void)state;
    const qf_report report = sample();
    json_t *root = read_back(&report);
    json_t *constant = json_array_get(json_object_get(root, "constants"), 0);
    assert_keys(constant, (const char *const[]){ "name", "dtype", "shape", "bytes", "nonfinite",
                                                 "nodes", NULL });
    assert_string_equal(string_at(constant, "dtype"), "bf16");
    assert_int_equal(json_integer_value(json_array_get(json_object_get(constant, "shape"), 1)), 8);
    assert_int_equal(json_array_size(json_object_get(
                         json_array_get(json_object_get(root, "constants"), 1), "shape")),
                     0);
    json_t *reason = json_array_get(json_object_get(root, "reasons"), 0);
    assert_keys(reason, (const char *const[]){ "code", "class", "text", "count", "bytes", NULL });
    assert_string_equal(string_at(reason, "code"), "random");
    json_t *note = json_array_get(json_object_get(root, "diagnostics"), 0);
    assert_keys(note, (const char *const[]){ "severity", "code", "where", "text", NULL });
    json_decref(root);
}

/* A plan has no output and nothing that differs between two runs. */
static void plans(void **state)
{
    (void)state;
    qf_report report = {
        .caps = "scalar", .input = "a", .format = "pt2", .options = { .max_growth = QF_GROWTH_NONE }
    };
    json_t *root = read_back(&report);
    assert_true(json_is_null(json_object_get(root, "output")));
    assert_true(json_is_null(json_object_get(root, "run")));
    assert_true(json_is_null(json_object_get(json_object_get(root, "options"), "max_growth")));
    assert_int_equal(json_array_size(json_object_get(root, "nodes")), 0);
    json_decref(root);
}

static void a_failing_write(void **state)
{
    (void)state;
    qf_diag diag = { 0 };
    const qf_report report = sample();
    assert_int_equal(qf_report_json(&report, refuse, NULL, &diag), QF_ERR_WRITE);
    assert_int_equal(diag.code, QF_ERR_WRITE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_and_order),
        cmocka_unit_test(nodes_and_strings),
        cmocka_unit_test(large_numbers_stay_exact),
        cmocka_unit_test(rows),
        cmocka_unit_test(plans),
        cmocka_unit_test(a_failing_write),
    };
    return cmocka_run_group_tests_name("report json", tests, NULL, NULL);
}
