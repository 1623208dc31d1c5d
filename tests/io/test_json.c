/* The JSON reader: what is accepted, what is refused and where, exact numbers. */
#include "io_support.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/json.h"

static qfi_json reader(const char *text, size_t n, qf_diag *diag)
{
    *diag = (qf_diag){ 0 };
    return (qfi_json){ .text = text, .n = n, .name = "test.json", .diag = diag };
}

static bool accepts(const char *text, size_t n, qf_diag *diag)
{
    qfi_json j = reader(text, n, diag);
    return qfi_json_skip(&j, NULL) && qfi_json_done(&j);
}

static const char *const valid[] = {
    "{}",
    "[]",
    " [ ] ",
    "\t{\n}\r\n",
    "0",
    "-0",
    "-1",
    "12.5",
    "1e5",
    "1E+5",
    "1.25e-07",
    "true",
    "false",
    "null",
    "\"\"",
    "\"a\"",
    "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\ude00\"",
    "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"",
    "\"\\ud800\"",
    "[1,2]",
    "[[[]]]",
    "{\"a\":1}",
    "{ \"a\" : [ 1 , { \"b\" : null } ] , \"\" : \"\" }",
    "{\"a\":1,\"a\":2}",
    "[0.0,-0.0,1e999]",
    "\"\x7f\"",
    "123456789012345678901234567890",
};

static void test_accepts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof valid / sizeof *valid; i++) {
        qf_diag diag;
        if (!accepts(valid[i], strlen(valid[i]), &diag))
            fail_msg("%s: %s", valid[i], diag.text);
    }
}

static const struct {
    const char *text;
    int64_t at;
    const char *part;
} invalid[] = {
    { "", 0, "ends" },
    { "  ", 2, "ends" },
    { "[", 1, "ends" },
    { "{", 1, "ends" },
    { "[1", 2, "ends" },
    { "[1,", 3, "ends" },
    { "[1,]", 3, "expected a value" },
    { "[,1]", 1, "expected a value" },
    { "[1 2]", 3, "expected ',' or ']'" },
    { "[1}", 2, "expected ',' or ']'" },
    { "{\"a\"}", 4, "expected ':'" },
    { "{\"a\":}", 5, "expected a value" },
    { "{\"a\":1,}", 7, "expected a key" },
    { "{a:1}", 1, "expected a key" },
    { "{1:1}", 1, "expected a key" },
    { "{\"a\":1]", 6, "expected ',' or '}'" },
    { "{\"a\" 1}", 5, "expected ':'" },
    { "]", 0, "expected a value" },
    { "01", 0, "leading zero" },
    { "-", 1, "digit" },
    { "-a", 1, "digit" },
    { "1.", 2, "digit" },
    { "1.e5", 2, "digit" },
    { ".5", 0, "expected a value" },
    { "1e", 2, "digit" },
    { "1e+", 3, "digit" },
    { "+1", 0, "expected a value" },
    { "0x10", 1, "behind the end" },
    { "1 2", 2, "behind the end" },
    { "NaN", 0, "expected a value" },
    { "Infinity", 0, "expected a value" },
    { "-Infinity", 1, "digit" },
    { "tru", 0, "expected a value" },
    { "nul", 0, "expected a value" },
    { "truex", 4, "behind the end" },
    { "'a'", 0, "expected a value" },
    { "\"a", 2, "inside a string" },
    { "\"\\", 1, "escape" },
    { "\"\\x\"", 1, "escape" },
    { "\"\\u12g4\"", 1, "escape" },
    { "\"\\u123", 1, "escape" },
    { "\"a\nb\"", 2, "control" },
    { "\"\x1f\"", 1, "control" },
    { "\"\x80\"", 1, "UTF-8" },
    { "\"\xc0\xaf\"", 1, "UTF-8" },
    { "\"\xc3\"", 1, "UTF-8" },
    { "\"\xe0\x80\x80\"", 1, "UTF-8" },
    { "\"\xed\xa0\x80\"", 1, "UTF-8" },
    { "\"\xf4\x90\x80\x80\"", 1, "UTF-8" },
    { "\"\xf0\x80\x80\x80\"", 1, "UTF-8" },
    { "\"12345678\xff\"", 9, "UTF-8" },
    { "\xef\xbb\xbf{}", 0, "expected a value" },
    { "[1]//x", 3, "behind the end" },
    { "[1 /* */]", 3, "expected ','" },
    { "{\"a\":1 \"b\":2}", 7, "expected ','" },
};

static void test_refuses(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) {
        qf_diag diag;
        if (accepts(invalid[i].text, strlen(invalid[i].text), &diag))
            fail_msg("accepted: %s", invalid[i].text);
        if (diag.code != QF_ERR_JSON || diag.at != invalid[i].at ||
            !strstr(diag.text, invalid[i].part) || strncmp(diag.text, "test.json: byte ", 16))
            fail_msg("%s: at %lld: %s", invalid[i].text, (long long)diag.at, diag.text);
    }
}

static void test_nul_is_no_end(void **state)
{
    (void)state;
    qf_diag diag;
    assert_false(accepts("[1,\0002]", 6, &diag));
    assert_false(accepts("\"a\0b\"", 5, &diag));
    assert_false(accepts("1\0", 2, &diag));
}

/* Every prefix of a value that is no number is refused, and no byte behind its end is read (under
 * the sanitizers). */
static void test_prefixes(void **state)
{
    (void)state;
    const char text[] =
        "{\"key\\u0041\": [1, -2.5e+10, true, false, null, \"\xf0\x9f\x98\x80\"], \"b\": {}}";
    const size_t n = sizeof text - 1;
    for (size_t i = 0; i <= n; i++) {
        char *copy = malloc(i ? i : 1);
        qf_diag diag;
        memcpy(copy, text, i);
        assert_int_equal(accepts(copy, i, &diag), i == n);
        free(copy);
    }
}

static char *nested(int depth, const char *open, const char *inner, const char *close)
{
    char *text = calloc((size_t)depth * (strlen(open) + strlen(close)) + strlen(inner) + 1, 1);
    char *p = text;
    for (int i = 0; i < depth; i++)
        p = stpcpy(p, open);
    p = stpcpy(p, inner);
    for (int i = 0; i < depth; i++)
        p = stpcpy(p, close);
    return text;
}

static void test_depth(void **state)
{
    (void)state;
    for (int object = 0; object < 2; object++) {
        for (int depth = 511; depth <= 513; depth++) {
            char *text = nested(depth, object ? "{\"a\":" : "[", "1", object ? "}" : "]");
            qf_diag diag;
            assert_int_equal(accepts(text, strlen(text), &diag), depth <= 512);
            if (depth > 512)
                assert_non_null(strstr(diag.text, "512 deep"));
            free(text);
        }
    }
    char *text = nested(100000, "[", "", "]"); /* far beyond: no recursion */
    qf_diag diag;
    assert_false(accepts(text, strlen(text), &diag));
    free(text);
}

/* Entered containers and skipped ones share one bound. */
static void test_depth_entered(void **state)
{
    (void)state;
    for (int depth = 512; depth <= 513; depth++) {
        char *text = nested(depth, "[", "", "]");
        qf_diag diag;
        qfi_json j = reader(text, strlen(text), &diag);
        for (int i = 0; i < 300; i++) {
            assert_true(qfi_json_enter(&j, QFI_JSON_ARRAY));
            assert_true(qfi_json_next(&j));
        }
        assert_int_equal(qfi_json_skip(&j, NULL), depth == 512);
        free(text);
    }
}

static void test_walk(void **state)
{
    (void)state;
    const char text[] = " { \"n\" : [ 1 , -2 ] , \"s\" : \"a\\u0062\" , \"t\" : true , \"o\" : { } "
                        ", \"x\" : [ [ ] , 1.5 ] , "
                        "\"z\" : null } ";
    qf_diag diag;
    qfi_json j = reader(text, sizeof text - 1, &diag);
    qfi_pool pool = { 0 };
    qf_str key, s, span;
    int64_t v, sum = 0;
    bool flag = false;
    int seen = 0;
    assert_int_equal(qfi_json_peek(&j), QFI_JSON_OBJECT);
    assert_true(qfi_json_enter(&j, QFI_JSON_OBJECT));
    while (qfi_json_key(&j, &key)) {
        seen++;
        if (qfi_str_is(key, "n")) {
            assert_true(qfi_json_enter(&j, QFI_JSON_ARRAY));
            while (qfi_json_next(&j)) {
                assert_int_equal(qfi_json_peek(&j), QFI_JSON_NUMBER);
                assert_true(qfi_json_int(&j, &v));
                sum += v * v;
            }
        } else if (qfi_str_is(key, "s")) {
            assert_true(qfi_json_string(&j, &s));
        } else if (qfi_str_is(key, "t")) {
            assert_true(qfi_json_bool(&j, &flag));
        } else if (qfi_str_is(key, "o")) {
            assert_true(qfi_json_enter(&j, QFI_JSON_OBJECT));
            assert_int_equal(qfi_json_peek(&j), QFI_JSON_END);
            assert_false(qfi_json_key(&j, &key));
        } else if (qfi_str_is(key, "z")) {
            assert_true(qfi_json_null(&j));
        } else {
            assert_true(qfi_json_skip(&j, &span));
        }
    }
    assert_true(qfi_json_done(&j));
    assert_int_equal(j.depth, 0);
    assert_int_equal(seen, 6);
    assert_int_equal(sum, 5);
    assert_true(flag);
    assert_true(qfi_str_is(span, "[ [ ] , 1.5 ]"));
    assert_true(qfi_str_is(s, "a\\u0062"));
    assert_true(qfi_json_unescape(&pool, s, &s) && qfi_str_is(s, "ab"));
    qfi_pool_free(&pool);
}

static void test_wrong_type(void **state)
{
    (void)state;
    qf_diag diag;
    qf_str s;
    int64_t i;
    double d;
    bool b;
    qfi_json j = reader("[1]", 3, &diag);
    assert_false(qfi_json_enter(&j, QFI_JSON_OBJECT));
    assert_non_null(strstr(diag.text, "expected an object"));
    /* The first error stays. */
    assert_false(qfi_json_enter(&j, QFI_JSON_ARRAY) || qfi_json_next(&j) ||
                 qfi_json_skip(&j, NULL) || qfi_json_done(&j));
    assert_int_equal(qfi_json_peek(&j), QFI_JSON_END);
    assert_int_equal(j.status, QF_ERR_JSON);
    j = reader("1", 1, &diag);
    assert_false(qfi_json_string(&j, &s));
    j = reader("\"1\"", 3, &diag);
    assert_false(qfi_json_int(&j, &i));
    j = reader("\"inf\"", 5, &diag);
    assert_false(qfi_json_double(&j, &d));
    j = reader("null", 4, &diag);
    assert_false(qfi_json_bool(&j, &b));
    assert_non_null(strstr(diag.text, "expected true or false"));
    j = reader("tree", 4, &diag);
    assert_false(qfi_json_bool(&j, &b));
    j = reader("false", 5, &diag);
    assert_false(qfi_json_null(&j));
    j = reader("[1", 2, &diag);
    assert_true(qfi_json_enter(&j, QFI_JSON_ARRAY) && qfi_json_next(&j) && qfi_json_int(&j, &i));
    assert_false(qfi_json_next(&j));
    assert_int_equal(j.status, QF_ERR_JSON);
    j = reader("[?", 2, &diag);
    assert_true(qfi_json_enter(&j, QFI_JSON_ARRAY) && qfi_json_next(&j));
    assert_int_equal(qfi_json_peek(&j), QFI_JSON_END);
    assert_int_equal(j.status, QF_ERR_JSON);
}

static void test_fail(void **state)
{
    (void)state;
    qf_diag diag;
    qfi_json j = reader("  7", 3, &diag);
    int64_t v;
    assert_true(qfi_json_int(&j, &v));
    assert_false(qfi_json_fail(&j, QF_ERR_SCHEMA, "dtype %d is unknown", 7));
    assert_int_equal(j.status, QF_ERR_SCHEMA);
    assert_string_equal(diag.text, "test.json: byte 3: dtype 7 is unknown");
}

static const struct {
    const char *text;
    bool good;
    int64_t value;
} ints[] = {
    { "0", true, 0 },
    { "-0", true, 0 },
    { "9223372036854775807", true, INT64_MAX },
    { "-9223372036854775808", true, INT64_MIN },
    { "9223372036854775808", false, 0 },
    { "-9223372036854775809", false, 0 },
    { "92233720368547758070", false, 0 },
    { "1.0", false, 0 },
    { "1e3", false, 0 },
    { "123456789012345678", true, 123456789012345678 },
};

static void test_ints(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ints / sizeof *ints; i++) {
        qf_diag diag;
        int64_t v = -77;
        qfi_json j = reader(ints[i].text, strlen(ints[i].text), &diag);
        assert_int_equal(qfi_json_int(&j, &v), ints[i].good);
        assert_int_equal(v, ints[i].good ? ints[i].value : -77);
        assert_int_equal(diag.at, 0);
    }
}

static void test_doubles(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } rows[] = {
        { "0.1", 0.1 },
        { "1e-05", 1e-05 },
        { "1e+22", 1e22 },
        { "-3.3895313892515355e+38", -3.3895313892515355e+38 },
        { "5e-324", 5e-324 },
        { "1.7976931348623157e308", DBL_MAX },
        { "7", 7 },
        { "\"Infinity\"", INFINITY },
        { "\"-Infinity\"", -INFINITY },
        { "9007199254740993", 9007199254740992.0 },
        { "1e-400", 0 },
    };
    qf_diag diag;
    double v;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        qfi_json j = reader(rows[i].text, strlen(rows[i].text), &diag);
        assert_true(qfi_json_double(&j, &v));
        assert_memory_equal(&v, &rows[i].value, sizeof v);
    }
    qfi_json j = reader("\"NaN\"", 5, &diag);
    assert_true(qfi_json_double(&j, &v) && isnan(v));
    j = reader("-0.0", 4, &diag);
    assert_true(qfi_json_double(&j, &v) && v == 0 && signbit(v));
    j = reader("1e999", 5, &diag);
    assert_false(qfi_json_double(&j, &v));
    assert_non_null(strstr(diag.text, "out of range"));
    j = reader("[]", 2, &diag);
    assert_false(qfi_json_double(&j, &v));
}

static void test_unescape(void **state)
{
    (void)state;
    static const struct {
        const char *raw, *text;
        size_t n;
    } rows[] = {
        { "", "", 0 },
        { "plain", "plain", 5 },
        { "\\n", "\n", 1 },
        { "a\\\"\\\\\\/\\b\\f\\r\\t", "a\"\\/\b\f\r\t", 8 },
        { "\\u0000x", "\0x", 2 },
        { "\\u007f\\u0080\\u07ff", "\x7f\xc2\x80\xdf\xbf", 5 },
        { "\\u0800\\uFFFF", "\xe0\xa0\x80\xef\xbf\xbf", 6 },
        { "\\ud83d\\uDE00", "\xf0\x9f\x98\x80", 4 },
        { "\\udbff\\udfff", "\xf4\x8f\xbf\xbf", 4 },
        { "\xc3\xa9\\u00e9", "\xc3\xa9\xc3\xa9", 4 },
    };
    static const char *const bad[] = { "\\ud800", "\\ud800x", "\\ud800\\n12345", "\\ud800\\ud800",
                                       "\\udc00", "\\x",      "\\u12",           "a\\" };
    qfi_pool pool = { 0 };
    qf_str out;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(qfi_json_unescape(&pool, (qf_str){ rows[i].raw, strlen(rows[i].raw) }, &out));
        assert_int_equal(out.n, rows[i].n);
        assert_memory_equal(out.p, rows[i].text, out.n);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(qfi_json_unescape(&pool, (qf_str){ bad[i], strlen(bad[i]) }, &out));
    qfi_pool_free(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepts),       cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_nul_is_no_end), cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_depth),         cmocka_unit_test(test_depth_entered),
        cmocka_unit_test(test_walk),          cmocka_unit_test(test_wrong_type),
        cmocka_unit_test(test_fail),          cmocka_unit_test(test_ints),
        cmocka_unit_test(test_doubles),       cmocka_unit_test(test_unescape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
