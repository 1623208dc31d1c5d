/* CRC-32 as zip files hold it (polynomial 0x04c11db7, reflected), computed in parts. */
#ifndef QFI_CRC_H
#define QFI_CRC_H

#include <stddef.h>
#include <stdint.h>

#include <qfold/eval.h>

/* The sum of what `crc` is the sum of (0: nothing), and n bytes behind it. */
uint32_t qfi_crc_more(uint32_t crc, const void *data, size_t n);

/* crc_wide.c: whether n bytes are best summed up there; that. */
bool qfi_crc_is_wide(size_t n);
uint32_t qfi_crc_wide(uint32_t crc, const void *data, size_t n);

/* The sum of what was appended so far. shift, size: the factor that moves a sum behind `size` more
 * bytes, of the last part: parts come in few sizes. Zero-initialise. */
typedef struct qfi_crc {
    uint32_t sum, shift;
    uint64_t size;
} qfi_crc;

/* As a sink's digest: word 0 is the sum of the window. */
void qfi_crc_digest(void *user, const void *data, size_t n, qf_digest *note);

/* Appends a part of `n` bytes with the sum `sum`, without its bytes. */
void qfi_crc_append(qfi_crc *crc, uint32_t sum, uint64_t n);

#endif
