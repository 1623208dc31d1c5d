/* AVX-512 rows of transpose: blocks of whole cache lines of a column, turned in registers; see
 * transpose_blocks.h. */
#include "kernels/common/masks.h"
#include "kernels/copy/few_words.h"
#include "kernels/copy/transpose_panels.h"
#include "kernels/copy/unit_avx512.h"

QFK_INLINE __m512i load_column(const qfk_block *b, size_t j)
{
    const char *a = b->a + (ptrdiff_t)j * b->col;

    if (j >= b->w)
        return _mm512_setzero_si512();
    return b->read == 64 ? _mm512_loadu_si512(a)
                         : _mm512_maskz_loadu_epi8(qfk_first64(b->read), a);
}

QFK_INLINE void store_row16(const qfk_block *b, size_t i, __m128i v)
{
    char *x = b->x + (ptrdiff_t)i * b->row;

    if (i < b->h)
        _mm_mask_storeu_epi8(x, qfk_first16(b->write < 16 ? b->write : 16), v);
}

QFK_INLINE void store_row64(const qfk_block *b, size_t i, __m512i v)
{
    char *x = b->x + (ptrdiff_t)i * b->row;

    if (i >= b->h)
        return;
    if (b->write == 64)
        _mm512_storeu_si512(x, v);
    else
        _mm512_mask_storeu_epi8(x, qfk_first64(b->write), v);
}

/* The four 16-byte quarters of n vectors, first those of the first n rows. */
QFK_INLINE void store_quarters(const qfk_block *b, const __m512i *v, size_t n)
{
    for (size_t k = 0; k < n; k++)
        store_row16(b, k, _mm512_extracti32x4_epi32(v[k], 0));
    for (size_t k = 0; k < n; k++)
        store_row16(b, k + n, _mm512_extracti32x4_epi32(v[k], 1));
    for (size_t k = 0; k < n; k++)
        store_row16(b, k + 2 * n, _mm512_extracti32x4_epi32(v[k], 2));
    for (size_t k = 0; k < n; k++)
        store_row16(b, k + 3 * n, _mm512_extracti32x4_epi32(v[k], 3));
}

/* 64 x 16 bytes. */
QFK_INLINE void turn_x8(const qfk_block *b)
{
    __m512i v[16];

    for (size_t k = 0; k < 16; k++)
        v[k] = load_column(b, k);
    qfk_turn_x8(v);
    store_quarters(b, v, 16);
}

/* 32 x 8 elements of 2 bytes, in three rounds of what qfk_turn_x8 does. */
QFK_INLINE void turn_x16(const qfk_block *b)
{
    __m512i v[8], t[8];

    for (size_t k = 0; k < 8; k++)
        v[k] = load_column(b, k);
    for (unsigned round = 0; round < 3; round++) {
        for (size_t k = 0; k < 4; k++) {
            t[2 * k] = _mm512_unpacklo_epi16(v[k], v[k + 4]);
            t[2 * k + 1] = _mm512_unpackhi_epi16(v[k], v[k + 4]);
        }
        for (size_t k = 0; k < 8; k++)
            v[k] = t[k];
    }
    store_quarters(b, v, 8);
}

/* 4 x 4 elements of 4 bytes in every quarter. */
QFK_INLINE void turn_narrow_x32(const qfk_block *b, __m512i *v)
{
    const __m512i s = _mm512_unpacklo_epi32(v[0], v[2]), t = _mm512_unpackhi_epi32(v[0], v[2]),
                  u = _mm512_unpacklo_epi32(v[1], v[3]), w = _mm512_unpackhi_epi32(v[1], v[3]);

    v[0] = _mm512_unpacklo_epi32(s, u);
    v[1] = _mm512_unpackhi_epi32(s, u);
    v[2] = _mm512_unpacklo_epi32(t, w);
    v[3] = _mm512_unpackhi_epi32(t, w);
    store_quarters(b, v, 4);
}

/* 16 x 16 elements of 4 bytes: the same over whole vectors, in four rounds. */
QFK_INLINE void turn_x32(const qfk_block *b)
{
    const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
    __m512i v[16], t[16];

    for (size_t k = 0; k < 16; k++)
        v[k] = load_column(b, k);
    if (b->w <= 4) {
        turn_narrow_x32(b, v);
        return;
    }
    for (unsigned round = 0; round < 4; round++) {
        for (size_t k = 0; k < 8; k++) {
            t[2 * k] = _mm512_permutex2var_epi32(v[k], low, v[k + 8]);
            t[2 * k + 1] = _mm512_permutex2var_epi32(v[k], high, v[k + 8]);
        }
        for (size_t k = 0; k < 16; k++)
            v[k] = t[k];
    }
    for (size_t k = 0; k < 16; k++)
        store_row64(b, k, v[k]);
}

/* 8 x 8 elements of 8 bytes, in three rounds. */
QFK_INLINE void turn_x64(const qfk_block *b)
{
    const __m512i low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
    const __m512i high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    __m512i v[8], t[8];

    for (size_t k = 0; k < 8; k++)
        v[k] = load_column(b, k);
    for (unsigned round = 0; round < 3; round++) {
        for (size_t k = 0; k < 4; k++) {
            t[2 * k] = _mm512_permutex2var_epi64(v[k], low, v[k + 4]);
            t[2 * k + 1] = _mm512_permutex2var_epi64(v[k], high, v[k + 4]);
        }
        for (size_t k = 0; k < 8; k++)
            v[k] = t[k];
    }
    for (size_t k = 0; k < 8; k++)
        store_row64(b, k, v[k]);
}

/* A line of each run is a block, whose rows follow each other. */
QFK_INLINE void unit_x16(char *x, const char *a, ptrdiff_t col)
{
    turn_x16(&(qfk_block){ a, x, col, 16, 32, 8, 64, 16 });
}

QFK_INLINE void unit_x32(char *x, const char *a, ptrdiff_t col)
{
    turn_x32(&(qfk_block){ a, x, col, 64, 16, 16, 64, 64 });
}

QFK_INLINE void unit_x64(char *x, const char *a, ptrdiff_t col)
{
    turn_x64(&(qfk_block){ a, x, col, 64, 8, 8, 64, 64 });
}

QFK_INLINE void line_of_1(char *x, const char *a, ptrdiff_t pitch)
{
    (void)pitch;
    _mm512_stream_si512((void *)x, _mm512_loadu_si512(a));
}

QFK_INLINE __m256i load_quarters(const char *a, ptrdiff_t pitch)
{
    return _mm256_set_m128i(_mm_loadu_si128((const void *)(a + pitch)),
                            _mm_loadu_si128((const void *)a));
}

QFK_INLINE void line_of_4(char *x, const char *a, ptrdiff_t pitch)
{
    const __m256i low = load_quarters(a, pitch), high = load_quarters(a + 2 * pitch, pitch);

    _mm256_stream_si256((void *)x, low);
    _mm256_stream_si256((void *)(x + 32), high);
}

QFK_STORE_LINES(store_x8, 1, 256, line_of_4, 4)
QFK_STORE_LINES(store_x16, 2, 512, line_of_4, 4)
QFK_STORE_LINES(store_x32, 4, 512, line_of_1, 1)
QFK_STORE_LINES(store_x64, 8, 512, line_of_1, 1)

QFK_TRANSPOSE_PAST(qfk_transpose_x8_avx512, 1, 64, 16, turn_x8, 16, qfk_unit_x8, store_x8, 256)
QFK_TRANSPOSE_PAST(qfk_transpose_x16_avx512, 2, 32, 8, turn_x16, 8, unit_x16, store_x16, 512)
QFK_TRANSPOSE_PAST(qfk_transpose_x32_avx512, 4, 16, 16, turn_x32, 16, unit_x32, store_x32, 512)
QFK_TRANSPOSE_PAST(qfk_transpose_x64_avx512, 8, 8, 8, turn_x64, 8, unit_x64, store_x64, 512)
