/* Names, texts and exit codes of statuses, and the one function that every failure passes through.
 */
#include <qfold/status.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

typedef struct status_row {
    qf_status status;
    const char *name, *text;
    int exit_code;
} status_row;

static const status_row rows[] = {
    { QF_OK, "OK", "no error", 0 },
#define QF_STATUS(name, number, exit_code, text) { QF_##name, #name, text, exit_code },
#include <qfold/status.def>
#undef QF_STATUS
};

static const status_row unknown = { QF_OK, "UNKNOWN", "unknown status", 1 };

static const status_row *find(qf_status status)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].status == status)
            return &rows[i];
    return &unknown;
}

const char *qf_status_name(qf_status status)
{
    return find(status)->name;
}

const char *qf_status_text(qf_status status)
{
    return find(status)->text;
}

int qf_status_exit_code(qf_status status)
{
    return find(status)->exit_code;
}

static void fill(qf_diag *diag, qf_status code, int64_t at, const char *format, va_list args)
    QF_PRINTF(4, 0);

/* The first error wins: what follows is usually a consequence. Control characters of foreign names
 * must not break the line. */
static void fill(qf_diag *diag, qf_status code, int64_t at, const char *format, va_list args)
{
    if (!diag || diag->code != QF_OK)
        return;
    diag->code = code;
    diag->at = at;
    if (vsnprintf(diag->text, sizeof diag->text, format, args) < 0)
        diag->text[0] = '\0';
    for (char *c = diag->text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = ' ';
}

qf_status qf_fail(qf_diag *diag, qf_status code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fill(diag, code, -1, format, args);
    va_end(args);
    return code;
}

qf_status qf_fail_at(qf_diag *diag, qf_status code, int64_t at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fill(diag, code, at, format, args);
    va_end(args);
    return code;
}
