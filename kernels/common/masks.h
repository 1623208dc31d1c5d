/* Masks for the last elements of a row. Operands end at a guard page in the tests and anywhere in a
 * host, so a tail is loaded and stored under a mask, never over-read. */
#ifndef QFK_MASKS_H
#define QFK_MASKS_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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
/* The first n bytes at p, n < 16, as the low bytes of a vector; zeros above. */
static inline __m128i qfk_load_first_bytes(const void *p, size_t n)
{
    unsigned char bytes[16] = { 0 };

    if (n & 8)
        memcpy(bytes, p, 8);
    if (n & 4)
        memcpy(bytes + (n & 8), (const char *)p + (n & 8), 4);
    if (n & 2)
        memcpy(bytes + (n & 12), (const char *)p + (n & 12), 2);
    if (n & 1)
        memcpy(bytes + (n & 14), (const char *)p + (n & 14), 1);
    return _mm_loadu_si128((const void *)bytes);
}

/* The low n bytes of a vector to p, n < 16. */
static inline void qfk_store_first_bytes(void *p, __m128i v, size_t n)
{
    unsigned char bytes[16];

    _mm_storeu_si128((void *)bytes, v);
    if (n & 8)
        memcpy(p, bytes, 8);
    if (n & 4)
        memcpy((char *)p + (n & 8), bytes + (n & 8), 4);
    if (n & 2)
        memcpy((char *)p + (n & 12), bytes + (n & 12), 2);
    if (n & 1)
        memcpy((char *)p + (n & 14), bytes + (n & 14), 1);
}

/* The same for n < 32 and vectors of 32 bytes. */
static inline __m256i qfk_load_first_bytes32(const void *p, size_t n)
{
    const __m128i zero = _mm_setzero_si128();

    if (n < 16)
        return _mm256_set_m128i(zero, qfk_load_first_bytes(p, n));
    return _mm256_set_m128i(qfk_load_first_bytes((const char *)p + 16, n - 16),
                            _mm_loadu_si128(p));
}

static inline void qfk_store_first_bytes32(void *p, __m256i v, size_t n)
{
    if (n < 16) {
        qfk_store_first_bytes(p, _mm256_castsi256_si128(v), n);
        return;
    }
    _mm_storeu_si128(p, _mm256_castsi256_si128(v));
    qfk_store_first_bytes((char *)p + 16, _mm256_extracti128_si256(v, 1), n - 16);
}
#endif

#endif
