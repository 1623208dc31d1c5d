/* Updates of bf16 over vectors. Floats whose NaNs have no bits in their lower halves are rounded in
 * integers: half of the last place added, one more where the place is odd, the rest cut off. A
 * scale that is a power of two leaves nothing to round but below the normal numbers, which bits of
 * the rest show; a NaN, whose bits are fixed in a result, shows in the sum of all results. Where
 * one of them shows, a block is made again element by element.
 *
 * A panel holds the even columns of a pair of vectors, then the odd ones: even and odd halves of
 * the words of c become floats by one operation each. */
#ifndef QFK_UPDATE_BF16_H
#define QFK_UPDATE_BF16_H

#include "kernels/gemm/update_vectors.h"

/* How a product becomes a result: c + p s rounded once; a fused multiply-add of the rounded p; c +
 * the rounded p s of the rounded p; the same where p s needs no rounding. */
typedef enum form { PLAIN, FUSED, SCALED, EXACT } form;

/* In memory, since the sums need the registers. */
typedef struct constants {
    qfk_vf scale;
    qfk_vi below, one, top;
} constants;

/* All bits of scaled products, the sum of all results. */
typedef struct seen {
    qfk_vi bits;
    qfk_vf sum;
} seen;

QFK_INLINE qfk_vf cut(qfk_vi v, const constants *e)
{
    return qfk_vi_floats(qfk_vi_and(v, e->top));
}

QFK_INLINE qfk_vf rounded(qfk_vf q, const constants *e)
{
    const qfk_vi v = qfk_vf_bits(q), odd = qfk_vi_and(qfk_vi_srl16(v), e->one);
    return cut(qfk_vi_add(qfk_vi_add(v, e->below), odd), e);
}

QFK_INLINE qfk_vf result(qfk_vf p, qfk_vf c, form f, const constants *e, seen *z)
{
    if (f != PLAIN)
        p = rounded(p, e);
    if (f == FUSED)
        return qfk_vf_fma(p, e->scale, c);
    p = qfk_vf_mul(p, e->scale);
    if (f == SCALED)
        p = rounded(p, e);
    if (f == EXACT)
        z->bits = qfk_vi_or(z->bits, qfk_vf_bits(p));
    return qfk_vf_add(c, p);
}

/* The upper half of each float, to which one is added where the lower one is more than a half, or
 * is a half and the upper one is odd. */
QFK_INLINE qfk_vi packed(qfk_vf even, qfk_vf odd)
{
    const qfk_vi v = qfk_vf_bits(even), w = qfk_vf_bits(odd);
    const qfk_vi upper = qfk_vi_odd_words(qfk_vi_srl16(v), w),
                 lower = qfk_vi_odd_words(v, qfk_vi_sll16(w));
    const qfk_vi even_upper = qfk_vi_andnot(upper, qfk_vi_set16(1));
    return qfk_vi_sub16(upper, qfk_vi_signs16(qfk_vi_subs_u16(lower, even_upper)));
}

QFK_INLINE bool is_right(const seen *z)
{
    return !qfk_vi_any(qfk_vi_and(z->bits, qfk_vi_set(0xffff))) && !qfk_vf_any_nan(z->sum);
}

QFK_INLINE void block_bf16(const qfk_update *u, const block *w, const constants *e, form f,
                           bool whole)
{
    qfk_vf s[QFK_UPDATE_ROWS][2];
    qfk_vi y[QFK_UPDATE_ROWS];
    seen z = { qfk_vi_set(0), qfk_vf_set(0) };

    ask_ahead(u, w, whole);
    multiply(u, w, s, QFK_UPDATE_ROWS, whole);
#pragma GCC unroll 14
    for (size_t i = 0; i < QFK_UPDATE_ROWS; i++) {
        const qfk_vi c = qfk_vi_load(c_row(u, w, i, whole));
        const qfk_vf even = result(s[i][0], qfk_vi_floats(qfk_vi_sll16(c)), f, e, &z);
        const qfk_vf odd = result(s[i][1], cut(c, e), f, e, &z);
        z.sum = qfk_vf_add(z.sum, qfk_vf_add(even, odd));
        y[i] = packed(even, odd);
    }
    if (!is_right(&z)) {
        for (size_t i = 0; i < w->rows; i++)
            row_bf16(u, w->a + (ptrdiff_t)i * u->a_row, w->b, c_row(u, w, i, true),
                     x_row(u, w, i, true), WIDTH);
        return;
    }
#pragma GCC unroll 14
    for (size_t i = 0; i < QFK_UPDATE_ROWS; i++)
        qfk_vi_store(x_row(u, w, i, whole), y[i]);
}

BLOCKS(PLAIN, bf16, block_bf16(u, w, extra, PLAIN, whole))
BLOCKS(FUSED, bf16, block_bf16(u, w, extra, FUSED, whole))
BLOCKS(SCALED, bf16, block_bf16(u, w, extra, SCALED, whole))
BLOCKS(EXACT, bf16, block_bf16(u, w, extra, EXACT, whole))

static form form_of(const qfk_update *u)
{
    const uint32_t bits = qfk_bits32(u->scale), exponent = bits >> 23 & 255;

    if (!(u->manner & QFK_UPDATE_ROUNDED))
        return PLAIN;
    if (u->manner & QFK_UPDATE_FUSED)
        return FUSED;
    return bits & 0x7fffff || exponent == 0 || exponent == 255 ? SCALED : EXACT;
}

static void update_bf16(size_t m, size_t n, const qfk_in *in, qfk_out x, const qfk_param *p)
{
    static const blocks of[] = {
        [PLAIN] = { whole_PLAIN, part_PLAIN, row_bf16, sizeof(qfk_bf16) },
        [FUSED] = { whole_FUSED, part_FUSED, row_bf16, sizeof(qfk_bf16) },
        [SCALED] = { whole_SCALED, part_SCALED, row_bf16, sizeof(qfk_bf16) },
        [EXACT] = { whole_EXACT, part_EXACT, row_bf16, sizeof(qfk_bf16) },
    };
    const qfk_update u = qfk_update_of(in, x, p);
    const constants e = { qfk_vf_set(u.scale), qfk_vi_set(0x7fff), qfk_vi_set(1),
                          qfk_vi_set(0xffff0000u) };

    if (u.width == WIDTH)
        walk(&u, m, n, &of[form_of(&u)], &e);
    else
        qfk_update_bf16_scalar(m, n, in, x, p);
}

#endif
