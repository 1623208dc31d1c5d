/* A pull reader over JSON text in memory, and a writer of spans. Nothing is copied: strings,
 * numbers and whole values are spans of the text, so what is not understood can be written back to
 * the byte. UTF-8 is checked, depth is bounded (512), numbers stay text. */
#ifndef QFI_JSON_H
#define QFI_JSON_H

#include "../graph/pool.h"

typedef enum qfi_json_type {
    QFI_JSON_END,
    QFI_JSON_OBJECT,
    QFI_JSON_ARRAY,
    QFI_JSON_STRING,
    QFI_JSON_NUMBER,
    QFI_JSON_TRUE,
    QFI_JSON_FALSE,
    QFI_JSON_NULL
} qfi_json_type;

/* Starts as { .text, .n, .name, .diag }. name: for messages (file and member). */
typedef struct qfi_json {
    const char *text;
    size_t n, at;
    const char *name;
    int depth;
    qf_diag *diag;
    qf_status status; /* sticky: first error, ERR_JSON with the byte */
} qfi_json;

/* Type of the next value, without consuming it. QFI_JSON_END at the end of a container, of the
 * text, or after an error. */
qfi_json_type qfi_json_peek(qfi_json *j);

/* Walks a container:
 *     if (qfi_json_enter(j, QFI_JSON_OBJECT))
 *         while (qfi_json_key(j, &key)) { read or skip one value }
 *     if (qfi_json_enter(j, QFI_JSON_ARRAY))
 *         while (qfi_json_next(j)) { read or skip one value }
 * key: raw span between the quotes (escapes kept; qfi_str_is compares keys without escapes).
 * enter fails (and sets the error) if the next value is of another type. key and next consume the
 * closing bracket. */
bool qfi_json_enter(qfi_json *j, qfi_json_type type);
bool qfi_json_key(qfi_json *j, qf_str *key);
bool qfi_json_next(qfi_json *j);

/* One value, consumed.
 * string: raw span between the quotes; unescaped through qfi_json_unescape if it holds a backslash.
 * int: exact int64 or an error.  double: the nearest one to a number's text, or what the strings
 * "Infinity", "-Infinity" and "NaN" say. */
bool qfi_json_string(qfi_json *j, qf_str *out);
bool qfi_json_int(qfi_json *j, int64_t *out);
bool qfi_json_double(qfi_json *j, double *out);
bool qfi_json_bool(qfi_json *j, bool *out);
bool qfi_json_null(qfi_json *j);

/* Consumes any value; `span` (may be NULL) is its text. */
bool qfi_json_skip(qfi_json *j, qf_str *span);

/* Consumes frame[0], text[0], frame[1], … text[n - 1], frame[n], if the frames stand there in these
 * very bytes and no text holds an escape; false, and no error, if not. A look ahead for what is
 * written very often: the caller knows that this is one value, whatever the texts are. */
bool qfi_json_framed(qfi_json *j, uint32_t n, const qf_str *frame, qf_str *text);

/* Nothing but white space is left. */
bool qfi_json_done(qfi_json *j);

/* Sets the sticky error with a formatted reason at the current byte; always returns false. */
__attribute__((cold)) bool qfi_json_fail(qfi_json *j, qf_status code, const char *format, ...)
    QF_PRINTF(3, 4);

/* The UTF-8 that a raw span with escapes means, in the pool; *out = raw if there are none. False
 * when out of memory, and for half a surrogate pair, which no UTF-8 can say. */
bool qfi_json_unescape(qfi_pool *pool, qf_str raw, qf_str *out);

/* Text that grows in a pool. failed: sticky, out of memory. */
typedef struct qfi_text {
    qfi_pool *pool;
    char *p;
    size_t n, cap;
    bool failed;
} qfi_text;

void qfi_text_add(qfi_text *t, const char *p, size_t n);
void qfi_text_str(qfi_text *t, const char *s);
void qfi_text_int(qfi_text *t, int64_t v);
void qfi_text_format(qfi_text *t, const char *format, ...) QF_PRINTF(2, 3);
/* A JSON string with quotes and escapes; the shortest number that reads back as the same double
 * ("Infinity" … as strings). */
void qfi_text_quote(qfi_text *t, const char *p, size_t n);
void qfi_text_double(qfi_text *t, double v);

#endif
