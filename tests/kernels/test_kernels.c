/* Runs every kernel row that this CPU can run: scalar rows against the references of
 * ref_<family>.c, other rows against the scalar row, bit for bit.
 *
 *     test_kernels [-s SEED] [-p PERCENT] [GLOB]     of the cases; of row names, such as 'add_*'
 *
 * Built with CHECK_EMULATED, it runs the AVX-512 rows alone, which then are plain C (tests/emu). */
#include "kernel_ref.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const qfk_row *scalar_of(const qfk_row *row)
{
    size_t n;
    const qfk_row *rows = qfk_rows(&n);

    for (size_t i = 0; i < n; i++)
        if (!rows[i].needs && rows[i].op_id == row->op_id && rows[i].key == row->key)
            return &rows[i];
    return NULL;
}

static bool cpu_runs(const qfk_row *row)
{
    qf_caps caps = 0;

#if defined(CHECK_EMULATED)
    caps = row->needs;
#elif defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        caps |= QF_CAP_AVX2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        caps |= QF_CAP_AVX512;
#elif defined(__aarch64__)
    caps = QF_CAP_NEON;
#endif
    return (row->needs & ~caps) == 0;
}

static bool selected(const qfk_row *row, const char *glob)
{
#if defined(CHECK_EMULATED)
    if (!(row->needs & QF_CAP_AVX512))
        return false;
#endif
    return fnmatch(glob, row->name, 0) == 0;
}

/* A seed of its own for every row, so that running a row alone repeats what the full run did. */
static uint64_t row_seed(const qfk_row *row, uint64_t seed)
{
    for (const char *c = row->name; *c; c++)
        seed = (seed ^ (unsigned char)*c) * 0x100000001b3;
    return seed;
}

static bool test_row(const qfk_row *row, uint64_t seed, unsigned percent)
{
    const ref_op *op = ref_find(row);
    const qfk_row *scalar = scalar_of(row);
    char why[512] = "";

    if (!op)
        snprintf(why, sizeof why, "no reference in ref_<family>.c");
    else if (!scalar)
        snprintf(why, sizeof why, "no scalar row");
    else if (ref_run(row, scalar, op, row_seed(row, seed), percent, why, sizeof why))
        return true;
    printf("FAILED %s: %s\n", row->name, why);
    return false;
}

int main(int argc, char **argv)
{
    uint64_t seed = 20240229;
    unsigned percent = 100;
    size_t n, passed = 0, failed = 0, skipped = 0;
    const qfk_row *rows = qfk_rows(&n);

    for (int option; (option = getopt(argc, argv, "s:p:")) != -1;) {
        if (option == 's') {
            seed = strtoull(optarg, NULL, 0);
        } else if (option == 'p') {
            percent = (unsigned)strtoul(optarg, NULL, 0);
        } else {
            fprintf(stderr, "usage: %s [-s SEED] [-p PERCENT] [GLOB]\n", argv[0]);
            return 2;
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (!selected(&rows[i], optind < argc ? argv[optind] : "*"))
            continue;
        if (!cpu_runs(&rows[i])) {
            printf("skipped %s: not on this CPU\n", rows[i].name);
            skipped++;
        } else if (test_row(&rows[i], seed, percent)) {
            passed++;
        } else {
            failed++;
        }
    }
    printf("%zu passed, %zu failed, %zu skipped\n", passed, failed, skipped);
    return failed || !(passed + skipped);
}
