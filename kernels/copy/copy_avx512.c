/* AVX-512 rows of copy: rows of adjacent elements and repeated elements as vectors. */
#include "kernels/common/masks.h"
#include "kernels/copy/copy_rows.h"

static inline void copy_bytes(char *x, const char *a, size_t n)
{
    size_t at = 0;

    for (; n - at >= 64; at += 64)
        _mm512_storeu_si512(x + at, _mm512_loadu_si512(a + at));
    const __mmask64 k = qfk_first64(n - at);
    _mm512_mask_storeu_epi8(x + at, k, _mm512_maskz_loadu_epi8(k, a + at));
}

/* Whole lines of x go past the caches, its first and last bytes do not: half a line that does is
 * read, merged and written by the memory controller. */
QFK_INLINE void stream_bytes(char *x, const char *a, size_t n, const qfk_follow *follow)
{
    size_t at = -(uintptr_t)x & 63;

    at = at < n ? at : n;
    _mm512_mask_storeu_epi8(x, qfk_first64(at), _mm512_maskz_loadu_epi8(qfk_first64(at), a));
    for (; n - at >= 64; at += 64) {
        qfk_ask(follow, at);
        _mm512_stream_si512((void *)(x + at), _mm512_loadu_si512(a + at));
    }
    const __mmask64 k = qfk_first64(n - at);
    _mm512_mask_storeu_epi8(x + at, k, _mm512_maskz_loadu_epi8(k, a + at));
}

static inline void repeat_bytes(char *x, __m512i v, size_t n)
{
    size_t at = 0;

    for (; n - at >= 64; at += 64)
        _mm512_storeu_si512(x + at, v);
    _mm512_mask_storeu_epi8(x + at, qfk_first64(n - at), v);
}

QFK_COPY(qfk_copy_x8_avx512, x8, copy_bytes, _mm512_set1_epi8, char)
QFK_COPY(qfk_copy_x16_avx512, x16, copy_bytes, _mm512_set1_epi16, short)
QFK_COPY(qfk_copy_x32_avx512, x32, copy_bytes, _mm512_set1_epi32, int)
QFK_COPY(qfk_copy_x64_avx512, x64, copy_bytes, _mm512_set1_epi64, long long)
QFK_STREAM(qfk_stream_x8_avx512, qfk_copy_x8_avx512, stream_bytes)
