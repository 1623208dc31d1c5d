/* Unpacking and packing nibbles over vectors. An includer defines
 *
 *   SPREAD                  nibbles that one vector takes
 *   spread(x, bytes, sign)  SPREAD nibbles to bytes at x; sign: 8 to a two's complement one, else 0
 *   gather(bytes, a)        the low nibbles of SPREAD bytes at a, together */
#ifndef QFK_NIBBLE_VECTORS_H
#define QFK_NIBBLE_VECTORS_H

/* n nibbles from nibble `at` on. A first one in the middle of a byte goes alone. */
static inline void qfk_spread_row(size_t n, const qfk_u8_mem *bytes, size_t at, qfk_u8_mem *x,
                                  uint8_t sign)
{
    size_t j = 0;

    if (n && at % 2)
        x[j++] = (uint8_t)((qfk_nibble_u4(bytes, at) ^ sign) - sign);
    for (; n - j >= SPREAD; j += SPREAD)
        spread(x + j, bytes + (at + j) / 2, sign);
    for (; j < n; j++)
        x[j] = (uint8_t)((qfk_nibble_u4(bytes, at + j) ^ sign) - sign);
}

/* Defines the kernel `name`: nibbles of key A to bytes. Nibbles that are not side by side are the
 * scalar row's. */
#define QFK_UNPACK(name, A, sign)                                                        \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)     \
    {                                                                                    \
        if (p->i[2] != 1) {                                                              \
            qfk_unpack_##A##_scalar(m, n, in, out, p);                                   \
            return;                                                                      \
        }                                                                                \
        for (size_t i = 0; i < m; i++)                                                   \
            qfk_spread_row(n, in->p, qfk_row_nibble(p, i), qfk_out_row(&out, i), sign);  \
    }

static inline void qfk_set_nibble(qfk_u8_mem *bytes, size_t at, unsigned v)
{
    const unsigned shift = at % 2 * 4;
    bytes[at / 2] = (uint8_t)((bytes[at / 2] & ~(15u << shift)) | (v & 15u) << shift);
}

static inline void qfk_gather_row(size_t n, const qfk_u8_mem *a, qfk_u8_mem *bytes, size_t at)
{
    size_t j = 0;

    if (n && at % 2)
        qfk_set_nibble(bytes, at, a[j++]);
    for (; n - j >= SPREAD; j += SPREAD)
        gather(bytes + (at + j) / 2, a + j);
    for (; j < n; j++)
        qfk_set_nibble(bytes, at + j, a[j]);
}

/* Defines the kernel `name`: bytes to nibbles. */
#define QFK_PACK(name)                                                                   \
    void name(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)     \
    {                                                                                    \
        if (in->col != 1) {                                                              \
            qfk_pack_x4_scalar(m, n, in, out, p);                                        \
            return;                                                                      \
        }                                                                                \
        for (size_t i = 0; i < m; i++)                                                   \
            qfk_gather_row(n, qfk_in_row(in, i), out.p, qfk_row_nibble(p, i));           \
    }

#endif
