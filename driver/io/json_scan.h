/* Scanners of JSON tokens: each takes the text from a token's first byte and gives its length. */
#ifndef QFI_JSON_SCAN_H
#define QFI_JSON_SCAN_H

#include <qfold/types.h>

/* Bytes of the token at p[0 … n-1], or 0 if it is malformed; then *at is the offending byte and
 * *why says what is wrong. string: p[0] is the opening quote; UTF-8 and escapes are checked.
 * number: strict grammar. */
size_t qfi_scan_string(const char *p, size_t n, size_t *at, const char **why);
size_t qfi_scan_number(const char *p, size_t n, size_t *at, const char **why);

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
