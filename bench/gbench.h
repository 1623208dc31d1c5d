/* Google Benchmark for C: a case is a function and its argument; the library decides how often it
 * runs. */
#ifndef QFB_GBENCH_H
#define QFB_GBENCH_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qfb_state qfb_state;
typedef void qfb_case(qfb_state *state, const void *argument);

/* `argument` must live until qfb_run returns. */
void qfb_register(const char *name, qfb_case *run, const void *argument);

/* while (qfb_next(state)) { work } */
bool qfb_next(qfb_state *state);

/* Time and iterations of the loop that has ended. */
double qfb_seconds_per_iteration(const qfb_state *state);

/* A counter of the result line; later values replace earlier ones. */
void qfb_counter(qfb_state *state, const char *name, double value);

/* Leaves the case out, saying why. */
void qfb_skip(qfb_state *state, const char *why);

/* Runs what --benchmark_filter selects. Returns the exit code: 2 for bad arguments. */
int qfb_run(int argc, char **argv);

#ifdef __cplusplus
}
#endif
#endif
