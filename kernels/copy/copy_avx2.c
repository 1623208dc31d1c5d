/* AVX2 rows of copy: rows of adjacent elements and repeated elements as vectors. */
#include "kernels/common/masks.h"
#include "kernels/copy/copy_rows.h"

static inline void copy_bytes(char *x, const char *a, size_t n)
{
    size_t at = 0;

    for (; n - at >= 32; at += 32)
        _mm256_storeu_si256((void *)(x + at), _mm256_loadu_si256((const void *)(a + at)));
    qfk_store_first_bytes32(x + at, qfk_load_first_bytes32(a + at, n - at), n - at);
}

static inline void repeat_bytes(char *x, __m256i v, size_t n)
{
    size_t at = 0;

    for (; n - at >= 32; at += 32)
        _mm256_storeu_si256((void *)(x + at), v);
    qfk_store_first_bytes32(x + at, v, n - at);
}

QFK_COPY(qfk_copy_x8_avx2, x8, _mm256_set1_epi8, char)
QFK_COPY(qfk_copy_x16_avx2, x16, _mm256_set1_epi16, short)
QFK_COPY(qfk_copy_x32_avx2, x32, _mm256_set1_epi32, int)
QFK_COPY(qfk_copy_x64_avx2, x64, _mm256_set1_epi64x, long long)
