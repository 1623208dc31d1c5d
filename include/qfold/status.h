/* Status codes, diagnostics, and the macros that forward them.
 * Every call that can fail returns a qf_status and fills the caller's qf_diag; the first error
 * wins. */
#ifndef QFOLD_STATUS_H
#define QFOLD_STATUS_H

#include <stdint.h>

#if defined(__GNUC__)
#define QF_API __attribute__((visibility("default")))
#define QF_NODISCARD __attribute__((warn_unused_result))
#define QF_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define QF_API
#define QF_NODISCARD
#define QF_PRINTF(text, first)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* QF_OK is 0; every other value comes from status.def and keeps its number for ever. */
typedef enum qf_status {
    QF_OK = 0,
#define QF_STATUS(name, number, exit_code, text) QF_##name = number,
#include <qfold/status.def>
#undef QF_STATUS
} qf_status;

/* Where and why a call failed. Owned by the caller, no allocation; zero-initialise before the first
 * call. code: QF_OK until the first failure.  at: byte offset in the file concerned, or -1. text:
 * one line without a newline that names the file, node, tensor or byte. */
typedef struct qf_diag {
    qf_status code;
    int64_t at;
    char text[240];
} qf_diag;

/* Identifier of a status ("ERR_JSON"), its text, and the exit code that the program maps it to.
 * A number that is not a status gives "UNKNOWN", "unknown status" and 1. Thread-safe. */
QF_API const char *qf_status_name(qf_status status);
QF_API const char *qf_status_text(qf_status status);
QF_API int qf_status_exit_code(qf_status status);

/* Fill *diag (NULL is allowed) unless it already holds an error, and return `code`.
 * Every failure of the library passes here: the place for a breakpoint. qf_fail_at also records a
 * byte offset. */
QF_API qf_status qf_fail(qf_diag *diag, qf_status code, const char *format, ...) QF_PRINTF(3, 4);
QF_API qf_status qf_fail_at(qf_diag *diag, qf_status code, int64_t at, const char *format, ...)
    QF_PRINTF(4, 5);

#ifdef __cplusplus
}
#endif

/* Return early on failure, in functions that own nothing. */
#define QF_TRY(expr)                                                                               \
    do {                                                                                           \
        const qf_status try_ = (expr);                                                             \
        if (try_ != QF_OK)                                                                         \
            return try_;                                                                           \
    } while (0)

/* Set the local `st` and jump to the label `out` on failure, in functions that own something. */
#define QF_TRY_OUT(expr)                                                                           \
    do {                                                                                           \
        st = (expr);                                                                               \
        if (st != QF_OK)                                                                           \
            goto out;                                                                              \
    } while (0)

/* Format a message and return the code. */
#define QF_FAIL(diag, code, ...) return qf_fail(diag, code, __VA_ARGS__)

#endif
