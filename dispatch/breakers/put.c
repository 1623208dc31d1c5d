/* Writing by index: a copy of operand 0, and the elements of operand 2 joined to it one after the
 * other, by one thread, so that their order decides and nothing else. */
#include "dispatch/arith.h"
#include "dispatch/breakers/breaker.h"

#include <string.h>

#define BLOCK ((int64_t)1 << 10) /* indices that are looked at together */

qf_status qfi_put_make(qfi_builder *b, qfi_breaker *x)
{
    static const int index = 1;

    x->run = qfi_put_run;
    x->work = (uint64_t)x->type.dim[0] / 8 + (uint64_t)BLOCK * (8 + 16);
    for (int i = 0; i < 3; i++)
        QF_TRY(qfi_operand_segment(b, qfi_step(b, x->value)->in[i], NULL,
                                   i == index ? QF_DT_i64 : x->type.dtype, &x->in[i]));
    return QF_OK;
}

/* ---- joining two elements ---- */

typedef void join(void *to, const void *from);

#define JOIN(name, type, expression)                                                               \
    static void name(void *to, const void *from)                                                   \
    {                                                                                              \
        type a, b;                                                                                 \
        memcpy(&a, to, sizeof a);                                                                  \
        memcpy(&b, from, sizeof b);                                                                \
        a = (type)(expression);                                                                    \
        memcpy(to, &a, sizeof a);                                                                  \
    }

/* Integers are added and multiplied as unsigned ones, which wrap. */
#define JOIN_WRAPPED(type)                                                                         \
    JOIN(add_##type, type##_t, (uint64_t)a + b)                                                    \
    JOIN(mul_##type, type##_t, (uint64_t)a *b)
#define JOIN_ORDERED(name, type)                                                                   \
    JOIN(min_##name, type, b < a ? b : a)                                                          \
    JOIN(max_##name, type, a < b ? b : a)
#define JOIN_FLOAT(name, type)                                                                     \
    JOIN(add_##name, type, a + b)                                                                  \
    JOIN(mul_##name, type, a *b)                                                                   \
    JOIN(min_##name, type, b != b || b < a ? b : a)                                                \
    JOIN(max_##name, type, b != b || a < b ? b : a)

JOIN_WRAPPED(uint8)
JOIN_WRAPPED(uint16)
JOIN_WRAPPED(uint32)
JOIN_WRAPPED(uint64)
JOIN_ORDERED(u8, uint8_t)
JOIN_ORDERED(i8, int8_t)
JOIN_ORDERED(u16, uint16_t)
JOIN_ORDERED(i16, int16_t)
JOIN_ORDERED(u32, uint32_t)
JOIN_ORDERED(i32, int32_t)
JOIN_ORDERED(u64, uint64_t)
JOIN_ORDERED(i64, int64_t)
JOIN_FLOAT(f32, float)
JOIN_FLOAT(f64, double)

/* By mode; booleans are 0 and 1. */
static join *const joins[QF_DT_COUNT][QF_PUT_COUNT] = {
    [QF_DT_b8] = { NULL, max_u8, min_u8, min_u8, max_u8 },
    [QF_DT_u8] = { NULL, add_uint8, mul_uint8, min_u8, max_u8 },
    [QF_DT_i8] = { NULL, add_uint8, mul_uint8, min_i8, max_i8 },
    [QF_DT_u16] = { NULL, add_uint16, mul_uint16, min_u16, max_u16 },
    [QF_DT_i16] = { NULL, add_uint16, mul_uint16, min_i16, max_i16 },
    [QF_DT_u32] = { NULL, add_uint32, mul_uint32, min_u32, max_u32 },
    [QF_DT_i32] = { NULL, add_uint32, mul_uint32, min_i32, max_i32 },
    [QF_DT_u64] = { NULL, add_uint64, mul_uint64, min_u64, max_u64 },
    [QF_DT_i64] = { NULL, add_uint64, mul_uint64, min_i64, max_i64 },
    [QF_DT_f32] = { NULL, add_f32, mul_f32, min_f32, max_f32 },
    [QF_DT_f64] = { NULL, add_f64, mul_f64, min_f64, max_f64 },
};

/* ---- the box at hand ---- */

/* lo, n: the part of the result, [lo, lo + n), whose elements of `size` bytes stand at dst, step
 * bytes apart.  size_all: of the whole.  written: a bit for each element of the part that was set.
 */
typedef struct putting {
    char *dst;
    int64_t lo, n, step, size_all;
    size_t size;
    uint8_t *written;
    join *how;
} putting;

/* False: there is no such place, or another element was set there. */
static bool put_one(const putting *p, int64_t at, const char *from)
{
    at += at < 0 ? p->size_all : 0;
    if (at < 0 || at >= p->size_all)
        return false;
    at -= p->lo;
    if (at < 0 || at >= p->n)
        return true;
    char *to = p->dst + at * p->step;
    if (p->how) {
        p->how(to, from);
        return true;
    }
    const uint8_t bit = (uint8_t)(1u << (at & 7));
    const bool again = p->written[at >> 3] & bit;
    p->written[at >> 3] |= bit;
    if (again)
        return memcmp(to, from, p->size) == 0;
    memcpy(to, from, p->size);
    return true;
}

/* A box of a segment of one dim; elements of 128 bits are two halves along a second one. */
static qf_status load(qfi_run *run, const qfi_segment *s, int64_t first, int64_t count, char *dst,
                      int64_t stride)
{
    const int64_t halves = s->n_dim > 1 ? 2 : 1, lo[QFI_DIMS] = { first },
                  n[QFI_DIMS] = { count, halves }, step[QFI_DIMS] = { stride * halves, 1 };

    return qfi_run_segment(run, s, lo, n, dst, 0, step);
}

qf_status qfi_put_run(qfi_run *run, const qfi_breaker *x, const int64_t *lo, const int64_t *n,
                      char *dst, const int64_t *stride)
{
    const size_t size = qf_dtype_get(x->type.dtype)->bits / 8;
    const int64_t count = x->in_type[1].dim[0], most = qfi_min64(BLOCK, count);
    const uint64_t bits = x->attrs.put.mode == QF_PUT_SET ? (uint64_t)*n / 8 + 1 : 0;
    putting p = { .dst = dst,
                  .lo = *lo,
                  .n = *n,
                  .step = *stride * (int64_t)size,
                  .size_all = x->type.dim[0],
                  .size = size,
                  .written = qfi_area_get(&run->work, bits),
                  .how = joins[x->type.dtype][x->attrs.put.mode] };
    int64_t *index = qfi_area_get(&run->work, (uint64_t)most * sizeof *index);
    char *from = qfi_area_get(&run->work, (uint64_t)most * size);
    bool good = true;

    if (!p.written || !index || !from)
        return QFI_TOO_LARGE;
    memset(p.written, 0, bits);
    QF_TRY(load(run, x->in[0], *lo, *n, dst, *stride));
    for (int64_t first = 0; first < count; first += BLOCK) {
        const int64_t some = qfi_min64(BLOCK, count - first);
        QF_TRY(load(run, x->in[1], first, some, (char *)index, 1));
        QF_TRY(load(run, x->in[2], first, some, from, 1));
        for (int64_t i = 0; i < some; i++)
            good &= put_one(&p, index[i], from + (size_t)i * size);
    }
    if (!good)
        __atomic_store_n(&run->fault->bad, 1, __ATOMIC_RELAXED);
    return QF_OK;
}
