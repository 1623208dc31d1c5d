/* Planning the fold of a file. */
#ifndef QFI_PLAN_FILE_H
#define QFI_PLAN_FILE_H

#include "../fold/passes.h"

/* qfi_fold_plan for the graph of the file at `path`; an assertion that does not hold is told with
 * the file. */
QF_NODISCARD qf_status qfi_plan_file(qfi_fold *fold, const char *path, qf_diag *diag);

#endif
