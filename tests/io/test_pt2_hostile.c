/* The .pt2 loader on damaged files and without memory: an error that names the file, never a crash
 * or a leak. */
#include "io_support.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <qfold/io.h>

#include "pt2_support.h"
#include "zip_builder.h"

/* A copy of a fixture in which single bytes are changed in place. */
typedef struct changed_file {
    uint8_t *bytes;
    size_t n;
    int fd;
} changed_file;

static changed_file change_begin(const char *name)
{
    changed_file f;
    f.bytes = file_get(fixture(name), &f.n);
    file_put(scratch("changed.pt2"), f.bytes, f.n);
    f.fd = open(scratch("changed.pt2"), O_RDWR);
    assert_true(f.fd >= 0);
    return f;
}

static void change_end(changed_file *f)
{
    close(f->fd);
    free(f->bytes);
    assert_int_equal(pool_live(), 0);
}

static void change_bytes(const changed_file *f, const void *bytes, size_t n, size_t at)
{
    assert_int_equal(pwrite(f->fd, bytes, n, (off_t)at), n);
}

/* Opens the changed file; fails the test if an error names nothing. */
static void open_changed(size_t where)
{
    qf_graph *g = NULL;
    qf_diag diag = { 0 };
    const qf_status st = qf_open(scratch("changed.pt2"), &g, &diag);
    if (st == QF_OK)
        qf_close(g);
    else if (st != diag.code || !strstr(diag.text, "changed.pt2"))
        fail_msg("change at %zu: %s: '%s'", where, qf_status_name(st), diag.text);
}

/* No prefix of a file is a model. */
static void test_truncations(void **state)
{
    (void)state;
    changed_file f = change_begin("views");
    for (size_t k = f.n; k-- > 0;) {
        qf_graph *g = NULL;
        qf_diag diag = { 0 };
        assert_int_equal(ftruncate(f.fd, (off_t)k), 0);
        const qf_status st = qf_open(scratch("changed.pt2"), &g, &diag);
        assert_int_not_equal(st, QF_OK);
        assert_int_equal(st, diag.code);
        if (!strstr(diag.text, "changed.pt2"))
            fail_msg("cut at %zu: '%s' does not name the file", k, diag.text);
    }
    change_end(&f);
}

/* Every bit in turn: a model, or an error that says where; never a crash. */
static void test_bit_flips(void **state)
{
    (void)state;
    changed_file f = change_begin("bf16");
    for (size_t k = 0; k < f.n * 8; k++) {
        const uint8_t flipped = f.bytes[k / 8] ^ (uint8_t)(1u << k % 8);
        change_bytes(&f, &flipped, 1, k / 8);
        open_changed(k);
        change_bytes(&f, &f.bytes[k / 8], 1, k / 8);
    }
    change_end(&f);
}

/* Puts a checksum where the archive says it: in the data descriptor and in the directory. */
static void change_crc(const changed_file *f, uint32_t from, uint32_t to)
{
    for (size_t i = 0; i + 4 <= f->n; i++)
        if (!memcmp(f->bytes + i, &from, 4))
            change_bytes(f, &to, 4, i);
}

/* Bytes of the program's text become punctuation, with the right checksum: this reaches the loader.
 */
static void test_text_changes(void **state)
{
    (void)state;
    changed_file f = change_begin("rotary");
    qf_graph *g = open_fixture("rotary");
    const qfi_zip_member member = *qfi_pt2_of(g)->model_member;
    const size_t begin = (size_t)member.data, size = (size_t)member.size;
    qf_close(g);
    for (size_t k = 0; k < size; k++) {
        const uint8_t was = f.bytes[begin + k];
        f.bytes[begin + k] = (uint8_t) "{}[]\":,0a"[k % 9];
        change_bytes(&f, &f.bytes[begin + k], 1, begin + k);
        change_crc(&f, member.crc, slow_crc(f.bytes + begin, size));
        open_changed(k);
        f.bytes[begin + k] = was;
        change_bytes(&f, &was, 1, begin + k);
    }
    change_end(&f);
}

/* Every allocation of a load may fail. */
static void test_no_memory(void **state)
{
    (void)state;
    for (size_t k = 1;; k++) {
        qf_graph *g = NULL;
        qf_diag diag = { 0 };
        pool_fail_at(k);
        const qf_status st = qf_open(fixture("cond"), &g, &diag);
        const bool failed = pool_failed();
        pool_fail_at(0);
        if (st == QF_OK)
            qf_close(g);
        if (!failed) {
            assert_ok(st, &diag);
            break;
        }
        assert_int_equal(st, QF_ERR_NOMEM);
    }
    assert_int_equal(pool_live(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truncations),
        cmocka_unit_test(test_bit_flips),
        cmocka_unit_test(test_text_changes),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, scratch_remove);
}
