/* Outputs, each made from the table of results. */
#ifndef QFB_REPORT_H
#define QFB_REPORT_H

#include <stdio.h>

#include "check_file.h"
#include "results.h"

/* One line per result: time, GB/s, ratios; with rivals, a line more for each of them. */
void qfb_print_head(FILE *out);
void qfb_print_result(FILE *out, const qfb_result *r, bool rivals);

/* The table as JSON ("qfold.bench.v1"), and back; read prints what is wrong on stderr. */
bool qfb_write_json(FILE *out, const qfb_results *results);
bool qfb_read_json(const char *path, qfb_results *out);

/* A page of bars against the limits, with the demands on them if there are any: one file that needs
 * no other. */
void qfb_write_html(FILE *out, const qfb_results *results, const qfb_demands *demands);

/* Ratios that both have, side by side: medians of the repetitions, the change, and the noise of
 * both. */
void qfb_print_comparison(FILE *out, const qfb_results *before, const qfb_results *after);

#endif
