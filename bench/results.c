/* Rows of the table of results. */
#include "results.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <qfold/types.h>

static void *need(void *p)
{
    if (!p)
        abort();
    return p;
}

void qfb_results_here(qfb_results *results)
{
    char line[200];
    FILE *in = fopen("/proc/cpuinfo", "r");
    snprintf(results->caps, sizeof results->caps, "%s", qf_caps_name(qf_caps_detect()));
    snprintf(results->cpu, sizeof results->cpu, "unknown CPU");
    while (in && fgets(line, sizeof line, in)) {
        if (sscanf(line, "model name : %79[^\n]", results->cpu) == 1)
            break;
    }
    if (in)
        fclose(in);
}

void qfb_results_add(qfb_results *results, const qfb_measured *m)
{
    if (results->n == results->cap) {
        results->cap = results->cap ? 2 * results->cap : 64;
        results->result = need(realloc(results->result, results->cap * sizeof *results->result));
    }
    qfb_result *r = &results->result[results->n++];
    *r = (qfb_result){ .name = need(strdup(m->name)),
                       .skipped = m->skipped ? need(strdup(m->skipped)) : NULL,
                       .repetition = m->repetition,
                       .seconds = m->seconds,
                       .n = m->n,
                       .figure = need(calloc(m->n + 1, sizeof *r->figure)) };
    for (size_t i = 0; i < m->n; i++)
        r->figure[i] = (qfb_figure){ need(strdup(m->counter[i])), m->value[i] };
}

void qfb_results_free(qfb_results *results)
{
    for (size_t i = 0; i < results->n; i++) {
        qfb_result *r = &results->result[i];
        for (size_t k = 0; k < r->n; k++)
            free(r->figure[k].name);
        free(r->figure);
        free(r->name);
        free(r->skipped);
    }
    free(results->result);
    *results = (qfb_results){ 0 };
}

const double *qfb_figure_of(const qfb_result *result, const char *name)
{
    if (!strcmp(name, "seconds"))
        return &result->seconds;
    for (size_t i = 0; i < result->n; i++) {
        if (!strcmp(result->figure[i].name, name))
            return &result->figure[i].value;
    }
    return NULL;
}

bool qfb_is_ratio(const char *name)
{
    return !strncmp(name, "x_", 2);
}

bool qfb_is_rival(const char *name)
{
    return !strncmp(name, "s:", 2);
}
