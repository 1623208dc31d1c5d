/* Layouts and the function that writes them: every kind of extent, producers that lie, cancelling,
 * failures that leave nothing. */
#include "io_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/layout.h"
#include "io/zip.h"
#include "zip_builder.h"

/* What a test's producer does. size: bytes it passes; step: at a time; st: what it returns then. */
typedef struct producer {
    size_t size, step;
    qf_status st;
    int calls;
} producer;

static uint8_t value_byte(uint32_t payload, size_t i)
{
    return (uint8_t)(payload * 31 + i * 7 + (i >> 8));
}

static qf_status produce(void *user, uint32_t new_payload, uint32_t lane, const qf_sink *sink,
                         qf_diag *diag)
{
    (void)lane;
    producer *p = user;
    qf_status st = QF_OK;
    uint8_t *window = malloc(p->step);
    p->calls++;
    for (size_t at = 0; at < p->size && st == QF_OK; at += p->step) {
        const size_t n = p->size - at < p->step ? p->size - at : p->step;
        for (size_t i = 0; i < n; i++)
            window[i] = value_byte(new_payload, at + i);
        st = qf_sink_write(sink, window, n, diag);
    }
    free(window);
    QF_TRY(st);
    return p->st == QF_OK ? QF_OK : qf_fail(diag, p->st, "the producer failed");
}

static void add(qfi_layout *layout, qfi_extent_kind kind, uint64_t size, uint64_t source,
                const void *text)
{
    qf_diag diag = { 0 };
    assert_ok(qfi_layout_add(layout, (qfi_extent){ kind, size, source, text }, &diag), &diag);
}

static qfi_file input(const void *bytes, size_t n)
{
    qfi_file file;
    qf_diag diag = { 0 };
    file_put(scratch("input"), bytes, n);
    assert_ok(qfi_file_open(scratch("input"), &file, &diag), &diag);
    return file;
}

/* Text, copy, padding, value, its CRC and an empty value, in windows of several sizes: the same
 * bytes. */
static void test_extents(void **state)
{
    (void)state;
    enum { VALUE = 600000, PAD = 300000 };
    static const size_t steps[] = { 1000, 65536, 262144, 262145, VALUE };
    qfi_file file = input("0123456789", 10);
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
        producer p = { VALUE, steps[s], QF_OK, 0 };
        const qfi_write_options options = { .produce = produce, .user = &p, .replace = true };
        qfi_layout layout = { 0 };
        qf_diag diag = { 0 };
        uint64_t written = 0;
        add(&layout, QFI_TEXT, 5, 0, "hello");
        add(&layout, QFI_COPY, 7, 2, NULL);
        add(&layout, QFI_PAD, PAD, 'Z', NULL);
        add(&layout, QFI_VALUE, VALUE, 3, NULL);
        add(&layout, QFI_VALUE, 0, 4, NULL);
        add(&layout, QFI_CRC, 4, 3, NULL);
        add(&layout, QFI_CRC, 4, 4, NULL);
        add(&layout, QFI_TEXT, 0, 0, NULL);
        assert_int_equal(layout.size, 12 + PAD + VALUE + 8);
        assert_ok(qfi_write(&layout, &file, scratch("out"), &options, &written, &diag), &diag);
        assert_int_equal(written, layout.size);
        assert_int_equal(p.calls, 1);
        size_t n;
        uint8_t *bytes = file_get(scratch("out"), &n);
        assert_int_equal(n, layout.size);
        assert_memory_equal(bytes, "hello2345678", 12);
        for (size_t i = 0; i < PAD; i++)
            assert_int_equal(bytes[12 + i], 'Z');
        for (size_t i = 0; i < VALUE; i++)
            assert_int_equal(bytes[12 + PAD + i], value_byte(3, i));
        const uint32_t crc = slow_crc(bytes + 12 + PAD, VALUE);
        assert_memory_equal(bytes + 12 + PAD + VALUE, &crc, 4);
        assert_memory_equal(bytes + 16 + PAD + VALUE, "\0\0\0\0", 4);
        free(bytes);
        qfi_layout_free(&layout);
    }
    qfi_file_close(&file);
}

/* A copy of everything moves no byte through memory where the system can copy. */
static void test_idle_copy(void **state)
{
    (void)state;
    const size_t n = 3000000;
    uint8_t *bytes = calloc(n, 1);
    uint64_t rng = 11;
    for (size_t i = 0; i < n; i += 8)
        bytes[i] = (uint8_t)random_next(&rng);
    qfi_file file = input(bytes, n);
    qfi_layout layout = { 0 };
    const qfi_write_options options = { .replace = true };
    qf_diag diag = { 0 };
    size_t size;
    add(&layout, QFI_COPY, n, 0, NULL);
    assert_ok(qfi_write(&layout, &file, scratch("out"), &options, NULL, &diag), &diag);
    uint8_t *back = file_get(scratch("out"), &size);
    assert_int_equal(size, n);
    assert_memory_equal(back, bytes, n);
    assert_true(file.read_bytes == 0 || file.read_bytes == n);
    free(back);
    free(bytes);
    qfi_layout_free(&layout);
    qfi_file_close(&file);
}

/* Writes text and a value of 1000 bytes by this producer, which must fail and leave nothing behind.
 */
static void expect_failure(producer p, qf_status code, const char *part)
{
    const qfi_write_options options = { .produce = produce, .user = &p };
    qfi_layout layout = { 0 };
    qf_diag diag = { 0 };
    uint64_t written = 77;
    file_put(scratch("keeps-the-folder"), "", 0);
    const size_t before = scratch_count();
    add(&layout, QFI_TEXT, 1, 0, "x");
    add(&layout, QFI_VALUE, 1000, 1, NULL);
    assert_fails(qfi_write(&layout, NULL, scratch("none"), &options, &written, &diag), &diag, code,
                 part);
    assert_int_equal(scratch_count(), before);
    assert_int_equal(written, 77);
    qfi_layout_free(&layout);
}

static void test_producers(void **state)
{
    (void)state;
    expect_failure((producer){ 999, 100, QF_OK, 0 }, QF_ERR_INTERNAL, "lacks 1 of its 1000 bytes");
    expect_failure((producer){ 0, 100, QF_OK, 0 }, QF_ERR_INTERNAL, "lacks 1000");
    expect_failure((producer){ 1001, 100, QF_OK, 0 }, QF_ERR_INTERNAL, "more bytes than");
    expect_failure((producer){ 1000, 100, QF_ERR_VALUE, 0 }, QF_ERR_VALUE, "the producer failed");
}

static void expect_broken(qfi_extent extent, qf_status code, const char *part)
{
    const qfi_write_options options = { .replace = true };
    qfi_layout layout = { 0 };
    qf_diag diag = { 0 };
    const size_t before = scratch_count();
    assert_ok(qfi_layout_add(&layout, extent, &diag), &diag);
    assert_fails(qfi_write(&layout, NULL, scratch("none"), &options, NULL, &diag), &diag, code,
                 part);
    assert_int_equal(scratch_count(), before);
    qfi_layout_free(&layout);
}

static void test_broken_layouts(void **state)
{
    (void)state;
    qf_diag diag = { 0 };
    qfi_layout layout = { 0 };
    expect_broken((qfi_extent){ .kind = QFI_COPY, .size = 1 }, QF_ERR_INTERNAL,
                  "input that there is not");
    expect_broken((qfi_extent){ .kind = QFI_CRC, .size = 4 }, QF_ERR_INTERNAL, "not written yet");
    expect_broken((qfi_extent){ .kind = QFI_CRC, .size = 4, .source = 99 }, QF_ERR_INTERNAL,
                  "not written yet");
    add(&layout, QFI_PAD, UINT64_MAX - 1, 0, NULL);
    assert_fails(qfi_layout_add(&layout, (qfi_extent){ .kind = QFI_PAD, .size = 2 }, &diag), &diag,
                 QF_ERR_OVERFLOW, "64 bits");
    qfi_layout_free(&layout);
    qfi_file file = input("short", 5);
    const qfi_write_options options = { .replace = true };
    const size_t before = scratch_count();
    add(&layout, QFI_COPY, 6, 0, NULL);
    diag = (qf_diag){ 0 };
    assert_fails(qfi_write(&layout, &file, scratch("none"), &options, NULL, &diag), &diag,
                 QF_ERR_TRUNCATED, "input");
    assert_int_equal(scratch_count(), before);
    qfi_layout_free(&layout);
    qfi_file_close(&file);
}

typedef struct watch {
    uint64_t last, total, stop_at;
    int calls;
} watch;

static bool on_progress(void *user, uint64_t done, uint64_t total)
{
    watch *w = user;
    assert_true(done > w->last && done <= total);
    w->last = done;
    w->total = total;
    w->calls++;
    return done < w->stop_at;
}

static void test_progress(void **state)
{
    (void)state;
    for (int cancel = 0; cancel < 2; cancel++) {
        producer p = { 2000000, 50000, QF_OK, 0 };
        watch w = { .stop_at = cancel ? 1000000 : UINT64_MAX };
        const qfi_write_options options = { .produce = produce,
                                            .user = &p,
                                            .progress = on_progress,
                                            .progress_user = &w,
                                            .replace = true };
        qfi_layout layout = { 0 };
        qf_diag diag = { 0 };
        const size_t before = scratch_count();
        add(&layout, QFI_VALUE, p.size, 0, NULL);
        const qf_status st = qfi_write(&layout, NULL, scratch("progress"), &options, NULL, &diag);
        if (cancel) {
            assert_fails(st, &diag, QF_ERR_CANCELLED, "progress: cancelled");
            assert_int_equal(scratch_count(), before);
            assert_true(w.last >= 1000000 && w.last < 1400000);
        } else {
            assert_ok(st, &diag);
            assert_int_equal(w.last, p.size);
            assert_int_equal(w.total, p.size);
            assert_true(w.calls >= 6);
            remove(scratch("progress"));
        }
        qfi_layout_free(&layout);
    }
}

static void test_exists(void **state)
{
    (void)state;
    const qfi_write_options options = { .replace = false };
    qfi_layout layout = { 0 };
    qf_diag diag = { 0 };
    file_put(scratch("taken"), "taken", 5);
    add(&layout, QFI_TEXT, 1, 0, "x");
    assert_fails(qfi_write(&layout, NULL, scratch("taken"), &options, NULL, &diag), &diag,
                 QF_ERR_EXISTS, "taken");
    qfi_layout_free(&layout);
}

/* Header of a text member as torch writes it, byte for byte. */
static void test_zip_bytes(void **state)
{
    (void)state;
    static const char expected[] =
        "PK\3\4\0\0\x08\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\3\0\x1f\0a/x"
        "FB\x1b\0"
        "ZZZZZZZZZZZZZZZZZZZZZZZZZZZ"
        "hello"
        "PK\7\x08"
        "\x86\xa6\x10\x36"
        "\5\0\0\0\5\0\0\0";
    const qfi_write_options options = { .replace = true };
    qfi_layout layout = { 0 };
    qf_diag diag = { 0 };
    size_t n;
    qfi_zip_writer *w = qfi_zip_writer_new(&layout);
    assert_non_null(w);
    assert_ok(qfi_zip_put_text(w, (qf_str){ "a/x", 3 }, (qf_str){ "hello", 5 }, &diag), &diag);
    assert_ok(qfi_zip_finish(w, &diag), &diag);
    assert_ok(qfi_write(&layout, NULL, scratch("zip"), &options, NULL, &diag), &diag);
    uint8_t *bytes = file_get(scratch("zip"), &n);
    assert_int_equal(n, 64 + 5 + 16 + 46 + 3 + 56 + 20 + 22);
    assert_memory_equal(bytes, expected, sizeof expected - 1);
    free(bytes);
    qfi_layout_free(&layout);
    w = qfi_zip_writer_new(&layout);
    assert_fails(qfi_zip_put_text(w, (qf_str){ "", 0 }, (qf_str){ "", 0 }, &diag), &diag,
                 QF_ERR_ZIP, "a name of 0 bytes");
    diag = (qf_diag){ 0 };
    assert_fails(qfi_zip_put_value(w, (qf_str){ "v", 1 }, 0, UINT64_MAX - 10, &diag), &diag,
                 QF_ERR_OVERFLOW, "64 bits");
    qfi_layout_free(&layout);
}

static qf_status build_archive(qfi_layout *layout, qf_diag *diag)
{
    qfi_zip_writer *w = qfi_zip_writer_new(layout);
    if (!w)
        QF_FAIL(diag, QF_ERR_NOMEM, "out of memory for the writer");
    for (int i = 0; i < 40; i++) {
        QF_TRY(qfi_zip_put_text(w, (qf_str){ "some/text", 9 }, (qf_str){ "hello", 5 }, diag));
        QF_TRY(qfi_zip_put_value(w, (qf_str){ "some/value", 10 }, 0, 1000, diag));
    }
    return qfi_zip_finish(w, diag);
}

static void test_no_memory(void **state)
{
    (void)state;
    file_put(scratch("keeps-the-folder"), "", 0);
    const size_t before = scratch_count();
    qf_status st = QF_ERR_NOMEM;
    for (size_t k = 1; st != QF_OK; k++) {
        producer p = { 1000, 100, QF_OK, 0 };
        const qfi_write_options options = { .produce = produce, .user = &p };
        qfi_layout layout = { 0 };
        qf_diag diag = { 0 };
        pool_fail_at(k);
        st = build_archive(&layout, &diag);
        if (st == QF_OK)
            st = qfi_write(&layout, NULL, scratch("memory"), &options, NULL, &diag);
        assert_int_equal(pool_failed(), st != QF_OK);
        if (st != QF_OK)
            assert_fails(st, &diag, QF_ERR_NOMEM, "out of memory");
        assert_int_equal(scratch_count(), before + (st == QF_OK));
        qfi_layout_free(&layout);
        assert_int_equal(pool_live(), 0);
        pool_fail_at(0);
        assert_true(k < 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_extents),   cmocka_unit_test(test_idle_copy),
        cmocka_unit_test(test_producers), cmocka_unit_test(test_broken_layouts),
        cmocka_unit_test(test_progress),  cmocka_unit_test(test_exists),
        cmocka_unit_test(test_zip_bytes), cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, scratch_remove);
}
