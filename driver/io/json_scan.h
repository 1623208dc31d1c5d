/* Scanners of JSON tokens: each takes the text from a token's first byte and gives its length. */
#ifndef QFI_JSON_SCAN_H
#define QFI_JSON_SCAN_H

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <qfold/types.h>

/* Bytes of the token at p[0 … n-1], or 0 if it is malformed; then *at is the offending byte and
 * *why says what is wrong. string: p[0] is the opening quote; UTF-8 and escapes are checked.
 * number: strict grammar. */
size_t qfi_scan_string(const char *p, size_t n, size_t *at, const char **why);
size_t qfi_scan_number(const char *p, size_t n, size_t *at, const char **why);

/* Offset of the first byte from `at` on that is no white space. */
static inline size_t qfi_scan_space(const char *p, size_t at, size_t n)
{
    while (at < n && (unsigned char)p[at] <= ' ' &&
           (p[at] == ' ' || p[at] == '\n' || p[at] == '\r' || p[at] == '\t'))
        at++;
    return at;
}

/* A block of text is looked at in one go. flags: not 0 if a quote, backslash, control character or
 * byte >= 0x80 is among its bytes; first: which one comes first. */
#if defined(__SSE2__)
#define QFI_SCAN_BLOCK 16
typedef uint32_t qfi_scan_flags;

static inline qfi_scan_flags qfi_scan_block(const char *p)
{
    const __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    const __m128i marks =
        _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')), _mm_cmpeq_epi8(v, _mm_set1_epi8('\\')));
    /* As signed numbers bytes >= 0x80 are small, too. */
    return (uint32_t)_mm_movemask_epi8(_mm_or_si128(marks, _mm_cmplt_epi8(v, _mm_set1_epi8(' '))));
}

static inline size_t qfi_scan_first(qfi_scan_flags flags)
{
    return (size_t)__builtin_ctz(flags);
}
#else
#define QFI_SCAN_BLOCK 8
typedef uint64_t qfi_scan_flags;

/* The tests borrow from byte to byte only above a byte that is truly flagged, so the lowest flag is
 * exact. */
static inline qfi_scan_flags qfi_scan_block(const char *p)
{
    const uint64_t each = UINT64_C(0x0101010101010101);
    uint64_t v;
    memcpy(&v, p, sizeof v);
    const uint64_t quote = v ^ each * '"', slash = v ^ each * '\\';
    return (v | ((v - each * ' ') & ~v) | ((quote - each) & ~quote) | ((slash - each) & ~slash)) &
           each * 0x80;
}

static inline size_t qfi_scan_first(qfi_scan_flags flags)
{
    return (size_t)__builtin_ctzll(flags) / 8;
}
#endif

/* Bytes before the first quote, backslash, control character or byte >= 0x80; n if there is none.
 */
static inline size_t qfi_scan_plain(const char *p, size_t n)
{
    size_t i = 0;
    for (; n - i >= QFI_SCAN_BLOCK; i += QFI_SCAN_BLOCK) {
        const qfi_scan_flags flags = qfi_scan_block(p + i);
        if (flags)
            return i + qfi_scan_first(flags);
    }
    for (; i < n; i++) {
        const unsigned char c = (unsigned char)p[i];
        if (c < 0x20 || c >= 0x80 || c == '"' || c == '\\')
            break;
    }
    return i;
}

/* qfi_scan_string, with what nearly all strings are in line. */
static inline size_t qfi_scan_quoted(const char *p, size_t n, size_t *at, const char **why)
{
    const size_t end = 1 + qfi_scan_plain(p + 1, n - 1);
    return end < n && p[end] == '"' ? end + 1 : qfi_scan_string(p, n, at, why);
}

/* The same for any value, containers included, which may nest `depth` more times. */
size_t qfi_scan_value(const char *p, size_t n, int depth, size_t *at, const char **why);
#define QFI_JSON_DEPTH 512

/* Bytes of the UTF-8 sequence of a byte >= 0x80 at p[0], 0 if it is malformed. */
size_t qfi_scan_utf8(const char *p, size_t n);

/* Value of four hexadecimal digits, -1 if they are none. */
int qfi_scan_hex4(const char *p);

/* The double nearest to a number's text, whatever the locale. false: out of range, or longer than
 * 512 characters. */
bool qfi_scan_double(const char *p, size_t n, double *out);

#endif
