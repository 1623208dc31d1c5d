/* NEON rows of copy: rows of adjacent elements and repeated elements as vectors. */
#include "kernels/common/simd_neon.h"
#include "kernels/copy/copy_rows.h"

static inline void copy_bytes(char *x, const char *a, size_t n)
{
    size_t at = 0;

    for (; n - at >= 16; at += 16)
        qfk_store_bytes16(x + at, qfk_load_bytes16(a + at, 16), 16);
    qfk_copy_few(x + at, a + at, n - at);
}

static inline void repeat_bytes(char *x, uint8x16_t v, size_t n)
{
    size_t at = 0;

    for (; n - at >= 16; at += 16)
        qfk_store_bytes16(x + at, v, 16);
    qfk_store_bytes16(x + at, v, n - at);
}

static inline uint8x16_t repeat_x16(uint16_t v) { return vreinterpretq_u8_u16(vdupq_n_u16(v)); }
static inline uint8x16_t repeat_x32(uint32_t v) { return vreinterpretq_u8_u32(vdupq_n_u32(v)); }
static inline uint8x16_t repeat_x64(uint64_t v) { return vreinterpretq_u8_u64(vdupq_n_u64(v)); }

QFK_COPY(qfk_copy_x8_neon, x8, copy_bytes, vdupq_n_u8, uint8_t)
QFK_COPY(qfk_copy_x16_neon, x16, copy_bytes, repeat_x16, uint16_t)
QFK_COPY(qfk_copy_x32_neon, x32, copy_bytes, repeat_x32, uint32_t)
QFK_COPY(qfk_copy_x64_neon, x64, copy_bytes, repeat_x64, uint64_t)
