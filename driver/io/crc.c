/* The sum of bytes is a polynomial modulo P. That of A followed by n bytes B is the sum of A times
 * x^(8n), plus the sum of B; the inversions before and after cancel out. */
#include "crc.h"

#include <libdeflate.h>

/* Coefficients are reflected: the top bit is x^0. */
#define P 0xedb88320u
#define X_0 0x80000000u
#define X_8 0x00800000u

uint32_t qfi_crc_more(uint32_t crc, const void *data, size_t n)
{
    if (qfi_crc_is_wide(n))
        return qfi_crc_wide(crc, data, n);
    return n ? libdeflate_crc32(crc, data, n) : crc;
}

void qfi_crc_digest(void *user, const void *data, size_t n, qf_digest *note)
{
    (void)user;
    note->word[0] = qfi_crc_more(0, data, n);
}

/* The product of two polynomials modulo P. */
static uint32_t times(uint32_t a, uint32_t b)
{
    uint32_t product = 0;
    for (; a; a <<= 1) {
        product ^= a & X_0 ? b : 0;
        b = (b >> 1) ^ (b & 1 ? P : 0);
    }
    return product;
}

/* x^(8n), by squaring. */
static uint32_t shift_of(uint64_t n)
{
    uint32_t shift = X_0;
    for (uint32_t square = X_8; n; n >>= 1) {
        shift = n & 1 ? times(shift, square) : shift;
        square = times(square, square);
    }
    return shift;
}

void qfi_crc_append(qfi_crc *crc, uint32_t sum, uint64_t n)
{
    if (crc->size != n || !crc->shift) {
        crc->size = n;
        crc->shift = shift_of(n);
    }
    crc->sum = times(crc->sum, crc->shift) ^ sum;
}
