/* Counting NaN and infinity: against a plain loop, for every dtype, length and place. */
#include "suite.h"

#include "fold/work.h"

enum { MOST = 700 };

static const struct {
    qf_dtype dtype;
    size_t size;
    uint64_t exponent;
} rows[] = {
    { QF_DT_f16, 2, 0x7c00 },
    { QF_DT_bf16, 2, 0x7f80 },
    { QF_DT_f32, 4, 0x7f800000 },
    { QF_DT_f64, 8, 0x7ff0000000000000 },
};

static uint64_t slow_count(const unsigned char *p, size_t n, size_t row)
{
    uint64_t count = 0, x = 0;
    for (size_t i = 0; i + rows[row].size <= n; i += rows[row].size) {
        memcpy(&x, p + i, rows[row].size);
        count += (x & rows[row].exponent) == rows[row].exponent;
    }
    return count;
}

/* Bytes of which most are all ones, so that exponents are, too, and halves of them. */
static void test_lengths(void **state)
{
    (void)state;
    unsigned char data[MOST];
    uint32_t x = 7;
    for (size_t i = 0; i < MOST; i++) {
        x = x * 1664525u + 1013904223u;
        data[i] = x >> 28 < 12 ? 0xff : (unsigned char)(x >> 20);
    }
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++)
        for (size_t at = 0; at < 40; at++)
            for (size_t n = 0; at + n <= MOST; n += rows[row].size)
                assert_int_equal(qfi_count_nonfinite(rows[row].dtype, data + at, n),
                                 slow_count(data + at, n, row));
}

/* More of them than a lane holds. */
static void test_many(void **state)
{
    (void)state;
    static unsigned char ones[3 << 20];
    memset(ones, 0xff, sizeof ones);
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++)
        assert_int_equal(qfi_count_nonfinite(rows[row].dtype, ones, sizeof ones),
                         sizeof ones / rows[row].size);
}

static void test_others(void **state)
{
    (void)state;
    const unsigned char ones[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
    for (int dtype = 0; dtype < 64; dtype++) {
        bool counts = false;
        for (size_t row = 0; row < sizeof rows / sizeof *rows; row++)
            counts |= rows[row].dtype == (qf_dtype)dtype;
        assert_int_equal(qfi_may_be_nonfinite((qf_dtype)dtype), counts);
        if (!counts)
            assert_int_equal(qfi_count_nonfinite((qf_dtype)dtype, ones, sizeof ones), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
