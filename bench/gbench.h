/* Google Benchmark for C: it runs and repeats the cases that were chosen, and hands over what they
 * measured. */
#ifndef QFB_GBENCH_H
#define QFB_GBENCH_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qfb_state qfb_state;
typedef void qfb_case(qfb_state *state, const void *argument);

/* `argument` must live until qfb_run returns. The case runs its loop once and says its seconds. */
void qfb_register(const char *name, qfb_case *run, const void *argument);

/* while (qfb_next(state)) { measure; qfb_seconds } */
bool qfb_next(qfb_state *state);

/* Seconds of the work, from inside the loop. */
void qfb_seconds(qfb_state *state, double seconds);

/* A counter of the result; later values replace earlier ones. */
void qfb_counter(qfb_state *state, const char *name, double value);

/* Leaves the case out, saying why. */
void qfb_skip(qfb_state *state, const char *why);

/* What a case measured. skipped: why there is nothing, or NULL. repetition: number of the run among
 * those of its name. */
typedef struct qfb_measured {
    const char *name, *skipped;
    int repetition;
    double seconds;
    size_t n;
    const char *const *counter;
    const double *value;
} qfb_measured;

/* Takes the --benchmark_ options out of the arguments; ends the program with exit code 1 if it does
 * not know one. */
void qfb_options(int *argc, char **argv);

/* Runs what was registered; told() hears of every result as it comes. */
void qfb_run(void (*told)(void *user, const qfb_measured *m), void *user);

#ifdef __cplusplus
}
#endif
#endif
