/* The command line as a struct; commands and options are the rows of commands.def, options.def. */
#ifndef QFI_ARGS_H
#define QFI_ARGS_H

#include <qfold/fold.h>

typedef struct qfi_list {
    const char **item; /* NULL-terminated, or NULL when empty */
    size_t n;
} qfi_list;

/* percent: of the input's size when it is set; else bytes. */
typedef struct qfi_growth {
    uint64_t bytes;
    double percent;
    bool is_percent;
} qfi_growth;

/* Every option of every command; those that were not given keep their defaults. operand, second:
 * the files in order. refused: the exit code for a line that cannot be read. */
typedef struct qfi_args {
    const char *command, *operand, *second, *output, *node, *json, *report;
    qfi_list keep, keep_op, only;
    qfi_growth max_growth;
    uint64_t memory;
    uint32_t threads;
    bool force, dry_run, explain, fold_dequant, contiguous, fast_gemm, exact, strict, sync, quiet,
        providers, help;
    int refused;
} qfi_args;

/* One command. operands: how many it takes.  run: the exit code. */
typedef struct qfi_command {
    const char *name, *synopsis;
    int operands;
    const char *summary, *more;
    int (*run)(const qfi_args *args);
    unsigned bit;
} qfi_command;

/* Every command, in order of the help; NULL for a name that is none. */
extern const qfi_command qfi_commands[];
extern const size_t qfi_n_commands;
const qfi_command *qfi_command_find(const char *name);

/* Reads argv[1…] (argv[0]: the command's name). False after a message on standard error. */
bool qfi_args_parse(const qfi_command *command, int argc, char **argv, qfi_args *out);
void qfi_args_free(qfi_args *args);

/* Help of one command. */
void qfi_args_help(const qfi_command *command);

/* The name closest to the text, for "did you mean"; NULL if none is near. */
const char *qfi_closest(const char *text, const char *const *name, size_t n);

#define QF_COMMAND(command, synopsis, operands, summary, more)                                     \
    int qfi_cmd_##command(const qfi_args *args);
#include "commands.def"

#endif
