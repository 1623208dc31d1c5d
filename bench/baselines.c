/* The copy limit of a run. The three copies differ by up to 1.5x between machines, and the C
 * library's is not always the best, so the best of them is the limit. */
#include "baselines.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define MAX_SIZES 256

void qfb_copy_libc(void *restrict x, const void *restrict a, size_t n)
{
    memcpy(x, a, n);
}

#if defined(__x86_64__)
void qfb_copy_movsb(void *restrict x, const void *restrict a, size_t n)
{
    __asm__ volatile("rep movsb" : "+D"(x), "+S"(a), "+c"(n) : : "memory");
}

void qfb_copy_stream(void *restrict x, const void *restrict a, size_t n)
{
    char *to = x;
    const char *from = a;
    size_t head = (16 - ((uintptr_t)to & 15)) & 15;
    head = head < n ? head : n;
    memcpy(to, from, head);
    size_t i = head;
    for (; i + 64 <= n; i += 64) {
        for (size_t k = 0; k < 64; k += 16) {
            __m128i v;
            memcpy(&v, from + i + k, sizeof v);
            _mm_stream_si128((__m128i *)(void *)(to + i + k), v);
        }
    }
    _mm_sfence();
    memcpy(to + i, from + i, n - i);
}
#else
void qfb_copy_movsb(void *restrict x, const void *restrict a, size_t n)
{
    memcpy(x, a, n);
}
void qfb_copy_stream(void *restrict x, const void *restrict a, size_t n)
{
    memcpy(x, a, n);
}
#endif

double qfb_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The fastest of several rounds; a round repeats small copies so that the clock's grain does not
 * count. */
static double time_copy(qfb_copy *copy, char *x, const char *a, size_t n)
{
    const size_t repeat = n >= (1u << 20) ? 1 : (1u << 20) / (n + 1) + 1;
    double best = 1e9;
    for (int round = 0; round < 7; round++) {
        const double begin = qfb_now();
        for (size_t i = 0; i < repeat; i++) {
            copy(x, a, n);
            __asm__ volatile("" : : "r"(x) : "memory");
        }
        const double took = (qfb_now() - begin) / (double)repeat;
        best = took < best ? took : best;
    }
    return best;
}

static double measure(size_t n)
{
    static qfb_copy *const copies[] = { qfb_copy_libc, qfb_copy_movsb, qfb_copy_stream };
    char *a = malloc(n + 1), *x = malloc(n + 1);
    double best = 1e9;
    if (a && x) {
        memset(a, 1, n);
        memset(x, 2, n);
        for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
            const double took = time_copy(copies[i], x, a, n);
            best = took < best ? took : best;
        }
    }
    free(a);
    free(x);
    return best;
}

double qfb_best_copy_seconds(size_t n)
{
    static struct {
        size_t n;
        double seconds;
    } known[MAX_SIZES];
    static size_t n_known;
    for (size_t i = 0; i < n_known; i++) {
        if (known[i].n == n)
            return known[i].seconds;
    }
    const double seconds = measure(n);
    if (n_known < MAX_SIZES) {
        known[n_known].n = n;
        known[n_known++].seconds = seconds;
    }
    return seconds;
}

uint64_t qfb_minor_faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_minflt;
}
