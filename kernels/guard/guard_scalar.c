/* Guards in plain C. */
#include "kernels/common/element.h"

/* Defines the kernel `name`: fails if `wrong` holds for an element `a` (key A). */
#define GUARD1(name, A, wrong)                                                                     \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)               \
    {                                                                                              \
        const size_t sa = in[0].col != 0;                                                          \
        uint32_t bad = 0;                                                                          \
        (void)out;                                                                                 \
        for (size_t i = 0; i < m; i++) {                                                           \
            const qfk_##A##_mem *pa = qfk_in_row(&in[0], i);                                       \
            for (size_t j = 0; j < n; j++) {                                                       \
                const qfk_##A a = pa[sa * j];                                                      \
                bad |= (wrong) ? 1u : 0u;                                                          \
            }                                                                                      \
        }                                                                                          \
        *p->bad |= bad;                                                                            \
    }

/* The same for elements `a` and `b`. */
#define GUARD2(name, A, wrong)                                                                     \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)               \
    {                                                                                              \
        const size_t sa = in[0].col != 0, sb = in[1].col != 0;                                     \
        uint32_t bad = 0;                                                                          \
        (void)out;                                                                                 \
        for (size_t i = 0; i < m; i++) {                                                           \
            const qfk_##A##_mem *pa = qfk_in_row(&in[0], i), *pb = qfk_in_row(&in[1], i);          \
            for (size_t j = 0; j < n; j++) {                                                       \
                const qfk_##A a = pa[sa * j], b = pb[sb * j];                                      \
                bad |= (wrong) ? 1u : 0u;                                                          \
            }                                                                                      \
        }                                                                                          \
        *p->bad |= bad;                                                                            \
    }

GUARD2(qfk_guard_div_i8_scalar, i8, b == 0 || (b == -1 && a == INT8_MIN))
GUARD2(qfk_guard_div_i16_scalar, i16, b == 0 || (b == -1 && a == INT16_MIN))
GUARD2(qfk_guard_div_i32_scalar, i32, b == 0 || (b == -1 && a == INT32_MIN))
GUARD2(qfk_guard_div_i64_scalar, i64, b == 0 || (b == -1 && a == INT64_MIN))
GUARD2(qfk_guard_div_u8_scalar, u8, ((void)a, b == 0))
GUARD2(qfk_guard_div_u16_scalar, u16, ((void)a, b == 0))
GUARD2(qfk_guard_div_u32_scalar, u32, ((void)a, b == 0))
GUARD2(qfk_guard_div_u64_scalar, u64, ((void)a, b == 0))

/* trunc(a) fits if a lies strictly between the two neighbours of the range. A NaN fails every
 * comparison. Below the range of i32 and i64 every machine gives the least value (x86 as its
 * "integer indefinite", Arm and CUDA by saturation), so that much is defined: log(0) in the
 * position buckets of T5. */
GUARD1(qfk_guard_to_i8_f32_scalar, f32, !(a > -129.0 && a < 128.0))
GUARD1(qfk_guard_to_i8_f64_scalar, f64, !(a > -129.0 && a < 128.0))
GUARD1(qfk_guard_to_i16_f32_scalar, f32, !(a > -32769.0 && a < 32768.0))
GUARD1(qfk_guard_to_i16_f64_scalar, f64, !(a > -32769.0 && a < 32768.0))
GUARD1(qfk_guard_to_i32_f32_scalar, f32, !(a < 2147483648.0))
GUARD1(qfk_guard_to_i32_f64_scalar, f64, !(a < 2147483648.0))
GUARD1(qfk_guard_to_i64_f32_scalar, f32, !(a < 0x1p63))
GUARD1(qfk_guard_to_i64_f64_scalar, f64, !(a < 0x1p63))
GUARD1(qfk_guard_to_u8_f32_scalar, f32, !(a > -1.0 && a < 256.0))
GUARD1(qfk_guard_to_u8_f64_scalar, f64, !(a > -1.0 && a < 256.0))
GUARD1(qfk_guard_to_u16_f32_scalar, f32, !(a > -1.0 && a < 65536.0))
GUARD1(qfk_guard_to_u16_f64_scalar, f64, !(a > -1.0 && a < 65536.0))
GUARD1(qfk_guard_to_u32_f32_scalar, f32, !(a > -1.0 && a < 4294967296.0))
GUARD1(qfk_guard_to_u32_f64_scalar, f64, !(a > -1.0 && a < 4294967296.0))
GUARD1(qfk_guard_to_u64_f32_scalar, f32, !(a > -1.0 && a < 0x1p64))
GUARD1(qfk_guard_to_u64_f64_scalar, f64, !(a > -1.0 && a < 0x1p64))

GUARD1(qfk_guard_range_i8_scalar, i8, a < p->i[0] || a >= p->i[1])
GUARD1(qfk_guard_range_i16_scalar, i16, a < p->i[0] || a >= p->i[1])
GUARD1(qfk_guard_range_i32_scalar, i32, a < p->i[0] || a >= p->i[1])
GUARD1(qfk_guard_range_i64_scalar, i64, a < p->i[0] || a >= p->i[1])
GUARD1(qfk_guard_range_u8_scalar, u8, a < p->i[0] || a >= p->i[1])
GUARD1(qfk_guard_range_u16_scalar, u16, a < p->i[0] || a >= p->i[1])
GUARD1(qfk_guard_range_u32_scalar, u32, a < p->i[0] || a >= p->i[1])
GUARD1(qfk_guard_range_u64_scalar, u64,
       (p->i[0] > 0 && a < (uint64_t)p->i[0]) || p->i[1] <= 0 || a >= (uint64_t)p->i[1])

GUARD1(qfk_guard_powneg_i8_scalar, i8, a < 0)
GUARD1(qfk_guard_powneg_i16_scalar, i16, a < 0)
GUARD1(qfk_guard_powneg_i32_scalar, i32, a < 0)
GUARD1(qfk_guard_powneg_i64_scalar, i64, a < 0)
