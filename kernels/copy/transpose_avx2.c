/* AVX2 rows of transpose: blocks of 32 bytes of a column, turned in registers; see
 * transpose_blocks.h. Rows of a block are stored from the first to the last. */
#include "kernels/common/masks.h"
#include "kernels/copy/few_words.h"
#include "kernels/copy/transpose_panels.h"
#include "kernels/copy/unit_avx2.h"

/* Loops over the vectors of a block are written out, or the vectors stand in memory. */
#define QFK_ALL _Pragma("GCC unroll 16")

/* Column j, or zeros for one that is not there. */
QFK_INLINE __m256i load_column(const qfk_block *b, size_t j)
{
    const char *a = b->a + (ptrdiff_t)j * b->col;

    if (j >= b->w)
        return _mm256_setzero_si256();
    return b->read == 32 ? _mm256_loadu_si256((const void *)a) : qfk_load_first_bytes32(a, b->read);
}

QFK_INLINE void store_row(const qfk_block *b, size_t i, __m128i v)
{
    char *x = b->x + (ptrdiff_t)i * b->row;

    if (i >= b->h)
        return;
    if (b->write >= 16)
        _mm_storeu_si128((void *)x, v);
    else
        qfk_store_first_bytes(x, v, b->write);
}

/* The same for elements of 4 and 8 bytes, which the mask instructions know. */
QFK_INLINE __m256i load_words(const qfk_block *b, size_t j)
{
    const void *a = b->a + (ptrdiff_t)j * b->col;

    if (j >= b->w)
        return _mm256_setzero_si256();
    return b->read == 32 ? _mm256_loadu_si256(a)
                         : _mm256_maskload_epi32(a, qfk_mask32(b->read / 4));
}

QFK_INLINE void store_words(const qfk_block *b, size_t i, __m256i v)
{
    void *x = b->x + (ptrdiff_t)i * b->row;

    if (i >= b->h)
        return;
    if (b->write == 32)
        _mm256_storeu_si256(x, v);
    else
        _mm256_maskstore_epi32(x, qfk_mask32(b->write / 4), v);
}

/* Low halves, from the first row on, then high ones. */
QFK_INLINE void store_halves(const qfk_block *b, const __m256i *v, size_t n)
{
    QFK_ALL for (size_t k = 0; k < n; k++)
        store_row(b, k, _mm256_castsi256_si128(v[k]));
    QFK_ALL for (size_t k = 0; k < n; k++)
        store_row(b, k + n, _mm256_extracti128_si256(v[k], 1));
}

/* 32 x 16 bytes. Interleaving vector k with vector k + 8 rotates the index (column, row) of every
 * byte in its 16 x 16 half by one bit; after four rounds column and row have changed places. */
QFK_INLINE void turn_x8(const qfk_block *b)
{
    __m256i v[16], t[16];

    QFK_ALL for (size_t k = 0; k < 16; k++)
        v[k] = load_column(b, k);
    QFK_ALL for (unsigned round = 0; round < 4; round++) {
        QFK_ALL for (size_t k = 0; k < 8; k++) {
            t[2 * k] = _mm256_unpacklo_epi8(v[k], v[k + 8]);
            t[2 * k + 1] = _mm256_unpackhi_epi8(v[k], v[k + 8]);
        }
        QFK_ALL for (size_t k = 0; k < 16; k++)
            v[k] = t[k];
    }
    store_halves(b, v, 16);
}

/* 16 x 8 elements of 2 bytes, in three rounds of the same. */
QFK_INLINE void turn_x16(const qfk_block *b)
{
    __m256i v[8], t[8];

    QFK_ALL for (size_t k = 0; k < 8; k++)
        v[k] = load_column(b, k);
    QFK_ALL for (unsigned round = 0; round < 3; round++) {
        QFK_ALL for (size_t k = 0; k < 4; k++) {
            t[2 * k] = _mm256_unpacklo_epi16(v[k], v[k + 4]);
            t[2 * k + 1] = _mm256_unpackhi_epi16(v[k], v[k + 4]);
        }
        QFK_ALL for (size_t k = 0; k < 8; k++)
            v[k] = t[k];
    }
    store_halves(b, v, 8);
}

/* 4 x 4 elements of 4 bytes in every half: row k of the first half in the low half of v[k]. */
QFK_INLINE void turn_quarters(__m256i *v)
{
    const __m256i s = _mm256_unpacklo_epi32(v[0], v[2]), t = _mm256_unpackhi_epi32(v[0], v[2]),
                  u = _mm256_unpacklo_epi32(v[1], v[3]), w = _mm256_unpackhi_epi32(v[1], v[3]);

    v[0] = _mm256_unpacklo_epi32(s, u);
    v[1] = _mm256_unpackhi_epi32(s, u);
    v[2] = _mm256_unpacklo_epi32(t, w);
    v[3] = _mm256_unpackhi_epi32(t, w);
}

/* Sixteen bytes at `at` of column j, and the same of column j + 4 above them. */
QFK_INLINE __m256i load_pair(const qfk_block *b, size_t j, ptrdiff_t at)
{
    const char *a = b->a + (ptrdiff_t)j * b->col + at;
    const __m128i low = _mm_loadu_si128((const void *)a);

    return _mm256_inserti128_si256(_mm256_castsi128_si256(low),
                                   _mm_loadu_si128((const void *)(a + 4 * b->col)), 1);
}

/* Rows i … i + 3 of eight columns. Halves change places while they are loaded, since the ports that
 * shuffle are what a turn waits for. */
QFK_INLINE void turn_pairs(const qfk_block *b, size_t i)
{
    __m256i v[4];

    QFK_ALL for (size_t k = 0; k < 4; k++)
        v[k] = load_pair(b, k, (ptrdiff_t)(4 * i));
    turn_quarters(v);
    QFK_ALL for (size_t k = 0; k < 4; k++)
        store_words(b, i + k, v[k]);
}

/* 8 x 8 elements of 4 bytes; at most four columns or rows take half the work. */
QFK_INLINE void turn_x32(const qfk_block *b)
{
    __m256i v[8], t[4];

    if (b->w == 8 && b->read == 32) {
        turn_pairs(b, 0);
        if (b->h > 4)
            turn_pairs(b, 4);
        return;
    }
    QFK_ALL for (size_t k = 0; k < 8; k++)
        v[k] = load_words(b, k);
    if (b->w <= 4) {
        turn_quarters(v);
        store_halves(b, v, 4);
        return;
    }
    QFK_ALL for (size_t k = 0; k < 4; k++) {
        t[k] = _mm256_permute2x128_si256(v[k], v[k + 4], 0x31);
        v[k] = _mm256_permute2x128_si256(v[k], v[k + 4], 0x20);
    }
    turn_quarters(v);
    turn_quarters(t);
    QFK_ALL for (size_t k = 0; k < 4; k++)
        store_words(b, k, v[k]);
    QFK_ALL for (size_t k = 0; k < 4; k++)
        store_words(b, k + 4, t[k]);
}

/* 4 x 4 elements of 8 bytes. */
QFK_INLINE void turn_x64(const qfk_block *b)
{
    __m256i v[4], t[4];

    QFK_ALL for (size_t k = 0; k < 4; k++)
        v[k] = load_words(b, k);
    t[0] = _mm256_unpacklo_epi64(v[0], v[1]);
    t[1] = _mm256_unpackhi_epi64(v[0], v[1]);
    t[2] = _mm256_unpacklo_epi64(v[2], v[3]);
    t[3] = _mm256_unpackhi_epi64(v[2], v[3]);
    QFK_ALL for (size_t k = 0; k < 2; k++)
        store_words(b, k, _mm256_permute2x128_si256(t[k], t[k + 2], 0x20));
    QFK_ALL for (size_t k = 0; k < 2; k++)
        store_words(b, k + 2, _mm256_permute2x128_si256(t[k], t[k + 2], 0x31));
}

/* 32 rows of 16 bytes, as qfk_unit_x8 does. */
QFK_INLINE void unit_x16(char *x, const char *a, ptrdiff_t col)
{
    QFK_ALL for (size_t i = 0; i < 64; i += 16) {
        __m256i v[4], t[4];
        QFK_ALL for (size_t k = 0; k < 4; k++)
            v[k] = qfk_load_runs(a + i + (ptrdiff_t)k * col, 4 * col);
        QFK_ALL for (unsigned round = 0; round < 2; round++) {
            QFK_ALL for (size_t k = 0; k < 2; k++) {
                t[2 * k] = _mm256_unpacklo_epi16(v[k], v[k + 2]);
                t[2 * k + 1] = _mm256_unpackhi_epi16(v[k], v[k + 2]);
            }
            QFK_ALL for (size_t k = 0; k < 4; k++)
                v[k] = t[k];
        }
        QFK_ALL for (size_t k = 0; k < 4; k++)
            _mm256_storeu_si256((void *)(x + 8 * i + 32 * k),
                                _mm256_permute4x64_epi64(v[k], 0xd8));
    }
}

/* 16 rows of 32 bytes. */
QFK_INLINE void unit_x32(char *x, const char *a, ptrdiff_t col)
{
    QFK_ALL for (size_t i = 0; i < 64; i += 16) {
        __m256i v[4];
        QFK_ALL for (size_t k = 0; k < 4; k++)
            v[k] = qfk_load_runs(a + i + (ptrdiff_t)k * col, 4 * col);
        turn_quarters(v);
        QFK_ALL for (size_t k = 0; k < 4; k++)
            _mm256_storeu_si256((void *)(x + 8 * i + 32 * k), v[k]);
    }
}

/* 8 rows of 32 bytes. */
QFK_INLINE void unit_x64(char *x, const char *a, ptrdiff_t col)
{
    QFK_ALL for (size_t i = 0; i < 64; i += 32)
        turn_x64(&(qfk_block){ a + i, x + 4 * i, col, 32, 4, 4, 32, 32 });
}

/* A line from two halves. */
QFK_INLINE void line_of_2(char *x, const char *a, ptrdiff_t pitch)
{
    _mm256_stream_si256((void *)x, _mm256_loadu_si256((const void *)a));
    _mm256_stream_si256((void *)(x + 32), _mm256_loadu_si256((const void *)(a + pitch)));
}

/* A line from four quarters. */
QFK_INLINE void line_of_4(char *x, const char *a, ptrdiff_t pitch)
{
    const __m256i low = qfk_load_runs(a, pitch), high = qfk_load_runs(a + 2 * pitch, pitch);

    _mm256_stream_si256((void *)x, low);
    _mm256_stream_si256((void *)(x + 32), high);
}

QFK_STORE_LINES(store_x8, 1, 256, line_of_4, 4)
QFK_STORE_LINES(store_x16, 2, 512, line_of_4, 4)
QFK_STORE_LINES(store_x32, 4, 512, line_of_2, 2)
QFK_STORE_LINES(store_x64, 8, 512, line_of_2, 2)

QFK_TRANSPOSE_PAST(qfk_transpose_x8_avx2, 1, 32, 16, turn_x8, 16, qfk_unit_x8, store_x8, 256)
QFK_TRANSPOSE_PAST(qfk_transpose_x16_avx2, 2, 16, 8, turn_x16, 8, unit_x16, store_x16, 512)
QFK_TRANSPOSE_PAST(qfk_transpose_x32_avx2, 4, 8, 8, turn_x32, 8, unit_x32, store_x32, 512)
QFK_TRANSPOSE_PAST(qfk_transpose_x64_avx2, 8, 4, 4, turn_x64, 4, unit_x64, store_x64, 512)
