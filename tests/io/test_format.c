/* Recognising files: what is a model, and what the message says about what is none. */
#include "io_support.h"

#include <string.h>

#include "io/format.h"

static const qfi_format *find(const char *path, qf_diag *diag)
{
    qfi_file file;
    *diag = (qf_diag){ 0 };
    assert_ok(qfi_file_open(path, &file, diag), diag);
    const qfi_format *format = qfi_format_find(&file, diag);
    qfi_file_close(&file);
    return format;
}

static void test_known(void **state)
{
    (void)state;
    qf_diag diag;
    const qfi_format *format = find(FIXTURES "/views.pt2", &diag);
    assert_non_null(format);
    assert_string_equal(format->name, "pt2");
    assert_int_equal(diag.code, QF_OK);
}

static void test_unknown(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        const char *part;
    } rows[] = {
        { "", 0, "an empty file" },
        { "hello\n", 6, "like text" },
        { "{\"a\": 1}", 8, "like text" },
        { "\x1f\x8b\x08\0", 4, "gzip data: unpack it first" },
        { "\x28\xb5\x2f\xfd", 4, "zstd data" },
        { "\xfd"
          "7zXZ\0",
          6, "xz data" },
        { "\x80\2}q\0.", 6, "a Python pickle" },
        { "version https://git-lfs.github.com/spec/v1\n", 43, "a Git LFS pointer" },
        { "GGUF\3\0\0\0", 8, "a GGUF file" },
        { "\x40\0\0\0\0\0\0\0{\"a\":", 13, "a safetensors file" },
        { "\0\1\2\3", 4, "other binary data" },
        { "\x7f"
          "ELF\2",
          5, "a program" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        qf_diag diag;
        file_put(scratch("unknown"), rows[i].bytes, rows[i].n);
        assert_null(find(scratch("unknown"), &diag));
        assert_fails(diag.code, &diag, QF_ERR_FORMAT,
                     "unknown: not a known format: it looks like ");
        assert_fails(diag.code, &diag, QF_ERR_FORMAT, rows[i].part);
    }
}

/* A file that cannot be read is told from one that is unknown. */
static void test_unreadable(void **state)
{
    (void)state;
    qfi_file file;
    qf_diag diag = { 0 };
    file_put(scratch("shrinks"), "0123456789", 10);
    assert_ok(qfi_file_open(scratch("shrinks"), &file, &diag), &diag);
    file_put(scratch("shrinks"), "0", 1);
    assert_null(qfi_format_find(&file, &diag));
    assert_fails(diag.code, &diag, QF_ERR_TRUNCATED, "shrinks: became shorter");
    qfi_file_close(&file);
}

/* Every row can be named, found and loaded. */
static void test_rows(void **state)
{
    (void)state;
    size_t n = 0;
    for (; qfi_formats[n]; n++) {
        const qfi_format *f = qfi_formats[n];
        assert_true(f->name && *f->name && f->suffixes && f->sniff && f->load);
        for (size_t k = 0; k < n; k++)
            assert_string_not_equal(f->name, qfi_formats[k]->name);
    }
    assert_true(n > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_rows),
    };
    return cmocka_run_group_tests(tests, NULL, scratch_remove);
}
