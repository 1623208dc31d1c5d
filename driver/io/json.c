/* The pull reader. It keeps no stack: whether a comma is due follows from the byte before `at`,
 * since enter() leaves `at` right behind the bracket and no value ends with one that opens. */
#include "json.h"

#include <stdio.h>
#include <string.h>

#include "json_scan.h"

#define MAX_DEPTH QFI_JSON_DEPTH

bool qfi_json_fail(qfi_json *j, qf_status code, const char *format, ...)
{
    char reason[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    if (j->status == QF_OK)
        j->status =
            qf_fail_at(j->diag, code, (int64_t)j->at, "%s: byte %zu: %s", j->name, j->at, reason);
    return false;
}

/* Offset of the next byte that is no white space. */
static inline size_t after_space(const qfi_json *j)
{
    return qfi_scan_space(j->text, j->at, j->n);
}

/* Moves over white space; the byte there, or 0 at the end (and a NUL is no token either). */
static inline char token(qfi_json *j)
{
    j->at = after_space(j);
    return j->at < j->n ? j->text[j->at] : 0;
}

__attribute__((cold)) static bool expected(qfi_json *j, const char *what)
{
    return j->at < j->n ? qfi_json_fail(j, QF_ERR_JSON, "expected %s", what)
                        : qfi_json_fail(j, QF_ERR_JSON, "the text ends where %s is expected", what);
}

/* By the first byte of a value. */
static const uint8_t types[256] = {
    ['{'] = QFI_JSON_OBJECT, ['['] = QFI_JSON_ARRAY,  ['"'] = QFI_JSON_STRING,
    ['t'] = QFI_JSON_TRUE,   ['f'] = QFI_JSON_FALSE,  ['n'] = QFI_JSON_NULL,
    ['-'] = QFI_JSON_NUMBER, ['0'] = QFI_JSON_NUMBER, ['1'] = QFI_JSON_NUMBER,
    ['2'] = QFI_JSON_NUMBER, ['3'] = QFI_JSON_NUMBER, ['4'] = QFI_JSON_NUMBER,
    ['5'] = QFI_JSON_NUMBER, ['6'] = QFI_JSON_NUMBER, ['7'] = QFI_JSON_NUMBER,
    ['8'] = QFI_JSON_NUMBER, ['9'] = QFI_JSON_NUMBER,
};

static inline qfi_json_type type_of(char c)
{
    return types[(unsigned char)c];
}

qfi_json_type qfi_json_peek(qfi_json *j)
{
    if (j->status != QF_OK)
        return QFI_JSON_END;
    const size_t at = after_space(j);
    if (at == j->n)
        return QFI_JSON_END;
    const char c = j->text[at];
    const qfi_json_type type = type_of(c);
    if (type == QFI_JSON_END && c != ']' && c != '}' && c != ',') {
        j->at = at;
        expected(j, "a value");
    }
    return type;
}

static const char *const type_names[] = { "a value",  "an object", "an array", "a string",
                                          "a number", "true",      "false",    "null" };

static inline bool literal(qfi_json *j, const char *word)
{
    const size_t n = strlen(word);
    if (j->n - j->at < n || memcmp(j->text + j->at, word, n))
        return expected(j, word);
    j->at += n;
    return true;
}

/* Moves over the token of n bytes at `at`; n = 0: to the byte in it that is wrong. */
static inline bool scanned(qfi_json *j, size_t n, size_t wrong, const char *why)
{
    j->at += n ? n : wrong;
    return n || qfi_json_fail(j, QF_ERR_JSON, "%s", why);
}

/* Moves to the next value; it must be of this type. */
static inline bool at_type(qfi_json *j, qfi_json_type type)
{
    if (j->status != QF_OK)
        return false;
    return type_of(token(j)) == type || expected(j, type_names[type]);
}

static inline bool string_at(qfi_json *j, qf_str *out)
{
    const size_t begin = j->at + 1;
    size_t wrong = 0;
    const char *why = NULL;
    const size_t n = qfi_scan_quoted(j->text + j->at, j->n - j->at, &wrong, &why);
    if (!scanned(j, n, wrong, why))
        return false;
    *out = (qf_str){ j->text + begin, j->at - begin - 1 };
    return true;
}

bool qfi_json_enter(qfi_json *j, qfi_json_type type)
{
    if (!at_type(j, type))
        return false;
    if (j->depth >= MAX_DEPTH)
        return qfi_json_fail(j, QF_ERR_JSON, "nested more than %d deep", MAX_DEPTH);
    j->depth++;
    j->at++;
    return true;
}

/* Inside a container: moves to its next entry; false at its end, which is consumed, or after an
 * error. */
static inline bool entry(qfi_json *j, char open, char close)
{
    if (j->status != QF_OK)
        return false;
    const bool first = j->at && j->text[j->at - 1] == open;
    const char c = token(j);
    if (c == close) {
        j->at++;
        j->depth--;
        return false;
    }
    if (first)
        return true;
    if (c != ',')
        return expected(j, close == '}' ? "',' or '}'" : "',' or ']'");
    j->at++;
    return token(j) != close || expected(j, close == '}' ? "a key" : "a value");
}

static inline bool key_at(qfi_json *j, qf_str *key)
{
    if (token(j) != '"')
        return expected(j, "a key");
    if (!string_at(j, key))
        return false;
    if (token(j) != ':')
        return expected(j, "':'");
    j->at++;
    return true;
}

/* Bytes that a quick look may take: a comma, a space, a quote, a block of text, its end. */
#define QUICK (QFI_SCAN_BLOCK + 8)

/* The key of an entry as nearly all of them are: {"key": or ,"key": or , "key": with a key shorter
 * than a block. Otherwise false, and nothing happened. */
static inline bool quick_key(qfi_json *j, qf_str *key)
{
    const char *p = j->text + j->at;
    if (!j->at || j->n - j->at < QUICK)
        return false;
    if (p[-1] != '{') {
        if (*p++ != ',')
            return false;
        p += *p == ' ';
    }
    const qfi_scan_flags flags = qfi_scan_block(p + 1);
    if (*p != '"' || !flags)
        return false;
    const size_t n = qfi_scan_first(flags);
    if (p[n + 1] != '"' || p[n + 2] != ':')
        return false;
    *key = (qf_str){ p + 1, n };
    j->at = (size_t)(p - j->text) + n + 3;
    return true;
}

/* Likewise the end of a container. */
static inline bool quick_end(qfi_json *j, char close)
{
    if (j->at >= j->n || j->text[j->at] != close)
        return false;
    j->at++;
    j->depth--;
    return true;
}

__attribute__((noinline)) static bool any_key(qfi_json *j, qf_str *key)
{
    return entry(j, '{', '}') && key_at(j, key);
}

bool qfi_json_key(qfi_json *j, qf_str *key)
{
    if (j->status != QF_OK || quick_end(j, '}'))
        return false;
    return quick_key(j, key) || any_key(j, key);
}

/* Frames that are tried one after the other differ at their end, if not before. */
static inline bool stands(const qfi_json *j, size_t at, qf_str what)
{
    const char *p = j->text + at;
    if (j->n - at < what.n)
        return false;
    if (what.n > 8 && memcmp(p + what.n - 8, what.p + what.n - 8, 8) != 0)
        return false;
    return !memcmp(p, what.p, what.n);
}

bool qfi_json_framed(qfi_json *j, uint32_t n, const qf_str *frame, qf_str *text)
{
    if (j->status != QF_OK)
        return false;
    size_t at = after_space(j);
    if (!stands(j, at, frame[0]))
        return false;
    at += frame[0].n;
    for (uint32_t i = 0; i < n; i++) {
        text[i] = (qf_str){ j->text + at, qfi_scan_plain(j->text + at, j->n - at) };
        at += text[i].n;
        if (!stands(j, at, frame[i + 1]))
            return false;
        at += frame[i + 1].n;
    }
    j->at = at;
    return true;
}

static bool any_entry(qfi_json *j)
{
    return entry(j, '[', ']');
}

bool qfi_json_next(qfi_json *j)
{
    if (j->status != QF_OK || quick_end(j, ']'))
        return false;
    return any_entry(j);
}

bool qfi_json_string(qfi_json *j, qf_str *out)
{
    return at_type(j, QFI_JSON_STRING) && string_at(j, out);
}

static inline bool number(qfi_json *j, qf_str *out)
{
    if (!at_type(j, QFI_JSON_NUMBER))
        return false;
    const size_t begin = j->at;
    size_t wrong = 0;
    const char *why = NULL;
    const size_t n = qfi_scan_number(j->text + j->at, j->n - j->at, &wrong, &why);
    if (!scanned(j, n, wrong, why))
        return false;
    *out = (qf_str){ j->text + begin, j->at - begin };
    return true;
}

/* Fails at the token that was just consumed. */
static bool fail_token(qfi_json *j, qf_str token_text, const char *why)
{
    j->at = (size_t)(token_text.p - j->text);
    return qfi_json_fail(j, QF_ERR_JSON, "%s", why);
}

/* What may stand behind a value in a container. */
static inline bool is_mark(char c)
{
    return c == ',' || c == '}' || c == ']';
}

#define SHORT_INT 18 /* digits that fit in 64 bits whatever they are */

/* Bytes of the number at p if it is a short one without a sign, as nearly all are; else 0. */
static inline size_t short_int(const char *p, size_t n, int64_t *out)
{
    int64_t value = 0;
    size_t i = 0;
    for (; i < n && i < SHORT_INT && p[i] >= '0' && p[i] <= '9'; i++)
        value = value * 10 + (p[i] - '0');
    if (i == n || !is_mark(p[i]) || !i || (i > 1 && *p == '0'))
        return 0;
    *out = value;
    return i;
}

bool qfi_json_int(qfi_json *j, int64_t *out)
{
    qf_str text;
    if (!at_type(j, QFI_JSON_NUMBER))
        return false;
    const size_t n = short_int(j->text + j->at, j->n - j->at, out);
    j->at += n;
    if (n)
        return true;
    if (!number(j, &text))
        return false;
    const bool negative = text.p[0] == '-';
    int64_t value = 0;
    for (size_t i = negative; i < text.n; i++) {
        const int digit = text.p[i] - '0';
        if (digit < 0 || digit > 9)
            return fail_token(j, text, "expected an integer");
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, negative ? -digit : digit, &value))
            return fail_token(j, text, "an integer that does not fit in 64 bits");
    }
    *out = value;
    return true;
}

static const struct {
    const char *name;
    double value;
} nonfinite[] = {
    { "Infinity", __builtin_inf() },
    { "-Infinity", -__builtin_inf() },
    { "NaN", __builtin_nan("") },
};

bool qfi_json_double(qfi_json *j, double *out)
{
    qf_str text;
    if (qfi_json_peek(j) != QFI_JSON_STRING) {
        if (!number(j, &text))
            return false;
        return qfi_scan_double(text.p, text.n, out) || fail_token(j, text, "a number out of range");
    }
    if (!qfi_json_string(j, &text))
        return false;
    for (size_t i = 0; i < sizeof nonfinite / sizeof *nonfinite; i++)
        if (qfi_str_is(text, nonfinite[i].name)) {
            *out = nonfinite[i].value;
            return true;
        }
    return fail_token(j, text, "expected a number, \"Infinity\", \"-Infinity\" or \"NaN\"");
}

bool qfi_json_bool(qfi_json *j, bool *out)
{
    if (j->status != QF_OK)
        return false;
    const qfi_json_type type = type_of(token(j));
    if (type != QFI_JSON_TRUE && type != QFI_JSON_FALSE)
        return expected(j, "true or false");
    *out = type == QFI_JSON_TRUE;
    return literal(j, type_names[type]);
}

bool qfi_json_null(qfi_json *j)
{
    return at_type(j, QFI_JSON_NULL) && literal(j, "null");
}

/* Bytes of any value at the next token, as qfi_scan_value; what stands in a line of its own here is
 * what nearly all values are that are skipped. */
static inline size_t value_size(const qfi_json *j, size_t *wrong, const char **why)
{
    const char *p = j->text + j->at;
    const size_t n = j->n - j->at;
    int64_t number;
    if (n && *p == '"')
        return qfi_scan_quoted(p, n, wrong, why);
    const size_t size = short_int(p, n, &number);
    return size ? size : qfi_scan_value(p, n, MAX_DEPTH - j->depth, wrong, why);
}

bool qfi_json_skip(qfi_json *j, qf_str *span)
{
    if (j->status != QF_OK)
        return false;
    token(j);
    const char *p = j->text + j->at, *why = NULL;
    size_t wrong = 0;
    const size_t n = value_size(j, &wrong, &why);
    if (!scanned(j, n, wrong, why))
        return false;
    if (span)
        *span = (qf_str){ p, n };
    return true;
}

bool qfi_json_done(qfi_json *j)
{
    if (j->status != QF_OK)
        return false;
    token(j);
    return j->at == j->n || qfi_json_fail(j, QF_ERR_JSON, "text behind the end of the value");
}

/* UTF-8 of a code point; bytes written. */
static size_t put_utf8(char *p, uint32_t c)
{
    if (c < 0x80) {
        p[0] = (char)c;
        return 1;
    }
    const size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const uint8_t lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    for (size_t i = n - 1; i; i--, c >>= 6)
        p[i] = (char)(0x80 | (c & 0x3f));
    p[0] = (char)(lead[n] | c);
    return n;
}

/* Code point of the \u escape at p; *used: its bytes. -1 for half a surrogate pair. */
static int32_t unicode_escape(const char *p, size_t n, size_t *used)
{
    const int32_t first = n >= 6 ? qfi_scan_hex4(p + 2) : -1;
    *used = 6;
    if (first < 0xd800 || first > 0xdfff)
        return first;
    if (first > 0xdbff || n < 12 || p[6] != '\\' || p[7] != 'u')
        return -1;
    const int32_t second = qfi_scan_hex4(p + 8);
    *used = 12;
    return second < 0xdc00 || second > 0xdfff
               ? -1
               : 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
}

bool qfi_json_unescape(qfi_pool *pool, qf_str raw, qf_str *out)
{
    static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    if (!raw.n || !memchr(raw.p, '\\', raw.n)) {
        *out = raw;
        return true;
    }
    char *text = qfi_pool_alloc(pool, raw.n + 1, 1); /* no escape is shorter than what it means */
    if (!text)
        return false;
    size_t n = 0;
    for (size_t i = 0, used; i < raw.n; i += used) {
        used = 1;
        if (raw.p[i] != '\\') {
            text[n++] = raw.p[i];
            continue;
        }
        const char *name = i + 1 < raw.n && raw.p[i + 1] ? strchr(names, raw.p[i + 1]) : NULL;
        if (name) {
            text[n++] = meanings[name - names];
            used = 2;
            continue;
        }
        const int32_t c = unicode_escape(raw.p + i, raw.n - i, &used);
        if (c < 0)
            return false;
        n += put_utf8(text + n, (uint32_t)c);
    }
    *out = (qf_str){ text, n };
    return true;
}
