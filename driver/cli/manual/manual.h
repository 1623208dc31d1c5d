/* The rows of commands.def and options.def as the writers of the manual page and of the completions
 * see them. */
#ifndef QFI_MANUAL_H
#define QFI_MANUAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct manual_command {
    const char *name, *synopsis;
    int operands;
    const char *summary, *more;
    unsigned bit;
} manual_command;

/* letter: 0 if there is none. argument: "" if it takes none. commands: bits of those that take
 * it. */
typedef struct manual_option {
    const char *name, *argument, *help;
    unsigned commands;
    char letter;
} manual_option;

extern const manual_command manual_commands[];
extern const size_t manual_n_commands;
extern const manual_option manual_options[];
extern const size_t manual_n_options;

/* Whether the argument of an option is a file. */
bool manual_takes_file(const manual_option *option);

/* A character, and how it is written. */
typedef struct manual_escape {
    char c;
    const char *text;
} manual_escape;

/* Text with line ends as spaces. escape: ends with a row of zeros. */
void manual_put(FILE *out, const char *text, const manual_escape *escape);

/* One file each; errors are left in the stream. */
void manual_write_page(FILE *out);
void manual_write_bash(FILE *out);
void manual_write_zsh(FILE *out);
void manual_write_fish(FILE *out);

#endif
