/* Folding in a child process, which says on its standard output what it took. */
#include "fold_child.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interrupt.h"
#include "race.h"

#define MARK "--fold-alone"

enum { PROGRAM, MARKED, INPUT, OUTPUT, HOW, ARGUMENTS };

qf_fold_options qfb_fold_options(qfb_fold_how how)
{
    return (qf_fold_options){ .struct_size = sizeof(qf_fold_options),
                              .max_growth = QF_GROWTH_NONE,
                              .contiguous = how.contiguous,
                              .fold_dequant = how.fold_dequant,
                              .sync = how.sync,
                              .force = true,
                              .progress = qfb_interrupt_progress };
}

/* The high water mark of this process's memory, in KiB. */
static uint64_t high_water(void)
{
    char line[200];
    unsigned long long kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status)) {
        if (sscanf(line, "VmHWM: %llu", &kib) == 1)
            break;
    }
    if (status)
        fclose(status);
    return kib;
}

bool qfb_is_fold_child(int argc, char **argv, int *code)
{
    if (argc != ARGUMENTS || strcmp(argv[MARKED], MARK) != 0)
        return false;
    const qf_fold_options options =
        qfb_fold_options((qfb_fold_how){ .contiguous = strchr(argv[HOW], 'c') != NULL,
                                         .fold_dequant = strchr(argv[HOW], 'd') != NULL,
                                         .sync = strchr(argv[HOW], 's') != NULL });
    qf_diag diag = { 0 };
    qfb_interrupt_hold();
    const uint64_t before = qfb_minor_faults();
    *code = qf_fold_file(argv[INPUT], argv[OUTPUT], &options, NULL, &diag) == QF_OK ? 0 : 1;
    printf("%llu %llu\n", (unsigned long long)high_water(),
           (unsigned long long)(qfb_minor_faults() - before));
    return true;
}

static void become(const char *input, const char *output, qfb_fold_how how, int out)
{
    char program[] = "qfold-bench", mark[] = MARK;
    char self[4096], input_copy[512], output_copy[512], letters[4];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0 || dup2(out, STDOUT_FILENO) < 0)
        _exit(1);
    self[n] = 0;
    snprintf(input_copy, sizeof input_copy, "%s", input);
    snprintf(output_copy, sizeof output_copy, "%s", output);
    snprintf(letters, sizeof letters, "%s%s%s", how.contiguous ? "c" : "",
             how.fold_dequant ? "d" : "", how.sync ? "s" : "");
    char *argv[] = { program, mark, input_copy, output_copy, letters, NULL };
    execv(self, argv);
    _exit(1);
}

bool qfb_fold_alone(const char *input, const char *output, qfb_fold_how how, qfb_fold_memory *out)
{
    int ends[2], status = 1;
    unsigned long long kib = 0, faults = 0;
    if (pipe(ends))
        return false;
    const pid_t child = fork();
    if (child == 0)
        become(input, output, how, ends[1]);
    close(ends[1]);
    FILE *said = child > 0 ? fdopen(ends[0], "r") : NULL;
    const bool read = said && fscanf(said, "%llu %llu", &kib, &faults) == 2;
    if (said)
        fclose(said);
    else
        close(ends[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    *out = (qfb_fold_memory){ .peak = kib << 10, .faults = faults };
    return read && status == 0;
}
