/* Scanners of JSON tokens. */
#include "json_scan.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t fail(size_t byte, const char *reason, size_t *at, const char **why)
{
    *at = byte;
    *why = reason;
    return 0;
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

/* Bytes of an escape by its second byte. */
static const uint8_t escape_sizes[256] = {
    ['"'] = 2, ['\\'] = 2, ['/'] = 2, ['b'] = 2, ['f'] = 2,
    ['n'] = 2, ['r'] = 2,  ['t'] = 2, ['u'] = 6,
};

/* Bytes of the escape at p[0] == '\\', 0 if it is malformed. */
static size_t escape_size(const char *p, size_t n)
{
    const size_t size = n < 2 ? 0 : escape_sizes[(unsigned char)p[1]];
    return size > n || (size == 6 && qfi_scan_hex4(p + 2) < 0) ? 0 : size;
}

size_t qfi_scan_string(const char *p, size_t n, size_t *at, const char **why)
{
    size_t i = 1;
    while (i < n) {
        i += qfi_scan_plain(p + i, n - i);
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

/* A scan of nested values. object: one bit for each open container, set for objects. Its address
 * goes to no function that is not in line, so that the compiler holds it in registers. */
typedef struct walk {
    const char *p;
    size_t n, i;
    int level, deepest;
    uint64_t object[QFI_JSON_DEPTH / 64];
    const char *why;
} walk;

static inline bool wrong(walk *w, const char *why)
{
    w->why = w->i < w->n ? why : "the text ends inside a value";
    return false;
}

/* Moves over white space; the byte there, 0 at the end. */
static inline char byte_at(walk *w)
{
    w->i = qfi_scan_space(w->p, w->i, w->n);
    return w->i < w->n ? w->p[w->i] : 0;
}

static inline bool in_object(const walk *w)
{
    return w->object[(w->level - 1) / 64] >> ((w->level - 1) % 64) & 1;
}

static inline bool word(walk *w, const char *text, size_t n)
{
    if (w->n - w->i < n || memcmp(w->p + w->i, text, n))
        return wrong(w, "expected a value");
    w->i += n;
    return true;
}

/* Moves over a string or a number, or to the byte in it that is wrong. */
static inline bool moved(walk *w, size_t size, size_t at, const char *why)
{
    w->i += size ? size : at;
    w->why = why;
    return size;
}

static inline bool string(walk *w)
{
    size_t at = 0;
    const char *why = NULL;
    const size_t size = qfi_scan_quoted(w->p + w->i, w->n - w->i, &at, &why);
    return moved(w, size, at, why);
}

static inline bool number(walk *w)
{
    size_t at = 0;
    const char *why = NULL;
    const size_t size = qfi_scan_number(w->p + w->i, w->n - w->i, &at, &why);
    return moved(w, size, at, why);
}

static inline bool scalar(walk *w, char c)
{
    switch (c) {
    case '"':
        return string(w);
    case 't':
        return word(w, "true", 4);
    case 'f':
        return word(w, "false", 5);
    case 'n':
        return word(w, "null", 4);
    default:
        return c == '-' || (c >= '0' && c <= '9') ? number(w) : wrong(w, "expected a value");
    }
}

static inline bool key(walk *w)
{
    if (byte_at(w) != '"')
        return wrong(w, "expected a key");
    if (!string(w))
        return false;
    if (byte_at(w) != ':')
        return wrong(w, "expected ':'");
    w->i++;
    return true;
}

/* Enters a container and leaves it at once if it is empty; *entered: whether a value follows. */
static inline bool open_container(walk *w, char c, bool *entered)
{
    if (w->level == w->deepest)
        return wrong(w, "nested more than 512 deep");
    const uint64_t bit = UINT64_C(1) << w->level % 64;
    uint64_t *set = &w->object[w->level / 64];
    *set = c == '{' ? *set | bit : *set & ~bit;
    w->i++;
    *entered = byte_at(w) != (c == '{' ? '}' : ']');
    if (!*entered) {
        w->i++;
        return true;
    }
    w->level++;
    return c == '[' || key(w);
}

/* Behind a value: leaves what ends here, down to a container that has another entry. */
static inline bool after_value(walk *w)
{
    for (; w->level; w->level--) {
        const bool object = in_object(w);
        const char c = byte_at(w);
        if (c == ',') {
            w->i++;
            return !object || key(w);
        }
        if (c != (object ? '}' : ']'))
            return wrong(w, object ? "expected ',' or '}'" : "expected ',' or ']'");
        w->i++;
    }
    return true;
}

size_t qfi_scan_value(const char *p, size_t n, int depth, size_t *at, const char **why)
{
    walk w = { .p = p, .n = n, .deepest = depth };
    do {
        const char c = byte_at(&w);
        bool entered = false;
        const bool good = c == '{' || c == '[' ? open_container(&w, c, &entered) : scalar(&w, c);
        if (!good || (!entered && !after_value(&w)))
            return fail(w.i, w.why, at, why);
    } while (w.level);
    return w.i;
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
