/* Element types, capabilities, types of values, and checked size arithmetic. */
#ifndef QFOLD_TYPES_H
#define QFOLD_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <qfold/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The largest rank of a tensor; a value of higher rank is opaque. */
#define QF_MAX_RANK 8

/* QF_DT_f32 …; the order is ABI. QF_DT_none is "no or unknown dtype". */
typedef enum qf_dtype {
    QF_DT_none = 0,
#define QF_DTYPE(name, bits, kind, compute, torch, onnx, safetensors, gguf) QF_DT_##name,
#include <qfold/dtype.def>
#undef QF_DTYPE
    QF_DT_COUNT
} qf_dtype;

/* What elements are. */
typedef enum qf_dtype_class {
    QF_CLASS_NONE,
    QF_CLASS_BOOL,
    QF_CLASS_UINT,
    QF_CLASS_INT,
    QF_CLASS_FLOAT,
    QF_CLASS_COMPLEX
} qf_dtype_class;

/* One row of dtype.def. bits: per element.  compute: dtype in which arithmetic is done, QF_DT_none
 * if there is none. torch, onnx, gguf: number in that format, 0 (gguf: -1) if absent.  safetensors:
 * name, "" if absent. */
typedef struct qf_dtype_info {
    const char *name;
    uint8_t bits;
    qf_dtype_class kind;
    qf_dtype compute;
    int16_t torch, onnx;
    const char *safetensors;
    int16_t gguf;
} qf_dtype_info;

/* Row of a dtype; an unknown number gives the row of QF_DT_none ("none", 0 bits). Static storage,
 * thread-safe. */
QF_API const qf_dtype_info *qf_dtype_get(qf_dtype dtype);

/* dtype of a number of torch's export schema or of ONNX; QF_DT_none if unknown. Thread-safe. */
QF_API qf_dtype qf_dtype_from_torch(int64_t number);
QF_API qf_dtype qf_dtype_from_onnx(int64_t number);

/* Instruction sets, as levels. A level implies the ones below it of the same architecture. */
typedef uint32_t qf_caps;
#define QF_CAP_AVX2 ((qf_caps)1)     /* x86-64-v3: AVX2, FMA, F16C, BMI2 */
#define QF_CAP_AVX512 ((qf_caps)2)   /* x86-64-v4: AVX-512 F, BW, CD, DQ, VL */
#define QF_CAP_NEON ((qf_caps)0x100) /* Armv8-A Advanced SIMD */

/* What this CPU and operating system allow, reduced by the environment variable QFOLD_CAPS (scalar,
 * avx2, avx512, neon: the highest level to use; other values change nothing). Asks the CPU on every
 * call. Thread-safe while nobody changes the environment. */
QF_API qf_caps qf_caps_detect(void);

/* Bytes of the last cache level, one instance of it, as the CPU says; a guess of 32 MiB where it
 * does not. What qf_ctx.cache is if it is 0. Asks the CPU once. Thread-safe. */
QF_API uint64_t qf_cache_detect(void);

/* Name of the highest level in `caps` ("scalar" for none). Thread-safe. */
QF_API const char *qf_caps_name(qf_caps caps);

/* dtype and shape of a value.
 * rank: -1 if unknown.  dim: elements; a negative dim is the symbol ~dim: equal symbols are equal
 * sizes. */
typedef struct qf_type {
    qf_dtype dtype;
    int8_t rank;
    int64_t dim[QF_MAX_RANK];
} qf_type;

/* One exact number. is_int: `i` holds it; otherwise `f` does. Booleans are the integers 0 and 1. */
typedef struct qf_scalar {
    bool is_int;
    int64_t i;
    double f;
} qf_scalar;

/* A name or text inside a larger buffer; not terminated. */
typedef struct qf_str {
    const char *p;
    size_t n;
} qf_str;

/* x = a * b, x = a + b in 64 bits. Return false on overflow and leave *x unspecified. */
static inline bool qf_mul(uint64_t a, uint64_t b, uint64_t *x)
{
    return !__builtin_mul_overflow(a, b, x);
}
static inline bool qf_add(uint64_t a, uint64_t b, uint64_t *x)
{
    return !__builtin_add_overflow(a, b, x);
}

/* Elements of a fully known shape. Returns false if a dim is negative, the rank unknown, or the
 * product overflows. */
QF_API bool qf_type_elements(const qf_type *type, uint64_t *elements);

/* Bytes of a dense tensor of this type, 4-bit elements packed and rounded up. Same failures. */
QF_API bool qf_type_bytes(const qf_type *type, uint64_t *bytes);

/* Same dtype, rank and dims (symbols by number). */
QF_API bool qf_type_equal(const qf_type *a, const qf_type *b);

#ifdef __cplusplus
}
#endif
#endif
