/* qfold-bench: kernels, operators, chains and folds beside the limits of the machine. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_file.h"
#include "fold_child.h"
#include "report.h"

double qfb_budget = 0.4;

static const char usage[] =
    "usage: qfold-bench [options]\n"
    "  --benchmark_filter=REGEX       cases whose names hold it (default: all but those of 1 GiB)\n"
    "  --benchmark_list_tests         their names alone\n"
    "  --benchmark_min_time=SECONDS   of a case of the groups kernels and fold\n"
    "  --benchmark_repetitions=N      runs of each case\n"
    "  --seconds=S                    of a case of the groups ops and chains (default 0.4)\n"
    "  --compare                      the time of every rival and limit below each case\n"
    "  --check=FILE                   run what the demands of FILE need and judge them\n"
    "Groups, ratios and counters: bench/README.md. Exit code: 0, 1 failed, 2 usage.\n";

typedef struct arguments {
    const char *filter, *check;
    bool list, compare;
} arguments;

typedef struct output {
    qfb_results results;
    const arguments *args;
} output;

void qfb_count_bytes(qfb_state *state, size_t bytes, size_t faults)
{
    const double seconds = qfb_seconds_per_iteration(state);
    qfb_counter(state, "bytes", (double)bytes);
    qfb_counter(state, "GB/s", seconds > 0 ? (double)bytes / seconds * 1e-9 : 0);
    qfb_counter(state, "x_copy", seconds > 0 ? qfb_best_copy_seconds(bytes / 2) / seconds : 0);
    qfb_counter(state, "faults", (double)faults);
}

/* The text behind the option's name and "=", NULL if `arg` is another option. */
static const char *value_of(const char *arg, const char *option)
{
    const size_t n = strlen(option);
    return !strncmp(arg, option, n) && arg[n] == '=' ? arg + n + 1 : NULL;
}

static bool take(arguments *a, const char *arg)
{
    const char *value;
    if ((value = value_of(arg, "--benchmark_filter")))
        a->filter = value;
    else if ((value = value_of(arg, "--check")))
        a->check = value;
    else if ((value = value_of(arg, "--seconds")))
        qfb_budget = strtod(value, NULL);
    else if (!strncmp(arg, "--benchmark_list_tests", 22))
        a->list = true;
    else if (!strcmp(arg, "--compare"))
        a->compare = true;
    else
        return false;
    return true;
}

/* Own options leave the arguments; the rest is the library's. */
static bool parse(arguments *a, int *argc, char **argv)
{
    int kept = 1;
    for (int i = 1; i < *argc; i++) {
        if (!take(a, argv[i]))
            argv[kept++] = argv[i];
    }
    *argc = kept;
    argv[kept] = NULL;
    qfb_options(argc, argv);
    if (*argc > 1)
        fprintf(stderr, "qfold-bench: unknown argument %s\n%s", argv[1], usage);
    return *argc == 1;
}

static void told(void *user, const qfb_measured *m)
{
    output *o = user;
    qfb_results_add(&o->results, m);
    qfb_print_result(stdout, &o->results.result[o->results.n - 1], o->args->compare);
}

static void list(void)
{
    size_t n;
    const qfb_entry *entry = qfb_entries(&n);
    for (size_t i = 0; i < n; i++) {
        if (entry[i].wanted)
            puts(entry[i].name);
    }
}

/* Marks the cases to run. False: usage, said on stderr. */
static bool choose(const arguments *a, qfb_demands *demands)
{
    char error[400];
    if (a->check && !qfb_demands_read(a->check, demands, error)) {
        fprintf(stderr, "qfold-bench: %s\n", error);
        return false;
    }
    if (a->check)
        qfb_demands_want(demands);
    else if (!qfb_want_regex(a->filter)) {
        fprintf(stderr, "qfold-bench: not a regular expression: %s\n", a->filter);
        return false;
    }
    return true;
}

/* Runs what was chosen; whether all demands hold. */
static bool run(const arguments *a, const qfb_demands *demands)
{
    output o = { .args = a };
    qfb_register_wanted();
    qfb_print_head(stdout);
    qfb_run(told, &o);
    const bool held = !a->check || qfb_demands_judge(stdout, demands, &o.results);
    qfb_results_free(&o.results);
    return held;
}

int main(int argc, char **argv)
{
    arguments args = { 0 };
    qfb_demands demands = { 0 };
    int code = 2;
    if (qfb_is_fold_child(argc, argv, &code))
        return code;
    if (argc > 1 && !strcmp(argv[1], "--help")) {
        fputs(usage, stdout);
        return 0;
    }
    if (!parse(&args, &argc, argv))
        return 2;
    qfb_add_kernels();
    qfb_add_ops();
    qfb_add_chains();
    qfb_add_fold();
    if (choose(&args, &demands)) {
        if (args.list)
            list();
        code = args.list || run(&args, &demands) ? 0 : 1;
    }
    qfb_demands_free(&demands);
    return code;
}
