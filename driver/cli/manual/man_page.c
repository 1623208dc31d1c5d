/* qfold.1, in the man macros. */
#include <ctype.h>
#include <qfold/version.h>
#include <string.h>

#include "manual.h"

/* What roff would take for its own: a hyphen is not a minus, a quote not an apostrophe. */
static void put(FILE *out, const char *text)
{
    static const manual_escape escapes[] = {
        { '-', "\\-" },   { '\'', "\\(aq" }, { '`', "\\(ga" }, { '^', "\\(ha" },
        { '~', "\\(ti" }, { '\\', "\\e" },   { 0, NULL },
    };
    manual_put(out, text, escapes);
}

/* No line of text may begin with a dot. */
static void put_line(FILE *out, const char *p, size_t n)
{
    char line[256];
    snprintf(line, sizeof line, "%.*s", (int)n, p);
    if (*line == '.')
        fputs("\\&", out);
    put(out, line);
    putc('\n', out);
}

/* Help text behind the options: paragraphs, and lines that begin with two spaces, which are
 * examples. */
static void put_more(FILE *out, const char *text)
{
    bool example = false;
    for (const char *p = text; *p; p += strcspn(p, "\n") + 1) {
        const size_t n = strcspn(p, "\n");
        const bool is = !strncmp(p, "  ", 2);
        if (is != example)
            fputs(is ? ".IP\n.nf\n" : ".fi\n.IP\n", out);
        example = is;
        if (n)
            put_line(out, is ? p + 2 : p, is ? n - 2 : n);
    }
    if (example)
        fputs(".fi\n", out);
}

/* A text of the tables as a sentence. */
static void put_sentence(FILE *out, const char *text)
{
    putc(toupper((unsigned char)*text), out);
    put(out, text + 1);
}

static void put_takers(FILE *out, unsigned commands)
{
    const char *before = ".\nFor ";
    for (size_t i = 0; i < manual_n_commands; i++)
        if (manual_commands[i].bit & commands) {
            fprintf(out, "%s%s", before, manual_commands[i].name);
            before = ", ";
        }
    fputs(".\n", out);
}

static void put_option(FILE *out, const manual_option *o)
{
    fputs(".TP\n.B ", out);
    if (o->letter)
        fprintf(out, "\\-%c\\fR, \\fB", o->letter);
    fputs("\\-\\-", out);
    put(out, o->name);
    if (*o->argument)
        fprintf(out, " \\fI%s", o->argument);
    fputs("\\fR\n", out);
    put_sentence(out, o->help);
    put_takers(out, o->commands);
}

static void put_command(FILE *out, const manual_command *c)
{
    fprintf(out, ".TP\n.B qfold %s \\fI", c->name);
    put(out, c->synopsis);
    fprintf(out, "\\fR%s[\\fIoptions\\fR]\n", *c->synopsis ? " " : "");
    put_sentence(out, c->summary);
    fputs(".\n", out);
    put_more(out, c->more);
}

static const char *const exits[] = {
    "done",
    "a check failed: verify found a difference, or \\-\\-strict something that did not fold",
    "wrong command line",
    "bad input: the message names file, node, tensor or byte",
    "input or output",
    "a limit",
};

static const char head[] = ".SH NAME\n"
                           "qfold \\- folds the constant part of model files\n"
                           ".SH SYNOPSIS\n"
                           ".B qfold\n"
                           ".I command\n"
                           "\\fR[\\fIoptions\\fR] [\\fIfiles\\fR]\n";
static const char description[] =
    ".SH DESCRIPTION\n"
    "qfold computes once, ahead of time, what a model file computes from its constants alone, and\n"
    "writes a file that computes the same with fewer nodes. It reads and writes what\n"
    ".B torch.export.save\n"
    "writes (.pt2).\n"
    ".PP\n"
    "Results go to standard output; messages, and progress on a terminal, to standard error.\n"
    ".SH COMMANDS\n";
static const char tail[] =
    ".PP\n"
    "A run that fails writes nothing. A run that is killed leaves the old file; on file systems\n"
    "without files that have no name it also leaves a hidden\n"
    ".I .qfold\\-*.tmp\n"
    "to delete.\n"
    ".SH ENVIRONMENT\n"
    ".TP\n"
    ".B QFOLD_CAPS\n"
    "Instruction sets to use at most: scalar, avx2 or avx512. The output is the same.\n";

void manual_write_page(FILE *out)
{
    fprintf(out, ".TH QFOLD 1 \"\" \"qfold %d.%d.%d\" \"User Commands\"\n%s", QF_VERSION_MAJOR,
            QF_VERSION_MINOR, QF_VERSION_PATCH, head);
    fputs(description, out);
    for (size_t i = 0; i < manual_n_commands; i++)
        put_command(out, &manual_commands[i]);
    fputs(".SH OPTIONS\n", out);
    for (size_t i = 0; i < manual_n_options; i++)
        put_option(out, &manual_options[i]);
    fputs(".SH EXIT STATUS\n", out);
    for (size_t i = 0; i < sizeof exits / sizeof *exits; i++)
        fprintf(out, ".TP\n.B %zu\n%s\n", i, exits[i]);
    fputs(tail, out);
}
