/* qfold cpu: what the CPU allows and which kernels follow from it. */
#include <qfold/kernels.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "terminal.h"

static void print_cache(const char *title, uint64_t size)
{
    char text[24];
    printf("%-10s %s\n", title, qfi_human(size, text));
}

/* One that a core has for itself, where the system tells. */
static void print_own_cache(const char *title, int name)
{
    const long size = sysconf(name);
    if (size > 0)
        print_cache(title, (uint64_t)size);
}

/* The last one is what the library goes by: systems may add up those of all cores. */
static void print_caches(void)
{
#ifdef _SC_LEVEL1_DCACHE_SIZE
    print_own_cache("L1 data", _SC_LEVEL1_DCACHE_SIZE);
    print_own_cache("L2", _SC_LEVEL2_CACHE_SIZE);
#endif
    print_cache("last level", qf_cache_detect());
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
