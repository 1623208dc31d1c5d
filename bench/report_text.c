/* Results as lines for a terminal. */
#include "report.h"

#include <string.h>

static void print_seconds(FILE *out, double s)
{
    static const struct {
        double least, scale;
        const char *unit;
    } units[] = { { 1, 1, "s " }, { 1e-3, 1e3, "ms" }, { 1e-6, 1e6, "us" }, { 0, 1e9, "ns" } };
    size_t i = 0;
    while (s < units[i].least)
        i++;
    fprintf(out, "%9.3f %s", s * units[i].scale, units[i].unit);
}

void qfb_print_head(FILE *out)
{
    fprintf(out, "%-56s %12s %8s\n", "case", "time", "GB/s");
}

static void print_rivals(FILE *out, const qfb_result *r)
{
    for (size_t i = 0; i < r->n; i++) {
        if (!qfb_is_rival(r->figure[i].name))
            continue;
        fprintf(out, "    %-52s ", r->figure[i].name + 2);
        print_seconds(out, r->figure[i].value);
        fprintf(out, " %8.3f of this time\n", r->seconds > 0 ? r->figure[i].value / r->seconds : 0);
    }
}

void qfb_print_result(FILE *out, const qfb_result *r, bool rivals)
{
    fprintf(out, "%-56s ", r->name);
    if (r->skipped) {
        fprintf(out, "left out: %s\n", r->skipped);
        return;
    }
    print_seconds(out, r->seconds);
    const double *speed = qfb_figure_of(r, "GB/s");
    if (speed)
        fprintf(out, " %8.2f", *speed);
    else
        fprintf(out, " %8s", "");
    for (size_t i = 0; i < r->n; i++) {
        const char *name = r->figure[i].name;
        if (!qfb_is_rival(name) && strcmp(name, "GB/s"))
            fprintf(out, qfb_is_ratio(name) ? "  %s %.3f" : "  %s %.4g", name, r->figure[i].value);
    }
    fputc('\n', out);
    if (rivals)
        print_rivals(out, r);
    fflush(out);
}
