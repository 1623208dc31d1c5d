/* The tools of tests that run kernels on hostile memory: guarded pages, crash traps, seeded values,
 * and slow, plain number formats to check fast ones against. Shares no code with kernels/ or
 * dispatch/. */
#ifndef QF_CHECK_H
#define QF_CHECK_H

#include <qfold/kernels.h>

#include <setjmp.h>

/* Random numbers: the state is the seed, any but 0. */
typedef struct check_rng {
    uint64_t state;
} check_rng;

uint64_t check_random(check_rng *rng);
size_t check_below(check_rng *rng, size_t n); /* 0 to n - 1 */
bool check_chance(check_rng *rng, unsigned percent);

/* Writable bytes between two pages that may not be touched. */
typedef struct check_pages {
    unsigned char *p;
    size_t size;
} check_pages;

bool check_pages_make(check_pages *pages, size_t size); /* size: a multiple of 64 KiB */
void check_pages_free(check_pages *pages);

/* Calls fn(arg). Returns 0, or the signal (SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP) that ended the
 * call. */
int check_trap(void (*fn)(void *), void *arg);

/* Facts about a key. Keys x8 to x64 are unsigned integers of that size; x4, u4 and i4 have no bytes
 * of their own. */
size_t check_key_size(unsigned key); /* bytes */
bool check_key_is_float(unsigned key);
bool check_key_is_signed(unsigned key);
const char *check_key_name(unsigned key);

/* Bits of an element <-> numbers. Floats are built from sign, exponent and mantissa with frexp and
 * ldexp: the slow way. from_f64 rounds half to even, overflows to infinity and gives the default
 * NaN; e4m3 saturates. */
double check_to_f64(unsigned key, uint64_t bits);
uint64_t check_from_f64(unsigned key, double value);
int64_t check_to_i64(unsigned key, uint64_t bits); /* sign-extended; unsigned keys: not */
bool check_is_nan(unsigned key, uint64_t bits);

/* Distance of two floats in units of the last place; 0 if both are NaN, UINT64_MAX if one is. */
uint64_t check_ulps(unsigned key, uint64_t a, uint64_t b);

/* One element: a special value of the key (zeros, extremes, subnormals, NaNs, infinities, ties,
 * values where a conversion rounds or overflows), a small number, or random bits. */
uint64_t check_value(unsigned key, check_rng *rng);

/* Reads and writes an element of `size` bytes at any address. */
uint64_t check_load(const void *at, size_t size);
void check_store(void *at, size_t size, uint64_t bits);

/* Says why something is left out; the exit code of a program whose tests failed so often, which
 * tells ctest of what was left out. */
void check_skipped(const char *why);
int check_exit(int failed);

#endif
