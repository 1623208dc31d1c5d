/* Rounds in turns. */
#include "race.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "interrupt.h"
#include "median.h"

#define ROUND_SECONDS 2e-3 /* short work is repeated so that the clock's grain does not count */
#define WARM_SECONDS 5e-3  /* what is shorter runs once untimed: the others took its cache */
#define SLOW 1.4           /* a way this much behind the best of its counter runs in one round */
#define FAR 3              /* who takes this many times the work's time runs in two rounds */
#define LEAST_ROUNDS 5
#define LONG_SECONDS 0.5 /* work that takes longer runs in one round */

double qfb_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

uint64_t qfb_minor_faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_minflt;
}

void qfb_race_add(qfb_race *race, qfb_runner runner)
{
    if (race->n == QFB_RUNNERS)
        return;
    runner.best = 1e30;
    race->runner[race->n++] = runner;
}

static double run_times(const qfb_runner *r, size_t times)
{
    double took = 0;
    for (size_t i = 0; r->before && i < times; i++) {
        r->before(r->arg);
        const double begin = qfb_now();
        r->run(r->arg);
        took += qfb_now() - begin;
    }
    if (r->before)
        return took;
    const double begin = qfb_now();
    for (size_t i = 0; i < times; i++)
        r->run(r->arg);
    return qfb_now() - begin;
}

static void record(qfb_runner *r, double took)
{
    r->best = took < r->best ? took : r->best;
    r->seconds[r->n++] = took;
}

/* The first run shows how often to repeat; one that is long enough is the first round. */
static void run_round(qfb_runner *r)
{
    if (r->repeat == 0) {
        const double once = run_times(r, 1);
        r->repeat = once < ROUND_SECONDS ? (size_t)(ROUND_SECONDS / (once + 1e-8)) + 1 : 1;
        if (once > LONG_SECONDS) {
            record(r, once);
            return;
        }
    } else if (r->best < WARM_SECONDS) {
        run_times(r, 1);
    }
    const uint64_t faults = qfb_minor_faults();
    record(r, run_times(r, r->repeat) / (double)r->repeat);
    r->faults = (qfb_minor_faults() - faults) / r->repeat;
}

static double best_of(const qfb_race *race, const char *counter)
{
    double best = 1e30;
    for (size_t i = 1; i < race->n; i++) {
        const qfb_runner *r = &race->runner[i];
        if (!strcmp(r->counter, counter) && r->n > 0 && r->best < best)
            best = r->best;
    }
    return best;
}

/* After a round: the time is for those who may yet be the fastest, or near the work. */
static void drop_slow(qfb_race *race, int round)
{
    for (size_t i = 1; i < race->n; i++) {
        qfb_runner *r = &race->runner[i];
        r->slow = r->best > SLOW * best_of(race, r->counter) ||
                  (round > 0 && r->best > FAR * race->runner[0].best);
    }
}

static int least_rounds(const qfb_race *race)
{
    return race->rounds ? race->rounds : race->runner[0].best > LONG_SECONDS ? 1 : LEAST_ROUNDS;
}

void qfb_race_run(qfb_race *race, double seconds)
{
    const double begin = qfb_now();
    for (int round = 0; round < QFB_ROUNDS; round++) {
        if (qfb_interrupted() ||
            (round > 0 && round >= least_rounds(race) && qfb_now() - begin > seconds))
            break;
        for (size_t i = 0; i < race->n; i++) {
            if (!race->runner[i].slow)
                run_round(&race->runner[i]);
        }
        drop_slow(race, round);
    }
}

double qfb_race_ratio(const qfb_race *race, const char *counter)
{
    const double own = race->runner[0].best;
    if (!counter)
        return own;
    const double best = best_of(race, counter);
    return best < 1e29 && own > 0 ? best / own : 0;
}

static double median(const qfb_runner *r)
{
    double sorted[QFB_ROUNDS];
    memcpy(sorted, r->seconds, sizeof sorted);
    return qfb_median(sorted, (size_t)r->n);
}

void qfb_race_report(const qfb_race *race, qfb_state *state)
{
    const qfb_runner *own = &race->runner[0];
    qfb_seconds(state, own->best);
    qfb_counter(state, "spread", own->best > 0 ? median(own) / own->best - 1 : 0);
    qfb_counter(state, "faults", (double)own->faults);
    for (size_t i = 1; i < race->n; i++) {
        char name[100];
        const qfb_runner *r = &race->runner[i];
        snprintf(name, sizeof name, "s:%s %s", r->counter, r->label);
        qfb_counter(state, name, r->best);
        qfb_counter(state, r->counter, qfb_race_ratio(race, r->counter));
    }
}
