/* Writing JSON text into a pool. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "json_scan.h"

/* Room for n more bytes and a terminator; false (sticky) when out of memory. */
static bool reserve(qfi_text *t, size_t n)
{
    if (t->failed)
        return false;
    while (!t->p || n >= t->cap - t->n) {
        char *p = qfi_pool_grow(t->pool, t->p, t->cap, &t->cap, 1);
        if (!p) {
            t->failed = true;
            return false;
        }
        t->p = p;
    }
    return true;
}

void qfi_text_add(qfi_text *t, const char *p, size_t n)
{
    if (!reserve(t, n))
        return;
    if (n)
        memcpy(t->p + t->n, p, n);
    t->n += n;
    t->p[t->n] = 0;
}

void qfi_text_str(qfi_text *t, const char *s)
{
    qfi_text_add(t, s, strlen(s));
}

void qfi_text_int(qfi_text *t, int64_t v)
{
    char digits[24], *p = digits + sizeof digits;
    uint64_t left = v < 0 ? -(uint64_t)v : (uint64_t)v;
    do
        *--p = (char)('0' + left % 10);
    while (left /= 10);
    if (v < 0)
        *--p = '-';
    qfi_text_add(t, p, (size_t)(digits + sizeof digits - p));
}

void qfi_text_format(qfi_text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(t->p ? t->p + t->n : NULL, t->cap - t->n, format, arguments);
    va_end(arguments);
    if (n < 0) {
        t->failed = true;
        return;
    }
    const bool fits = (size_t)n < t->cap - t->n;
    if (!reserve(t, (size_t)n))
        return;
    if (!fits) {
        va_start(arguments, format);
        vsnprintf(t->p + t->n, (size_t)n + 1, format, arguments);
        va_end(arguments);
    }
    t->n += (size_t)n;
}

/* Bytes from p that need no escape. */
static size_t verbatim(const char *p, size_t n)
{
    size_t i = 0;
    while (i < n && (unsigned char)p[i] >= 0x20 && p[i] != '"' && p[i] != '\\') {
        const size_t size = (unsigned char)p[i] < 0x80 ? 1 : qfi_scan_utf8(p + i, n - i);
        if (!size)
            break;
        i += size;
    }
    return i;
}

void qfi_text_quote(qfi_text *t, const char *p, size_t n)
{
    static const char plain[] = "\"\\\b\f\n\r\t", escaped[] = "\"\\bfnrt";
    qfi_text_add(t, "\"", 1);
    for (size_t i = 0; i < n; i++) {
        const size_t run = verbatim(p + i, n - i);
        qfi_text_add(t, p + i, run);
        i += run;
        if (i == n)
            break;
        const char *name = p[i] ? strchr(plain, p[i]) : NULL;
        if ((unsigned char)p[i] >= 0x80)
            qfi_text_str(t, "\xef\xbf\xbd"); /* a byte that is no UTF-8 becomes U+FFFD: the text
                                                stays valid JSON */
        else if (name)
            qfi_text_add(t, (const char[]){ '\\', escaped[name - plain] }, 2);
        else
            qfi_text_format(t, "\\u%04x", (unsigned)(unsigned char)p[i]);
    }
    qfi_text_add(t, "\"", 1);
}

/* Digits of |v| without a point, and the exponent of the first: d.ddd * 10^exponent. Independent of
 * the locale's point. */
static int digits_of(double v, int precision, char digits[24], int *exponent)
{
    char text[40];
    snprintf(text, sizeof text, "%.*e", precision - 1, v);
    int n = 0;
    const char *p = text;
    for (; *p && *p != 'e'; p++)
        if (*p >= '0' && *p <= '9')
            digits[n++] = *p;
    *exponent = *p ? atoi(p + 1) : 0;
    while (n > 1 && digits[n - 1] == '0')
        n--;
    digits[n] = 0;
    return n;
}

/* Fewest digits that read back as v. */
static int shortest(double v, char digits[24], int *exponent)
{
    int n = 0;
    for (int precision = 1; precision <= 17; precision++) {
        char text[48];
        double back;
        n = digits_of(v, precision, digits, exponent);
        const int size = snprintf(text, sizeof text, "%se%d", digits, *exponent - (n - 1));
        if (qfi_scan_double(text, (size_t)size, &back) && !(back < v) && !(back > v))
            break;
    }
    return n;
}

/* As Python's repr: an exponent below 1e-4 and from 1e16 on, else a point. */
void qfi_text_double(qfi_text *t, double v)
{
    char digits[24];
    int exponent;
    if (!isfinite(v)) {
        qfi_text_str(t, isnan(v) ? "\"NaN\"" : v < 0 ? "\"-Infinity\"" : "\"Infinity\"");
        return;
    }
    if (signbit(v))
        qfi_text_add(t, "-", 1);
    const int n = shortest(fabs(v), digits, &exponent);
    if (exponent < -4 || exponent >= 16)
        qfi_text_format(t, "%c%s%se%c%02d", digits[0], n > 1 ? "." : "", digits + 1,
                        exponent < 0 ? '-' : '+', abs(exponent));
    else if (exponent < 0)
        qfi_text_format(t, "0.%.*s%s", -exponent - 1, "000", digits);
    else if (n <= exponent + 1)
        qfi_text_format(t, "%s%.*s.0", digits, exponent + 1 - n, "000000000000000");
    else
        qfi_text_format(t, "%.*s.%s", exponent + 1, digits, digits + exponent + 1);
}
