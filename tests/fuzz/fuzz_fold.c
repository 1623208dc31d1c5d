/* The whole way: a file that can be folded is equal to its folded self by what both compute, and
 * folding that again changes no byte. */
#include <qfold/qfold.h>

#include "fuzz_archive.h"

static char folder[] = "/tmp/qfold-fuzz-XXXXXX";
static char out[64], again[64];

static void remove_files(void)
{
    unlink(out);
    unlink(again);
    rmdir(folder);
}

static void make_folder(void)
{
    if (*out)
        return;
    FUZZ_CHECK(mkdtemp(folder));
    snprintf(out, sizeof out, "%s/out", folder);
    snprintf(again, sizeof again, "%s/again", folder);
    atexit(remove_files);
}

static bool same_bytes(const char *a, const char *b)
{
    FILE *x = fopen(a, "rb"), *y = fopen(b, "rb");
    FUZZ_CHECK(x && y);
    int c, d;
    do {
        c = getc(x);
        d = getc(y);
    } while (c == d && c != EOF);
    fclose(x);
    fclose(y);
    return c == d;
}

static qf_status fold(const char *from, const char *to)
{
    const qf_fold_options options = { .struct_size = sizeof options,
                                      .max_growth = QF_GROWTH_DEFAULT,
                                      .memory = 1 << 20,
                                      .threads = 1,
                                      .force = true };
    qf_diag diag = { 0 };
    const qf_status st = qf_fold_file(from, to, &options, NULL, &diag);
    FUZZ_CHECK(st == diag.code && (st == QF_OK || *diag.text));
    return st;
}

/* verify may refuse what the fold had no need to look at. */
static bool differ(const char *a, const char *b)
{
    qf_verified compared;
    qf_diag diag = { 0 };
    return qf_verify_files(a, b, &compared, &diag) == QF_ERR_DIFFERS;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char path[32];
    make_folder();
    const int fd = fuzz_archive(data, n, path);
    if (fold(path, out) == QF_OK) {
        FUZZ_CHECK(!differ(path, out));
        FUZZ_CHECK(fold(out, again) == QF_OK && same_bytes(out, again));
    }
    close(fd);
    return 0;
}
