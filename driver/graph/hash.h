/* Hashes of words and texts, for tables in memory. */
#ifndef QFI_HASH_H
#define QFI_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* One word more. What is hashed differs in a digit or two: the upper half of the product depends on
 * all of them. */
static inline uint64_t qfi_hash_word(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static inline uint64_t qfi_hash_load(const char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

/* Of n bytes, whatever they are. The last word overlaps the one before it. */
static inline uint64_t qfi_hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
    const char *p = bytes;
    uint64_t word = 0;
    for (size_t i = 0; i + 8 < n; i += 8)
        hash = qfi_hash_word(hash, qfi_hash_load(p + i));
    for (size_t i = 0; n < 8 && i < n; i++)
        word = word << 8 | (unsigned char)p[i];
    return qfi_hash_word(hash ^ n, n < 8 ? word : qfi_hash_load(p + n - 8));
}

#endif
