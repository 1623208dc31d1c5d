/* Writes the manual page and the completions of three shells, from the rows that the program itself
 * reads: write_manual FOLDER. Runs while qfold is built. */
#include <errno.h>
#include <string.h>

#include "../command_sets.h"
#include "manual.h"

const manual_command manual_commands[] = {
#define QF_COMMAND(command, operand_names, operand_count, what, text)                              \
    { #command, operand_names, operand_count, what, text, 1u << CMD_NUMBER_##command },
#include "../commands.def"
};
const size_t manual_n_commands = sizeof manual_commands / sizeof *manual_commands;

const manual_option manual_options[] = {
#define QF_OPTION(member, long_name, short_name, argument, parser, commands, help)                 \
    { long_name, argument, help, commands, short_name },
#include "../options.def"
};
const size_t manual_n_options = sizeof manual_options / sizeof *manual_options;

bool manual_takes_file(const manual_option *option)
{
    return !strcmp(option->argument, "FILE") || !strcmp(option->argument, "OUT");
}

void manual_put(FILE *out, const char *text, const manual_escape *escape)
{
    for (const char *p = text; *p; p++) {
        const manual_escape *e = escape;
        while (e->c && e->c != *p)
            e++;
        if (e->c)
            fputs(e->text, out);
        else
            putc(*p == '\n' ? ' ' : *p, out);
    }
}

static const struct {
    const char *name;
    void (*write)(FILE *out);
} files[] = {
    { "qfold.1", manual_write_page },
    { "qfold.bash", manual_write_bash },
    { "_qfold", manual_write_zsh },
    { "qfold.fish", manual_write_fish },
};

int main(int n, char **args)
{
    char path[4096];
    if (n != 2) {
        fputs("usage: write_manual FOLDER\n", stderr);
        return 2;
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", args[1], files[i].name);
        FILE *out = fopen(path, "w");
        if (out)
            files[i].write(out);
        if (!out || ferror(out) | fclose(out)) {
            fprintf(stderr, "%s: %s\n", path, strerror(errno));
            return 4;
        }
    }
    return 0;
}
