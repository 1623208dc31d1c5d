/* Helpers of the tests of files. */
#include "io_support.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/pool.h"

static char folder[64];

const char *scratch(const char *name)
{
    static char paths[16][512];
    static unsigned turn;
    if (!folder[0]) {
        strcpy(folder, "/tmp/qfold-io-XXXXXX");
        assert_non_null(mkdtemp(folder));
    }
    char *path = paths[turn++ % 16];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

size_t scratch_count(void)
{
    size_t n = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d));)
        n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
    closedir(d);
    return n;
}

int scratch_remove(void **state)
{
    (void)state;
    DIR *d = folder[0] ? opendir(folder) : NULL;
    if (!d)
        return 0;
    for (const struct dirent *e; (e = readdir(d));) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        const char *path = scratch(e->d_name);
        if (unlink(path))
            rmdir(path);
    }
    closedir(d);
    return rmdir(folder);
}

/* In place: some file systems flush a file that was emptied first, which is slow a thousand times.
 */
void file_put(const char *path, const void *bytes, size_t n)
{
    const int fd = open(path, O_WRONLY | O_CREAT, 0666);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), n);
    assert_int_equal(ftruncate(fd, (off_t)n), 0);
    assert_int_equal(close(fd), 0);
}

uint8_t *file_get(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    *n = (size_t)ftell(f);
    rewind(f);
    uint8_t *bytes = malloc(*n + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *n, f), *n);
    fclose(f);
    return bytes;
}

uint64_t random_next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

static size_t countdown, live;
static bool failed;

static void *counted_alloc(size_t size)
{
    if (countdown && !--countdown) {
        failed = true;
        return NULL;
    }
    live++;
    return calloc(1, size);
}

static void counted_free(void *p)
{
    live -= p != NULL;
    free(p);
}

void pool_fail_at(size_t k)
{
    countdown = k;
    failed = false;
    live = 0;
    qfi_pool_hook(k ? counted_alloc : NULL, k ? counted_free : NULL);
}

bool pool_failed(void)
{
    return failed;
}

size_t pool_live(void)
{
    return live;
}

void assert_ok(qf_status st, const qf_diag *diag)
{
    if (st != QF_OK)
        fail_msg("%s: %s", qf_status_name(st), diag->text);
}

void assert_fails(qf_status st, const qf_diag *diag, qf_status code, const char *part)
{
    if (st != code || diag->code != code || !strstr(diag->text, part))
        fail_msg("expected %s and '%s', got %s (%s): %s", qf_status_name(code), part,
                 qf_status_name(st), qf_status_name(diag->code), diag->text);
}
