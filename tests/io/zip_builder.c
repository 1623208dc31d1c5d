/* Builds small zip archives for the tests. */
#include "zip_builder.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

uint32_t slow_crc(const void *bytes, size_t n)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        crc ^= ((const uint8_t *)bytes)[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

static void bytes(built_zip *z, const void *p, size_t n)
{
    if (z->cap - z->n < n) {
        z->cap = (z->cap + n) * 2;
        z->p = realloc(z->p, z->cap);
        assert(z->p);
    }
    if (n)
        memcpy(z->p + z->n, p, n);
    z->n += n;
}

static void number(built_zip *z, uint64_t v, size_t n)
{
    bytes(z, &v, n);
}

/* Method, time, date, CRC and sizes stand alike in both headers. */
static void common(built_zip *z, const member_spec *m)
{
    number(z, 0, 2);
    number(z, m->method, 2);
    number(z, 0x21, 4);
    number(z, slow_crc(m->bytes, m->n), 4);
    number(z, m->wide ? UINT32_MAX : m->n_packed, 4);
    number(z, m->wide ? UINT32_MAX : m->n, 4);
    number(z, strlen(m->name), 2);
}

static void local(built_zip *z, const member_spec *m, size_t i)
{
    z->local[i] = z->n;
    number(z, 0x04034b50, 4);
    number(z, 20, 2);
    common(z, m);
    number(z, m->wide ? 20 : 0, 2);
    bytes(z, m->name, strlen(m->name));
    if (m->wide) {
        number(z, 1, 2);
        number(z, 16, 2);
        number(z, m->n, 8);
        number(z, m->n_packed, 8);
    }
    z->data[i] = z->n;
    bytes(z, m->packed, m->n_packed);
}

static void central(built_zip *z, const member_spec *m, size_t i)
{
    z->central[i] = z->n;
    number(z, 0x02014b50, 4);
    number(z, 20, 2);
    number(z, 20, 2);
    common(z, m);
    number(z, m->wide ? 28 : 0, 2);
    number(z, 0, 8); /* comment, disk, attributes */
    number(z, 0, 2);
    number(z, m->wide ? UINT32_MAX : z->local[i], 4);
    bytes(z, m->name, strlen(m->name));
    if (m->wide) {
        number(z, 1, 2);
        number(z, 24, 2);
        number(z, m->n, 8);
        number(z, m->n_packed, 8);
        number(z, z->local[i], 8);
    }
}

static void end64(built_zip *z, size_t n, size_t size)
{
    z->end64 = z->n;
    number(z, 0x06064b50, 4);
    number(z, 44, 8);
    number(z, 45, 2);
    number(z, 45, 2);
    number(z, 0, 8);
    number(z, n, 8);
    number(z, n, 8);
    number(z, size, 8);
    number(z, z->directory, 8);
    z->locator = z->n;
    number(z, 0x07064b50, 4);
    number(z, 0, 4);
    number(z, z->end64, 8);
    number(z, 1, 4);
}

built_zip zip_build(const member_spec *m, size_t n, bool wide, const char *comment)
{
    built_zip z = { 0 };
    assert(n <= BUILT_MEMBERS);
    for (size_t i = 0; i < n; i++)
        local(&z, &m[i], i);
    z.directory = z.n;
    for (size_t i = 0; i < n; i++)
        central(&z, &m[i], i);
    const size_t size = z.n - z.directory;
    if (wide)
        end64(&z, n, size);
    z.end = z.n;
    number(&z, 0x06054b50, 4);
    number(&z, 0, 4);
    number(&z, wide ? UINT16_MAX : n, 2);
    number(&z, wide ? UINT16_MAX : n, 2);
    number(&z, wide ? UINT32_MAX : size, 4);
    number(&z, wide ? UINT32_MAX : z.directory, 4);
    number(&z, strlen(comment), 2);
    bytes(&z, comment, strlen(comment));
    return z;
}
