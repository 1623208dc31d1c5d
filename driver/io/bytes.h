/* A bounded cursor over bytes: every parser of binary structures reads through it. */
#ifndef QFI_BYTES_H
#define QFI_BYTES_H

#include <qfold/types.h>

/* at: next byte. base: file offset of p[0], for messages. failed: sticky; reads then give zeros. */
typedef struct qfi_bytes {
    const uint8_t *p;
    size_t n, at;
    uint64_t base;
    bool failed;
} qfi_bytes;

uint16_t qfi_u16(qfi_bytes *b);
uint32_t qfi_u32(qfi_bytes *b);
uint64_t qfi_u64(qfi_bytes *b);
/* n bytes in place, NULL past the end. */
const uint8_t *qfi_take(qfi_bytes *b, size_t n);
void qfi_skip(qfi_bytes *b, size_t n);
/* Little-endian stores; return the byte after. */
uint8_t *qfi_put16(uint8_t *p, uint16_t v);
uint8_t *qfi_put32(uint8_t *p, uint32_t v);
uint8_t *qfi_put64(uint8_t *p, uint64_t v);

#endif
