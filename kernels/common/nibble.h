/* Elements of 4 bits, two to a byte, the low one first. Kernels of nibbles take their place in
 * parameters: element [i][j] is nibble i[0] + i * i[1] + j * i[2] from the tile's pointer on. */
#ifndef QFK_NIBBLE_H
#define QFK_NIBBLE_H

#include "kernels/common/element.h"

/* The number of the nibble of [i][0]. */
static inline size_t qfk_row_nibble(const qfk_param *p, size_t i)
{
    return (size_t)p->i[0] + i * (size_t)p->i[1];
}

static inline uint8_t qfk_nibble_u4(const qfk_u8_mem *bytes, size_t at)
{
    return (uint8_t)((unsigned)bytes[at / 2] >> (at % 2 * 4) & 15u);
}

static inline int8_t qfk_nibble_i4(const qfk_u8_mem *bytes, size_t at)
{
    return (int8_t)((qfk_nibble_u4(bytes, at) ^ 8) - 8);
}

#endif
