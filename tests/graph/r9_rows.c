/* R9: one row per fact. Names, classes and texts of reasons come from one table, and numbers are
 * pinned. */
#include "suite.h"

#include <ctype.h>

static const struct {
    qf_reason reason;
    const char *name, *kind;
} rows[] = {
#define QF_REASON(name, number, kind, text) { (qf_reason)number, #name, #kind },
#include <qfold/reasons.def>
#undef QF_REASON
};
#define N_ROWS (sizeof rows / sizeof *rows)

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_ROWS; i++) {
        const char *name = qf_reason_name(rows[i].reason);
        const char *kind = qf_reason_class_name(qf_reason_class_of(rows[i].reason));
        assert_string_equal(name, rows[i].name);
        assert_true(strlen(qf_reason_text(rows[i].reason)) > 10);
        for (size_t c = 0; kind[c]; c++)
            assert_int_equal(toupper((unsigned char)kind[c]), rows[i].kind[c]);
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(rows[k].reason, rows[i].reason);
        for (const char *p = name; *p; p++)
            assert_true(islower((unsigned char)*p) || *p == '_');
    }
}

static void test_no_row(void **state)
{
    (void)state;
    assert_string_equal(qf_reason_name((qf_reason)9999), "none");
    assert_int_equal(qf_reason_class_of((qf_reason)9999), QF_REASONS_NONE);
    assert_string_equal(qf_reason_class_name((qf_reason_class)99), "none");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_rows),
                                        cmocka_unit_test(test_no_row) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
