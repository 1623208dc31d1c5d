/* The read floor: every byte is loaded and added, and the sum goes nowhere. */
#include "limits.h"

#include <string.h>

#define LINE 64
#define AHEAD 1024 /* bytes between the load and the prefetch */

/* Keeps a value alive without storing it. */
#define USE(value) __asm__ volatile("" : : "x"(value))

static void read_plain(char *restrict x, const char *restrict a, const char *restrict b, size_t n)
{
    (void)x, (void)b;
    uint64_t sum[8] = { 0 };
    for (size_t i = 0; i + sizeof sum <= n; i += sizeof sum) {
        uint64_t v[8];
        memcpy(v, a + i, sizeof v);
        for (int k = 0; k < 8; k++)
            sum[k] += v[k];
    }
    for (int k = 0; k < 8; k++)
        __asm__ volatile("" : : "r"(sum[k]));
}

#if defined(__x86_64__)
#include <immintrin.h>

__attribute__((target("avx2"))) static void read_avx2(char *restrict x, const char *restrict a,
                                                      const char *restrict b, size_t n)
{
    (void)x, (void)b;
    __m256i s0 = _mm256_setzero_si256(), s1 = s0, s2 = s0, s3 = s0;
    for (size_t i = 0; i + 128 <= n; i += 128) {
        s0 = _mm256_add_epi64(s0, _mm256_loadu_si256((const __m256i *)(const void *)(a + i)));
        s1 = _mm256_add_epi64(s1, _mm256_loadu_si256((const __m256i *)(const void *)(a + i + 32)));
        s2 = _mm256_add_epi64(s2, _mm256_loadu_si256((const __m256i *)(const void *)(a + i + 64)));
        s3 = _mm256_add_epi64(s3, _mm256_loadu_si256((const __m256i *)(const void *)(a + i + 96)));
    }
    USE(_mm256_add_epi64(_mm256_add_epi64(s0, s1), _mm256_add_epi64(s2, s3)));
}

__attribute__((target("avx2"))) static void
read_ahead_avx2(char *restrict x, const char *restrict a, const char *restrict b, size_t n)
{
    (void)x, (void)b;
    __m256i s0 = _mm256_setzero_si256(), s1 = s0;
    for (size_t i = 0; i + LINE <= n; i += LINE) {
        _mm_prefetch(a + i + AHEAD, _MM_HINT_T0);
        s0 = _mm256_add_epi64(s0, _mm256_loadu_si256((const __m256i *)(const void *)(a + i)));
        s1 = _mm256_add_epi64(s1, _mm256_loadu_si256((const __m256i *)(const void *)(a + i + 32)));
    }
    USE(_mm256_add_epi64(s0, s1));
}
#endif

const qfb_limit qfb_read_limits[] = {
    { QFB_READ, "sum", 0, read_plain },
#if defined(__x86_64__)
    { QFB_READ, "vector sum", QF_CAP_AVX2, read_avx2 },
    { QFB_READ, "vector sum, prefetched", QF_CAP_AVX2, read_ahead_avx2 },
#endif
    { 0, NULL, 0, NULL },
};
