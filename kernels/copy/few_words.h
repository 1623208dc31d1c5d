/* Transposing words where there are few of them across or down: three planes to pixels, pixels to
 * three planes, nine taps of a filter to channels. Vectors of adjacent elements are shuffled as
 * they come: where K planes are an odd number, the elements of one have different lanes in the K
 * vectors that eight pixels fill, so blends pick lanes, and one permutation sorts each plane.
 *
 * Zen 3, of the best copy, before in blocks of 8 x 8 and a staging: 32 x 3 x 224 x 224 to pixels
 * 1.19, before 0.40, and back 0.75, before 0.38; 512 x 512 x 3 x 3 to channels 1.13 within the last
 * cache level, before 0.75; 0.74 without asking for lines of the rows, 0.49 to 0.64 with a staging.
 */
#ifndef QFK_FEW_WORDS_H
#define QFK_FEW_WORDS_H

#include <immintrin.h>

#include "kernels/copy/transpose_blocks.h"
#include "kernels/rows.h"

#define QFK_FEW_AT_ONCE ((size_t)16) /* pixels, channels: whole lines of each plane */
#define QFK_FEW_AHEAD ((size_t)1024) /* bytes of a run between what is read and what is asked for */
#define QFK_TAPS_AHEAD ((size_t)256) /* of a row between what is written and what is asked for */

QFK_INLINE __m256i qfk_words(const char *a) { return _mm256_loadu_si256((const void *)a); }

QFK_INLINE void qfk_put_words(char *x, __m256i v, bool past)
{
    if (past)
        _mm256_stream_si256((void *)x, v);
    else
        _mm256_storeu_si256((void *)x, v);
}

/* a, but b in the lanes 0, 3, 6 (1, 4, 7; 2, 5). */
QFK_INLINE __m256i qfk_take_036(__m256i a, __m256i b) { return _mm256_blend_epi32(a, b, 0x49); }
QFK_INLINE __m256i qfk_take_147(__m256i a, __m256i b) { return _mm256_blend_epi32(a, b, 0x92); }
QFK_INLINE __m256i qfk_take_25(__m256i a, __m256i b) { return _mm256_blend_epi32(a, b, 0x24); }

/* Eight pixels of planes that are `plane` bytes apart. */
QFK_INLINE void qfk_three_to_pixels(char *x, const char *a, ptrdiff_t plane, bool past)
{
    const __m256i r = _mm256_permutevar8x32_epi32(qfk_words(a),
                                                  _mm256_setr_epi32(0, 3, 6, 1, 4, 7, 2, 5)),
                  g = _mm256_permutevar8x32_epi32(qfk_words(a + plane),
                                                  _mm256_setr_epi32(5, 0, 3, 6, 1, 4, 7, 2)),
                  b = _mm256_permutevar8x32_epi32(qfk_words(a + 2 * plane),
                                                  _mm256_setr_epi32(2, 5, 0, 3, 6, 1, 4, 7));

    qfk_put_words(x, qfk_take_25(qfk_take_147(r, g), b), past);
    qfk_put_words(x + 32, qfk_take_036(qfk_take_25(r, g), b), past);
    qfk_put_words(x + 64, qfk_take_147(qfk_take_036(r, g), b), past);
}

/* Eight pixels; v: of each plane. */
QFK_INLINE void qfk_pixels_to_three(const char *a, __m256i *v)
{
    const __m256i s = qfk_words(a), t = qfk_words(a + 32), u = qfk_words(a + 64);

    v[0] = _mm256_permutevar8x32_epi32(qfk_take_25(qfk_take_147(s, t), u),
                                       _mm256_setr_epi32(0, 3, 6, 1, 4, 7, 2, 5));
    v[1] = _mm256_permutevar8x32_epi32(qfk_take_036(qfk_take_25(s, t), u),
                                       _mm256_setr_epi32(1, 4, 7, 2, 5, 0, 3, 6));
    v[2] = _mm256_permutevar8x32_epi32(qfk_take_147(qfk_take_036(s, t), u),
                                       _mm256_setr_epi32(2, 5, 0, 3, 6, 1, 4, 7));
}

/* v turned by r lanes. */
QFK_INLINE __m256i qfk_turn_lanes(__m256i v, int r)
{
    const __m256i lanes = _mm256_setr_epi32(0 + r, 1 + r, 2 + r, 3 + r, 4 + r, 5 + r, 6 + r, 7 + r);
    return _mm256_permutevar8x32_epi32(v, lanes);
}

/* Eight channels of nine taps; v: of each tap. Channel i of tap r is lane (i + r) % 8 of vector
 * i + (i + r) / 8, so lane l of what becomes tap r comes from vector (l - r) mod 9: blends shift
 * the number of the vector by 1, 2 and 4 in the lanes whose number has that bit. */
QFK_INLINE void qfk_nine_taps(const char *a, __m256i *v)
{
    __m256i s[9], t[9];

    _Pragma("GCC unroll 9") for (size_t k = 0; k < 9; k++)
        s[k] = qfk_words(a + 32 * k);
    _Pragma("GCC unroll 9") for (size_t k = 0; k < 9; k++)
        t[k] = _mm256_blend_epi32(s[k], s[(k + 1) % 9], 0xaa);
    _Pragma("GCC unroll 9") for (size_t k = 0; k < 9; k++)
        s[k] = _mm256_blend_epi32(t[k], t[(k + 2) % 9], 0xcc);
    _Pragma("GCC unroll 9") for (size_t k = 0; k < 9; k++)
        t[k] = _mm256_blend_epi32(s[k], s[(k + 4) % 9], 0xf0);
    _Pragma("GCC unroll 9") for (size_t k = 0; k < 9; k++)
        v[k] = qfk_turn_lanes(t[(9 - k) % 9], (int)k);
}

/* Each takes QFK_FEW_AT_ONCE pixels or channels at `at` of the tile. */
typedef void qfk_few(const qfk_turning *t, size_t at, bool past);

QFK_INLINE void qfk_to_pixels(const qfk_turning *t, size_t at, bool past)
{
    const char *a = (const char *)t->in.p + at * 4;
    char *x = (char *)t->out.p + at * 12;

    _Pragma("GCC unroll 3") for (ptrdiff_t k = 0; k < 3; k++)
        __builtin_prefetch(a + k * t->in.col + QFK_FEW_AHEAD);
    qfk_three_to_pixels(x, a, t->in.col, past);
    qfk_three_to_pixels(x + 96, a + 32, t->in.col, past);
}

QFK_INLINE void qfk_to_planes(const qfk_turning *t, size_t at, bool past)
{
    const char *a = (const char *)t->in.p + at * 12;
    __m256i first[3], second[3];

    _Pragma("GCC unroll 3") for (size_t k = 0; k < 3; k++)
        __builtin_prefetch(a + k * QFK_LINE + 2 * QFK_FEW_AHEAD);
    qfk_pixels_to_three(a, first);
    qfk_pixels_to_three(a + 96, second);
    _Pragma("GCC unroll 3") for (size_t k = 0; k < 3; k++)
    {
        char *x = (char *)qfk_out_row(&t->out, k) + at * 4;
        qfk_put_words(x, first[k], past);
        qfk_put_words(x + 32, second[k], past);
    }
}

QFK_INLINE void qfk_to_channels(const qfk_turning *t, size_t at, bool past)
{
    const char *a = (const char *)t->in.p + at * 36;
    __m256i first[9], second[9];

    _Pragma("GCC unroll 9") for (size_t k = 0; k < 9; k++)
        __builtin_prefetch(a + k * QFK_LINE + 2 * QFK_FEW_AHEAD);
    qfk_nine_taps(a, first);
    qfk_nine_taps(a + 288, second);
    _Pragma("GCC unroll 9") for (size_t k = 0; k < 9; k++)
    {
        char *x = (char *)qfk_out_row(&t->out, k) + at * 4;
        if (!past)
            __builtin_prefetch(x + QFK_TAPS_AHEAD);
        qfk_put_words(x, first[k], past);
        qfk_put_words(x + 32, second[k], past);
    }
}

/* All that are whole; returns how many pixels or channels they are. */
QFK_INLINE size_t qfk_each_few(const qfk_turning *t, size_t n, bool past, qfk_few *few)
{
    const size_t whole = n / QFK_FEW_AT_ONCE * QFK_FEW_AT_ONCE;

    if (past)
        for (size_t at = 0; at < whole; at += QFK_FEW_AT_ONCE)
            few(t, at, true);
    else
        for (size_t at = 0; at < whole; at += QFK_FEW_AT_ONCE)
            few(t, at, false);
    return whole;
}

/* A tile of few rows or columns: true if it was one, but for what is left, which is turned by
 * `turn`. */
QFK_INLINE bool qfk_turn_few(const qfk_turning *t, const qfk_param *p,
                             void (*turn)(const qfk_turning *))
{
    const bool past = qfk_goes_past(p, t->out),
               joined = p && p->past && (uintptr_t)t->out.p % QFK_LINE == 0;
    size_t i = 0, j = 0;

    if (t->short_rows && qfk_few_columns(t->size, t->n))
        i = qfk_each_few(t, t->m, joined, qfk_to_pixels);
    else if (t->short_columns && qfk_few_rows(t->size, t->m))
        j = t->m == 3 ? qfk_each_few(t, t->n, past, qfk_to_planes)
                      : qfk_each_few(t, t->n, past, qfk_to_channels);
    else
        return false;
    const qfk_in in = { (const char *)qfk_in_row(&t->in, i) + (ptrdiff_t)j * t->in.col, t->in.row,
                        t->in.col };
    const qfk_out out = { (char *)qfk_out_row(&t->out, i) + j * t->size, t->out.row };
    const qfk_turning rest = qfk_turning_of(t->m - i, t->n - j, &in, out, t->size, t->h, t->w);
    if (rest.m && rest.n)
        turn(&rest);
    return true;
}

#endif
