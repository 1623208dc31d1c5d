/* Zip archives for tests, built by code that shares nothing with the library, with the places of
 * all records for patching. */
#ifndef ZIP_BUILDER_H
#define ZIP_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUILT_MEMBERS 8

/* A member to build. packed: its bytes in the file. wide: sizes and offset stand in a zip64 field.
 */
typedef struct member_spec {
    const char *name;
    const void *packed;
    size_t n_packed;
    const void *bytes;
    size_t n;
    uint16_t method;
    bool wide;
} member_spec;

/* local, data, central: offset of each member's records. end64, locator: 0 without them. */
typedef struct built_zip {
    uint8_t *p;
    size_t n, cap;
    size_t local[BUILT_MEMBERS], data[BUILT_MEMBERS], central[BUILT_MEMBERS];
    size_t directory, end64, locator, end;
} built_zip;

/* To be freed with free(p). wide: with zip64 end records. comment: of the archive. */
built_zip zip_build(const member_spec *m, size_t n, bool wide, const char *comment);

/* CRC-32, bit by bit. */
uint32_t slow_crc(const void *bytes, size_t n);

#endif
