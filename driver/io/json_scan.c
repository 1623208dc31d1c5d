/* Scanners of JSON tokens. Strings go eight bytes at a time up to the next byte that means
 * something. */
#include "json_scan.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

static size_t fail(size_t byte, const char *reason, size_t *at, const char **why)
{
    *at = byte;
    *why = reason;
    return 0;
}

/* Bytes before the first quote, backslash, control character or byte >= 0x80; n if there is none.
 * The flag tests borrow from byte to byte only above a byte that is truly flagged, so the lowest
 * flag is exact. */
static size_t plain_run(const char *p, size_t n)
{
    size_t i = 0;
    for (; n - i >= 8; i += 8) {
        uint64_t v;
        memcpy(&v, p + i, 8);
        const uint64_t quote = v ^ EACH('"'), slash = v ^ EACH('\\');
        const uint64_t flags = (v | ((v - EACH(0x20)) & ~v) | ((quote - EACH(1)) & ~quote) |
                                ((slash - EACH(1)) & ~slash)) &
                               EACH(0x80);
        if (flags)
            return i + (size_t)__builtin_ctzll(flags) / 8;
    }
    for (; i < n; i++) {
        const unsigned char c = (unsigned char)p[i];
        if (c < 0x20 || c >= 0x80 || c == '"' || c == '\\')
            break;
    }
    return i;
}

/* Sequences by first byte: length, and the range of the second byte, which rules out overlong
 * forms, surrogates and what lies beyond U+10FFFF. */
static const struct {
    uint8_t first, last, size, low, high;
} utf8_rows[] = {
    { 0xc2, 0xdf, 2, 0x80, 0xbf }, { 0xe0, 0xe0, 3, 0xa0, 0xbf }, { 0xe1, 0xec, 3, 0x80, 0xbf },
    { 0xed, 0xed, 3, 0x80, 0x9f }, { 0xee, 0xef, 3, 0x80, 0xbf }, { 0xf0, 0xf0, 4, 0x90, 0xbf },
    { 0xf1, 0xf3, 4, 0x80, 0xbf }, { 0xf4, 0xf4, 4, 0x80, 0x8f },
};

size_t qfi_scan_utf8(const char *p, size_t n)
{
    const uint8_t *b = (const uint8_t *)p;
    for (size_t i = 0; i < sizeof utf8_rows / sizeof *utf8_rows; i++) {
        if (b[0] < utf8_rows[i].first || b[0] > utf8_rows[i].last)
            continue;
        const size_t size = utf8_rows[i].size;
        if (n < size || b[1] < utf8_rows[i].low || b[1] > utf8_rows[i].high)
            return 0;
        for (size_t k = 2; k < size; k++)
            if ((b[k] & 0xc0) != 0x80)
                return 0;
        return size;
    }
    return 0;
}

int qfi_scan_hex4(const char *p)
{
    int value = 0;
    for (int i = 0; i < 4; i++) {
        const int c = (unsigned char)p[i] | 0x20; /* digits have this bit already */
        const int digit = p[i] >= '0' && p[i] <= '9' ? p[i] - '0'
                          : c >= 'a' && c <= 'f'     ? c - 'a' + 10
                                                     : -1;
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* Bytes of the escape at p[0] == '\\', 0 if it is malformed. */
static size_t escape_size(const char *p, size_t n)
{
    if (n < 2 || !p[1])
        return 0;
    if (p[1] == 'u')
        return n >= 6 && qfi_scan_hex4(p + 2) >= 0 ? 6 : 0;
    return strchr("\"\\/bfnrt", p[1]) ? 2 : 0;
}

size_t qfi_scan_string(const char *p, size_t n, size_t *at, const char **why)
{
    size_t i = 1;
    while (i < n) {
        i += plain_run(p + i, n - i);
        if (i == n)
            break;
        const unsigned char c = (unsigned char)p[i];
        if (c == '"')
            return i + 1;
        if (c < 0x20)
            return fail(i, "control character in a string", at, why);
        const size_t size = c == '\\' ? escape_size(p + i, n - i) : qfi_scan_utf8(p + i, n - i);
        if (!size)
            return fail(i, c == '\\' ? "invalid escape" : "invalid UTF-8", at, why);
        i += size;
    }
    return fail(n, "the text ends inside a string", at, why);
}

static size_t digits(const char *p, size_t n)
{
    size_t i = 0;
    while (i < n && p[i] >= '0' && p[i] <= '9')
        i++;
    return i;
}

size_t qfi_scan_number(const char *p, size_t n, size_t *at, const char **why)
{
    size_t i = n && p[0] == '-';
    size_t run = digits(p + i, n - i);
    if (!run)
        return fail(i, "a number needs a digit here", at, why);
    if (run > 1 && p[i] == '0')
        return fail(i, "a number with a leading zero", at, why);
    i += run;
    if (i < n && p[i] == '.') {
        i++;
        run = digits(p + i, n - i);
        if (!run)
            return fail(i, "a number needs a digit here", at, why);
        i += run;
    }
    if (i < n && (p[i] == 'e' || p[i] == 'E')) {
        i++;
        i += i < n && (p[i] == '+' || p[i] == '-');
        run = digits(p + i, n - i);
        if (!run)
            return fail(i, "a number needs a digit here", at, why);
        i += run;
    }
    return i;
}

bool qfi_scan_double(const char *p, size_t n, double *out)
{
    char text[513];
    if (n >= sizeof text)
        return false;
    memcpy(text, p, n);
    text[n] = 0;
    /* The "C" locale is static in the C library: creating it neither allocates nor fails there. */
    const locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c)
        return false;
    *out = strtod_l(text, NULL, c);
    freelocale(c);
    return isfinite(*out);
}
