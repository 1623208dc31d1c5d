/* Medians. */
#ifndef QFB_MEDIAN_H
#define QFB_MEDIAN_H

#include <stdlib.h>

static inline int qfb_ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts n > 0 values; the one in the middle, of two the greater. */
static inline double qfb_median(double *value, size_t n)
{
    qsort(value, n, sizeof *value, qfb_ascending);
    return value[n / 2];
}

#endif
