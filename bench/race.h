/* A race: one piece of work, and what it is measured against, timed in turns, so that what the
 * machine does meanwhile happens to all of them. */
#ifndef QFB_RACE_H
#define QFB_RACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gbench.h"

#define QFB_RUNNERS 24
#define QFB_ROUNDS 32

/* counter: what the ratio is called (x_copy …); runners of one counter are ways to do the same, of
 * which the fastest counts. NULL: the work itself.  label: this way (memcpy …).  before: may be
 * NULL; called before each run, not timed.  run: once. The rest belongs to the race. */
typedef struct qfb_runner {
    const char *counter, *label;
    void (*before)(void *arg);
    void (*run)(void *arg);
    void *arg;
    size_t repeat;
    bool slow;
    double best, seconds[QFB_ROUNDS];
    int n;
    uint64_t faults; /* minor page faults of a run in the last round */
} qfb_runner;

/* runner[0] is the work. rounds: at least so many; 0: five, one of work that is long by itself.
 * Zero-initialise. */
typedef struct qfb_race {
    qfb_runner runner[QFB_RUNNERS];
    size_t n;
    int rounds;
} qfb_race;

void qfb_race_add(qfb_race *race, qfb_runner runner);

/* Rounds until `seconds` are spent. */
void qfb_race_run(qfb_race *race, double seconds);

/* The fastest of the runners of a counter, over the work's fastest round: 1 is as fast as they; 0
 * if there is none. NULL: seconds of the work. */
double qfb_race_ratio(const qfb_race *race, const char *counter);

/* Time, ratios, and the seconds of every runner ("s:<counter> <label>") as counters of the case;
 * `spread` is how far the work's median round lies above its best. */
void qfb_race_report(const qfb_race *race, qfb_state *state);

/* Monotonic time in seconds. */
double qfb_now(void);

/* Minor page faults of this process so far. */
uint64_t qfb_minor_faults(void);

#endif
