/* The one table of results, from which every output is made. */
#ifndef QFB_RESULTS_H
#define QFB_RESULTS_H

#include "gbench.h"

/* A figure of a result. Names: x_… ratios to a limit or rival (1: as fast), s:<counter> <label>
 * seconds of one of them, else what README.md says. */
typedef struct qfb_figure {
    char *name;
    double value;
} qfb_figure;

/* One run of a case. skipped: why it measured nothing, or NULL. */
typedef struct qfb_result {
    char *name, *skipped;
    int repetition;
    double seconds;
    size_t n;
    qfb_figure *figure;
} qfb_result;

/* caps, cpu: the machine that ran. */
typedef struct qfb_results {
    qfb_result *result;
    size_t n, cap;
    char caps[16], cpu[80];
} qfb_results;

/* Names this machine in an empty table. */
void qfb_results_here(qfb_results *results);

/* Appends a copy; the new row is results->result[results->n - 1]. */
void qfb_results_add(qfb_results *results, const qfb_measured *m);
void qfb_results_free(qfb_results *results);

/* The figure of that name, NULL if there is none. "seconds" is always there. */
const double *qfb_figure_of(const qfb_result *result, const char *name);

/* Whether a figure's name begins with "x_", "s:". */
bool qfb_is_ratio(const char *name);
bool qfb_is_rival(const char *name);

#endif
