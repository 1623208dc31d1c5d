/* Which columns of a row keep_ge and keep_le keep. Their value i[0] + i * i[1] + j * i[2] is linear
 * in j, so the columns are one range: the kernels copy it and clear the rest. */
#ifndef QFK_KEEP_RANGE_H
#define QFK_KEEP_RANGE_H

#include "kernels/common/element.h"

__extension__ typedef __int128 qfk_wide;

/* Columns lo … hi - 1. */
typedef struct qfk_range {
    size_t lo, hi;
} qfk_range;

/* The first j of 0 … n at which base + j * step >= limit, for step > 0; n if there is none. */
static inline size_t qfk_first_reaching(qfk_wide base, qfk_wide step, qfk_wide limit, size_t n)
{
    const qfk_wide gap = limit - base;

    if (gap <= 0)
        return 0;
    /* A step of 1 is what triu and tril have; the wide division is a call. */
    const qfk_wide j = step == 1 ? gap : (gap + step - 1) / step;
    return j < (qfk_wide)n ? (size_t)j : n;
}

/* The columns with base + j * step >= limit. */
static inline qfk_range qfk_columns_from(qfk_wide base, qfk_wide step, qfk_wide limit, size_t n)
{
    if (step > 0)
        return (qfk_range){ qfk_first_reaching(base, step, limit, n), n };
    if (step < 0)
        return (qfk_range){ 0, qfk_first_reaching(-base, -step, 1 - limit, n) };
    return (qfk_range){ 0, base >= limit ? n : 0 };
}

/* Row i of keep_ge (of keep_le). That the value saturates matters only where the limit is the least
 * (the greatest) integer: every saturated value passes then. */
static inline qfk_range qfk_keep_ge_range(const qfk_param *p, size_t i, size_t n)
{
    const qfk_wide base = p->i[0] + (qfk_wide)i * p->i[1];

    if (p->i[3] == INT64_MIN)
        return (qfk_range){ 0, n };
    return qfk_columns_from(base, p->i[2], p->i[3], n);
}

static inline qfk_range qfk_keep_le_range(const qfk_param *p, size_t i, size_t n)
{
    const qfk_wide base = p->i[0] + (qfk_wide)i * p->i[1];

    if (p->i[3] == INT64_MAX)
        return (qfk_range){ 0, n };
    return qfk_columns_from(-base, -(qfk_wide)p->i[2], -(qfk_wide)p->i[3], n);
}

#endif
