/* The JSON writer: strings and numbers spelled as they must be, growing text, allocation failure.
 */
#include "io_support.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/json.h"

static void test_quote(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t n;
        const char *json;
    } rows[] = {
        { "", 0, "\"\"" },
        { "a\"b\\c", 5, "\"a\\\"b\\\\c\"" },
        { "\0\x1f\n\t\r\b\f\x7f", 8, "\"\\u0000\\u001f\\n\\t\\r\\b\\f\x7f\"" },
        { "\xc3\xa9", 2, "\"\xc3\xa9\"" },
        { "x\xff\xc3", 3, "\"x\xef\xbf\xbd\xef\xbf\xbd\"" },
        { "/", 1, "\"/\"" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        qfi_pool pool = { 0 };
        qfi_text t = { .pool = &pool };
        qf_diag diag = { 0 };
        qfi_text_quote(&t, rows[i].text, rows[i].n);
        assert_false(t.failed);
        assert_string_equal(t.p, rows[i].json);
        qfi_json j = { .text = t.p, .n = t.n, .name = "written", .diag = &diag };
        assert_true(qfi_json_skip(&j, NULL) && qfi_json_done(&j));
        qfi_pool_free(&pool);
    }
}

static void test_write_doubles(void **state)
{
    (void)state;
    static const struct {
        double v;
        const char *text;
    } rows[] = {
        { 0, "0.0" },
        { -0.0, "-0.0" },
        { 1, "1.0" },
        { 0.1, "0.1" },
        { 1e15, "1000000000000000.0" },
        { 1e16, "1e+16" },
        { 0.0001, "0.0001" },
        { 0.00001, "1e-05" },
        { 1.5e-7, "1.5e-07" },
        { 123456.789, "123456.789" },
        { 1e22, "1e+22" },
        { -3.3895313892515355e+38, "-3.3895313892515355e+38" },
        { 5e-324, "5e-324" },
        { DBL_MAX, "1.7976931348623157e+308" },
        { 1234567890123456.0, "1234567890123456.0" },
        { INFINITY, "\"Infinity\"" },
        { -INFINITY, "\"-Infinity\"" },
        { (double)NAN, "\"NaN\"" },
        { 100, "100.0" },
        { 1e100, "1e+100" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        qfi_pool pool = { 0 };
        qfi_text t = { .pool = &pool };
        qfi_text_double(&t, rows[i].v);
        assert_string_equal(t.p, rows[i].text);
        qfi_pool_free(&pool);
    }
}

static void test_text_grows(void **state)
{
    (void)state;
    qfi_pool pool = { 0 };
    qfi_text t = { .pool = &pool };
    for (int i = 0; i < 3000; i++)
        qfi_text_format(&t, "%d,", i);
    qfi_text_str(&t, "end");
    assert_false(t.failed);
    assert_int_equal(t.n, strlen(t.p));
    const char *p = t.p;
    for (int i = 0; i < 3000; i++) {
        assert_int_equal(strtol(p, NULL, 10), i);
        p = strchr(p, ',') + 1;
    }
    assert_string_equal(p, "end");
    qfi_pool_free(&pool);
}

static void test_no_memory(void **state)
{
    (void)state;
    bool failed = true;
    for (size_t k = 1; failed; k++) {
        qfi_pool pool = { 0 };
        qfi_text t = { .pool = &pool };
        qf_str out;
        pool_fail_at(k);
        for (int i = 0; i < 2000; i++)
            qfi_text_quote(&t, "0123456789\n", 11);
        qfi_text_format(&t, "%d", 1);
        qfi_text_double(&t, 0.5);
        const bool unescaped = qfi_json_unescape(&pool, (qf_str){ "\\n", 2 }, &out);
        failed = pool_failed();
        assert_int_equal(failed, t.failed || !unescaped);
        if (!failed)
            assert_int_equal(t.n, 2000 * 14 + 4);
        qfi_pool_free(&pool);
        assert_int_equal(pool_live(), 0);
        pool_fail_at(0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quote),
        cmocka_unit_test(test_write_doubles),
        cmocka_unit_test(test_text_grows),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
