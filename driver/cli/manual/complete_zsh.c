/* The completion of zsh, by its own _arguments. */
#include <string.h>

#include "manual.h"

/* Within single quotes; in brackets and before a colon of _arguments these have a meaning. */
static void put(FILE *out, const char *text)
{
    static const manual_escape escapes[] = {
        { '[', "\\[" },   { ']', "\\]" },    { ':', "\\:" },
        { '\\', "\\\\" }, { '\'', "'\\''" }, { 0, NULL },
    };
    manual_put(out, text, escapes);
}

/* "'(-o --output)'{-o,--output}'[the file to write]:OUT:_files'" */
static void put_option(FILE *out, const manual_option *o)
{
    if (o->letter)
        fprintf(out, " \\\n                '(-%c --%s)'{-%c,--%s}'[", o->letter, o->name, o->letter,
                o->name);
    else
        fprintf(out, " \\\n                '%s--%s[", strcmp(o->argument, "GLOB") ? "" : "*",
                o->name);
    put(out, o->help);
    putc(']', out);
    if (*o->argument)
        fprintf(out, ":%s:%s", o->argument, manual_takes_file(o) ? "_files" : " ");
    putc('\'', out);
}

static void put_command(FILE *out, const manual_command *c)
{
    fprintf(out, "        %s)\n            _arguments -s", c->name);
    for (size_t i = 0; i < manual_n_options; i++)
        if (manual_options[i].commands & c->bit)
            put_option(out, &manual_options[i]);
    for (int i = 0; i < c->operands; i++)
        fputs(" \\\n                ':model:_files'", out);
    fputs(" ;;\n", out);
}

void manual_write_zsh(FILE *out)
{
    fputs("#compdef qfold\n"
          "# Completion of qfold for zsh. Written by its build from the tables of the program.\n"
          "_qfold()\n"
          "{\n"
          "    local -a commands=(\n",
          out);
    for (size_t i = 0; i < manual_n_commands; i++) {
        fprintf(out, "        '%s:", manual_commands[i].name);
        put(out, manual_commands[i].summary);
        fputs("'\n", out);
    }
    fputs("    )\n"
          "    if (( CURRENT == 2 )); then\n"
          "        _describe command commands\n"
          "        return\n"
          "    fi\n"
          "    shift words\n"
          "    (( CURRENT-- ))\n"
          "    case $words[1] in\n",
          out);
    for (size_t i = 0; i < manual_n_commands; i++)
        put_command(out, &manual_commands[i]);
    fputs("    esac\n"
          "}\n"
          "if [ \"$funcstack[1]\" = _qfold ]; then\n"
          "    _qfold \"$@\"\n"
          "else\n"
          "    compdef _qfold qfold\n"
          "fi\n",
          out);
}
