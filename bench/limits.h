/* What memory allows: the fastest known ways to copy, write, read, update and combine bytes. */
#ifndef QFB_LIMITS_H
#define QFB_LIMITS_H

#include <qfold/eval.h>

#include "buffers.h"
#include "race.h"

/* One way: n bytes of x, from a and b where it reads them. */
typedef void qfb_way(char *restrict x, const char *restrict a, const char *restrict b, size_t n);

/* Kinds of limits, as bits, with their counters. COPY x_copy: x = a. WRITE x_write: x filled. READ
 * x_read: every byte of a loaded. UPDATE x_inplace: x changed in place. ACCUMULATE x_inplace: the
 * same from another stream, x op= a. COMBINE x_stream3: x = a op b. */
enum {
    QFB_COPY = 1,
    QFB_WRITE = 2,
    QFB_READ = 4,
    QFB_UPDATE = 8,
    QFB_COMBINE = 16,
    QFB_ACCUMULATE = 32,
    QFB_LIMITS_IN_PLACE = QFB_UPDATE | QFB_ACCUMULATE,
};

/* A row of a table of ways; needs: capabilities. */
typedef struct qfb_limit {
    unsigned kind;
    const char *label;
    qf_caps needs;
    qfb_way *run;
} qfb_limit;

/* The tables; a row with label NULL ends each. */
extern const qfb_limit qfb_copy_limits[], qfb_fill_limits[], qfb_read_limits[], qfb_update_limits[];

/* What a limit is measured over: n bytes, shared by the workers of ctx (NULL: one thread), x fresh
 * or reused. counter: NULL for that of the kind. */
typedef struct qfb_limit_terms {
    unsigned kind;
    size_t n;
    const qf_ctx *ctx;
    bool fresh;
    const char *counter;
} qfb_limit_terms;

/* One limit about to run. pages: of a fresh x. */
typedef struct qfb_limit_run {
    const qfb_limit *limit;
    qfb_limit_terms terms;
    qfb_buffer pages;
} qfb_limit_run;

#define QFB_LIMITS 16

/* Limits of one case; their memory lasts as long as the program. Zero-initialise. */
typedef struct qfb_limit_set {
    qfb_limit_run run[QFB_LIMITS];
    size_t n;
} qfb_limit_set;

/* Adds all ways of a kind to a race. False: no memory. */
bool qfb_limits_add(qfb_limit_set *set, qfb_race *race, const qfb_limit_terms *terms);
void qfb_limits_free(qfb_limit_set *set);

#endif
