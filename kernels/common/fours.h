/* Rows that are made four vectors at a time, so that stores are whole and may pass the caches. An
 * includer has included a vector vocabulary. */
#ifndef QFK_FOURS_H
#define QFK_FOURS_H

#include "kernels/common/unroll.h"

#define QFK_FOUR (4 * (size_t)QFK_LANES) /* columns that four vectors take */

/* Columns of a result of `size` bytes that are made at once: whole lines of it. Half lines of
 * several rows in turns cost 1.6 times as much as whole ones (quantize, Zen 3). */
#define QFK_UNIT(size) (64 / (size) > QFK_FOUR ? (size_t)(64 / (size)) : QFK_FOUR)

/* Ways to load a vector of n elements as floats, and to store one, or four whole ones. */
typedef qfk_vf qfk_load_floats(const void *p, size_t n);
typedef void qfk_store_floats(void *x, qfk_vf v, size_t n);
typedef void qfk_store4_floats(void *x, qfk_vf a, qfk_vf b, qfk_vf c, qfk_vf d, bool past);

/* Bytes between what is read and what is asked for where results go past the caches: their operands
 * outgrow them as well. f32 to bf16 took 1.25 times as long without, 1.08 times with 1024 or with
 * lines that also go to the second cache; quantize 1.33 and 1.10 times (Zen 3). */
#define QFK_PAST_AHEAD 2048

/* Asks for `bytes` bytes that come QFK_PAST_AHEAD after p; they may lie outside the operand. */
QFK_INLINE void qfk_ask_past(const void *p, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += 64)
        __builtin_prefetch((const void *)((uintptr_t)p + QFK_PAST_AHEAD + at), 0, 0);
}

/* A long row that becomes a narrower one past the caches is read in four parts side by side: the
 * machine looks ahead in each of them. f32 to bf16 took 1.24 times as long in one part, quantize
 * 1.10 times; parts that are whole pages apart cost 1.2 times as much as those that end in the
 * middle of one, and parts of 8 KiB gain nothing (Zen 3). */
#define QFK_LEAST_PART ((size_t)16 << 10)

/* Columns of such a part, of elements of `width` bytes; 0 if the row is too short for parts. */
QFK_INLINE size_t qfk_part(size_t columns, size_t width)
{
    const size_t bytes = columns * width / 4;
    return bytes < QFK_LEAST_PART ? 0 : ((bytes - 2048) / 4096 * 4096 + 2048) / width;
}

/* Runs a statement for the columns at … at + unit - 1 of a row until fewer are left, and leaves
 * `done`, the column to go on from. The first columns are four parts of `side` columns, or none. */
#define QFK_UNITS(done, columns, unit, side, ...)                      \
    do {                                                               \
        const size_t part = (side);                                    \
        for (size_t first = 0; first < part; first += (unit))          \
            for (size_t at = first; at < 4 * part; at += part) {       \
                __VA_ARGS__;                                           \
            }                                                          \
        for ((done) = 4 * part; (columns) - (done) >= (unit);) {       \
            const size_t at = (done);                                  \
            __VA_ARGS__;                                               \
            (done) += (unit);                                          \
        }                                                              \
    } while (0)

#endif
