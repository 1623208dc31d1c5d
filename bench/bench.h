/* The groups of qfold-bench. Each adds its cases to the registry; names are
 * <group>/<what>/<shape>/<variant>, stable. */
#ifndef QFB_BENCH_H
#define QFB_BENCH_H

#include "bench_work.h"
#include "gbench.h"
#include "limits.h"
#include "registry.h"
#include "rivals.h"

void qfb_add_kernels(void);
void qfb_add_ops(void);
void qfb_add_chains(void);
void qfb_add_fold(void);

/* What a case is measured against. limits: kinds, as bits. plain, rival: NULL if there is none. */
typedef struct qfb_against {
    unsigned limits;
    void (*plain)(void *work);
    qfb_rival *rival;
} qfb_against;

/* The whole of a timed case whose work is ready: runs it, counts, closes the work. */
void qfb_run_work(qfb_state *state, qfb_work *w, const qfb_against *against);

/* Calls add() for the plain form of a row, and for each of its variants (bits). */
void qfb_each_variant(unsigned variants, const void *row,
                      void (*add)(const void *row, unsigned variant));

/* What stands behind a case's name for a variant. */
const char *qfb_variant_suffix(unsigned variant);

/* Seconds that a case spends in rounds. */
extern double qfb_budget;

#endif
