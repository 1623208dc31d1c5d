/* What the commands say: messages on standard error, sizes and names made fit to print. */
#ifndef QFI_TERMINAL_H
#define QFI_TERMINAL_H

#include <qfold/fold.h>
#include <stdio.h>

/* The exit code of a wrong command line. */
#define QFI_EXIT_USAGE 2

/* "qfold fold: …" and where to find help; always returns false. command NULL: the program. */
bool qfi_usage(const char *command, const char *format, ...) QF_PRINTF(2, 3);

/* Prints what failed, with a hint where there is one, and returns the exit code. */
int qfi_complain(qf_status status, const qf_diag *diag);

/* "1.5 MiB" into text[24]. */
const char *qfi_human(uint64_t bytes, char text[24]);

/* "f32 [1, s0, 64]" into text[n]; "?" for what is not known. */
const char *qfi_type_text(const qf_type *type, char *text, size_t n);

/* Foreign text in a column: control characters become '?', padded to `width`, never cut. */
void qfi_put(FILE *out, const char *p, size_t n, int width);

/* The write() of the library's JSON functions; file: a FILE. */
bool qfi_put_text(void *file, const char *text, size_t n);

/* Writes JSON through `make` to FILE ("-": standard output). The exit code. */
int qfi_write_json(const char *path, qf_status (*make)(const void *what, FILE *out, qf_diag *diag),
                   const void *what);

#endif
