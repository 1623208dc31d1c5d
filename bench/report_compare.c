/* Two tables of results side by side. Times of different runs, or machines, say little; ratios to
 * the limits of the same run do. */
#include "report.h"

#include <math.h>
#include <string.h>

#include "median.h"

#define REPETITIONS 64

/* A figure over its repetitions. noise: half of its range, over its median; of a single repetition,
 * how far the rounds of the work lay apart. */
typedef struct summary {
    int n;
    double median, noise;
} summary;

static summary summarise(const qfb_results *results, const char *name, const char *counter)
{
    double value[REPETITIONS];
    summary s = { 0 };
    const double *spread = NULL;
    for (size_t i = 0; i < results->n && s.n < REPETITIONS; i++) {
        const qfb_result *r = &results->result[i];
        if (strcmp(r->name, name) != 0 || r->skipped)
            continue;
        const double *figure = qfb_figure_of(r, counter);
        spread = qfb_figure_of(r, "spread");
        if (figure)
            value[s.n++] = *figure;
    }
    if (s.n == 0)
        return s;
    s.median = qfb_median(value, (size_t)s.n);
    if (s.n > 1 && s.median > 0)
        s.noise = (value[s.n - 1] - value[0]) / 2 / s.median;
    else if (spread)
        s.noise = *spread;
    return s;
}

static void compare(FILE *out, const char *name, const char *counter, summary a, summary b)
{
    const double change = b.median / a.median, noise = a.noise + b.noise;
    fprintf(out, "%-52s %-13s %8.3f %8.3f %8.3f %7.1f%%  %s\n", name, counter, a.median, b.median,
            change, 100 * noise,
            fabs(change - 1) <= noise ? "within the noise"
            : change > 1              ? "better"
                                      : "worse");
}

/* Whether a row is the first of its name. */
static bool is_first(const qfb_results *results, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        if (!strcmp(results->result[k].name, results->result[i].name))
            return false;
    }
    return true;
}

void qfb_print_comparison(FILE *out, const qfb_results *before, const qfb_results *after)
{
    fprintf(out, "%-52s %-13s %8s %8s %8s %8s\n", "case", "ratio", "before", "after", "change",
            "noise");
    for (size_t i = 0; i < before->n; i++) {
        const qfb_result *r = &before->result[i];
        for (size_t k = 0; is_first(before, i) && k < r->n; k++) {
            const char *counter = r->figure[k].name;
            const summary a = summarise(before, r->name, counter);
            const summary b = summarise(after, r->name, counter);
            if (qfb_is_ratio(counter) && a.median > 0 && b.n > 0)
                compare(out, r->name, counter, a, b);
        }
    }
}
