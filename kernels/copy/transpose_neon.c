/* NEON rows of transpose: blocks of 16 bytes of a column, turned in registers; see
 * transpose_blocks.h. */
#include "kernels/common/simd_neon.h"
#include "kernels/copy/transpose_blocks.h"

static inline uint8x16_t low_x8(uint8x16_t a, uint8x16_t b) { return vzip1q_u8(a, b); }
static inline uint8x16_t high_x8(uint8x16_t a, uint8x16_t b) { return vzip2q_u8(a, b); }

/* The lower (the upper) halves of a and b, element by element in turn. */
#define INTERLEAVE(name, zip, S)                                                            \
    static inline uint8x16_t name(uint8x16_t a, uint8x16_t b)                               \
    {                                                                                       \
        return vreinterpretq_u8_##S(zip(vreinterpretq_##S##_u8(a), vreinterpretq_##S##_u8(b))); \
    }

INTERLEAVE(low_x16, vzip1q_u16, u16)
INTERLEAVE(high_x16, vzip2q_u16, u16)
INTERLEAVE(low_x32, vzip1q_u32, u32)
INTERLEAVE(high_x32, vzip2q_u32, u32)
INTERLEAVE(low_x64, vzip1q_u64, u64)
INTERLEAVE(high_x64, vzip2q_u64, u64)

/* Defines `name`, which turns N x N elements of SIZE bytes. Interleaving vector k with vector
 * k + N / 2 rotates the index (column, row) of every element by one bit; after as many rounds as N
 * has bits, column and row have changed places. */
#define TURN(name, SIZE, N, low, high)                                                         \
    QFK_INLINE void name(const qfk_block *b)                                                   \
    {                                                                                          \
        uint8x16_t v[N], t[N];                                                                 \
        _Pragma("GCC unroll 16") for (size_t k = 0; k < N; k++)                                \
            v[k] = k < b->w ? qfk_load_bytes16(b->a + (ptrdiff_t)k * b->col, SIZE * b->h)      \
                            : vdupq_n_u8(0);                                                   \
        _Pragma("GCC unroll 4") for (size_t round = 1; round < N; round *= 2)                  \
        {                                                                                      \
            _Pragma("GCC unroll 8") for (size_t k = 0; k < N / 2; k++)                         \
            {                                                                                  \
                t[2 * k] = low(v[k], v[k + N / 2]);                                            \
                t[2 * k + 1] = high(v[k], v[k + N / 2]);                                       \
            }                                                                                  \
            _Pragma("GCC unroll 16") for (size_t k = 0; k < N; k++) v[k] = t[k];               \
        }                                                                                      \
        _Pragma("GCC unroll 16") for (size_t k = 0; k < N; k++)                                \
            if (k < b->h)                                                                      \
                qfk_store_bytes16(b->x + (ptrdiff_t)k * b->row, v[k], SIZE * b->w);            \
    }

TURN(turn_x8, 1, 16, low_x8, high_x8)
TURN(turn_x16, 2, 8, low_x16, high_x16)
TURN(turn_x32, 4, 4, low_x32, high_x32)
TURN(turn_x64, 8, 2, low_x64, high_x64)

QFK_TRANSPOSE(qfk_transpose_x8_neon, 1, 16, 16, turn_x8)
QFK_TRANSPOSE(qfk_transpose_x16_neon, 2, 8, 8, turn_x16)
QFK_TRANSPOSE(qfk_transpose_x32_neon, 4, 4, 4, turn_x32)
QFK_TRANSPOSE(qfk_transpose_x64_neon, 8, 2, 2, turn_x64)
