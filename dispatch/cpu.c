/* What this CPU and operating system allow. */
#include "dispatch/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* Where the CPU does not say: a large one, so that only what surely outgrows it goes past it. */
#define GUESSED_CACHE ((uint64_t)32 << 20)

static const struct {
    const char *name;
    qf_caps level, all; /* the bit of the level, and it with the levels below it */
} levels[] = {
    { "avx512", QF_CAP_AVX512, QF_CAP_AVX512 | QF_CAP_AVX2 },
    { "avx2", QF_CAP_AVX2, QF_CAP_AVX2 },
    { "neon", QF_CAP_NEON, QF_CAP_NEON },
    { "scalar", 0, 0 },
};

#if defined(__x86_64__)
/* Registers that the operating system saves (XCR0): a CPU bit alone does not make an instruction
 * usable. */
#define XCR0_AVX 0x06u
#define XCR0_AVX512 0xe6u

static unsigned xcr0(void)
{
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static qf_caps probe(void)
{
    const unsigned v3_leaf1 =
        bit_FMA | bit_SSE4_2 | bit_MOVBE | bit_POPCNT | bit_OSXSAVE | bit_AVX | bit_F16C;
    const unsigned v3_leaf7 = bit_BMI | bit_AVX2 | bit_BMI2;
    const unsigned v4_leaf7 =
        bit_AVX512F | bit_AVX512DQ | bit_AVX512CD | bit_AVX512BW | bit_AVX512VL;
    unsigned a, b, c, d;

    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & v3_leaf1) != v3_leaf1)
        return 0;
    const unsigned saved = xcr0();
    if ((saved & XCR0_AVX) != XCR0_AVX || !__get_cpuid_count(7, 0, &a, &b, &c, &d) ||
        (b & v3_leaf7) != v3_leaf7)
        return 0;
    const unsigned leaf7 = b;
    if (!__get_cpuid(0x80000001, &a, &b, &c, &d) || !(c & bit_LZCNT))
        return 0;
    if ((leaf7 & v4_leaf7) != v4_leaf7 || (saved & XCR0_AVX512) != XCR0_AVX512)
        return QF_CAP_AVX2;
    return QF_CAP_AVX2 | QF_CAP_AVX512;
}

/* Sizes are in leaf 4 (Intel) and 0x8000001d (AMD), a cache per subleaf, the last level last. */
static uint64_t last_level(unsigned leaf)
{
    unsigned a, b, c, d;
    uint64_t size = 0;

    for (unsigned i = 0; i < 8 && __get_cpuid_count(leaf, i, &a, &b, &c, &d) && (a & 31); i++)
        size = (uint64_t)((b >> 22) + 1) * ((b >> 12 & 1023) + 1) * ((b & 4095) + 1) *
               ((uint64_t)c + 1);
    return size;
}

static uint64_t probe_cache(void)
{
    const uint64_t intel = last_level(4);

    return intel ? intel : last_level(0x8000001d);
}
#elif defined(__aarch64__)
static qf_caps probe(void)
{
    return QF_CAP_NEON;
}
#else
static qf_caps probe(void)
{
    return 0;
}
#endif

#if !defined(__x86_64__)
static uint64_t probe_cache(void)
{
    return 0;
}
#endif

static uint64_t cache;

static void find_cache(void)
{
    const uint64_t size = probe_cache();

    cache = size ? size : GUESSED_CACHE;
}

/* Asked once: a virtual machine may take 60 us for the ten CPUID instructions. */
uint64_t qf_cache_detect(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, find_cache);
    return cache;
}

qf_caps qf_caps_detect(void)
{
    const char *wanted = getenv("QFOLD_CAPS");
    const qf_caps caps = probe();

    for (size_t i = 0; wanted && i < sizeof levels / sizeof *levels; i++)
        if (strcmp(wanted, levels[i].name) == 0)
            return caps & levels[i].all;
    return caps;
}

const char *qf_caps_name(qf_caps caps)
{
    size_t i = 0;
    while (levels[i].level && !(caps & levels[i].level))
        i++;
    return levels[i].name;
}
