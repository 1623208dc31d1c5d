/* AVX2 rows of copy: rows of adjacent elements and repeated elements as vectors. */
#include "kernels/common/masks.h"
#include "kernels/copy/copy_rows.h"

/* Two moves of T that overlap; both are read before either is written. */
#define COPY_ENDS(T)                                          \
    do {                                                      \
        T first, last;                                        \
        memcpy(&first, a, sizeof first);                      \
        memcpy(&last, a + n - sizeof last, sizeof last);      \
        memcpy(x, &first, sizeof first);                      \
        memcpy(x + n - sizeof last, &last, sizeof last);      \
    } while (0)

/* n <= 64 bytes. */
static inline void copy_short(char *x, const char *a, size_t n)
{
    if (n >= 32)
        COPY_ENDS(__m256i);
    else if (n >= 16)
        COPY_ENDS(__m128i);
    else if (n >= 8)
        COPY_ENDS(uint64_t);
    else if (n >= 4)
        COPY_ENDS(uint32_t);
    else if (n >= 2)
        COPY_ENDS(uint16_t);
    else if (n)
        *x = *a;
}

static inline void copy_bytes(char *x, const char *a, size_t n)
{
    size_t at = 0;

    for (; n - at > 64; at += 64) {
        const __m256i v = _mm256_loadu_si256((const void *)(a + at)),
                      w = _mm256_loadu_si256((const void *)(a + at + 32));
        _mm256_storeu_si256((void *)(x + at), v);
        _mm256_storeu_si256((void *)(x + at + 32), w);
    }
    copy_short(x + at, a + at, n - at);
}

/* Whole lines of x go past the caches, its first and last bytes do not: half a line that does is
 * read, merged and written by the memory controller. */
QFK_INLINE void stream_bytes(char *x, const char *a, size_t n, const qfk_follow *follow)
{
    size_t at = -(uintptr_t)x & 63;

    at = at < n ? at : n;
    copy_short(x, a, at);
    for (; n - at >= 64; at += 64) {
        qfk_ask(follow, at);
        const __m256i v = _mm256_loadu_si256((const void *)(a + at)),
                      w = _mm256_loadu_si256((const void *)(a + at + 32));
        _mm256_stream_si256((void *)(x + at), v);
        _mm256_stream_si256((void *)(x + at + 32), w);
    }
    copy_short(x + at, a + at, n - at);
}

static inline void repeat_bytes(char *x, __m256i v, size_t n)
{
    size_t at = 0;

    for (; n - at >= 32; at += 32)
        _mm256_storeu_si256((void *)(x + at), v);
    qfk_store_first_bytes32(x + at, v, n - at);
}

QFK_COPY(qfk_copy_x8_avx2, x8, copy_bytes, _mm256_set1_epi8, char)
QFK_COPY(qfk_copy_x16_avx2, x16, copy_bytes, _mm256_set1_epi16, short)
QFK_COPY(qfk_copy_x32_avx2, x32, copy_bytes, _mm256_set1_epi32, int)
QFK_COPY(qfk_copy_x64_avx2, x64, copy_bytes, _mm256_set1_epi64x, long long)
QFK_STREAM(qfk_stream_x8_avx2, qfk_copy_x8_avx2, stream_bytes)
