/* What figures are compared with: the best copy of the same bytes in the same run, and the
 * process's counters. */
#ifndef QFB_BASELINES_H
#define QFB_BASELINES_H

#include <stddef.h>
#include <stdint.h>

/* Three ways to copy: the C library, `rep movsb`, non-temporal stores (x86-64; elsewhere the C
 * library's again). */
typedef void qfb_copy(void *restrict x, const void *restrict a, size_t n);
qfb_copy qfb_copy_libc, qfb_copy_movsb, qfb_copy_stream;

/* Seconds that the best of the three takes for n bytes, between reused buffers; measured once per
 * size and kept. */
double qfb_best_copy_seconds(size_t n);

/* Monotonic time in seconds. */
double qfb_now(void);

/* Minor page faults of this process so far. */
uint64_t qfb_minor_faults(void);

#endif
