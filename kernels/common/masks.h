/* Masks for the last elements of a row. Operands end at a guard page in the tests and anywhere in a
 * host, so a tail is loaded and stored under a mask, never over-read. */
#ifndef QFK_MASKS_H
#define QFK_MASKS_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

/* The first n of 16, 32, 64 or 8 lanes, n at most that; AVX-512. */
static inline uint8_t qfk_first8(size_t n) { return (uint8_t)((1u << n) - 1u); }
static inline uint16_t qfk_first16(size_t n) { return (uint16_t)((1u << n) - 1u); }
static inline uint32_t qfk_first32(size_t n) { return (uint32_t)(((uint64_t)1 << n) - 1u); }
static inline uint64_t qfk_first64(size_t n) { return n ? ~(uint64_t)0 >> (64 - n) : 0; }

#if defined(__AVX2__)
/* Eight set lanes, then eight clear ones: a load at 8 - n has the first n set. */
static const int32_t qfk_lanes32[16] = { -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0 };

/* The first n of 8 (of 4) lanes, n at most that; for maskload and maskstore. */
static inline __m256i qfk_mask32(size_t n)
{
    return _mm256_loadu_si256((const void *)(qfk_lanes32 + 8 - n));
}

static inline __m256i qfk_mask64(size_t n)
{
    return _mm256_loadu_si256((const void *)(qfk_lanes32 + 8 - 2 * n));
}
#endif

#endif
