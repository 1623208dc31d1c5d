/* Outputs, each made from the table of results. */
#ifndef QFB_REPORT_H
#define QFB_REPORT_H

#include <stdio.h>

#include "results.h"

/* One line per result: time, GB/s, ratios; with rivals, a line more for each of them. */
void qfb_print_head(FILE *out);
void qfb_print_result(FILE *out, const qfb_result *r, bool rivals);

#endif
