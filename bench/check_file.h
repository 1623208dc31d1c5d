/* Files of demands on figures: a line each,
 *     benchmark-name-glob  counter  >=|<=  value  [isa]
 * '#' opens a comment. isa: a name as QFOLD_CAPS takes it; the line then counts only on a machine
 * whose best level it is. */
#ifndef QFB_CHECK_FILE_H
#define QFB_CHECK_FILE_H

#include <stdio.h>

#include "results.h"

typedef struct qfb_demand {
    char glob[200], counter[60], isa[16];
    bool at_least;
    double value;
} qfb_demand;

typedef struct qfb_demands {
    qfb_demand *demand;
    size_t n;
} qfb_demands;

/* Reads a file; on failure `error` names file and line. */
bool qfb_demands_read(const char *path, qfb_demands *out, char error[400]);
void qfb_demands_free(qfb_demands *demands);

/* Marks the cases that the demands of this machine need. */
void qfb_demands_want(const qfb_demands *demands);

/* What became of a demand. NOT RUN: no case here has the figure; `why` says so. name: the worst of
 * the cases that it names, by each one's best repetition, or its glob. */
typedef enum qfb_outcome { QFB_PASS, QFB_FAIL, QFB_NOT_RUN } qfb_outcome;
typedef struct qfb_verdict {
    qfb_outcome outcome;
    const char *name, *why;
    double figure;
} qfb_verdict;

qfb_verdict qfb_demand_judge(const qfb_demand *demand, const qfb_results *results);
const char *qfb_outcome_name(qfb_outcome outcome);

/* Whether a demand is one on the case of that name, here, with a figure; *holds: it is met. */
bool qfb_demand_on(const qfb_demand *demand, const qfb_results *results, const char *name,
                   bool *holds);

/* Prints the verdict on each demand, and their numbers. Returns whether none failed. */
bool qfb_demands_judge(FILE *out, const qfb_demands *demands, const qfb_results *results);

#endif
