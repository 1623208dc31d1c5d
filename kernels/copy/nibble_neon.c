/* NEON rows of unpack and pack: the low and the high nibbles of 16 bytes, interleaved. */
#include "kernels/common/nibble.h"
#include "kernels/common/simd_neon.h"

#define SPREAD 32

static inline void spread(void *x, const void *bytes, uint8_t sign)
{
    const uint8x16_t v = vld1q_u8(bytes), s = vdupq_n_u8(sign);
    const uint8x16_t low = vandq_u8(v, vdupq_n_u8(15)), high = vshrq_n_u8(v, 4);

    vst2q_u8(x, ((uint8x16x2_t){ { vsubq_u8(veorq_u8(low, s), s),
                                   vsubq_u8(veorq_u8(high, s), s) } }));
}

static inline void gather(void *bytes, const void *a)
{
    const uint8x16x2_t v = vld2q_u8(a);

    vst1q_u8(bytes, vsliq_n_u8(vandq_u8(v.val[0], vdupq_n_u8(15)), v.val[1], 4));
}

#include "kernels/copy/nibble_vectors.h"

QFK_UNPACK(qfk_unpack_u4_neon, u4, 0)
QFK_UNPACK(qfk_unpack_i4_neon, i4, 8)
QFK_PACK(qfk_pack_x4_neon)
