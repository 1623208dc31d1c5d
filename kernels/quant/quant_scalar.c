/* Quantisation in plain C. */
#include "kernels/common/bf16.h"
#include "kernels/common/element.h"
#include "kernels/common/f16.h"
#include "kernels/common/nibble.h"
#include "kernels/common/rounding.h"

/* The bounds are cut to what the type holds, so that the conversion is always defined. 2147483520
 * is the greatest f32 that an int32 holds. */
static inline float quantized(float x, float zero, float low, float high)
{
    const float r = qfk_round_f32(x) + zero;
    const float up = r > low ? r : low;
    const float clamped = up < high ? up : high;
    return r == r ? clamped : 0.0f;
}

/* Defines the kernel `name`: quantize to key X, whose values are min to max. */
#define QUANTIZE(name, X, min, max)                                                                \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)               \
    {                                                                                              \
        const float low = fmaxf((float)p->f[0], min), high = fminf((float)p->f[1], max);           \
        const size_t sa = in[0].col != 0, sb = in[1].col != 0, sc = in[2].col != 0;                \
        for (size_t i = 0; i < m; i++) {                                                           \
            const qfk_f32_mem *pa = qfk_in_row(&in[0], i), *pb = qfk_in_row(&in[1], i);            \
            const qfk_f32_mem *pc = qfk_in_row(&in[2], i);                                         \
            qfk_##X##_mem *x = qfk_out_row(&out, i);                                               \
            for (size_t j = 0; j < n; j++)                                                         \
                x[j] = (qfk_##X)quantized(pa[sa * j] * pb[sb * j], pc[sc * j], low, high);         \
        }                                                                                          \
    }

QUANTIZE(qfk_quantize_i8_scalar, i8, -128.0f, 127.0f)
QUANTIZE(qfk_quantize_u8_scalar, u8, 0.0f, 255.0f)
QUANTIZE(qfk_quantize_i16_scalar, i16, -32768.0f, 32767.0f)
QUANTIZE(qfk_quantize_u16_scalar, u16, 0.0f, 65535.0f)
QUANTIZE(qfk_quantize_i32_scalar, i32, -2147483648.0f, 2147483520.0f)

/* Defines the kernel `name`: dequantize to key X, rounded by `as`, from elements `q`, an expression
 * of i, j and what `row` declares. */
#define DEQUANTIZE(name, X, as, row, q)                                                            \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)               \
    {                                                                                              \
        const size_t sa = in[0].col != 0, sb = in[1].col != 0, sc = in[2].col != 0;                \
        (void)p, (void)sa;                                                                         \
        for (size_t i = 0; i < m; i++) {                                                           \
            row;                                                                                   \
            const qfk_f32_mem *pb = qfk_in_row(&in[1], i);                                         \
            const qfk_f32_mem *pc = qfk_in_row(&in[2], i);                                         \
            qfk_##X##_mem *x = qfk_out_row(&out, i);                                               \
            for (size_t j = 0; j < n; j++)                                                         \
                x[j] = as(((float)(q) - pc[sc * j]) * pb[sb * j]);                                 \
        }                                                                                          \
    }

#define BYTES(name, A, X, as)                                                                      \
    DEQUANTIZE(name, X, as, const qfk_##A##_mem *pa = qfk_in_row(&in[0], i), pa[sa * j])
#define TURNED(name, A, X, as)                                                                     \
    DEQUANTIZE(name, X, as, const char *pa = qfk_in_row(&in[0], i),                                \
               *(const qfk_##A##_mem *)(pa + (ptrdiff_t)j * in[0].col))
#define NIBBLES(name, A, X, as)                                                                    \
    DEQUANTIZE(name, X, as, const size_t at = qfk_row_nibble(p, i),                                \
               qfk_nibble_##A(in[0].p, at + j * (size_t)p->i[2]))

BYTES(qfk_dequantize_i8_scalar, i8, f32, (float))
BYTES(qfk_dequantize_u8_scalar, u8, f32, (float))
BYTES(qfk_dequantize_i16_scalar, i16, f32, (float))
BYTES(qfk_dequantize_u16_scalar, u16, f32, (float))
BYTES(qfk_dequantize_i32_scalar, i32, f32, (float))
NIBBLES(qfk_dequantize_i4_scalar, i4, f32, (float))
NIBBLES(qfk_dequantize_u4_scalar, u4, f32, (float))

BYTES(qfk_dequantize_f16_i8_scalar, i8, f16, qfk_f16_from_f32)
BYTES(qfk_dequantize_f16_u8_scalar, u8, f16, qfk_f16_from_f32)
NIBBLES(qfk_dequantize_f16_i4_scalar, i4, f16, qfk_f16_from_f32)
NIBBLES(qfk_dequantize_f16_u4_scalar, u4, f16, qfk_f16_from_f32)

BYTES(qfk_dequantize_bf16_i8_scalar, i8, bf16, qfk_bf16_from_f32)
BYTES(qfk_dequantize_bf16_u8_scalar, u8, bf16, qfk_bf16_from_f32)
NIBBLES(qfk_dequantize_bf16_i4_scalar, i4, bf16, qfk_bf16_from_f32)
NIBBLES(qfk_dequantize_bf16_u4_scalar, u4, bf16, qfk_bf16_from_f32)

TURNED(qfk_dequantize_turned_i8_scalar, i8, f32, (float))
TURNED(qfk_dequantize_turned_u8_scalar, u8, f32, (float))
TURNED(qfk_dequantize_turned_f16_i8_scalar, i8, f16, qfk_f16_from_f32)
TURNED(qfk_dequantize_turned_f16_u8_scalar, u8, f16, qfk_f16_from_f32)
TURNED(qfk_dequantize_turned_bf16_i8_scalar, i8, bf16, qfk_bf16_from_f32)
TURNED(qfk_dequantize_turned_bf16_u8_scalar, u8, bf16, qfk_bf16_from_f32)

/* Defines the kernel `name`: dequantize_i64 from key A. The difference wraps. */
#define DEQUANTIZE_I64(name, A)                                                                    \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)               \
    {                                                                                              \
        const size_t sa = in[0].col != 0, sb = in[1].col != 0, sc = in[2].col != 0;                \
        (void)p;                                                                                   \
        for (size_t i = 0; i < m; i++) {                                                           \
            const qfk_##A##_mem *pa = qfk_in_row(&in[0], i);                                       \
            const qfk_f32_mem *pb = qfk_in_row(&in[1], i);                                         \
            const qfk_u64_mem *pc = qfk_in_row(&in[2], i);                                         \
            qfk_f32_mem *x = qfk_out_row(&out, i);                                                 \
            for (size_t j = 0; j < n; j++)                                                         \
                x[j] = (float)(qfk_i64)((qfk_u64)(qfk_i64)pa[sa * j] - pc[sc * j]) * pb[sb * j];   \
        }                                                                                          \
    }

DEQUANTIZE_I64(qfk_dequantize_i64_i8_scalar, i8)
DEQUANTIZE_I64(qfk_dequantize_i64_u8_scalar, u8)
DEQUANTIZE_I64(qfk_dequantize_i64_i16_scalar, i16)
DEQUANTIZE_I64(qfk_dequantize_i64_u16_scalar, u16)
