/* Numbers of the commands, and the sets of them that options.def names. */
#ifndef QFI_COMMAND_SETS_H
#define QFI_COMMAND_SETS_H

enum {
    CMD_NUMBER_START = -1,
#define QF_COMMAND(command, synopsis, operands, summary, more) CMD_NUMBER_##command,
#include "commands.def"
};

#define FOLD (1u << CMD_NUMBER_fold)
#define PLAN (1u << CMD_NUMBER_plan)
#define EXPLAIN (1u << CMD_NUMBER_explain)
#define INSPECT (1u << CMD_NUMBER_inspect)
#define VERIFY (1u << CMD_NUMBER_verify)
#define OPS (1u << CMD_NUMBER_ops)
#define FOLDS (FOLD | PLAN | EXPLAIN)
#define EVERY (~0u)

#endif
