/* Reading the command line: getopt_long fed by the rows of options.def. */
#include "args.h"

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command_sets.h"
#include "parse.h"
#include "terminal.h"

const qfi_command qfi_commands[] = {
#define QF_COMMAND(command, operand_names, operand_count, what, text)                              \
    { #command,                                                                                    \
      operand_names,                                                                               \
      operand_count,                                                                               \
      what,                                                                                        \
      text,                                                                                        \
      qfi_cmd_##command,                                                                           \
      1u << CMD_NUMBER_##command },
#include "commands.def"
};
const size_t qfi_n_commands = sizeof qfi_commands / sizeof *qfi_commands;

static const struct row {
    const char *name, *argument, *help;
    qfi_parser *parse;
    size_t field;
    unsigned commands;
    char letter;
} rows[] = {
#define QF_OPTION(member, long_name, short_name, argument, parser, commands, help)                 \
    { long_name, argument,  help, qfi_parse_##parser, offsetof(qfi_args, member),                  \
      commands,  short_name },
#include "options.def"
};
enum { N_ROWS = sizeof rows / sizeof *rows, FIRST_VALUE = 256 };

const qfi_command *qfi_command_find(const char *name)
{
    for (size_t i = 0; i < qfi_n_commands; i++)
        if (!strcmp(name, qfi_commands[i].name))
            return &qfi_commands[i];
    return NULL;
}

/* What getopt_long reads, for one command: value FIRST_VALUE + i is row i. */
typedef struct spelled {
    struct option option[N_ROWS + 1];
    const char *name[N_ROWS];
    char letters[2 * N_ROWS + 2];
    size_t n;
} spelled;

static void spell(const qfi_command *command, spelled *out)
{
    size_t letters = 0;
    *out = (spelled){ 0 };
    out->letters[letters++] = ':';
    for (int i = 0; i < N_ROWS; i++) {
        if (!(rows[i].commands & command->bit))
            continue;
        const bool takes = *rows[i].argument;
        out->name[out->n] = rows[i].name;
        out->option[out->n++] = (struct option){ rows[i].name, takes, NULL, FIRST_VALUE + i };
        if (rows[i].letter)
            out->letters[letters++] = rows[i].letter;
        if (rows[i].letter && takes)
            out->letters[letters++] = ':';
    }
}

static const struct row *row_of(int value)
{
    for (int i = 0; i < N_ROWS; i++)
        if (value == FIRST_VALUE + i || (value && value == rows[i].letter))
            return &rows[i];
    return NULL;
}

/* getopt said '?' (unknown, ambiguous, or an argument where there is none) or ':' (no argument). */
static bool refuse(const qfi_command *command, const spelled *spelling, int said, char **argv)
{
    const struct row *row = row_of(optopt);
    const char *text = argv[optind - 1];
    if (said == ':' && row)
        return qfi_usage(command->name, "option --%s needs %s", row->name, row->argument);
    if (row)
        return qfi_usage(command->name, "option --%s takes no argument", row->name);
    if (optopt)
        return qfi_usage(command->name, "unknown option -%c", optopt);
    const char *near = qfi_closest(text + 2, spelling->name, spelling->n);
    if (near)
        return qfi_usage(command->name, "unknown option %s; did you mean --%s?", text, near);
    return qfi_usage(command->name, "unknown option %s", text);
}

static bool read_options(const qfi_command *command, int argc, char **argv, qfi_args *out)
{
    spelled spelling;
    spell(command, &spelling);
    opterr = 0;
    optind = 0; /* starts getopt anew */
    for (;;) {
        const int said = getopt_long(argc, argv, spelling.letters, spelling.option, NULL);
        if (said == -1)
            return true;
        const struct row *row = said == '?' || said == ':' ? NULL : row_of(said);
        if (!row)
            return refuse(command, &spelling, said, argv);
        const char *wrong = row->parse((char *)out + row->field, optarg);
        if (wrong == qfi_no_memory) {
            out->refused = qfi_complain(QF_ERR_NOMEM, &(qf_diag){ 0 });
            return false;
        }
        if (wrong)
            return qfi_usage(command->name, "--%s%s%s: %s", row->name, *optarg ? " " : "", optarg,
                             wrong);
    }
}

/* Whether two paths name one file, by whatever links. */
static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    return a && b &&
           (!strcmp(a, b) || (!stat(a, &x) && !stat(b, &y) && S_ISREG(x.st_mode) &&
                              x.st_dev == y.st_dev && x.st_ino == y.st_ino));
}

/* A report over one of the models, or over another report, would destroy it. */
static bool is_free(const qfi_args *args, const char *option, const char *path)
{
    if (same_file(path, args->operand) || same_file(path, args->second) ||
        same_file(path, args->output))
        return qfi_usage(args->command, "--%s %s: is the model itself", option, path);
    return true;
}

static bool reports_are_free(const qfi_args *args)
{
    if (args->report && !strcmp(args->report, "-"))
        return qfi_usage(args->command, "--report -: needs a file");
    if (same_file(args->report, args->json))
        return qfi_usage(args->command, "--report %s: is the file of --json", args->report);
    return is_free(args, "json", args->json) && is_free(args, "report", args->report);
}

bool qfi_args_parse(const qfi_command *command, int argc, char **argv, qfi_args *out)
{
    *out = (qfi_args){ .command = command->name,
                       .max_growth.bytes = QF_GROWTH_DEFAULT,
                       .refused = QFI_EXIT_USAGE };
    if (!read_options(command, argc, argv, out))
        return false;
    if (out->help)
        return true;
    const int given = argc - optind;
    if (given < command->operands)
        return qfi_usage(command->name, "an operand is missing: %s", command->synopsis);
    if (given > command->operands)
        return qfi_usage(command->name, "%s: one operand too many",
                         argv[optind + command->operands]);
    for (int i = optind; i < argc; i++)
        if (!*argv[i])
            return qfi_usage(command->name, "a name of a file is empty");
    out->operand = given ? argv[optind] : NULL;
    out->second = given > 1 ? argv[optind + 1] : NULL;
    return reports_are_free(out);
}

void qfi_args_free(qfi_args *args)
{
    free(args->keep.item);
    free(args->keep_op.item);
    free(args->only.item);
}

static void print_row(const struct row *row)
{
    char left[40];
    snprintf(left, sizeof left, "--%s%s%s", row->name, *row->argument ? " " : "", row->argument);
    printf("  %c%c%s %-18s ", row->letter ? '-' : ' ', row->letter ? row->letter : ' ',
           row->letter ? "," : " ", left);
    for (const char *p = row->help; *p; p++) {
        putchar(*p);
        if (*p == '\n')
            printf("%25s", "");
    }
    putchar('\n');
}

void qfi_args_help(const qfi_command *command)
{
    printf("qfold %s%s%s [options]: %s\n\n", command->name, *command->synopsis ? " " : "",
           command->synopsis, command->summary);
    for (int i = 0; i < N_ROWS; i++)
        if (rows[i].commands & command->bit)
            print_row(&rows[i]);
    printf("\n%s", command->more);
}
