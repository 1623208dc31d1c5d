/* Messages, and text made fit to print. */
#include "terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

bool qfi_usage(const char *command, const char *format, ...)
{
    const char *space = command ? " " : "", *name = command ? command : "";
    va_list args;
    fprintf(stderr, "qfold%s%s: ", space, name);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\nsee: qfold%s%s --help\n", space, name);
    return false;
}

/* What a person can do about a failure. */
static const struct {
    qf_status status;
    const char *text;
} hints[] = {
    { QF_ERR_EXISTS, "--force replaces it" },
    { QF_ERR_STRICT, "qfold explain says why; without --strict it stays in the file" },
    { QF_ERR_LIMIT, "--memory N allows more" },
    { QF_ERR_NOMEM, "--memory N and --threads N lower what is used" },
};

int qfi_complain(qf_status status, const qf_diag *diag)
{
    fprintf(stderr, "qfold: %s\n", diag->text[0] ? diag->text : qf_status_text(status));
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (hints[i].status == status)
            fprintf(stderr, "hint: %s\n", hints[i].text);
    return qf_status_exit_code(status);
}

const char *qfi_human(uint64_t bytes, char text[24])
{
    static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    double value = (double)bytes;
    int unit = -1;
    while (value >= 1023.95 && unit < 5) {
        value /= 1024;
        unit++;
    }
    if (unit < 0)
        snprintf(text, 24, "%" PRIu64 " B", bytes);
    else
        snprintf(text, 24, "%.*f %s", value < 9.995 ? 2 : 1, value, units[unit]);
    return text;
}

const char *qfi_type_text(const qf_type *type, char *text, size_t n)
{
    size_t at = (size_t)snprintf(text, n, "%s ",
                                 type->dtype == QF_DT_none ? "?" : qf_dtype_get(type->dtype)->name);
    if (type->rank < 0) {
        snprintf(text + at, n - at, "?");
        return text;
    }
    for (int k = 0; k < type->rank && at < n; k++) {
        const int64_t dim = type->dim[k];
        at += (size_t)snprintf(text + at, n - at, "%s%s%" PRId64, k ? ", " : "[",
                               dim < 0 ? "s" : "", dim < 0 ? ~dim : dim);
    }
    if (at < n)
        snprintf(text + at, n - at, "%s", type->rank ? "]" : "[]");
    return text;
}

void qfi_put(FILE *out, const char *p, size_t n, int width)
{
    for (size_t i = 0; i < n; i++)
        fputc((unsigned char)p[i] < 0x20 || p[i] == 0x7f ? '?' : p[i], out);
    for (size_t i = n; i < (size_t)width; i++)
        fputc(' ', out);
}

bool qfi_put_text(void *file, const char *text, size_t n)
{
    return fwrite(text, 1, n, file) == n;
}

int qfi_write_json(const char *path, qf_status (*make)(const void *what, FILE *out, qf_diag *diag),
                   const void *what)
{
    qf_diag diag = { 0 };
    FILE *out = strcmp(path, "-") ? fopen(path, "w") : stdout;
    if (!out) {
        qf_status st = qf_fail(&diag, QF_ERR_WRITE, "%s: %s", path, strerror(errno));
        return qfi_complain(st, &diag);
    }
    qf_status st = make(what, out, &diag);
    if (out == stdout) /* whose end main flushes and checks */
        return st == QF_OK ? 0 : qfi_complain(st, &diag);
    const bool bad = fflush(out) != 0 || ferror(out);
    if (fclose(out) != 0 && st == QF_OK)
        st = qf_fail(&diag, QF_ERR_WRITE, "%s: %s", path, strerror(errno));
    if (st == QF_OK && bad)
        st = qf_fail(&diag, QF_ERR_WRITE, "%s: %s", path, strerror(errno));
    return st == QF_OK ? 0 : qfi_complain(st, &diag);
}
