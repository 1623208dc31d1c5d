/* The completion of bash: needs nothing but bash. */
#include "manual.h"

static const char head[] =
    "# Completion of qfold for bash. Written by its build from the tables of the program.\n"
    "_qfold()\n"
    "{\n"
    "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options=\n"
    "    COMPREPLY=()\n"
    "    case ${COMP_WORDS[1]} in\n";
static const char middle[] = "    esac\n"
                             "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                             "        options='";
static const char values[] =
    "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
    "        return\n"
    "    fi\n"
    "    case $before in\n";
static const char tail[] =
    "    esac\n"
    "    case $word in\n"
    "        -*) mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\") ;;\n"
    "        *)\n"
    "            compopt -o filenames 2>/dev/null\n"
    "            mapfile -t COMPREPLY < <(compgen -f -- \"$word\") ;;\n"
    "    esac\n"
    "}\n"
    "complete -F _qfold qfold\n";

/* "        fold) options='--output -o …' ;;" */
static void put_options(FILE *out, const manual_command *c)
{
    fprintf(out, "        %s) options='", c->name);
    for (size_t i = 0; i < manual_n_options; i++) {
        const manual_option *o = &manual_options[i];
        if (!(o->commands & c->bit))
            continue;
        fprintf(out, "--%s ", o->name);
        if (o->letter)
            fprintf(out, "-%c ", o->letter);
    }
    fputs("' ;;\n", out);
}

/* The options after which comes a word that cannot be guessed. */
static void put_values(FILE *out)
{
    const char *before = "        ";
    for (size_t i = 0; i < manual_n_options; i++) {
        const manual_option *o = &manual_options[i];
        if (!*o->argument || manual_takes_file(o))
            continue;
        fprintf(out, "%s--%s", before, o->name);
        if (o->letter)
            fprintf(out, "|-%c", o->letter);
        before = "|";
    }
    fputs(") return ;;\n", out);
}

void manual_write_bash(FILE *out)
{
    fputs(head, out);
    for (size_t i = 0; i < manual_n_commands; i++)
        put_options(out, &manual_commands[i]);
    fputs(middle, out);
    for (size_t i = 0; i < manual_n_commands; i++)
        fprintf(out, "%s ", manual_commands[i].name);
    fputs("--help --version'\n", out);
    fputs(values, out);
    put_values(out);
    fputs(tail, out);
}
