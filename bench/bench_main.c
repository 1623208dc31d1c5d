/* qfold-bench: every kernel row, and the fold of a generated file, beside the copy limit of the
 * run. */
#include "bench.h"

#include <stdio.h>
#include <string.h>

static const char usage[] =
    "usage: qfold-bench [--benchmark_filter=REGEX] [--benchmark_format=console|json|csv] [other "
    "--benchmark_ options]\n"
    "Groups: kernels/<op>_<key>/<rows>x<columns>/<isa>   fold/<work>\n"
    "Counters: bytes (read and written per iteration), GB/s, x_copy (1 is as fast as the best copy "
    "of as many bytes in this\n"
    "run: memcpy, rep movsb or non-temporal stores), faults (minor page faults per iteration).\n";

void qfb_count_bytes(qfb_state *state, size_t bytes, size_t faults)
{
    const double seconds = qfb_seconds_per_iteration(state);
    qfb_counter(state, "bytes", (double)bytes);
    qfb_counter(state, "GB/s", seconds > 0 ? (double)bytes / seconds * 1e-9 : 0);
    qfb_counter(state, "x_copy", seconds > 0 ? qfb_best_copy_seconds(bytes / 2) / seconds : 0);
    qfb_counter(state, "faults", (double)faults);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--help")) {
        fputs(usage, stdout);
        return 0;
    }
    qfb_register_kernels();
    qfb_register_fold();
    return qfb_run(argc, argv);
}
