/* AVX2 rows of copy: rows of adjacent elements and repeated elements as vectors. */
#include "kernels/common/element.h"
#include "kernels/common/masks.h"

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

/* Defines the kernel `name`; `set1` repeats an element, as a T, in a vector. */
#define COPY(name, X, set1, T)                                                           \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)     \
    {                                                                                    \
        (void)p;                                                                         \
        for (size_t i = 0; n && i < m; i++) {                                            \
            const char *a = qfk_in_row(in, i);                                           \
            qfk_##X##_mem *x = qfk_out_row(&out, i);                                     \
            const qfk_##X a0 = *(const qfk_##X##_mem *)a;                                \
            if (in->col == (ptrdiff_t)sizeof *x)                                         \
                copy_bytes((char *)x, a, n * sizeof *x);                                 \
            else if (in->col == 0)                                                       \
                repeat_bytes((char *)x, set1((T)a0), n * sizeof *x);                     \
            else                                                                         \
                QFK_EACH(n) x[j] = *(const qfk_##X##_mem *)(a + (ptrdiff_t)j * in->col); \
        }                                                                                \
    }

COPY(qfk_copy_x8_avx2, x8, _mm256_set1_epi8, char)
COPY(qfk_copy_x16_avx2, x16, _mm256_set1_epi16, short)
COPY(qfk_copy_x32_avx2, x32, _mm256_set1_epi32, int)
COPY(qfk_copy_x64_avx2, x64, _mm256_set1_epi64x, long long)
