/* Archives for targets that look behind their checksums: these are put right first, or no change
 * inside a member would ever reach its parser. */
#ifndef FUZZ_ARCHIVE_H
#define FUZZ_ARCHIVE_H

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_file.h"

static inline uint32_t fuzz_number(const uint8_t *p, size_t n)
{
    uint32_t v = 0;
    for (size_t i = 0; i < n; i++)
        v |= (uint32_t)p[i] << (8 * i);
    return v;
}

/* The stored member of the directory entry at p[at], if there is one. */
static inline void fuzz_repair_entry(uint8_t *p, size_t n, size_t at)
{
    const uint64_t size = fuzz_number(p + at + 20, 4), local = fuzz_number(p + at + 42, 4);
    if (fuzz_number(p + at + 10, 2) || local > n || n - local < 30)
        return;
    const uint64_t data =
        local + 30 + fuzz_number(p + local + 26, 2) + fuzz_number(p + local + 28, 2);
    if (data > n || size > n - data)
        return;
    const uint32_t crc = libdeflate_crc32(0, p + data, (size_t)size);
    memcpy(p + at + 16, &crc, sizeof crc);
}

/* As fuzz_file, with the checksums of stored members made right. */
static inline int fuzz_archive(const uint8_t *data, size_t n, char path[32])
{
    uint8_t *copy = malloc(n + 1);
    FUZZ_CHECK(copy);
    if (n)
        memcpy(copy, data, n);
    for (size_t at = 0; at + 46 <= n; at++)
        if (fuzz_number(copy + at, 4) == 0x02014b50)
            fuzz_repair_entry(copy, n, at);
    const int fd = fuzz_file(copy, n, path);
    free(copy);
    return fd;
}

#endif
