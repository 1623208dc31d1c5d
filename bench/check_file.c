/* Reading demands, and judging results by them. */
#include "check_file.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include <qfold/types.h>

#include "registry.h"

#define FIELDS 5

/* Cuts a line at white space; the number of fields, FIELDS + 1 for more. */
static int split(char *line, char *field[FIELDS])
{
    int n = 0;
    char *rest = NULL;
    line[strcspn(line, "#")] = 0;
    for (char *f = strtok_r(line, " \t\r\n", &rest); f; f = strtok_r(NULL, " \t\r\n", &rest)) {
        if (n == FIELDS)
            return FIELDS + 1;
        field[n++] = f;
    }
    return n;
}

static bool known_isa(const char *isa)
{
    static const qf_caps all[] = { 0, QF_CAP_AVX2, QF_CAP_AVX2 | QF_CAP_AVX512, QF_CAP_NEON };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (!strcmp(isa, qf_caps_name(all[i])))
            return true;
    }
    return false;
}

static bool copy_text(char *to, size_t size, const char *from)
{
    return (size_t)snprintf(to, size, "%s", from) < size;
}

/* NULL, or what is wrong with the fields of a line. */
static const char *parse(char *field[FIELDS], int n, qfb_demand *d)
{
    char *end;
    if (n < 4 || n > FIELDS)
        return "a line is: name-glob counter >=|<= value [isa]";
    if (!copy_text(d->glob, sizeof d->glob, field[0]) ||
        !copy_text(d->counter, sizeof d->counter, field[1]))
        return "a name is too long";
    if (strcmp(field[2], ">=") != 0 && strcmp(field[2], "<=") != 0)
        return "the third field is neither >= nor <=";
    d->at_least = field[2][0] == '>';
    d->value = strtod(field[3], &end);
    if (end == field[3] || *end)
        return "the fourth field is not a number";
    d->isa[0] = 0;
    if (n == FIELDS && (!known_isa(field[4]) || !copy_text(d->isa, sizeof d->isa, field[4])))
        return "the last field is not an instruction set";
    return NULL;
}

static bool append(qfb_demands *out, const qfb_demand *d)
{
    qfb_demand *grown = realloc(out->demand, (out->n + 1) * sizeof *grown);
    if (!grown)
        return false;
    out->demand = grown;
    out->demand[out->n++] = *d;
    return true;
}

bool qfb_demands_read(const char *path, qfb_demands *out, char error[400])
{
    char line[512];
    const char *wrong = NULL;
    FILE *in = fopen(path, "r");
    if (!in) {
        snprintf(error, 400, "%s: %s", path, strerror(errno));
        return false;
    }
    for (int number = 1; !wrong && fgets(line, sizeof line, in); number++) {
        char *field[FIELDS] = { NULL };
        qfb_demand d;
        const bool cut = !strchr(line, '\n') && !feof(in);
        const int n = split(line, field);
        if (n == 0)
            continue;
        wrong = cut ? "the line is too long" : parse(field, n, &d);
        if (!wrong && !append(out, &d))
            wrong = "out of memory";
        if (wrong)
            snprintf(error, 400, "%s:%d: %s", path, number, wrong);
    }
    fclose(in);
    return !wrong;
}

void qfb_demands_free(qfb_demands *demands)
{
    free(demands->demand);
    *demands = (qfb_demands){ 0 };
}

/* Whether a demand counts on a machine with these capabilities. */
static bool counts(const qfb_demand *d, const char *caps)
{
    return !d->isa[0] || !strcmp(d->isa, caps);
}

void qfb_demands_want(const qfb_demands *demands)
{
    for (size_t i = 0; i < demands->n; i++) {
        if (counts(&demands->demand[i], qf_caps_name(qf_caps_detect())))
            qfb_want_glob(demands->demand[i].glob);
    }
}

static bool better(const qfb_demand *d, double a, double b)
{
    return d->at_least ? a > b : a < b;
}

static bool met(const qfb_demand *d, double figure)
{
    return figure == d->value || better(d, figure, d->value);
}

/* The best figure among the repetitions of a case; NULL if it has none. */
static const double *best_of(const qfb_demand *d, const qfb_results *results, const char *name)
{
    const double *best = NULL;
    for (size_t i = 0; i < results->n; i++) {
        const qfb_result *r = &results->result[i];
        const double *figure =
            r->skipped || strcmp(r->name, name) != 0 ? NULL : qfb_figure_of(r, d->counter);
        if (figure && (!best || better(d, *figure, *best)))
            best = figure;
    }
    return best;
}

/* The worst case that a demand names, NULL if none has the figure. */
static const qfb_result *worst_of(const qfb_demand *d, const qfb_results *results, double *figure)
{
    const qfb_result *worst = NULL;
    for (size_t i = 0; i < results->n; i++) {
        const qfb_result *r = &results->result[i];
        if (fnmatch(d->glob, r->name, 0) != 0)
            continue;
        const double *best = best_of(d, results, r->name);
        if (best && (!worst || better(d, *figure, *best))) {
            worst = r;
            *figure = *best;
        }
    }
    return worst;
}

bool qfb_demand_on(const qfb_demand *demand, const qfb_results *results, const char *name,
                   bool *holds)
{
    if (!counts(demand, results->caps) || fnmatch(demand->glob, name, 0) != 0)
        return false;
    const double *best = best_of(demand, results, name);
    *holds = best && met(demand, *best);
    return best != NULL;
}

/* Why a demand has no figure. */
static const char *excuse(const qfb_demand *d, const qfb_results *results)
{
    if (!counts(d, results->caps))
        return "another instruction set";
    for (size_t i = 0; i < results->n; i++) {
        const qfb_result *r = &results->result[i];
        if (fnmatch(d->glob, r->name, 0) == 0)
            return r->skipped ? r->skipped : "no such counter";
    }
    return "no such case";
}

qfb_verdict qfb_demand_judge(const qfb_demand *demand, const qfb_results *results)
{
    double figure = 0;
    const qfb_result *worst =
        counts(demand, results->caps) ? worst_of(demand, results, &figure) : NULL;
    if (!worst)
        return (qfb_verdict){ QFB_NOT_RUN, demand->glob, excuse(demand, results), 0 };
    return (qfb_verdict){ met(demand, figure) ? QFB_PASS : QFB_FAIL, worst->name, NULL, figure };
}

const char *qfb_outcome_name(qfb_outcome outcome)
{
    return outcome == QFB_PASS ? "PASS" : outcome == QFB_FAIL ? "FAIL" : "NOT RUN";
}

bool qfb_demands_judge(FILE *out, const qfb_demands *demands, const qfb_results *results)
{
    size_t n[QFB_NOT_RUN + 1] = { 0 };
    for (size_t i = 0; i < demands->n; i++) {
        const qfb_demand *d = &demands->demand[i];
        const qfb_verdict v = qfb_demand_judge(d, results);
        const char *sign = d->at_least ? ">=" : "<=";
        n[v.outcome]++;
        fprintf(out, "%-7s  %s  %s ", qfb_outcome_name(v.outcome), v.name, d->counter);
        if (v.why)
            fprintf(out, "%s %.4g%s%s: %s\n", sign, d->value, d->isa[0] ? " " : "", d->isa, v.why);
        else
            fprintf(out, "%.4g %s %.4g\n", v.figure, sign, d->value);
    }
    fprintf(out, "%zu passed, %zu failed, %zu not run\n", n[QFB_PASS], n[QFB_FAIL], n[QFB_NOT_RUN]);
    return n[QFB_FAIL] == 0;
}
