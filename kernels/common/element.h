/* Element types of kernels and the loops over a tile that most of them share.
 *
 * For a key k, qfk_k is the type in registers and qfk_k_mem the same type as it lies in memory: any
 * alignment, any alias. Read and write tiles through *_mem pointers only. */
#ifndef QFK_ELEMENT_H
#define QFK_ELEMENT_H

#include "kernels/rows.h"

#include <stdint.h>
#include <string.h>

#define QFK_MEMORY(type) __attribute__((aligned(1), may_alias)) type

typedef uint8_t qfk_x8, qfk_u8, qfk_b8, qfk_f8e4m3, qfk_f8e5m2;
typedef uint16_t qfk_x16, qfk_u16, qfk_f16, qfk_bf16;
typedef uint32_t qfk_x32, qfk_u32;
typedef uint64_t qfk_x64, qfk_u64;
typedef int8_t qfk_i8;
typedef int16_t qfk_i16;
typedef int32_t qfk_i32;
typedef int64_t qfk_i64;
typedef float qfk_f32;
typedef double qfk_f64;

typedef QFK_MEMORY(uint8_t) qfk_x8_mem, qfk_u8_mem, qfk_b8_mem, qfk_f8e4m3_mem, qfk_f8e5m2_mem;
typedef QFK_MEMORY(uint16_t) qfk_x16_mem, qfk_u16_mem, qfk_f16_mem, qfk_bf16_mem;
typedef QFK_MEMORY(uint32_t) qfk_x32_mem, qfk_u32_mem;
typedef QFK_MEMORY(uint64_t) qfk_x64_mem, qfk_u64_mem;
typedef QFK_MEMORY(int8_t) qfk_i8_mem;
typedef QFK_MEMORY(int16_t) qfk_i16_mem;
typedef QFK_MEMORY(int32_t) qfk_i32_mem;
typedef QFK_MEMORY(int64_t) qfk_i64_mem;
typedef QFK_MEMORY(float) qfk_f32_mem;
typedef QFK_MEMORY(double) qfk_f64_mem;

/* Row i of an input or of the output. */
static inline const void *qfk_in_row(const qfk_in *in, size_t i)
{
    return (const char *)in->p + (ptrdiff_t)i * in->row;
}

static inline void *qfk_out_row(const qfk_out *x, size_t i)
{
    return (char *)x->p + (ptrdiff_t)i * x->row;
}

/* The bits of a float as an integer, and back. */
static inline uint32_t qfk_bits32(float f) { uint32_t u; memcpy(&u, &f, sizeof u); return u; }
static inline uint64_t qfk_bits64(double f) { uint64_t u; memcpy(&u, &f, sizeof u); return u; }
static inline float qfk_float32(uint32_t u) { float f; memcpy(&f, &u, sizeof f); return f; }
static inline double qfk_float64(uint64_t u) { double f; memcpy(&f, &u, sizeof f); return f; }

/* A loop over the columns of one row. An output may be the very memory of an input, so the compiler
 * cannot prove that iterations are independent; they are, because column j reads column j alone. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed" /* a loop that does not vectorise is fine */
#define QFK_EACH(n) _Pragma("clang loop vectorize(assume_safety)") for (size_t j = 0; j < (n); j++)
#else
#define QFK_EACH(n) _Pragma("GCC ivdep") for (size_t j = 0; j < (n); j++)
#endif

/* Defines the kernel `name` of one input: x[i][j] = expr of `a` (key A), written as key X. */
#define QFK_MAP1(name, A, X, expr)                                                   \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p) \
    {                                                                                \
        (void)p;                                                                     \
        for (size_t i = 0; n && i < m; i++) {                                        \
            const qfk_##A##_mem *pa = qfk_in_row(&in[0], i);                         \
            qfk_##X##_mem *x = qfk_out_row(&out, i);                                 \
            if (in[0].col) {                                                         \
                QFK_EACH(n) {                                                        \
                    const qfk_##A a = pa[j];                                         \
                    const qfk_##X v = (qfk_##X)(expr);                               \
                    x[j] = v;                                                        \
                }                                                                    \
            } else {                                                                 \
                const qfk_##A a = *pa;                                               \
                const qfk_##X v = (qfk_##X)(expr);                                   \
                QFK_EACH(n) x[j] = v;                                                \
            }                                                                        \
        }                                                                            \
    }

/* Defines the kernel `name` of two inputs: x[i][j] = expr of `a`, `b` (key A), written as key X. */
#define QFK_MAP2(name, A, X, expr)                                                          \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)        \
    {                                                                                       \
        (void)p;                                                                            \
        for (size_t i = 0; n && i < m; i++) {                                               \
            const qfk_##A##_mem *pa = qfk_in_row(&in[0], i), *pb = qfk_in_row(&in[1], i);   \
            const qfk_##A a0 = *pa, b0 = *pb;                                               \
            qfk_##X##_mem *x = qfk_out_row(&out, i);                                        \
            if (in[0].col && in[1].col)                                                     \
                QFK_EACH(n) { const qfk_##A a = pa[j], b = pb[j]; x[j] = (qfk_##X)(expr); } \
            else if (in[0].col)                                                             \
                QFK_EACH(n) { const qfk_##A a = pa[j], b = b0; x[j] = (qfk_##X)(expr); }    \
            else if (in[1].col)                                                             \
                QFK_EACH(n) { const qfk_##A a = a0, b = pb[j]; x[j] = (qfk_##X)(expr); }    \
            else                                                                            \
                QFK_EACH(n) { const qfk_##A a = a0, b = b0; x[j] = (qfk_##X)(expr); }       \
        }                                                                                   \
    }

/* One element of a kernel of three inputs: `a` of key A, `b` and `c` of key B from these places. */
#define QFK_SET3(A, B, X, expr, at_a, at_b, at_c) \
    {                                             \
        const qfk_##A a = at_a;                   \
        const qfk_##B b = at_b, c = at_c;         \
        x[j] = (qfk_##X)(expr);                   \
    }

/* Defines the kernel `name` of three inputs: x[i][j] = expr of `a` (key A), `b` and `c` (key B),
 * written as key X. Only the case of three full rows vectorises. */
#define QFK_MAP3(name, A, B, X, expr)                                                          \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)           \
    {                                                                                          \
        const size_t sa = in[0].col != 0, sb = in[1].col != 0, sc = in[2].col != 0;            \
        (void)p;                                                                               \
        for (size_t i = 0; n && i < m; i++) {                                                  \
            const qfk_##A##_mem *pa = qfk_in_row(&in[0], i);                                   \
            const qfk_##B##_mem *pb = qfk_in_row(&in[1], i), *pc = qfk_in_row(&in[2], i);      \
            const qfk_##A a0 = *pa;                                                            \
            const qfk_##B b0 = *pb, c0 = *pc;                                                  \
            qfk_##X##_mem *x = qfk_out_row(&out, i);                                           \
            if (sa && sb && sc)                                                                \
                QFK_EACH(n) QFK_SET3(A, B, X, expr, pa[j], pb[j], pc[j])                       \
            else                                                                               \
                for (size_t j = 0; j < n; j++)                                                 \
                    QFK_SET3(A, B, X, expr, sa ? pa[j] : a0, sb ? pb[j] : b0, sc ? pc[j] : c0) \
        }                                                                                      \
    }

#endif
