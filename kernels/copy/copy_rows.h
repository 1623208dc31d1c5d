/* The copy kernel over vectors. */
#ifndef QFK_COPY_ROWS_H
#define QFK_COPY_ROWS_H

#include "kernels/common/element.h"
#include "kernels/common/unroll.h"

/* Defines the kernel `name` of key X. copy(x, a, n) moves n bytes, repeat_bytes(x, v, n) fills them
 * with a vector; `set1` repeats an element, as a T, in one. */
#define QFK_COPY(name, X, copy, set1, T)                                                 \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)     \
    {                                                                                    \
        (void)p;                                                                         \
        for (size_t i = 0; n && i < m; i++) {                                            \
            const char *a = qfk_in_row(in, i);                                           \
            qfk_##X##_mem *x = qfk_out_row(&out, i);                                     \
            const qfk_##X a0 = *(const qfk_##X##_mem *)a;                                \
            if (in->col == (ptrdiff_t)sizeof *x)                                         \
                copy((char *)x, a, n * sizeof *x);                                       \
            else if (in->col == 0)                                                       \
                repeat_bytes((char *)x, set1((T)a0), n * sizeof *x);                     \
            else                                                                         \
                QFK_EACH(n) x[j] = *(const qfk_##X##_mem *)(a + (ptrdiff_t)j * in->col); \
        }                                                                                \
    }

/* Bytes between what is moved past the caches and what is asked for, in rows shorter than
 * QFK_LONG_ROW: between the stores of scattered rows the machine looks ahead too late. Without,
 * rows of 256 bytes took 1.21 times as long, of 512 bytes 1.05 times; of 1024 bytes 0.92 times, of
 * 16 KiB 0.88 times (Zen 3, copies of 128 MiB and more). */
#define QFK_STREAM_AHEAD 2048
#define QFK_LONG_ROW 1024

/* Where the bytes that follow stand, as addresses, since they may lie outside the operand: those of
 * column j at near + j, from column `turn` on at far + j. */
typedef struct qfk_follow {
    uintptr_t near, far;
    size_t turn;
} qfk_follow;

/* Asks for what will be moved QFK_STREAM_AHEAD bytes after column j of the row at hand. Inline in
 * any case: gcc drops calls of a function that does nothing else. */
QFK_INLINE void qfk_ask(const qfk_follow *follow, size_t j)
{
    if (follow)
        __builtin_prefetch((const void *)((j < follow->turn ? follow->near : follow->far) + j));
}

/* What follows row i of n adjacent bytes; past the last row, what would be the next. */
static inline qfk_follow qfk_follow_of(const qfk_in *in, size_t i, size_t m, size_t n)
{
    const uintptr_t row = m > 1 ? (uintptr_t)in->row : n;
    const size_t rest = QFK_STREAM_AHEAD % n;
    const uintptr_t near = (uintptr_t)qfk_in_row(in, i) + QFK_STREAM_AHEAD / n * row + rest;
    return (qfk_follow){ near, near + row - n, n - rest };
}

/* Long rows that begin with lines go a few at a time, a piece of each in turns: several streams
 * keep more of the memory busy. Rows of 16 KiB took 0.89 times as long in 4 streams, of 8 KiB 0.86
 * times, in 2 streams 0.97 times (Zen 3). In pieces of 4 KiB nothing was gained. */
#define QFK_STREAMS 4
#define QFK_STREAM_PIECE 1024

/* Moves n bytes past the caches, a row or a piece of one, and asks for every line that it moves
 * once; follow NULL: for none. */
typedef void qfk_stream_row(char *x, const char *a, size_t n, const qfk_follow *follow);

QFK_INLINE void qfk_stream_short(size_t m, size_t n, const qfk_in *in, qfk_out out,
                                 qfk_stream_row *stream)
{
    for (size_t i = 0; n && i < m; i++) {
        const qfk_follow follow = qfk_follow_of(in, i, m, n);
        stream(qfk_out_row(&out, i), qfk_in_row(in, i), n, &follow);
    }
}

/* Rows i, i + each, i + 2 * each … take turns. */
QFK_INLINE void qfk_stream_long(size_t m, size_t n, const qfk_in *in, qfk_out out,
                                qfk_stream_row *stream)
{
    const bool lines = ((uintptr_t)out.p | (uintptr_t)out.row) % 64 == 0;
    const size_t each = lines ? (m + QFK_STREAMS - 1) / QFK_STREAMS : m,
                 piece = lines ? QFK_STREAM_PIECE : n;

    for (size_t i = 0; i < each; i++)
        for (size_t j = 0; j < n; j += piece)
            for (size_t k = i; k < m; k += each) {
                char *x = qfk_out_row(&out, k);
                const char *a = qfk_in_row(in, k);
                stream(x + j, a + j, n - j < piece ? n - j : piece, NULL);
            }
}

/* Defines the kernel `name` that moves bytes past the caches; `copy` takes what is not adjacent. */
#define QFK_STREAM(name, copy, stream)                                               \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p) \
    {                                                                                \
        if (in->col != 1)                                                            \
            copy(m, n, in, out, p);                                                  \
        else if (n < QFK_LONG_ROW)                                                   \
            qfk_stream_short(m, n, in, out, stream);                                 \
        else                                                                         \
            qfk_stream_long(m, n, in, out, stream);                                  \
    }

#endif
