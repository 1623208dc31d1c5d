/* qfold plan: what a fold would do. */
#include "folding.h"

int qfi_cmd_plan(const qfi_args *args)
{
    qf_report *report = NULL;
    int code = qfi_fold_run(args, NULL, &report);
    if (code)
        return code;
    code = qfi_report_write(args, report);
    if (!args->json) {
        qfi_print_summary(report);
        qfi_print_steps(report);
        if (args->explain)
            qfi_print_nodes(report);
    }
    qf_report_free(report);
    return code;
}
