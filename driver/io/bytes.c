/* The cursor of binary parsers. A read past the end gives zeros and marks the cursor failed; it
 * never moves past the end. */
#include "bytes.h"

const uint8_t *qfi_take(qfi_bytes *b, size_t n)
{
    if (b->failed || n > b->n - b->at) {
        b->failed = true;
        return NULL;
    }
    const uint8_t *p = b->p + b->at;
    b->at += n;
    return p;
}

void qfi_skip(qfi_bytes *b, size_t n)
{
    (void)qfi_take(b, n);
}

static uint64_t little_endian(qfi_bytes *b, size_t n)
{
    const uint8_t *p = qfi_take(b, n);
    uint64_t v = 0;
    for (size_t i = 0; p && i < n; i++)
        v |= (uint64_t)p[i] << (8 * i);
    return v;
}

uint16_t qfi_u16(qfi_bytes *b)
{
    return (uint16_t)little_endian(b, 2);
}

uint32_t qfi_u32(qfi_bytes *b)
{
    return (uint32_t)little_endian(b, 4);
}

uint64_t qfi_u64(qfi_bytes *b)
{
    return little_endian(b, 8);
}

static uint8_t *put(uint8_t *p, uint64_t v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)(v >> (8 * i));
    return p + n;
}

uint8_t *qfi_put16(uint8_t *p, uint16_t v)
{
    return put(p, v, 2);
}

uint8_t *qfi_put32(uint8_t *p, uint32_t v)
{
    return put(p, v, 4);
}

uint8_t *qfi_put64(uint8_t *p, uint64_t v)
{
    return put(p, v, 8);
}
