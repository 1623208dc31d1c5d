/* qfold cpu: what the CPU allows and which kernels follow from it. */
#include <qfold/kernels.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "terminal.h"

static void print_cache(const char *title, int name)
{
    char text[24];
    const long size = sysconf(name);
    if (size > 0)
        printf("%-10s %s\n", title, qfi_human((uint64_t)size, text));
}

static void print_caches(void)
{
#ifdef _SC_LEVEL1_DCACHE_SIZE
    print_cache("L1 data", _SC_LEVEL1_DCACHE_SIZE);
    print_cache("L2", _SC_LEVEL2_CACHE_SIZE);
    print_cache("L3", _SC_LEVEL3_CACHE_SIZE);
#endif
}

/* How many rows have this as their highest level. */
static size_t count_rows(const char *level)
{
    size_t n, found = 0;
    const qfk_row *row = qfk_rows(&n);
    for (size_t i = 0; i < n; i++)
        found += strcmp(qf_caps_name(row[i].needs), level) == 0;
    return found;
}

static void print_kernels(qf_caps caps)
{
    static const qf_caps levels[] = { 0, QF_CAP_AVX2, QF_CAP_AVX512, QF_CAP_NEON };
    puts("kernels");
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        const size_t n = count_rows(qf_caps_name(levels[i]));
        if (n)
            printf("  %-8s %zu%s\n", qf_caps_name(levels[i]), n,
                   levels[i] & ~caps ? ", not used" : "");
    }
}

/* What slows OpenBLAS down, here and in everything else that is compared with it. */
static void print_overrides(void)
{
    static const char *const names[] = { "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]))
            printf("%s=%s is set: OpenBLAS does not choose its kernels by the CPU\n", names[i],
                   getenv(names[i]));
}

int qfi_cmd_cpu(const qfi_args *args)
{
    (void)args;
    const qf_caps caps = qf_caps_detect();
    const char *limit = getenv("QFOLD_CAPS");
    printf("level      %s%s%s%s\n", qf_caps_name(caps), limit ? " (QFOLD_CAPS=" : "",
           limit ? limit : "", limit ? ")" : "");
    printf("CPUs       %ld\n", sysconf(_SC_NPROCESSORS_ONLN));
    print_caches();
    print_kernels(caps);
    print_overrides();
    return 0;
}
