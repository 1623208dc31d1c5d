/* The program's own options; those of Google Benchmark that are left go to it. */
#ifndef QFB_BENCH_OPTIONS_H
#define QFB_BENCH_OPTIONS_H

#include <stdbool.h>

/* Texts are arguments, NULL where an option was not given. before, after: of --compare-json. */
typedef struct qfb_bench_options {
    const char *filter, *check, *json, *html, *from, *before, *after, *seconds;
    bool help, list, compare;
} qfb_bench_options;

/* Takes the options out of the arguments. False: usage, said on stderr. */
bool qfb_bench_options_parse(qfb_bench_options *out, int *argc, char **argv);

extern const char qfb_usage[];

#endif
