/* What the commands fold, plan and explain share: the run, and what is said about it. */
#ifndef QFI_FOLDING_H
#define QFI_FOLDING_H

#include "args.h"
#include "terminal.h"

/* Runs qf_fold_file on args->operand; output NULL plans only. Says what failed and returns the exit
 * code; 0 fills *report. */
int qfi_fold_run(const qfi_args *args, const char *output, qf_report **report);

/* --json and --report, where they are given. The exit code. */
int qfi_report_write(const qfi_args *args, const qf_report *report);

/* One screen about a fold or a plan. */
void qfi_print_summary(const qf_report *report);

/* Warnings and notes, on standard error. */
void qfi_print_notes(const qf_report *report);

/* One line a node. */
void qfi_print_nodes(const qf_report *report);

/* One line a payload that is or would be computed. */
void qfi_print_steps(const qf_report *report);

#endif
