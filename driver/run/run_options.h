/* Options of a run: the caller's, and as its report keeps them. */
#ifndef QFI_RUN_OPTIONS_H
#define QFI_RUN_OPTIONS_H

#include "../fold/passes.h"

/* The options to work with: the caller's, whatever their version, or the defaults for NULL. Growth
 * is still as given. */
QF_NODISCARD qf_status qfi_run_options(const qf_fold_options *given, qf_fold_options *out,
                                       qf_diag *diag);

/* A copy of the options whose lists belong to the pool. */
QF_NODISCARD qf_status qfi_run_keep_options(qfi_pool *pool, const qf_fold_options *options,
                                            qf_fold_options *out, qf_diag *diag);

#endif
