/* Values of options: what is read, what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/parse.h"

static void sizes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
    } good[] = {
        { "0", 0 },
        { "1", 1 },
        { "007", 7 },
        { "4K", 4096 },
        { "128M", 134217728 },
        { "3G", 3221225472 },
        { "1T", 1099511627776 },
        { "18446744073709551615", UINT64_MAX },
        { "18014398509481983K", UINT64_MAX - 1023 },
    };
    static const char *const bad[] = { "",
                                       "K",
                                       "-1",
                                       "+1",
                                       " 1",
                                       "1 ",
                                       "1KB",
                                       "1k",
                                       "0x10",
                                       "1.5",
                                       "1e3",
                                       "18446744073709551616",
                                       "18014398509481984K",
                                       "1MM",
                                       "inf" };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t value = 99;
        assert_null(qfi_parse_size(&value, good[i].text));
        assert_int_equal(value, good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t value = 99;
        assert_non_null(qfi_parse_size(&value, bad[i]));
        assert_int_equal(value, 99);
    }
}

static void growths(void **state)
{
    (void)state;
    qfi_growth growth;
    assert_null(qfi_parse_growth(&growth, "none"));
    assert_int_equal(growth.bytes, QF_GROWTH_NONE);
    assert_null(qfi_parse_growth(&growth, "0"));
    assert_int_equal(growth.bytes, 0);
    assert_false(growth.is_percent);
    assert_null(qfi_parse_growth(&growth, "2M"));
    assert_int_equal(growth.bytes, 2097152);
    assert_null(qfi_parse_growth(&growth, "2.5%"));
    assert_true(growth.is_percent);
    assert_true(growth.percent > 2.4999 && growth.percent < 2.5001);

    static const char *const bad[] = { "",
                                       "lots",
                                       "%",
                                       "-1%",
                                       "1%%",
                                       "1.2.3%",
                                       ".%",
                                       "None",
                                       "1e9%",
                                       "0x1%",
                                       "18446744073709551615",
                                       "18446744073709551614" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_non_null(qfi_parse_growth(&growth, bad[i]));
}

static void counts(void **state)
{
    (void)state;
    uint32_t n = 7;
    assert_null(qfi_parse_count(&n, "0"));
    assert_int_equal(n, 0);
    assert_null(qfi_parse_count(&n, "1024"));
    assert_int_equal(n, 1024);
    static const char *const bad[] = { "", "two", "1K", "-1", "1025", "4294967296", "1 " };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_non_null(qfi_parse_count(&n, bad[i]));
    assert_int_equal(n, 1024);
}

static void lists(void **state)
{
    (void)state;
    qfi_list list = { 0 };
    const char *const text[] = { "a*", "", "b" };
    for (size_t i = 0; i < 3; i++)
        assert_null(qfi_parse_list(&list, text[i]));
    assert_int_equal(list.n, 3);
    for (size_t i = 0; i < 3; i++)
        assert_ptr_equal(list.item[i], text[i]);
    assert_null(list.item[3]);
    free(list.item);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(sizes), cmocka_unit_test(growths),
                                        cmocka_unit_test(counts), cmocka_unit_test(lists) };
    return cmocka_run_group_tests_name("cli parse", tests, NULL, NULL);
}
