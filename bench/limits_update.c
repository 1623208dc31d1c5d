/* Bounds of arithmetic that memory limits: bytes changed where they stand, by a constant or by
 * another stream, and two streams that become a third. Floats, since that is the usual work; one
 * operation each. */
#include "limits.h"

#include <string.h>

#define AHEAD 1024 /* bytes between the load and the prefetch */

static void update_plain(char *restrict x, const char *restrict a, const char *restrict b, size_t n)
{
    (void)a, (void)b;
    for (size_t i = 0; i + sizeof(float) <= n; i += sizeof(float)) {
        float v;
        memcpy(&v, x + i, sizeof v);
        v += 0x1p-20f;
        memcpy(x + i, &v, sizeof v);
    }
}

static void accumulate_plain(char *restrict x, const char *restrict a, const char *restrict b,
                             size_t n)
{
    (void)b;
    for (size_t i = 0; i + sizeof(float) <= n; i += sizeof(float)) {
        float v, w;
        memcpy(&v, a + i, sizeof v);
        memcpy(&w, x + i, sizeof w);
        v += w;
        memcpy(x + i, &v, sizeof v);
    }
}

static void combine_plain(char *restrict x, const char *restrict a, const char *restrict b,
                          size_t n)
{
    for (size_t i = 0; i + sizeof(float) <= n; i += sizeof(float)) {
        float v, w;
        memcpy(&v, a + i, sizeof v);
        memcpy(&w, b + i, sizeof w);
        v += w;
        memcpy(x + i, &v, sizeof v);
    }
}

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2"))) static inline

AVX2 __m256 load(const char *p)
{
    return _mm256_loadu_ps((const float *)(const void *)p);
}

AVX2 void store(char *p, __m256 v)
{
    _mm256_storeu_ps((float *)(void *)p, v);
}

AVX2 void update_avx2(char *restrict x, const char *restrict a, const char *restrict b, size_t n)
{
    (void)a, (void)b;
    const __m256 c = _mm256_set1_ps(0x1p-20f);
    for (size_t i = 0; i + 64 <= n; i += 64) {
        store(x + i, _mm256_add_ps(load(x + i), c));
        store(x + i + 32, _mm256_add_ps(load(x + i + 32), c));
    }
}

AVX2 void update_ahead_avx2(char *restrict x, const char *restrict a, const char *restrict b,
                            size_t n)
{
    (void)a, (void)b;
    const __m256 c = _mm256_set1_ps(0x1p-20f);
    for (size_t i = 0; i + 64 <= n; i += 64) {
        _mm_prefetch(x + i + AHEAD, _MM_HINT_T0);
        store(x + i, _mm256_add_ps(load(x + i), c));
        store(x + i + 32, _mm256_add_ps(load(x + i + 32), c));
    }
}

AVX2 void accumulate_avx2(char *restrict x, const char *restrict a, const char *restrict b,
                          size_t n)
{
    (void)b;
    for (size_t i = 0; i + 64 <= n; i += 64) {
        store(x + i, _mm256_add_ps(load(x + i), load(a + i)));
        store(x + i + 32, _mm256_add_ps(load(x + i + 32), load(a + i + 32)));
    }
}

AVX2 void accumulate_ahead_avx2(char *restrict x, const char *restrict a, const char *restrict b,
                                size_t n)
{
    (void)b;
    for (size_t i = 0; i + 64 <= n; i += 64) {
        _mm_prefetch(x + i + AHEAD, _MM_HINT_T0);
        _mm_prefetch(a + i + AHEAD, _MM_HINT_T0);
        store(x + i, _mm256_add_ps(load(x + i), load(a + i)));
        store(x + i + 32, _mm256_add_ps(load(x + i + 32), load(a + i + 32)));
    }
}

AVX2 void combine_avx2(char *restrict x, const char *restrict a, const char *restrict b, size_t n)
{
    for (size_t i = 0; i + 64 <= n; i += 64) {
        store(x + i, _mm256_add_ps(load(a + i), load(b + i)));
        store(x + i + 32, _mm256_add_ps(load(a + i + 32), load(b + i + 32)));
    }
}

AVX2 void combine_stream_avx2(char *restrict x, const char *restrict a, const char *restrict b,
                              size_t n)
{
    size_t i = (64 - ((uintptr_t)x & 63)) & 63;
    i = i < n ? i : n;
    combine_plain(x, a, b, i);
    for (; i + 64 <= n; i += 64) {
        float *to = (float *)(void *)(x + i);
        _mm256_stream_ps(to, _mm256_add_ps(load(a + i), load(b + i)));
        _mm256_stream_ps(to + 8, _mm256_add_ps(load(a + i + 32), load(b + i + 32)));
    }
    _mm_sfence();
    combine_plain(x + i, a + i, b + i, n - i);
}
#endif

const qfb_limit qfb_update_limits[] = {
    { QFB_UPDATE, "update", 0, update_plain },
    { QFB_ACCUMULATE, "accumulate", 0, accumulate_plain },
    { QFB_COMBINE, "combine", 0, combine_plain },
#if defined(__x86_64__)
    { QFB_UPDATE, "vector update", QF_CAP_AVX2, update_avx2 },
    { QFB_UPDATE, "vector update, prefetched", QF_CAP_AVX2, update_ahead_avx2 },
    { QFB_ACCUMULATE, "vector accumulate", QF_CAP_AVX2, accumulate_avx2 },
    { QFB_ACCUMULATE, "vector accumulate, prefetched", QF_CAP_AVX2, accumulate_ahead_avx2 },
    { QFB_COMBINE, "vector combine", QF_CAP_AVX2, combine_avx2 },
    { QFB_COMBINE, "vector combine, non-temporal", QF_CAP_AVX2, combine_stream_avx2 },
#endif
    { 0, NULL, 0, NULL },
};
