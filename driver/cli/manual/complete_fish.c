/* The completion of fish: a line for every command, every option, and the operands. */
#include "manual.h"

/* Within single quotes. */
static void put(FILE *out, const char *text)
{
    static const manual_escape escapes[] = { { '\'', "\\'" }, { '\\', "\\\\" }, { 0, NULL } };
    manual_put(out, text, escapes);
}

static void put_condition(FILE *out, unsigned commands)
{
    fputs("complete -c qfold -n '__fish_seen_subcommand_from", out);
    for (size_t i = 0; i < manual_n_commands; i++)
        if (manual_commands[i].bit & commands)
            fprintf(out, " %s", manual_commands[i].name);
    putc('\'', out);
}

static void put_option(FILE *out, const manual_option *o)
{
    put_condition(out, o->commands);
    fprintf(out, " -l %s", o->name);
    if (o->letter)
        fprintf(out, " -s %c", o->letter);
    if (*o->argument)
        fputs(manual_takes_file(o) ? " -r -F" : " -x", out);
    fputs(" -d '", out);
    put(out, o->help);
    fputs("'\n", out);
}

void manual_write_fish(FILE *out)
{
    unsigned with_operands = 0;
    fputs("# Completion of qfold for fish. Written by its build from the tables of the program.\n"
          "complete -c qfold -f\n"
          "complete -c qfold -n __fish_use_subcommand -l help -d 'show the commands'\n"
          "complete -c qfold -n __fish_use_subcommand -l version -d 'show the version'\n",
          out);
    for (size_t i = 0; i < manual_n_commands; i++) {
        fprintf(out, "complete -c qfold -n __fish_use_subcommand -a %s -d '",
                manual_commands[i].name);
        put(out, manual_commands[i].summary);
        fputs("'\n", out);
        if (manual_commands[i].operands)
            with_operands |= manual_commands[i].bit;
    }
    for (size_t i = 0; i < manual_n_options; i++)
        put_option(out, &manual_options[i]);
    put_condition(out, with_operands);
    fputs(" -F\n", out);
}
