/* Constants and indices over vectors. An includer has included a vector vocabulary. */
#ifndef QFK_FILL_VECTORS_H
#define QFK_FILL_VECTORS_H

#include "kernels/common/repeat.h"
#include "kernels/fill/index_loops.h"

/* Defines the kernel `name`: elements X, which set1 repeats, as a T, in a vector. */
#define QFK_FILL(name, X, set1, T)                                                   \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p) \
    {                                                                                \
        const qfk_vi v = set1((T)p->i[0]);                                           \
        const bool past = qfk_goes_past(p, out);                                     \
        (void)in;                                                                    \
        for (size_t i = 0; i < m; i++)                                               \
            if (past)                                                                \
                qfk_repeat(qfk_out_row(&out, i), n * sizeof(qfk_##X), v, true);      \
            else                                                                     \
                qfk_repeat(qfk_out_row(&out, i), n * sizeof(qfk_##X), v, false);     \
    }

typedef void qfk_store_part(void *p, qfk_vi v, size_t n);

QFK_INLINE void qfk_iota_rows(size_t m, size_t n, qfk_out out, const qfk_param *p,
                              qfk_store_part *store)
{
    const uint64_t step = (uint64_t)p->i[2];

    for (size_t i = 0; i < m; i++) {
        uint64_t lane[QFK_DOUBLES];
        char *x = qfk_out_row(&out, i);
        for (size_t k = 0; k < QFK_DOUBLES; k++)
            lane[k] = qfk_row_index(p, i) + k * step;
        qfk_vi v = qfk_vi_load_i32(lane, QFK_LANES);
        QFK_VECTORS(n, QFK_DOUBLES, {
            store(x + 8 * j, v, 8 * left);
            v = qfk_vi_add64(v, qfk_vi_set64((int64_t)(QFK_DOUBLES * step)));
        });
    }
}

/* Defines the kernel `name`: x = index, in 64 bits. */
#define QFK_IOTA_ROW(name)                                                           \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p) \
    {                                                                                \
        (void)in;                                                                    \
        if (qfk_goes_past(p, out))                                                   \
            qfk_iota_rows(m, n, out, p, qfk_vi_store_bytes_past);                    \
        else                                                                         \
            qfk_iota_rows(m, n, out, p, qfk_vi_store_bytes);                         \
    }

/* Indices as doubles, which count exactly: `at` of the columns at hand, `more` of those behind. */
typedef struct qfk_counter {
    qfk_vd at, more, stride, start, each;
} qfk_counter;

QFK_INLINE qfk_counter qfk_count_row(const qfk_param *p, size_t i, size_t stride)
{
    const double from = (double)(int64_t)qfk_row_index(p, i), step = (double)p->i[2];
    double lane[2 * QFK_DOUBLES];

    for (size_t k = 0; k < 2 * QFK_DOUBLES; k++)
        lane[k] = from + (double)(int32_t)k * step;
    return (qfk_counter){ qfk_vd_load(lane, QFK_DOUBLES),
                          qfk_vd_load(lane + QFK_DOUBLES, QFK_DOUBLES),
                          qfk_vd_set((double)(int32_t)stride * step), qfk_vd_set(p->f[0]),
                          qfk_vd_set(p->f[1]) };
}

QFK_INLINE qfk_vd qfk_counted(const qfk_counter *c, qfk_vd index)
{
    return qfk_vd_add(c->start, qfk_vd_mul(index, c->each));
}

typedef void qfk_store_f32(void *p, qfk_vf v, size_t n);
typedef void qfk_store_f64(void *p, qfk_vd v, size_t n);

QFK_INLINE void qfk_arange_f32_rows(size_t m, size_t n, qfk_out out, const qfk_param *p,
                                    qfk_store_f32 *store)
{
    for (size_t i = 0; i < m; i++) {
        char *x = qfk_out_row(&out, i);
        qfk_counter c = qfk_count_row(p, i, QFK_LANES);
        QFK_VECTORS(n, QFK_LANES, {
            store(x + 4 * j, qfk_vf_from_f64(qfk_counted(&c, c.at), qfk_counted(&c, c.more)), left);
            c.at = qfk_vd_add(c.at, c.stride);
            c.more = qfk_vd_add(c.more, c.stride);
        });
    }
}

QFK_INLINE void qfk_arange_f64_rows(size_t m, size_t n, qfk_out out, const qfk_param *p,
                                    qfk_store_f64 *store)
{
    for (size_t i = 0; i < m; i++) {
        char *x = qfk_out_row(&out, i);
        qfk_counter c = qfk_count_row(p, i, QFK_DOUBLES);
        QFK_VECTORS(n, QFK_DOUBLES, {
            store(x + 8 * j, qfk_counted(&c, c.at), left);
            c.at = qfk_vd_add(c.at, c.stride);
        });
    }
}

/* Whether the indices of all rows are exact in doubles, and so are the steps past their ends. */
static inline bool qfk_exact_tile(size_t m, size_t n, const qfk_param *p)
{
    bool exact = true;
    for (size_t i = 0; i < m; i++)
        exact &= qfk_exact_row((int64_t)qfk_row_index(p, i), p->i[2], n);
    return exact;
}

/* Defines the kernel `name`: arange of key X, in vectors V; `scalar` takes what is not exact. */
#define QFK_ARANGE_ROW(name, X, V, scalar)                                           \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p) \
    {                                                                                \
        if (!qfk_exact_tile(m, n, p))                                                \
            scalar(m, n, in, out, p);                                                \
        else if (qfk_goes_past(p, out))                                              \
            qfk_arange_##X##_rows(m, n, out, p, qfk_##V##_store_past);               \
        else                                                                         \
            qfk_arange_##X##_rows(m, n, out, p, qfk_##V##_store);                    \
    }

#endif
