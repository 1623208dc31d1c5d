/* Options as a table. */
#include "bench_options.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

const char qfb_usage[] =
    "usage: qfold-bench [options]\n"
    "  --benchmark_filter=REGEX      cases whose names hold it (default: all but those of 1GiB)\n"
    "  --benchmark_list_tests        their names alone\n"
    "  --benchmark_repetitions=N     runs of each case\n"
    "  --seconds S                   of a case, its limits and rivals included (default 0.4)\n"
    "  --compare                     every limit and rival below each case\n"
    "  --check FILE                  run what the demands of FILE need, and judge them\n"
    "  --json FILE, --html FILE      write the results; - is the standard output\n"
    "  --from FILE                   take the results of --json instead of running\n"
    "  --compare-json A B            ratios of two runs side by side\n"
    "Names, counters and files: bench/README.md. Exit code: 0, 1 a demand failed, 2 usage or "
    "files.\n";

/* A text, two texts, or a flag; `at`: of the first in the struct. */
typedef struct option {
    const char *name;
    size_t at;
    int n;
} option;

#define AT(member) offsetof(qfb_bench_options, member)

static const option options[] = {
    { "--benchmark_filter", AT(filter), 1 },
    { "--check", AT(check), 1 },
    { "--json", AT(json), 1 },
    { "--html", AT(html), 1 },
    { "--from", AT(from), 1 },
    { "--seconds", AT(seconds), 1 },
    { "--benchmark_min_time", AT(seconds), 1 },
    { "--compare-json", AT(before), 2 },
    { "--benchmark_list_tests", AT(list), 0 },
    { "--compare", AT(compare), 0 },
    { "--help", AT(help), 0 },
};

_Static_assert(AT(after) == AT(before) + sizeof(char *), "the texts of an option are neighbours");

/* The option that an argument names, and the text behind its "=". */
static const option *find(const char *argument, const char **value)
{
    const size_t n = strcspn(argument, "=");
    *value = argument[n] ? argument + n + 1 : NULL;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (strlen(options[i].name) == n && !strncmp(argument, options[i].name, n))
            return &options[i];
    }
    return NULL;
}

/* Sets an option from its argument and those behind it; how many of these it took, -1 if there are
 * too few. */
static int set(qfb_bench_options *out, const option *o, const char *value, char **rest)
{
    char *to = (char *)out + o->at;
    if (o->n == 0) {
        memcpy(to, &(bool){ true }, sizeof(bool));
        return 0;
    }
    int taken = 0;
    for (int i = 0; i < o->n; i++) {
        const char *text = i == 0 && value ? value : rest[taken++];
        if (!text)
            return -1;
        memcpy(to + (size_t)i * sizeof text, &text, sizeof text);
    }
    return taken;
}

bool qfb_bench_options_parse(qfb_bench_options *out, int *argc, char **argv)
{
    int kept = 1;
    for (int i = 1; i < *argc; i++) {
        const char *value;
        const option *o = find(argv[i], &value);
        if (!o) {
            argv[kept++] = argv[i];
            continue;
        }
        const int taken = set(out, o, value, argv + i + 1);
        if (taken < 0) {
            fprintf(stderr, "qfold-bench: %s needs %s\n", o->name, o->n > 1 ? "two files" : "more");
            return false;
        }
        i += taken;
    }
    *argc = kept;
    argv[kept] = NULL;
    return true;
}
