/* What a row of the page says, taken from the table of results and the demands. */
#ifndef QFB_PAGE_ROWS_H
#define QFB_PAGE_ROWS_H

#include "check_file.h"
#include "results.h"

/* A case: its best repetition.  limit: what it is measured against, in words, by `counter`; ratio:
 * of that, low and high over the repetitions.  target: what is demanded of the ratio, 0 if nothing
 * is.  held: of all demands on the case; judged: there are some. */
typedef struct qfb_row {
    const qfb_result *result;
    const char *limit, *counter;
    double ratio, low, high, target;
    bool judged, held;
} qfb_row;

/* The rows of the cases that measured something, in order. Freed by the caller; n of them. */
qfb_row *qfb_rows_make(const qfb_results *results, const qfb_demands *demands, size_t *n);

#endif
