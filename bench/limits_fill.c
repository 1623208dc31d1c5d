/* The write floor: bytes that depend on nothing. */
#include "limits.h"

#include <string.h>

#define VALUE 0x3c

static void fill_libc(char *restrict x, const char *restrict a, const char *restrict b, size_t n)
{
    (void)a, (void)b;
    memset(x, VALUE, n);
}

#if defined(__x86_64__)
#include <immintrin.h>

static void fill_stosb(char *restrict x, const char *restrict a, const char *restrict b, size_t n)
{
    (void)a, (void)b;
    __asm__ volatile("rep stosb" : "+D"(x), "+c"(n) : "a"(VALUE) : "memory");
}

static void fill_stream(char *restrict x, const char *restrict a, const char *restrict b, size_t n)
{
    (void)a, (void)b;
    const __m128i v = _mm_set1_epi8(VALUE);
    size_t i = (16 - ((uintptr_t)x & 15)) & 15;
    i = i < n ? i : n;
    memset(x, VALUE, i);
    for (; i + 64 <= n; i += 64) {
        for (size_t k = 0; k < 64; k += 16)
            _mm_stream_si128((__m128i *)(void *)(x + i + k), v);
    }
    _mm_sfence();
    memset(x + i, VALUE, n - i);
}
#endif

const qfb_limit qfb_fill_limits[] = {
    { QFB_WRITE, "memset", 0, fill_libc },
#if defined(__x86_64__)
    { QFB_WRITE, "rep stosb", 0, fill_stosb },
    { QFB_WRITE, "non-temporal fill", 0, fill_stream },
#endif
    { 0, NULL, 0, NULL },
};
