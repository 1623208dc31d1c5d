/* The page of results: for each case a bar whose length is the fraction of its limit. One file,
 * inline SVG, no script. It is well-formed XML too. */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "median.h"
#include "page_rows.h"
#include "page_style.h"

/* The drawing, in its own units: names, bars from BAR on with UNIT for the limit, figures. */
#define WIDTH 1120
#define BAR 336
#define UNIT 340.0
#define MOST 1.2 /* of the limit, at the right end of the axis */
#define FIGURES (BAR + (int)(UNIT * MOST) + 12)
#define ROW 24
#define GAP 8 /* between different work */
#define TOP 40
#define FOLDED 80 /* rows of a group that opens closed */

static void put(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '&')
            fputs("&amp;", out);
        else if (*text == '"')
            fputs("&quot;", out);
        else
            fputc(*text, out);
    }
}

static double place(double ratio)
{
    return BAR + UNIT * (ratio < MOST ? ratio : MOST);
}

static void put_time(FILE *out, double s)
{
    if (s >= 1)
        fprintf(out, "%.2f s", s);
    else if (s >= 1e-3)
        fprintf(out, "%.2f ms", s * 1e3);
    else if (s >= 1e-6)
        fprintf(out, "%.2f \xc2\xb5s", s * 1e6);
    else
        fprintf(out, "%.0f ns", s * 1e9);
}

/* Arithmetic if that is what a case is about, else bytes. */
static void put_speed(FILE *out, const qfb_result *r)
{
    const double *flops = qfb_figure_of(r, "GFLOP/s"), *bytes = qfb_figure_of(r, "GB/s");
    if (flops)
        fprintf(out, "%.1f GFLOP/s", *flops);
    else if (bytes)
        fprintf(out, "%.1f GB/s", *bytes);
}

static const char *colour(const qfb_row *row)
{
    return !row->judged ? "free" : row->held ? "pass" : "fail";
}

static const char *sign(const qfb_row *row)
{
    return !row->judged ? "" : row->held ? "\xe2\x9c\x93" : "\xe2\x9c\x97";
}

/* Where a rival stands on the same axis: the limit's time over its own. */
static void put_rival(FILE *out, const qfb_row *row, const char *counter, int y)
{
    const double *figure = qfb_figure_of(row->result, counter);
    if (!figure || *figure <= 0 || !strcmp(counter, row->counter))
        return;
    const double x = place(row->ratio / *figure);
    if (!strcmp(counter, "x_c"))
        fprintf(out, "<circle class=\"rival\" cx=\"%.1f\" cy=\"%d\" r=\"4\"/>", x, y);
    else
        fprintf(out, "<path class=\"rival\" d=\"M%.1f %dl5 5l-5 5l-5 -5z\"/>", x, y - 5);
}

/* Every figure of a case, for who rests the pointer on its row. */
static void put_title(FILE *out, const qfb_row *row)
{
    fputs("<title>", out);
    put(out, row->result->name);
    for (size_t i = 0; i < row->result->n; i++) {
        fputs("\n", out);
        put(out, row->result->figure[i].name);
        fprintf(out, " %.4g", row->result->figure[i].value);
    }
    fputs("</title>", out);
}

static void put_target(FILE *out, double target, int middle)
{
    const double x = place(target);
    fprintf(out,
            "<path class=\"targetline\" d=\"M%.1f %dv16\"/>"
            "<path class=\"target\" d=\"M%.1f %dl-4 -5h8z\"/>",
            x, middle - 8, x, middle - 6);
}

static void put_row(FILE *out, const qfb_row *row, int top)
{
    const int middle = top + ROW / 2;
    fputs("<g>", out);
    put_title(out, row);
    fprintf(out, "<text class=\"name\" x=\"4\" y=\"%d\">", middle + 4);
    put(out,
        strchr(row->result->name, '/') ? strchr(row->result->name, '/') + 1 : row->result->name);
    fprintf(out,
            "</text><rect class=\"track\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"14\" "
            "rx=\"2\"/><rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"14\" "
            "rx=\"2\"/>",
            BAR, middle - 7, UNIT, colour(row), BAR, middle - 7, place(row->ratio) - BAR);
    if (row->high > row->low)
        fprintf(out, "<path class=\"range\" d=\"M%.1f %dH%.1f\"/>", place(row->low), middle,
                place(row->high));
    if (row->target > 0)
        put_target(out, row->target, middle);
    put_rival(out, row, "x_c", middle);
    put_rival(out, row, "x_blas", middle);
    put_rival(out, row, "x_xnn", middle);
    fprintf(out,
            "<text class=\"number end\" x=\"%d\" y=\"%d\">%.2f</text>"
            "<text x=\"%d\" y=\"%d\">%s</text><text class=\"soft\" x=\"%d\" y=\"%d\">of %s</text>"
            "<text class=\"soft end\" x=\"%d\" y=\"%d\">",
            FIGURES + 28, middle + 4, row->ratio, FIGURES + 34, middle + 4, sign(row), FIGURES + 50,
            middle + 4, row->limit, WIDTH - 86, middle + 4);
    put_time(out, row->result->seconds);
    fprintf(out, "</text><text class=\"soft end\" x=\"%d\" y=\"%d\">", WIDTH - 4, middle + 4);
    put_speed(out, row->result);
    fputs("</text></g>\n", out);
}

/* Lines and numbers of the axis. */
static void put_axis(FILE *out, int height)
{
    fprintf(out,
            "<text class=\"soft middle\" x=\"%.1f\" y=\"12\">fraction of the limit: 1 is as fast "
            "as the machine allows</text>",
            BAR + UNIT / 2);
    for (int i = 0; i <= 6; i++) {
        const double x = place(i / 5.0);
        fprintf(out,
                "<path class=\"grid\" d=\"M%.1f %dV%d\"/>"
                "<text class=\"soft middle\" x=\"%.1f\" y=\"%d\">%.1f</text>",
                x, TOP - 6, height, x, TOP - 12, i / 5.0);
    }
}

/* Drawn over the bars, so that one sees what passes it. */
static void put_limit(FILE *out, int height)
{
    fprintf(out, "<path class=\"limit\" d=\"M%.1f %dV%d\"/>", place(1), TOP - 6, height);
}

/* Bytes of a name up to its k-th '/': 1 is the group, 2 the work, without dtype and shape. */
static size_t head_length(const char *name, int k)
{
    size_t n = strcspn(name, "/");
    for (; k > 1 && name[n]; k--)
        n += 1 + strcspn(name + n + 1, "/");
    return n;
}

static bool same_head(const qfb_row *a, const qfb_row *b, int k)
{
    const char *x = a->result->name, *y = b->result->name;
    const size_t n = head_length(x, k);
    return n == head_length(y, k) && !strncmp(x, y, n);
}

static void put_group(FILE *out, const qfb_row *rows, size_t n)
{
    const char *name = rows[0].result->name;
    int top = TOP, height = TOP + (int)n * ROW + GAP;
    for (size_t i = 1; i < n; i++)
        height += same_head(&rows[i - 1], &rows[i], 2) ? 0 : GAP;
    fprintf(out, "<details%s><summary><h2>", n > FOLDED ? "" : " open=\"open\"");
    fprintf(out, "%.*s", (int)head_length(name, 1), name);
    fprintf(out,
            "</h2><span>%zu cases</span></summary><div class=\"scroll\">"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\" "
            "aria-label=\"Bars of cases against their limits\">\n",
            n, WIDTH, height);
    put_axis(out, height);
    for (int i = 0; i < (int)n; i++) {
        if (i > 0 && !same_head(&rows[i - 1], &rows[i], 2))
            top += GAP;
        put_row(out, &rows[i], top);
        top += ROW;
    }
    put_limit(out, height);
    fputs("</svg></div></details>\n", out);
}

static void put_legend(FILE *out)
{
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d 24\" role=\"img\" "
            "aria-label=\"Legend\">"
            "<rect class=\"pass\" x=\"4\" y=\"5\" width=\"28\" height=\"14\" rx=\"2\"/>"
            "<text x=\"40\" y=\"16\">meets its target \xe2\x9c\x93</text>"
            "<rect class=\"fail\" x=\"176\" y=\"5\" width=\"28\" height=\"14\" rx=\"2\"/>"
            "<text x=\"212\" y=\"16\">misses it \xe2\x9c\x97</text>"
            "<rect class=\"free\" x=\"306\" y=\"5\" width=\"28\" height=\"14\" rx=\"2\"/>"
            "<text x=\"342\" y=\"16\">has none</text>"
            "<path class=\"targetline\" d=\"M430 4v16\"/>"
            "<path class=\"target\" d=\"M430 6l-4 -5h8z\"/><text x=\"440\" y=\"16\">target</text>"
            "<path class=\"limit\" d=\"M512 4v16\"/><text x=\"520\" y=\"16\">limit</text>"
            "<circle class=\"rival\" cx=\"586\" cy=\"12\" r=\"4\"/>"
            "<text x=\"596\" y=\"16\">plain C</text>"
            "<path class=\"rival\" d=\"M672 7l5 5l-5 5l-5 -5z\"/>"
            "<text x=\"683\" y=\"16\">OpenBLAS, XNNPACK</text></svg>\n",
            WIDTH);
}

static void put_tile(FILE *out, const char *figure, const char *text)
{
    fprintf(out, "<div class=\"tile\"><b>%s</b><span>%s</span></div>", figure, text);
}

static double median_ratio(const qfb_row *rows, size_t n)
{
    double *ratio = malloc((n + 1) * sizeof *ratio);
    if (!ratio)
        abort();
    for (size_t i = 0; i < n; i++)
        ratio[i] = rows[i].ratio;
    const double middle = n ? qfb_median(ratio, n) : 0;
    free(ratio);
    return middle;
}

static void put_tiles(FILE *out, const qfb_row *rows, size_t n)
{
    char text[64];
    size_t judged = 0, held = 0;
    for (size_t i = 0; i < n; i++) {
        judged += rows[i].judged;
        held += rows[i].judged && rows[i].held;
    }
    fputs("<div class=\"tiles\">", out);
    snprintf(text, sizeof text, "%zu", n);
    put_tile(out, text, "cases");
    snprintf(text, sizeof text, "%.2f", median_ratio(rows, n));
    put_tile(out, text, "of the limit, median");
    if (judged) {
        snprintf(text, sizeof text, "%zu of %zu", held, judged);
        put_tile(out, text, "meet their targets");
    }
    fputs("</div>\n", out);
}

static void put_demand(FILE *out, const qfb_demand *d, const qfb_verdict *v)
{
    fprintf(out, "<tr><td>%s%s</td><td><code>",
            v->outcome == QFB_PASS   ? "\xe2\x9c\x93 "
            : v->outcome == QFB_FAIL ? "\xe2\x9c\x97 "
                                     : "",
            qfb_outcome_name(v->outcome));
    put(out, v->name);
    fputs("</code></td><td><code>", out);
    put(out, d->counter);
    fprintf(out, "</code></td><td>%s %.4g %s</td><td>",
            d->at_least ? "\xe2\x89\xa5" : "\xe2\x89\xa4", d->value, d->isa);
    if (v->why)
        put(out, v->why);
    else
        fprintf(out, "%.4g", v->figure);
    fputs("</td></tr>\n", out);
}

static void put_demands(FILE *out, const qfb_demands *demands, const qfb_results *results)
{
    if (demands->n == 0)
        return;
    fputs("<details><summary><h2>targets</h2><span>each with its figure</span></summary>"
          "<div class=\"scroll\"><table><tr><th>verdict</th><th>case</th><th>counter</th>"
          "<th>target</th><th>figure</th></tr>\n",
          out);
    for (size_t i = 0; i < demands->n; i++) {
        const qfb_verdict v = qfb_demand_judge(&demands->demand[i], results);
        put_demand(out, &demands->demand[i], &v);
    }
    fputs("</table></div></details>\n", out);
}

void qfb_write_html(FILE *out, const qfb_results *results, const qfb_demands *demands)
{
    size_t n, end;
    qfb_row *rows = qfb_rows_make(results, demands, &n);
    fprintf(out,
            "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\"><head>"
            "<meta charset=\"utf-8\"/><meta name=\"viewport\" "
            "content=\"width=device-width, initial-scale=1\"/>"
            "<title>qfold-bench</title><style>%s</style></head><body><main>"
            "<h1>qfold-bench</h1><p>",
            page_style);
    put(out, results->cpu);
    fputs(", kernels for ", out);
    put(out, results->caps);
    fputs(". Each bar is the time of the fastest known way to do what limits the case, over the "
          "time of the case, both from the same run.</p>\n",
          out);
    put_tiles(out, rows, n);
    put_legend(out);
    for (size_t i = 0; i < n; i = end) {
        for (end = i + 1; end < n && same_head(&rows[i], &rows[end], 1);)
            end++;
        put_group(out, rows + i, end - i);
    }
    put_demands(out, demands, results);
    fputs("<footer>A bar beyond 1 beats the limit that it is measured against; bars end at 1.2. "
          "Rest the pointer on a row for all of its figures.</footer></main></body></html>\n",
          out);
    free(rows);
}
