/* Runs a fuzz target without a fuzzer: on every file named or found in the folders named, and on
 * mutations of each that are the same every time. A crash says which by the file printed last;
 * QFOLD_REPLAY_MUTATIONS sets how many. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

#define MUTATIONS 300
#define LARGEST ((size_t)1 << 20)

static uint64_t rng;
static size_t n_runs;

static size_t pick(size_t n)
{
    rng ^= rng >> 12;
    rng ^= rng << 25;
    rng ^= rng >> 27;
    return n ? (size_t)(rng * UINT64_C(2685821657736338717) >> 11) % n : 0;
}

/* An exact copy, so that the sanitizers see a read past the end. */
static void run(const uint8_t *data, size_t n)
{
    uint8_t *copy = malloc(n ? n : 1);
    if (!copy)
        abort();
    memcpy(copy, data, n);
    LLVMFuzzerTestOneInput(copy, n);
    free(copy);
    n_runs++;
}

/* One change in place; data has room for one byte more. The new size. */
static size_t mutate(uint8_t *data, size_t n)
{
    static const uint8_t interesting[] = { 0,   1,   0x7f, 0x80, 0xff, '"', '\\', '{', '}',
                                           '[', ']', ',',  ':',  '-',  '0', '9',  '.', 'e' };
    const size_t at = pick(n);
    switch (n ? pick(6) : 4) {
    case 0:
        data[at] ^= (uint8_t)(1u << pick(8));
        return n;
    case 1:
        data[at] = interesting[pick(sizeof interesting)];
        return n;
    case 2:
        memmove(data + at, data + at + 1, n - at - 1);
        return n - 1;
    case 3:
        return at;
    case 4:
        memmove(data + at + 1, data + at, n - at);
        data[at] = interesting[pick(sizeof interesting)];
        return n + 1;
    default: {
        const size_t from = pick(n), run_size = pick(n - (at > from ? at : from)) % 32;
        memmove(data + at, data + from, run_size);
        return n;
    }
    }
}

static void replay_bytes(const uint8_t *data, size_t n, size_t mutations)
{
    uint8_t *changed = malloc(n + 8);
    if (!changed)
        abort();
    run(data, n);
    rng = 88172645463325252u + n;
    for (size_t i = 0; i < mutations; i++) {
        size_t size = n;
        memcpy(changed, data, n);
        for (size_t steps = 1 + pick(4); steps; steps--)
            size = mutate(changed, size);
        run(changed, size);
    }
    free(changed);
}

static void replay_file(const char *path, size_t mutations)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data = malloc(LARGEST);
    if (!f || !data)
        abort();
    const size_t n = fread(data, 1, LARGEST, f);
    printf("%s\n", path);
    fflush(stdout);
    /* Large files get fewer: a run costs in proportion. */
    replay_bytes(data, n, n > 65536 ? mutations / 10 : mutations);
    fclose(f);
    free(data);
}

static void replay(const char *path, size_t mutations)
{
    struct stat about;
    if (stat(path, &about))
        return;
    if (S_ISREG(about.st_mode)) {
        replay_file(path, mutations);
        return;
    }
    struct dirent **entry;
    const int n = scandir(path, &entry, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char inner[4096];
        snprintf(inner, sizeof inner, "%s/%s", path, entry[i]->d_name);
        if (entry[i]->d_name[0] != '.')
            replay(inner, mutations);
        free(entry[i]);
    }
    if (n >= 0)
        free(entry);
}

int main(int n, char **args)
{
    const char *wanted = getenv("QFOLD_REPLAY_MUTATIONS");
    const size_t mutations = wanted ? strtoul(wanted, NULL, 10) : MUTATIONS;
    for (int i = 1; i < n; i++)
        replay(args[i], mutations);
    printf("%zu runs\n", n_runs);
    return n_runs ? 0 : 1; /* no corpus found */
}
