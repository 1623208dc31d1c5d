/* Input and temporary files: what can be opened, exact reads, the target's name, and that nothing
 * stays behind a failure. */
#include "check.h"
#include "io_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/file.h"

static qfi_file input(const char *name, const void *bytes, size_t n)
{
    qfi_file file;
    qf_diag diag = { 0 };
    file_put(scratch(name), bytes, n);
    assert_ok(qfi_file_open(scratch(name), &file, &diag), &diag);
    return file;
}

static void test_read(void **state)
{
    (void)state;
    uint8_t bytes[5000], back[5000];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 7 >> 3);
    qfi_file file = input("read", bytes, sizeof bytes);
    qf_diag diag = { 0 };
    assert_int_equal(file.size, sizeof bytes);
    assert_string_equal(file.path, scratch("read"));
    assert_ok(qfi_file_read(&file, 0, back, sizeof back, &diag), &diag);
    assert_memory_equal(bytes, back, sizeof back);
    assert_ok(qfi_file_read(&file, 4999, back, 1, &diag), &diag);
    assert_int_equal(back[0], bytes[4999]);
    assert_ok(qfi_file_read(&file, 5000, NULL, 0, &diag), &diag);
    assert_int_equal(file.read_bytes, 5001);
    assert_fails(qfi_file_read(&file, 4999, back, 2, &diag), &diag, QF_ERR_TRUNCATED, "4999");
    diag = (qf_diag){ 0 };
    assert_fails(qfi_file_read(&file, UINT64_MAX, back, 2, &diag), &diag, QF_ERR_TRUNCATED,
                 "beyond the end");
    qfi_file_close(&file);
    qfi_file_close(&file); /* closing twice is harmless */
}

/* Short reads one behind the other: right bytes, few of them read twice, nothing read for those
 * that stand apart. */
static void test_along(void **state)
{
    (void)state;
    enum { SIZE = 200000, SHORT = 24 };
    static uint8_t bytes[SIZE];
    uint8_t back[2 * SHORT];
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (uint8_t)(i * 13 >> 4);
    qfi_file file = input("along", bytes, SIZE);
    qf_diag diag = { 0 };
    for (uint64_t at = 0; at + SHORT <= SIZE; at += 8000) {
        assert_ok(qfi_file_read_along(&file, at + 4000, back, SHORT, &diag), &diag);
        assert_memory_equal(back, bytes + at + 4000, SHORT);
    }
    assert_int_equal(file.read_bytes, SIZE / 8000 * SHORT);
    file.read_bytes = 0;
    for (uint64_t at = SIZE - 300 * 150; at + SHORT <= SIZE; at += 150) {
        assert_ok(qfi_file_read_along(&file, at, back, SHORT, &diag), &diag);
        assert_memory_equal(back, bytes + at, SHORT);
    }
    assert_true(file.read_bytes < SIZE / 3);
    assert_ok(qfi_file_read_along(&file, SIZE - 1, back, 1, &diag), &diag);
    assert_int_equal(back[0], bytes[SIZE - 1]);
    assert_ok(qfi_file_read_along(&file, SIZE, NULL, 0, &diag), &diag);
    assert_fails(qfi_file_read_along(&file, SIZE - 1, back, 2, &diag), &diag, QF_ERR_TRUNCATED,
                 "beyond the end");
    diag = (qf_diag){ 0 };
    assert_int_equal(truncate(file.path, 1000), 0);
    assert_ok(qfi_file_read_along(&file, 0, back, SHORT, &diag), &diag);
    assert_ok(qfi_file_read_along(&file, SHORT, back, SHORT, &diag), &diag);
    assert_fails(qfi_file_read_along(&file, 990, back, SHORT, &diag), &diag, QF_ERR_TRUNCATED,
                 "ends at byte 1000");
    qfi_file_close(&file);
}

static void test_shrunk(void **state)
{
    (void)state;
    uint8_t bytes[100] = { 0 };
    qfi_file file = input("shrunk", bytes, sizeof bytes);
    qf_diag diag = { 0 };
    assert_int_equal(truncate(file.path, 60), 0);
    assert_fails(qfi_file_read(&file, 50, bytes, 50, &diag), &diag, QF_ERR_TRUNCATED,
                 "ends at byte 60");
    assert_int_equal(diag.at, 60);
    diag = (qf_diag){ 0 };
    qfi_temp temp;
    assert_ok(qfi_temp_open(scratch("shrunk.out"), false, NULL, &temp, &diag), &diag);
    assert_fails(qfi_temp_copy(&temp, &file, 0, 100, &diag), &diag, QF_ERR_TRUNCATED,
                 "ends at byte 60");
    qfi_temp_discard(&temp);
    qfi_file_close(&file);
}

static void test_unreadable(void **state)
{
    (void)state;
    qfi_file file;
    qf_diag diag = { 0 };
    assert_fails(qfi_file_open(scratch("missing"), &file, &diag), &diag, QF_ERR_OPEN,
                 "missing: No such file");
    assert_int_equal(qf_status_exit_code(QF_ERR_OPEN), 4);
    diag = (qf_diag){ 0 };
    assert_fails(qfi_file_open("/tmp", &file, &diag), &diag, QF_ERR_OPEN, "is a directory");
    diag = (qf_diag){ 0 };
    assert_int_equal(mkfifo(scratch("fifo"), 0600), 0);
    assert_fails(qfi_file_open(scratch("fifo"), &file, &diag), &diag, QF_ERR_OPEN, "is a pipe");
    diag = (qf_diag){ 0 };
    assert_fails(qfi_file_open("/dev/null", &file, &diag), &diag, QF_ERR_OPEN, "is a device");
    diag = (qf_diag){ 0 };
    assert_fails(qfi_file_open("", &file, &diag), &diag, QF_ERR_OPEN, "No such file");
    unlink(scratch("fifo"));
}

static qf_status write_hello(const char *target, bool replace, bool sync, const qfi_file *like,
                             qf_diag *diag)
{
    qfi_temp temp;
    *diag = (qf_diag){ 0 };
    QF_TRY(qfi_temp_open(target, replace, like, &temp, diag));
    assert_int_equal(temp.at, 0);
    assert_ok(qfi_temp_write(&temp, "hello", 5, diag), diag);
    assert_ok(qfi_temp_write(&temp, NULL, 0, diag), diag);
    assert_int_equal(temp.at, 5);
    const qf_status st = qfi_temp_finish(&temp, sync, diag);
    assert_int_equal(temp.written_bytes, 5);
    assert_null(temp.target);
    qfi_temp_discard(&temp);
    return st;
}

static void assert_content(const char *path, const char *text)
{
    size_t n;
    uint8_t *bytes = file_get(path, &n);
    assert_int_equal(n, strlen(text));
    assert_memory_equal(bytes, text, n);
    free(bytes);
}

static void test_target(void **state)
{
    (void)state;
    const char *target = scratch("target");
    qf_diag diag;
    assert_ok(write_hello(target, false, false, NULL, &diag), &diag);
    assert_content(target, "hello");
    const size_t before = scratch_count();
    assert_fails(write_hello(target, false, false, NULL, &diag), &diag, QF_ERR_EXISTS,
                 "target: exists already");
    file_put(target, "old", 3);
    assert_ok(write_hello(target, true, true, NULL, &diag), &diag);
    assert_content(target, "hello");
    assert_int_equal(scratch_count(), before);
}

/* The name can be taken between opening and finishing. */
static void test_race(void **state)
{
    (void)state;
    const char *target = scratch("race");
    qfi_temp temp;
    qf_diag diag = { 0 };
    assert_ok(qfi_temp_open(target, false, NULL, &temp, &diag), &diag);
    assert_ok(qfi_temp_write(&temp, "mine", 4, &diag), &diag);
    file_put(target, "theirs", 6);
    const size_t with_temp = scratch_count(), named = temp.path != NULL;
    assert_fails(qfi_temp_finish(&temp, false, &diag), &diag, QF_ERR_EXISTS, "race");
    assert_content(target, "theirs");
    assert_int_equal(scratch_count(), with_temp - named);
}

static void test_unseen_until_finished(void **state)
{
    (void)state;
    const char *target = scratch("unseen");
    qfi_temp temp;
    struct stat about;
    qf_diag diag = { 0 };
    const size_t before = scratch_count();
    assert_ok(qfi_temp_open(target, false, NULL, &temp, &diag), &diag);
    assert_int_equal(scratch_count(), before + (temp.path != NULL));
    assert_int_not_equal(stat(target, &about), 0);
    qfi_temp_discard(&temp);
    qfi_temp_discard(&temp);
    assert_int_equal(scratch_count(), before);
}

static void test_bad_targets(void **state)
{
    (void)state;
    qf_diag diag;
    char name[400];
    assert_fails(write_hello(scratch("no/folder"), false, false, NULL, &diag), &diag, QF_ERR_OPEN,
                 "no/folder");
    assert_fails(write_hello("", false, false, NULL, &diag), &diag, QF_ERR_ARG, "no name");
    assert_fails(write_hello("/tmp", true, false, NULL, &diag), &diag, QF_ERR_WRITE,
                 "is a directory");
    assert_fails(write_hello("/dev/null", true, false, NULL, &diag), &diag, QF_ERR_WRITE, "device");
    const size_t before = scratch_count();
    memset(name, 'n', 300);
    name[300] = 0;
    assert_fails(write_hello(scratch(name), false, false, NULL, &diag), &diag, QF_ERR_OPEN, "nnn");
    assert_int_equal(scratch_count(), before);
    /* The longest name that the system takes works, though the temporary one is made beside it. */
    name[255] = 0;
    assert_ok(write_hello(scratch(name), false, false, NULL, &diag), &diag);
}

/* A link that leads nowhere exists too, and replacing a link leaves what it names alone. */
static void test_links(void **state)
{
    (void)state;
    struct stat about;
    qf_diag diag;
    assert_int_equal(symlink("nowhere", scratch("link")), 0);
    assert_fails(write_hello(scratch("link"), false, false, NULL, &diag), &diag, QF_ERR_EXISTS,
                 "link");
    file_put(scratch("named"), "named", 5);
    unlink(scratch("link"));
    assert_int_equal(symlink("named", scratch("link")), 0);
    assert_ok(write_hello(scratch("link"), true, false, NULL, &diag), &diag);
    assert_content(scratch("named"), "named");
    assert_int_equal(lstat(scratch("link"), &about), 0);
    assert_true(S_ISREG(about.st_mode));
}

static unsigned mode_of(const char *path)
{
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    return about.st_mode & 0777;
}

static void test_mode(void **state)
{
    (void)state;
    qf_diag diag;
    qfi_file like = input("like", "x", 1);
    const mode_t old = umask(027);
    assert_int_equal(chmod(like.path, 0664), 0);
    assert_ok(write_hello(scratch("like.out"), false, false, &like, &diag), &diag);
    assert_int_equal(mode_of(scratch("like.out")), 0640);
    assert_int_equal(chmod(like.path, 0444), 0);
    assert_ok(write_hello(scratch("like.out"), true, false, &like, &diag), &diag);
    assert_int_equal(mode_of(scratch("like.out")), 0440);
    assert_ok(write_hello(scratch("unlike.out"), false, false, NULL, &diag), &diag);
    assert_int_equal(mode_of(scratch("unlike.out")), 0640);
    umask(old);
    qfi_file_close(&like);
}

/* Output = input: the open input keeps its bytes while the new file takes its name. */
static void test_over_input(void **state)
{
    (void)state;
    qf_diag diag;
    char back[5];
    qfi_file file = input("inplace", "bytes", 5);
    assert_fails(write_hello(scratch("inplace"), false, false, &file, &diag), &diag, QF_ERR_EXISTS,
                 "inplace");
    assert_ok(write_hello(scratch("inplace"), true, false, &file, &diag), &diag);
    assert_content(scratch("inplace"), "hello");
    assert_ok(qfi_file_read(&file, 0, back, 5, &diag), &diag);
    assert_memory_equal(back, "bytes", 5);
    qfi_file_close(&file);
}

static void test_copy(void **state)
{
    (void)state;
    const size_t n = 700001;
    uint8_t *bytes = malloc(n);
    uint64_t rng = 5;
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)random_next(&rng);
    qfi_file file = input("copy", bytes, n);
    qfi_temp temp;
    qf_diag diag = { 0 };
    assert_ok(qfi_temp_open(scratch("copy.out"), false, NULL, &temp, &diag), &diag);
    assert_ok(qfi_temp_write(&temp, "head", 4, &diag), &diag);
    assert_ok(qfi_temp_copy(&temp, &file, 1, n - 1, &diag), &diag);
    assert_ok(qfi_temp_copy(&temp, &file, 0, 0, &diag), &diag);
    assert_ok(qfi_temp_write(&temp, "tail", 4, &diag), &diag);
    assert_int_equal(temp.at, n + 7);
    assert_ok(qfi_temp_finish(&temp, false, &diag), &diag);
    size_t size;
    uint8_t *back = file_get(scratch("copy.out"), &size);
    assert_int_equal(size, n + 7);
    assert_memory_equal(back, "head", 4);
    assert_memory_equal(back + 4, bytes + 1, n - 1);
    assert_memory_equal(back + 3 + n, "tail", 4);
    assert_ok(qfi_temp_open(scratch("copy.out"), true, NULL, &temp, &diag), &diag);
    assert_fails(qfi_temp_copy(&temp, &file, 1, n, &diag), &diag, QF_ERR_TRUNCATED, "copy: ");
    qfi_temp_discard(&temp);
    qfi_file_close(&file);
    free(back);
    free(bytes);
}

/* A file system that copies through no kernel call: /proc gives sizes of 0, so a real one stands
 * in, by a device boundary. */
static void test_copy_between_devices(void **state)
{
    (void)state;
    char target[] = "/dev/shm/qfold-io-XXXXXX";
    struct stat here, there;
    qf_diag diag = { 0 };
    qfi_file file = input("devices", "across", 6);
    qfi_temp temp;
    if (stat("/dev/shm", &there) || stat(file.path, &here) || here.st_dev == there.st_dev ||
        !mkdtemp(target)) {
        qfi_file_close(&file);
        check_skipped("/dev/shm is no other file system that can be written");
        skip();
    }
    char path[64];
    snprintf(path, sizeof path, "%s/x", target);
    assert_ok(qfi_temp_open(path, false, &file, &temp, &diag), &diag);
    assert_ok(qfi_temp_copy(&temp, &file, 0, 6, &diag), &diag);
    assert_ok(qfi_temp_finish(&temp, true, &diag), &diag);
    assert_content(path, "across");
    unlink(path);
    rmdir(target);
    qfi_file_close(&file);
}

/* A full disk, as a device that always is one. */
static void test_write_error(void **state)
{
    (void)state;
    qf_diag diag = { 0 };
    qfi_temp temp;
    assert_ok(qfi_temp_open(scratch("full"), false, NULL, &temp, &diag), &diag);
    FILE *full = fopen("/dev/full", "wb");
    if (!full) {
        qfi_temp_discard(&temp);
        check_skipped("there is no /dev/full");
        skip();
    }
    assert_int_not_equal(dup2(fileno(full), temp.fd), -1);
    fclose(full);
    assert_fails(qfi_temp_write(&temp, "x", 1, &diag), &diag, QF_ERR_WRITE, "No space left");
    qfi_temp_discard(&temp);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_along),
        cmocka_unit_test(test_shrunk),
        cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_target),
        cmocka_unit_test(test_race),
        cmocka_unit_test(test_unseen_until_finished),
        cmocka_unit_test(test_bad_targets),
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_mode),
        cmocka_unit_test(test_over_input),
        cmocka_unit_test(test_copy),
        cmocka_unit_test(test_copy_between_devices),
        cmocka_unit_test(test_write_error),
    };
    return check_exit(cmocka_run_group_tests(tests, NULL, scratch_remove));
}
