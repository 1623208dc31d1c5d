/* Narrow tiles with AVX2: columns that run down the rows are turned in registers, 8 x 8 elements of
 * 4 bytes or 4 x 4 of 8; rows of adjacent elements are copied. What is left goes element by
 * element. */
#include "kernels/common/element.h"
#include "kernels/common/unroll.h"

#include <immintrin.h>

/* The tile at hand: element [i][j] at a + i * row + j * col goes to x + i * pitch + j * size. */
typedef struct panel {
    const char *a;
    char *x;
    ptrdiff_t row, col, pitch;
} panel;

QFK_INLINE const float *floats(const panel *t, size_t i, size_t j)
{
    return (const void *)(t->a + (ptrdiff_t)i * t->row + (ptrdiff_t)j * t->col);
}

QFK_INLINE const double *doubles(const panel *t, size_t i, size_t j)
{
    return (const void *)(t->a + (ptrdiff_t)i * t->row + (ptrdiff_t)j * t->col);
}

QFK_INLINE void one_by_one(const panel *t, size_t i, size_t m, size_t j, size_t n, size_t size)
{
    for (; i < m; i++)
        for (size_t c = j; c < n; c++)
            memcpy(t->x + (ptrdiff_t)i * t->pitch + c * size,
                   t->a + (ptrdiff_t)i * t->row + (ptrdiff_t)c * t->col, size);
}

/* The first w (4, 6 or 8: a constant where this is inlined) of eight columns, eight rows of them.
 */
QFK_INLINE void store_x32(char *x, __m256 v, size_t w)
{
    if (w == 8) {
        _mm256_storeu_ps((void *)x, v);
        return;
    }
    _mm_storeu_ps((void *)x, _mm256_castps256_ps128(v));
    if (w == 6)
        _mm_storel_pi((void *)(x + 16), _mm256_extractf128_ps(v, 1));
}

QFK_INLINE void turn_x32(const panel *t, size_t i, size_t j, size_t w)
{
    __m256 v[8], u[8];

    for (size_t c = 0; c < 8; c++)
        v[c] = c < w ? _mm256_loadu_ps(floats(t, i, j + c)) : _mm256_setzero_ps();
    for (size_t q = 0; q < 8; q += 4) {
        u[q] = _mm256_unpacklo_ps(v[q], v[q + 2]);
        u[q + 1] = _mm256_unpackhi_ps(v[q], v[q + 2]);
        u[q + 2] = _mm256_unpacklo_ps(v[q + 1], v[q + 3]);
        u[q + 3] = _mm256_unpackhi_ps(v[q + 1], v[q + 3]);
        v[q] = _mm256_unpacklo_ps(u[q], u[q + 2]);
        v[q + 1] = _mm256_unpackhi_ps(u[q], u[q + 2]);
        v[q + 2] = _mm256_unpacklo_ps(u[q + 1], u[q + 3]);
        v[q + 3] = _mm256_unpackhi_ps(u[q + 1], u[q + 3]);
    }
    for (size_t r = 0; r < 4; r++) {
        char *x = t->x + (ptrdiff_t)(i + r) * t->pitch + 4 * j;
        store_x32(x, _mm256_permute2f128_ps(v[r], v[r + 4], 0x20), w);
        store_x32(x + 4 * t->pitch, _mm256_permute2f128_ps(v[r], v[r + 4], 0x31), w);
    }
}

QFK_INLINE void turn_columns_x32(const panel *t, size_t m, size_t j, size_t w)
{
    size_t i = 0;

    for (; i + 8 <= m; i += 8)
        turn_x32(t, i, j, w);
    one_by_one(t, i, m, j, j + w, 4);
}

QFK_INLINE void store_x64(char *x, __m256d v, size_t w)
{
    if (w == 4)
        _mm256_storeu_pd((void *)x, v);
    else
        _mm_storeu_pd((void *)x, _mm256_castpd256_pd128(v));
}

/* The first w, 2 or 4, of four columns, four rows of them. */
QFK_INLINE void turn_x64(const panel *t, size_t i, size_t j, size_t w)
{
    __m256d v[4];

    for (size_t c = 0; c < 4; c++)
        v[c] = c < w ? _mm256_loadu_pd(doubles(t, i, j + c)) : _mm256_setzero_pd();
    const __m256d a = _mm256_unpacklo_pd(v[0], v[1]), b = _mm256_unpackhi_pd(v[0], v[1]),
                  c = _mm256_unpacklo_pd(v[2], v[3]), d = _mm256_unpackhi_pd(v[2], v[3]);
    char *x = t->x + (ptrdiff_t)i * t->pitch + 8 * j;
    store_x64(x, _mm256_permute2f128_pd(a, c, 0x20), w);
    store_x64(x + t->pitch, _mm256_permute2f128_pd(b, d, 0x20), w);
    store_x64(x + 2 * t->pitch, _mm256_permute2f128_pd(a, c, 0x31), w);
    store_x64(x + 3 * t->pitch, _mm256_permute2f128_pd(b, d, 0x31), w);
}

QFK_INLINE void turn_columns_x64(const panel *t, size_t m, size_t j, size_t w)
{
    size_t i = 0;

    for (; i + 4 <= m; i += 4)
        turn_x64(t, i, j, w);
    one_by_one(t, i, m, j, j + w, 8);
}

/* Whole vectors of rows; `n` bytes of each. Returns the bytes that were done. */
QFK_INLINE size_t copy_vectors(const panel *t, size_t m, size_t n)
{
    const size_t whole = n & ~(size_t)31;

    for (size_t i = 0; i < m; i++)
        for (size_t at = 0; at < whole; at += 32)
            _mm256_storeu_si256((void *)(t->x + (ptrdiff_t)i * t->pitch + at),
                                _mm256_loadu_si256((const void *)(t->a + (ptrdiff_t)i * t->row +
                                                                  (ptrdiff_t)at)));
    return whole;
}

void qfk_panel_x32_avx2(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)
{
    const panel t = { in->p, out.p, in->row, in->col, out.row };
    size_t j = 0;

    (void)p;
    if (t.col == 4) { /* a whole panel: the number of its bytes is a constant */
        j = n == 16 ? copy_vectors(&t, m, 64) / 4 : copy_vectors(&t, m, 4 * n) / 4;
    } else if (t.row == 4) {
        for (; j + 8 <= n; j += 8)
            turn_columns_x32(&t, m, j, 8);
        if (n - j >= 6) {
            turn_columns_x32(&t, m, j, 6);
            j += 6;
        } else if (n - j >= 4) {
            turn_columns_x32(&t, m, j, 4);
            j += 4;
        }
    }
    one_by_one(&t, 0, m, j, n, 4);
}

void qfk_panel_x64_avx2(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)
{
    const panel t = { in->p, out.p, in->row, in->col, out.row };
    size_t j = 0;

    (void)p;
    if (t.col == 8) { /* likewise */
        j = n == 8 ? copy_vectors(&t, m, 64) / 8 : copy_vectors(&t, m, 8 * n) / 8;
    } else if (t.row == 8) {
        for (; j + 4 <= n; j += 4)
            turn_columns_x64(&t, m, j, 4);
        if (n - j >= 2) {
            turn_columns_x64(&t, m, j, 2);
            j += 2;
        }
    }
    one_by_one(&t, 0, m, j, n, 8);
}
