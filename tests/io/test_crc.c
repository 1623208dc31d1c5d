/* Checksums against a plain loop: every length around the blocks that they are made of, at every
 * alignment, continued and appended. */
#include "io_support.h"
#include "zip_builder.h"

#include <stdlib.h>

#include "io/crc.h"

enum { MOST = 5000 };

static uint8_t *random_bytes(void)
{
    uint8_t *bytes = malloc(MOST);
    for (size_t i = 0; i < MOST; i++)
        bytes[i] = (uint8_t)((uint32_t)i * i * 2654435761u >> 21);
    return bytes;
}

static void test_lengths(void **state)
{
    (void)state;
    uint8_t *bytes = random_bytes();
    for (size_t n = 0; n<2600; n += n> 300 && n < 900 ? 37 : 1)
        assert_int_equal(qfi_crc_more(0, bytes, n), slow_crc(bytes, n));
    for (size_t at = 0; at < 130; at++)
        assert_int_equal(qfi_crc_more(0, bytes + at, 4096 + at), slow_crc(bytes + at, 4096 + at));
    free(bytes);
}

static void test_parts(void **state)
{
    (void)state;
    uint8_t *bytes = random_bytes();
    const uint32_t whole = slow_crc(bytes, MOST);
    for (size_t n = 0; n <= MOST; n += 125) {
        qfi_crc appended = { 0 };
        const uint32_t first = qfi_crc_more(0, bytes, n),
                       second = qfi_crc_more(0, bytes + n, MOST - n);
        assert_int_equal(qfi_crc_more(first, bytes + n, MOST - n), whole);
        qfi_crc_append(&appended, first, n);
        qfi_crc_append(&appended, second, MOST - n);
        assert_int_equal(appended.sum, whole);
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_lengths),
                                        cmocka_unit_test(test_parts) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
