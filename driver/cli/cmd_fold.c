/* qfold fold: folds into a new file and says what came of it. */
#include <string.h>

#include "folding.h"

int qfi_cmd_fold(const qfi_args *args)
{
    qf_report *report = NULL;
    if (args->dry_run)
        return qfi_cmd_plan(args);
    if (!args->output) {
        qfi_usage(args->command, "-o OUT is missing");
        return QFI_EXIT_USAGE;
    }
    int code = qfi_fold_run(args, args->output, &report);
    if (code)
        return code;
    const bool piped = args->json && !strcmp(args->json, "-");
    code = qfi_report_write(args, report);
    if (!args->quiet && !piped)
        qfi_print_summary(report);
    if (args->explain && !piped)
        qfi_print_nodes(report);
    qf_report_free(report);
    return code;
}
