/* Casts over vectors. An includer has included a vector vocabulary. */
#ifndef QFK_CAST_VECTORS_H
#define QFK_CAST_VECTORS_H

/* Defines the kernel `name` from key A to key X: `moved` stores columns j … j + left - 1 of the row
 * `a` to the row `x`. A row of one repeated value is the scalar row's, `scalar`. */
#define QFK_CAST(name, scalar, A, X, moved)                                          \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p) \
    {                                                                                \
        if (!in->col) {                                                              \
            scalar(m, n, in, out, p);                                                \
            return;                                                                  \
        }                                                                            \
        for (size_t i = 0; i < m; i++) {                                             \
            const qfk_##A##_mem *a = qfk_in_row(in, i);                              \
            qfk_##X##_mem *x = qfk_out_row(&out, i);                                 \
            QFK_VECTORS(n, QFK_LANES, moved);                                        \
        }                                                                            \
    }

/* The same for `put`, a store of floats, of vectors `value`; put##_past goes past the caches. */
#define QFK_CAST_PAST(name, scalar, A, X, put, value)                                \
    static QFK_CAST(name##_past, scalar, A, X, put##_past(x + j, value, left))       \
    static QFK_CAST(name##_plain, scalar, A, X, put(x + j, value, left))             \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p) \
    {                                                                                \
        if (qfk_goes_past(p, out))                                                   \
            name##_past(m, n, in, out, p);                                           \
        else                                                                         \
            name##_plain(m, n, in, out, p);                                          \
    }

/* From a short float A to f32, and back. */
#define QFK_WIDEN(name, A)                                                      \
    QFK_CAST_PAST(name, qfk_to_f32_##A##_scalar, A, f32, qfk_vf_store,          \
                  qfk_vf_load_##A(a + j, left))

#define QFK_NARROW(name, X)                                                     \
    QFK_CAST_PAST(name, qfk_to_##X##_f32_scalar, f32, X, qfk_vf_store_##X,      \
                  qfk_vf_load(a + j, left))

/* From an integer A of at most 32 bits to f32, and back to one of `bits` bits. */
#define QFK_FLOAT(name, A)                                                      \
    QFK_CAST_PAST(name, qfk_to_f32_##A##_scalar, A, f32, qfk_vf_store,          \
                  qfk_vf_from_i32(qfk_vi_load_##A(a + j, left)))

#define QFK_TRUNCATE(name, X, bits)                       \
    QFK_CAST(name, qfk_to_##X##_f32_scalar, f32, X,       \
             qfk_vi_store_x##bits(x + j, qfk_vi_from_f32(qfk_vf_load(a + j, left)), left))

#endif
