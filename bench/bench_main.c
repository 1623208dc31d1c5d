/* qfold-bench: kernels, operators, chains and folds beside the limits of the machine. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_options.h"
#include "fold_child.h"
#include "report.h"

#define SECONDS 0.4

double qfb_budget = SECONDS;

/* What a run fills, and what it was asked for. */
typedef struct session {
    qfb_bench_options options;
    qfb_demands demands;
    qfb_results results;
} session;

static bool refuse(const char *what, const char *which)
{
    fprintf(stderr, "qfold-bench: %s: %s\n", which, what);
    return false;
}

static bool parse(session *s, int argc, char **argv)
{
    char *end;
    if (!qfb_bench_options_parse(&s->options, &argc, argv))
        return false;
    if (s->options.seconds) {
        qfb_budget = strtod(s->options.seconds, &end);
        if (end == s->options.seconds || *end || !(qfb_budget >= 0))
            return refuse("not a number of seconds", s->options.seconds);
    }
    qfb_options(&argc, argv);
    return argc == 1 || refuse("unknown argument, see --help", argv[1]);
}

static void told(void *user, const qfb_measured *m)
{
    session *s = user;
    qfb_results_add(&s->results, m);
    qfb_print_result(stdout, &s->results.result[s->results.n - 1], s->options.compare);
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

/* Marks the cases to run. */
static bool choose(const session *s)
{
    qfb_add_kernels();
    qfb_add_ops();
    qfb_add_chains();
    qfb_add_fold();
    if (s->options.check && !s->options.filter) {
        qfb_demands_want(&s->demands);
        return true;
    }
    return qfb_want_regex(s->options.filter) ||
           refuse("not a regular expression", s->options.filter);
}

/* What makes OpenBLAS another rival than it could be; read when it is loaded. */
static const char *const blas_settings[] = { "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE" };

static bool measure(session *s)
{
    if (s->options.from)
        return qfb_read_json(s->options.from, &s->results);
    if (!choose(s))
        return false;
    for (size_t i = 0; i < sizeof blas_settings / sizeof *blas_settings; i++) {
        if (getenv(blas_settings[i]))
            fprintf(stderr, "qfold-bench: %s is set: OpenBLAS may not run its best kernels\n",
                    blas_settings[i]);
    }
    qfb_results_here(&s->results);
    qfb_register_wanted();
    qfb_print_head(stdout);
    qfb_run(told, s);
    return true;
}

/* One output to a file; "-" is the standard output. */
static bool save(const session *s, const char *path, bool (*write)(FILE *, const session *))
{
    const bool standard = !strcmp(path, "-");
    FILE *out = standard ? stdout : fopen(path, "w");
    const bool wrote = out && write(out, s);
    if (out && !standard && fclose(out))
        return refuse("cannot be written", path);
    return wrote || refuse("cannot be written", path);
}

static bool write_json(FILE *out, const session *s)
{
    return qfb_write_json(out, &s->results);
}

static bool write_html(FILE *out, const session *s)
{
    qfb_write_html(out, &s->results, &s->demands);
    return !ferror(out);
}

static int compare(const qfb_bench_options *o)
{
    qfb_results before = { 0 }, after = { 0 };
    const bool read = qfb_read_json(o->before, &before) && qfb_read_json(o->after, &after);
    if (read)
        qfb_print_comparison(stdout, &before, &after);
    qfb_results_free(&before);
    qfb_results_free(&after);
    return read ? 0 : 2;
}

/* The exit code. */
static int run(session *s)
{
    const qfb_bench_options *o = &s->options;
    char error[400];
    if (o->before)
        return compare(o);
    if (o->check && !qfb_demands_read(o->check, &s->demands, error)) {
        fprintf(stderr, "qfold-bench: %s\n", error);
        return 2;
    }
    if (o->list) {
        const bool chosen = choose(s);
        list();
        return chosen ? 0 : 2;
    }
    if (!measure(s) || (o->json && !save(s, o->json, write_json)) ||
        (o->html && !save(s, o->html, write_html)))
        return 2;
    return !o->check || qfb_demands_judge(stdout, &s->demands, &s->results) ? 0 : 1;
}

int main(int argc, char **argv)
{
    session s = { 0 };
    int code = 2;
    if (qfb_is_fold_child(argc, argv, &code))
        return code;
    if (parse(&s, argc, argv)) {
        if (s.options.help)
            fputs(qfb_usage, stdout);
        code = s.options.help ? 0 : run(&s);
    }
    qfb_demands_free(&s.demands);
    qfb_results_free(&s.results);
    return code;
}
