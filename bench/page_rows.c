/* Rows of the page. */
#include "page_rows.h"

#include <stdlib.h>
#include <string.h>

/* What limits a case, the first that it has: the tighter the bound, the earlier. */
static const struct {
    const char *counter, *limit;
} limits[] = {
    { "x_inplace", "in-place bound" },
    { "x_stream3", "three-stream bound" },
    { "x_blas", "OpenBLAS" },
    { "x_dequantize", "dequantize alone" },
    { "x_write", "write floor" },
    { "x_read", "read floor" },
    { "x_cp", "cp" },
    { "x_copy", "best copy" },
};

static bool choose_limit(qfb_row *row)
{
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const double *figure = qfb_figure_of(row->result, limits[i].counter);
        if (figure && *figure > 0) {
            row->counter = limits[i].counter;
            row->limit = limits[i].limit;
            row->ratio = row->low = row->high = *figure;
            return true;
        }
    }
    return false;
}

static void judge(qfb_row *row, const qfb_demands *demands, const qfb_results *results)
{
    row->held = true;
    for (size_t i = 0; demands && i < demands->n; i++) {
        const qfb_demand *d = &demands->demand[i];
        bool holds;
        if (!qfb_demand_on(d, results, row->result->name, &holds))
            continue;
        row->judged = true;
        row->held = row->held && holds;
        if (d->at_least && !strcmp(d->counter, row->counter))
            row->target = d->value;
    }
}

/* Another repetition of a case that has a row. */
static void widen(qfb_row *row, const qfb_result *again)
{
    const double *figure = qfb_figure_of(again, row->counter);
    if (!figure)
        return;
    row->low = *figure < row->low ? *figure : row->low;
    row->high = *figure > row->high ? *figure : row->high;
    if (*figure > row->ratio) {
        row->ratio = *figure;
        row->result = again;
    }
}

static qfb_row *find(qfb_row *rows, size_t n, const char *name)
{
    for (size_t i = n; i-- > 0;) {
        if (!strcmp(rows[i].result->name, name))
            return &rows[i];
    }
    return NULL;
}

qfb_row *qfb_rows_make(const qfb_results *results, const qfb_demands *demands, size_t *n)
{
    qfb_row *rows = calloc(results->n + 1, sizeof *rows);
    *n = 0;
    if (!rows)
        abort();
    for (size_t i = 0; i < results->n; i++) {
        qfb_row row = { .result = &results->result[i] };
        qfb_row *earlier = find(rows, *n, row.result->name);
        if (row.result->skipped)
            continue;
        if (earlier)
            widen(earlier, row.result);
        else if (choose_limit(&row))
            rows[(*n)++] = row;
    }
    for (size_t i = 0; i < *n; i++)
        judge(&rows[i], demands, results);
    return rows;
}
