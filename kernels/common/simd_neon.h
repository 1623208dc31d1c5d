/* The vector vocabulary with NEON; see simd_avx2.h. A vector has 16 bytes. There are no masks, so
 * the elements at the end of a row pass through memory. Memory is read and written as bytes: any
 * alignment, any alias. */
#ifndef QFK_SIMD_NEON_H
#define QFK_SIMD_NEON_H

#include "kernels/common/element.h"
#include "kernels/common/unroll.h"

#include <arm_neon.h>

#define QFK_LANES 4
#define QFK_DOUBLES 2

typedef float32x4_t qfk_vf;
typedef int32x4_t qfk_vi;
typedef float64x2_t qfk_vd;

/* n < 16 bytes from a to x, without a call. */
static inline void qfk_copy_few(void *x, const void *a, size_t n)
{
    size_t at = 0;

    for (size_t size = 8; size; size /= 2)
        if (n & size) {
            memcpy((char *)x + at, (const char *)a + at, size);
            at += size;
        }
}

/* The first n of 16 (of 8, of 4) bytes; zeros above. */
static inline uint8x16_t qfk_load_bytes16(const void *p, size_t n)
{
    uint8_t bytes[16] = { 0 };

    if (n == 16)
        return vld1q_u8(p);
    qfk_copy_few(bytes, p, n);
    return vld1q_u8(bytes);
}

static inline uint8x8_t qfk_load_bytes8(const void *p, size_t n)
{
    uint8_t bytes[8] = { 0 };

    if (n == 8)
        return vld1_u8(p);
    qfk_copy_few(bytes, p, n);
    return vld1_u8(bytes);
}

static inline uint8x8_t qfk_load_bytes4(const void *p, size_t n)
{
    uint32_t bytes = 0;

    if (n == 4)
        memcpy(&bytes, p, 4);
    else
        qfk_copy_few(&bytes, p, n);
    return vcreate_u8(bytes);
}

static inline void qfk_store_bytes16(void *p, uint8x16_t v, size_t n)
{
    uint8_t bytes[16];

    if (n == 16) {
        vst1q_u8(p, v);
        return;
    }
    vst1q_u8(bytes, v);
    qfk_copy_few(p, bytes, n);
}

static inline void qfk_store_bytes8(void *p, uint8x8_t v, size_t n)
{
    uint8_t bytes[8];

    if (n == 8) {
        vst1_u8(p, v);
        return;
    }
    vst1_u8(bytes, v);
    qfk_copy_few(p, bytes, n);
}

/* Floats. */
static inline qfk_vf qfk_vf_load(const void *p, size_t n)
{
    return vreinterpretq_f32_u8(qfk_load_bytes16(p, 4 * n));
}

static inline void qfk_vf_store(void *p, qfk_vf v, size_t n)
{
    qfk_store_bytes16(p, vreinterpretq_u8_f32(v), 4 * n);
}

static inline qfk_vf qfk_vf_set(float f) { return vdupq_n_f32(f); }
static inline qfk_vf qfk_vf_add(qfk_vf a, qfk_vf b) { return vaddq_f32(a, b); }
static inline qfk_vf qfk_vf_sub(qfk_vf a, qfk_vf b) { return vsubq_f32(a, b); }
static inline qfk_vf qfk_vf_mul(qfk_vf a, qfk_vf b) { return vmulq_f32(a, b); }
static inline qfk_vf qfk_vf_div(qfk_vf a, qfk_vf b) { return vdivq_f32(a, b); }

/* b where one of the two is a NaN. */
static inline qfk_vf qfk_vf_min(qfk_vf a, qfk_vf b) { return vbslq_f32(vcltq_f32(a, b), a, b); }
static inline qfk_vf qfk_vf_max(qfk_vf a, qfk_vf b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }

/* Half to even. */
static inline qfk_vf qfk_vf_round(qfk_vf a) { return vrndnq_f32(a); }

static inline qfk_vf qfk_vf_from_i32(qfk_vi v) { return vcvtq_f32_s32(v); }

/* Truncated; the least integer where 32 bits do not hold it: the instruction saturates. */
static inline qfk_vi qfk_vi_from_f32(qfk_vf a)
{
    const uint32x4_t fits =
        vandq_u32(vcgeq_f32(a, vdupq_n_f32(-0x1p31f)), vcltq_f32(a, vdupq_n_f32(0x1p31f)));
    return vbslq_s32(fits, vcvtq_s32_f32(a), vdupq_n_s32(INT32_MIN));
}

/* a, which fits into 32 bits, truncated; 0 where b is a NaN. */
static inline qfk_vi qfk_vf_truncated(qfk_vf a, qfk_vf b)
{
    return vandq_s32(vcvtq_s32_f32(a), vreinterpretq_s32_u32(vceqq_f32(b, b)));
}

/* Doubles. */
static inline qfk_vd qfk_vd_load(const void *p, size_t n)
{
    return vreinterpretq_f64_u8(qfk_load_bytes16(p, 8 * n));
}

static inline void qfk_vd_store(void *p, qfk_vd v, size_t n)
{
    qfk_store_bytes16(p, vreinterpretq_u8_f64(v), 8 * n);
}

static inline qfk_vd qfk_vd_set(double f) { return vdupq_n_f64(f); }
static inline qfk_vd qfk_vd_add(qfk_vd a, qfk_vd b) { return vaddq_f64(a, b); }
static inline qfk_vd qfk_vd_sub(qfk_vd a, qfk_vd b) { return vsubq_f64(a, b); }
static inline qfk_vd qfk_vd_mul(qfk_vd a, qfk_vd b) { return vmulq_f64(a, b); }
static inline qfk_vd qfk_vd_div(qfk_vd a, qfk_vd b) { return vdivq_f64(a, b); }

/* Integers, widened to 32 bits. */
static inline qfk_vi qfk_vi_load_i8(const void *p, size_t n)
{
    const int16x8_t words = vmovl_s8(vreinterpret_s8_u8(qfk_load_bytes4(p, n)));
    return vmovl_s16(vget_low_s16(words));
}

static inline uint16x4_t qfk_load_u8_as_words(const void *p, size_t n)
{
    return vget_low_u16(vmovl_u8(qfk_load_bytes4(p, n)));
}

static inline qfk_vi qfk_vi_load_u8(const void *p, size_t n)
{
    return vreinterpretq_s32_u32(vmovl_u16(qfk_load_u8_as_words(p, n)));
}

static inline qfk_vi qfk_vi_load_i16(const void *p, size_t n)
{
    return vmovl_s16(vreinterpret_s16_u8(qfk_load_bytes8(p, 2 * n)));
}

static inline qfk_vi qfk_vi_load_u16(const void *p, size_t n)
{
    return vreinterpretq_s32_u32(vmovl_u16(vreinterpret_u16_u8(qfk_load_bytes8(p, 2 * n))));
}

static inline qfk_vi qfk_vi_load_i32(const void *p, size_t n)
{
    return vreinterpretq_s32_u8(qfk_load_bytes16(p, 4 * n));
}

static inline void qfk_vi_store_x32(void *p, qfk_vi v, size_t n)
{
    qfk_store_bytes16(p, vreinterpretq_u8_s32(v), 4 * n);
}

/* Nibbles, the low one of a byte first: each lane shifts its own to the top, then down. */
static inline uint32x4_t qfk_nibbles_on_top(const void *p, size_t n)
{
    static const int32_t up[4] = { 28, 24, 20, 16 };
    uint16_t word = 0;

    memcpy(&word, p, n > 2 ? 2 : 1);
    return vshlq_u32(vdupq_n_u32(word), vld1q_s32(up));
}

static inline qfk_vi qfk_vi_load_i4(const void *p, size_t n)
{
    return vshrq_n_s32(vreinterpretq_s32_u32(qfk_nibbles_on_top(p, n)), 28);
}

static inline qfk_vi qfk_vi_load_u4(const void *p, size_t n)
{
    return vreinterpretq_s32_u32(vshrq_n_u32(qfk_nibbles_on_top(p, n), 28));
}

/* The low 8 or 16 bits of each lane. */
static inline void qfk_vi_store_x8(void *p, qfk_vi v, size_t n)
{
    const uint16x4_t words = vmovn_u32(vreinterpretq_u32_s32(v));
    const uint8x8_t bytes = vmovn_u16(vcombine_u16(words, words));
    const uint32_t four = vget_lane_u32(vreinterpret_u32_u8(bytes), 0);

    if (n == QFK_LANES)
        memcpy(p, &four, 4);
    else
        qfk_copy_few(p, &four, n);
}

static inline void qfk_vi_store_x16(void *p, qfk_vi v, size_t n)
{
    qfk_store_bytes8(p, vreinterpret_u8_s16(vmovn_s32(v)), 2 * n);
}

/* Short floats as floats, and back; bit for bit what f16.h, bf16.h and f8.h do. */
static inline qfk_vf qfk_vf_from_halves(uint16x4_t h)
{
    return vcvt_f32_f16(vreinterpret_f16_u16(h));
}

static inline qfk_vf qfk_vf_load_f16(const void *p, size_t n)
{
    return qfk_vf_from_halves(vreinterpret_u16_u8(qfk_load_bytes8(p, 2 * n)));
}

static inline void qfk_vf_store_f16(void *p, qfk_vf v, size_t n)
{
    qfk_store_bytes8(p, vreinterpret_u8_f16(vcvt_f16_f32(v)), 2 * n);
}

static inline qfk_vf qfk_vf_load_bf16(const void *p, size_t n)
{
    return vreinterpretq_f32_s32(vshlq_n_s32(qfk_vi_load_u16(p, n), 16));
}

static inline void qfk_vf_store_bf16(void *p, qfk_vf v, size_t n)
{
    const uint32x4_t u = vreinterpretq_u32_f32(v);
    const uint32x4_t lsb = vandq_u32(vshrq_n_u32(u, 16), vdupq_n_u32(1));
    const uint32x4_t rounded = vaddq_u32(u, vaddq_u32(lsb, vdupq_n_u32(0x7fff)));
    const uint32x4_t bits = vbslq_u32(vceqq_f32(v, v), rounded, vdupq_n_u32(0x7fc00000));
    qfk_store_bytes8(p, vreinterpret_u8_u16(vshrn_n_u32(bits, 16)), 2 * n);
}

/* Intrinsics have no stores past the caches. */
#define qfk_vf_store_past qfk_vf_store
#define qfk_vd_store_past qfk_vd_store

#define QFK_WHOLE(name, V, store)                           \
    static inline void name(void *p, V v, bool past)        \
    {                                                       \
        (void)past;                                         \
        store(p, v, QFK_LANES);                             \
    }

QFK_WHOLE(qfk_vf_put_f32, qfk_vf, qfk_vf_store)
QFK_WHOLE(qfk_vf_put_f16, qfk_vf, qfk_vf_store_f16)
QFK_WHOLE(qfk_vf_put_bf16, qfk_vf, qfk_vf_store_bf16)
QFK_WHOLE(qfk_vi_put_x8, qfk_vi, qfk_vi_store_x8)
QFK_WHOLE(qfk_vi_put_x16, qfk_vi, qfk_vi_store_x16)
QFK_WHOLE(qfk_vi_put_x32, qfk_vi, qfk_vi_store_x32)

QFK_STORE4(qfk_vf_store4_f32, qfk_vf, qfk_vf_put_f32, 4)
QFK_STORE4(qfk_vf_store4_f16, qfk_vf, qfk_vf_put_f16, 2)
QFK_STORE4(qfk_vf_store4_bf16, qfk_vf, qfk_vf_put_bf16, 2)
QFK_STORE4(qfk_vi_store4_x8, qfk_vi, qfk_vi_put_x8, 1)
QFK_STORE4(qfk_vi_store4_x16, qfk_vi, qfk_vi_put_x16, 2)
QFK_STORE4(qfk_vi_store4_x32, qfk_vi, qfk_vi_put_x32, 4)

/* The bits of e4m3 in the places of a half are the value over 2^8; 0x7f becomes a NaN. */
static inline qfk_vf qfk_vf_load_f8e4m3(const void *p, size_t n)
{
    const uint16x4_t v = qfk_load_u8_as_words(p, n);
    const uint16x4_t u = vand_u16(vshl_n_u16(v, 7), vdup_n_u16(0x3f80));
    const uint16x4_t nan = vand_u16(vceq_u16(u, vdup_n_u16(0x3f80)), vdup_n_u16(0x4000));
    const uint16x4_t sign = vshl_n_u16(vshr_n_u16(v, 7), 15);
    return vmulq_n_f32(qfk_vf_from_halves(vorr_u16(vorr_u16(u, nan), sign)), 256);
}

/* The upper byte of a half. */
static inline qfk_vf qfk_vf_load_f8e5m2(const void *p, size_t n)
{
    return qfk_vf_from_halves(vshl_n_u16(qfk_load_u8_as_words(p, n), 8));
}

#endif
