/* Arithmetic of floats over vectors. An includer has included a vector vocabulary. */
#ifndef QFK_BINARY_VECTORS_H
#define QFK_BINARY_VECTORS_H

/* Defines, for vectors of type V and their elements K: the rows of an operator whose operands move
 * along the row (ca, cb) or stay, and the choice of the loop for a tile. */
#define QFK_ARITHMETIC(V, K, lanes)                                                                \
    typedef qfk_##V qfk_##V##_operator(qfk_##V a, qfk_##V b);                                      \
    typedef void qfk_##V##_put(void *p, qfk_##V v, size_t n);                                      \
    QFK_INLINE void qfk_##V##_rows(size_t m, size_t n, const qfk_in *in, qfk_out out,              \
                                   qfk_##V##_operator *op, qfk_##V##_put *put, bool ca, bool cb)   \
    {                                                                                              \
        for (size_t i = 0; n && i < m; i++) {                                                      \
            const qfk_##K##_mem *a = qfk_in_row(&in[0], i), *b = qfk_in_row(&in[1], i);            \
            const qfk_##V a0 = qfk_##V##_set(*a), b0 = qfk_##V##_set(*b);                          \
            qfk_##K##_mem *x = qfk_out_row(&out, i);                                               \
            QFK_VECTORS(n, lanes,                                                                  \
                        put(x + j,                                                                 \
                            op(ca ? qfk_##V##_load(a + j, left) : a0,                              \
                               cb ? qfk_##V##_load(b + j, left) : b0),                             \
                            left));                                                                \
        }                                                                                          \
    }

QFK_ARITHMETIC(vf, f32, QFK_LANES)
QFK_ARITHMETIC(vd, f64, QFK_DOUBLES)

/* One choice of stores: the loop for operands that move or stay. */
#define QFK_BY_MOVES(V, op, put)                                                     \
    {                                                                                \
        if (in[0].col && in[1].col)                                                  \
            qfk_##V##_rows(m, n, in, out, op, put, true, true);                      \
        else if (in[0].col)                                                          \
            qfk_##V##_rows(m, n, in, out, op, put, true, false);                     \
        else                                                                         \
            qfk_##V##_rows(m, n, in, out, op, put, false, in[1].col != 0);           \
    }

/* Defines the kernel `name` of vectors of type V, with the operator op of the vocabulary. */
#define QFK_BINARY(name, V, op)                                                      \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p) \
    {                                                                                \
        if (qfk_goes_past(p, out))                                                   \
            QFK_BY_MOVES(V, qfk_##V##_##op, qfk_##V##_store_past)                    \
        else                                                                         \
            QFK_BY_MOVES(V, qfk_##V##_##op, qfk_##V##_store)                         \
    }

#endif
