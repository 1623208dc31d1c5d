/* The copy limit. The three copies differ by up to 1.5x between machines, and the C library's is
 * not always the best, so the best of them is the limit. */
#include "limits.h"

#include <string.h>

static void copy_libc(char *restrict x, const char *restrict a, const char *restrict b, size_t n)
{
    (void)b;
    memcpy(x, a, n);
}

#if defined(__x86_64__)
#include <immintrin.h>

static void copy_movsb(char *restrict x, const char *restrict a, const char *restrict b, size_t n)
{
    (void)b;
    __asm__ volatile("rep movsb" : "+D"(x), "+S"(a), "+c"(n) : : "memory");
}

static void copy_stream(char *restrict x, const char *restrict a, const char *restrict b, size_t n)
{
    (void)b;
    size_t i = (16 - ((uintptr_t)x & 15)) & 15;
    i = i < n ? i : n;
    memcpy(x, a, i);
    for (; i + 64 <= n; i += 64) {
        for (size_t k = 0; k < 64; k += 16) {
            __m128i v;
            memcpy(&v, a + i + k, sizeof v);
            _mm_stream_si128((__m128i *)(void *)(x + i + k), v);
        }
    }
    _mm_sfence();
    memcpy(x + i, a + i, n - i);
}
#endif

const qfb_limit qfb_copy_limits[] = {
    { QFB_COPY, "memcpy", 0, copy_libc },
#if defined(__x86_64__)
    { QFB_COPY, "rep movsb", 0, copy_movsb },
    { QFB_COPY, "non-temporal copy", 0, copy_stream },
#endif
    { 0, NULL, 0, NULL },
};
