/* Progress on a terminal, and stopping cleanly when the user asks for it. */
#ifndef QFI_PROGRESS_H
#define QFI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* One bar. started, shown: seconds. */
typedef struct qfi_progress {
    const char *what;
    double started, shown;
    bool enabled;
} qfi_progress;

/* Nothing is drawn if `quiet`, if standard error is no terminal, or in the first second. From here
 * on SIGINT and SIGTERM make the next update return false; a second one ends the process. */
void qfi_progress_start(qfi_progress *bar, const char *what, bool quiet);

/* The callback for qf_fold_options: draws at most ten times a second. */
bool qfi_progress_update(void *bar, uint64_t done, uint64_t total);

/* Clears the line. */
void qfi_progress_end(qfi_progress *bar);

#endif
