/* AVX2 rows of transpose: blocks of 32 bytes of a column, turned in registers; see
 * transpose_blocks.h. */
#include "kernels/common/masks.h"
#include "kernels/copy/transpose_blocks.h"

/* `bytes` of a column (32 if it is whole), or zeros for a column that is not there. */
QFK_INLINE __m256i load_column(const qfk_block *b, size_t j, size_t bytes)
{
    const char *a = b->a + (ptrdiff_t)j * b->col;

    if (j >= b->w)
        return _mm256_setzero_si256();
    return bytes == 32 ? _mm256_loadu_si256((const void *)a) : qfk_load_first_bytes32(a, bytes);
}

QFK_INLINE void store_row(const qfk_block *b, size_t i, __m128i v, size_t bytes)
{
    char *x = b->x + (ptrdiff_t)i * b->row;

    if (i >= b->h)
        return;
    if (bytes == 16)
        _mm_storeu_si128((void *)x, v);
    else
        qfk_store_first_bytes(x, v, bytes);
}

/* The same for elements of 4 and 8 bytes, which the mask instructions know. */
QFK_INLINE __m256i load_words(const qfk_block *b, size_t j, size_t bytes)
{
    const void *a = b->a + (ptrdiff_t)j * b->col;

    if (j >= b->w)
        return _mm256_setzero_si256();
    return bytes == 32 ? _mm256_loadu_si256(a) : _mm256_maskload_epi32(a, qfk_mask32(bytes / 4));
}

QFK_INLINE void store_words(const qfk_block *b, size_t i, __m256i v, size_t bytes)
{
    void *x = b->x + (ptrdiff_t)i * b->row;

    if (i >= b->h)
        return;
    if (bytes == 32)
        _mm256_storeu_si256(x, v);
    else
        _mm256_maskstore_epi32(x, qfk_mask32(bytes / 4), v);
}

/* 32 x 16 bytes. Interleaving vector k with vector k + 8 rotates the index (column, row) of every
 * byte in its 16 x 16 half by one bit; after four rounds column and row have changed places. */
QFK_INLINE void turn_x8(const qfk_block *b)
{
    __m256i v[16], t[16];

    for (size_t k = 0; k < 16; k++)
        v[k] = load_column(b, k, b->h);
    for (unsigned round = 0; round < 4; round++) {
        for (size_t k = 0; k < 8; k++) {
            t[2 * k] = _mm256_unpacklo_epi8(v[k], v[k + 8]);
            t[2 * k + 1] = _mm256_unpackhi_epi8(v[k], v[k + 8]);
        }
        for (size_t k = 0; k < 16; k++)
            v[k] = t[k];
    }
    for (size_t k = 0; k < 16; k++) {
        store_row(b, k, _mm256_castsi256_si128(v[k]), b->w);
        store_row(b, k + 16, _mm256_extracti128_si256(v[k], 1), b->w);
    }
}

/* 16 x 8 elements of 2 bytes, in three rounds of the same. */
QFK_INLINE void turn_x16(const qfk_block *b)
{
    __m256i v[8], t[8];

    for (size_t k = 0; k < 8; k++)
        v[k] = load_column(b, k, 2 * b->h);
    for (unsigned round = 0; round < 3; round++) {
        for (size_t k = 0; k < 4; k++) {
            t[2 * k] = _mm256_unpacklo_epi16(v[k], v[k + 4]);
            t[2 * k + 1] = _mm256_unpackhi_epi16(v[k], v[k + 4]);
        }
        for (size_t k = 0; k < 8; k++)
            v[k] = t[k];
    }
    for (size_t k = 0; k < 8; k++) {
        store_row(b, k, _mm256_castsi256_si128(v[k]), 2 * b->w);
        store_row(b, k + 8, _mm256_extracti128_si256(v[k], 1), 2 * b->w);
    }
}

/* Sixteen bytes at `at` of column j, and the same of column j + 4 above them. */
QFK_INLINE __m256i load_pair(const qfk_block *b, size_t j, size_t at)
{
    const char *a = b->a + (ptrdiff_t)j * b->col + at;
    const __m128i low = _mm_loadu_si128((const void *)a);

    return _mm256_inserti128_si256(_mm256_castsi128_si256(low),
                                   _mm_loadu_si128((const void *)(a + 4 * b->col)), 1);
}

/* Rows i … i + 3 of a block of 8 x 8 elements of 4 bytes, from quarters of the columns. */
QFK_INLINE void store_turned_x32(const qfk_block *b, size_t i, const __m256i *v)
{
    const __m256i s = _mm256_unpacklo_epi32(v[0], v[2]), t = _mm256_unpackhi_epi32(v[0], v[2]),
                  u = _mm256_unpacklo_epi32(v[1], v[3]), w = _mm256_unpackhi_epi32(v[1], v[3]);

    store_words(b, i, _mm256_unpacklo_epi32(s, u), 4 * b->w);
    store_words(b, i + 1, _mm256_unpackhi_epi32(s, u), 4 * b->w);
    store_words(b, i + 2, _mm256_unpacklo_epi32(t, w), 4 * b->w);
    store_words(b, i + 3, _mm256_unpackhi_epi32(t, w), 4 * b->w);
}

/* 8 x 8 elements of 4 bytes: 4 x 4 in every quarter by two rounds. Quarters change places while
 * they are loaded where nothing is cut: the ports that shuffle are what a turn waits for. */
QFK_INLINE void turn_x32(const qfk_block *b)
{
    __m256i v[8], low[4], high[4];

    if (b->h == 8 && b->w == 8) {
        for (size_t k = 0; k < 4; k++)
            low[k] = load_pair(b, k, 0);
        store_turned_x32(b, 0, low);
        for (size_t k = 0; k < 4; k++)
            high[k] = load_pair(b, k, 16);
        store_turned_x32(b, 4, high);
        return;
    }
    for (size_t k = 0; k < 8; k++)
        v[k] = load_words(b, k, 4 * b->h);
    for (size_t k = 0; k < 4; k++) {
        low[k] = _mm256_permute2x128_si256(v[k], v[k + 4], 0x20);
        high[k] = _mm256_permute2x128_si256(v[k], v[k + 4], 0x31);
    }
    store_turned_x32(b, 0, low);
    store_turned_x32(b, 4, high);
}

/* 4 x 4 elements of 8 bytes. */
QFK_INLINE void turn_x64(const qfk_block *b)
{
    __m256i v[4], t[4];

    for (size_t k = 0; k < 4; k++)
        v[k] = load_words(b, k, 8 * b->h);
    t[0] = _mm256_unpacklo_epi64(v[0], v[1]);
    t[1] = _mm256_unpackhi_epi64(v[0], v[1]);
    t[2] = _mm256_unpacklo_epi64(v[2], v[3]);
    t[3] = _mm256_unpackhi_epi64(v[2], v[3]);
    for (size_t k = 0; k < 2; k++) {
        store_words(b, k, _mm256_permute2x128_si256(t[k], t[k + 2], 0x20), 8 * b->w);
        store_words(b, k + 2, _mm256_permute2x128_si256(t[k], t[k + 2], 0x31), 8 * b->w);
    }
}

QFK_TRANSPOSE(qfk_transpose_x8_avx2, 1, 32, 16, turn_x8)
QFK_TRANSPOSE(qfk_transpose_x16_avx2, 2, 16, 8, turn_x16)
QFK_TRANSPOSE(qfk_transpose_x32_avx2, 4, 8, 8, turn_x32)
QFK_TRANSPOSE(qfk_transpose_x64_avx2, 8, 4, 4, turn_x64)
