/* Running the work of a case against its limits and rivals. */
#include "bench.h"

#define MUST_SCALE 1.7 /* what two threads should reach where memory lets them */

/* x_threads: the gain of two threads over one, over what is asked for: 1.7, or what two threads
 * gain for a copy where that is less. */
static void count_threads(qfb_state *state, const qfb_race *race)
{
    const double gain = qfb_race_ratio(race, "x_one"), copy = qfb_race_ratio(race, "x_copy");
    const double copy_gain = copy > 0 ? qfb_race_ratio(race, "x_copy_one") / copy : MUST_SCALE;
    qfb_counter(state, "x_threads", gain / (copy_gain < MUST_SCALE ? copy_gain : MUST_SCALE));
}

/* What stays in its memory is limited by that alone, and nothing else is. */
static unsigned limits_of(const qfb_work *w, const qfb_against *against)
{
    return w->variant & QFB_IN_PLACE ? against->limits & QFB_LIMITS_IN_PLACE
                                     : against->limits & ~(unsigned)QFB_LIMITS_IN_PLACE;
}

static bool add_limits(qfb_limit_set *set, qfb_race *race, const qfb_work *w, unsigned kinds)
{
    const size_t sizes[][2] = {
        { QFB_COPY, (w->read + w->written) / 2 },
        { QFB_WRITE, w->written },
        { QFB_READ, w->read },
        { QFB_UPDATE, w->written },
        { QFB_COMBINE, w->written },
        { QFB_ACCUMULATE, w->written },
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        qfb_limit_terms terms = { .kind = (unsigned)sizes[i][0],
                                  .n = sizes[i][1],
                                  .ctx = w->ctx.parallel_for ? &w->ctx : NULL,
                                  .fresh = w->variant & QFB_FRESH_OUTPUT };
        if (!(kinds & terms.kind))
            continue;
        if (!qfb_limits_add(set, race, &terms))
            return false;
        if (terms.kind != QFB_COPY || !terms.ctx)
            continue;
        terms.ctx = NULL;
        terms.counter = "x_copy_one";
        if (!qfb_limits_add(set, race, &terms))
            return false;
    }
    return true;
}

static void add_rivals(qfb_race *race, qfb_work *w, const qfb_against *against)
{
    if (w->ctx.parallel_for)
        qfb_race_add(race, (qfb_runner){ .counter = "x_one",
                                         .label = "one thread",
                                         .run = qfb_work_run_one,
                                         .arg = w });
    else if (against->rival && !(w->variant & QFB_FRESH_OUTPUT))
        against->rival(race, w);
    if (w->other)
        qfb_race_add(race, (qfb_runner){ .counter = w->other_counter,
                                         .label = w->other_label,
                                         .run = qfb_work_run_other,
                                         .arg = w });
    if (against->plain && !w->variant)
        qfb_race_add(
            race,
            (qfb_runner){ .counter = "x_c", .label = "plain C", .run = against->plain, .arg = w });
}

static void count(qfb_state *state, const qfb_race *race, const qfb_work *w)
{
    const double seconds = qfb_race_ratio(race, NULL), bytes = (double)(w->read + w->written);
    qfb_race_report(race, state);
    qfb_counter(state, "bytes", bytes);
    qfb_counter(state, "GB/s", bytes / seconds * 1e-9);
    if (w->flops > 0)
        qfb_counter(state, "GFLOP/s", w->flops / seconds * 1e-9);
    qfb_counter(state, "bytes_moved/output_byte", w->moved / (double)w->written);
    qfb_counter(state, "peak_KiB", (double)w->peak / 1024);
    if (w->ctx.parallel_for)
        count_threads(state, race);
}

void qfb_run_work(qfb_state *state, qfb_work *w, const qfb_against *against)
{
    static qfb_race race; /* of the case at hand; larger than a stack frame should be */
    qfb_limit_set limits = { 0 };
    race = (qfb_race){ 0 };
    while (qfb_next(state)) {
        qfb_race_add(&race,
                     (qfb_runner){ .label = "work",
                                   .before = w->variant & QFB_FRESH_OUTPUT ? qfb_work_before : NULL,
                                   .run = qfb_work_run,
                                   .arg = w });
        if (w->diag.code == QF_OK && !add_limits(&limits, &race, w, limits_of(w, against)))
            (void)qf_fail(&w->diag, QF_ERR_NOMEM, "no memory for the limits");
        if (w->diag.code != QF_OK)
            break;
        add_rivals(&race, w, against);
        qfb_race_run(&race, qfb_budget);
        if (w->diag.code == QF_OK)
            count(state, &race, w);
    }
    if (w->diag.code != QF_OK)
        qfb_skip(state, w->diag.text);
    qfb_limits_free(&limits);
    qfb_work_close(w);
}

void qfb_each_variant(unsigned variants, const void *row,
                      void (*add)(const void *row, unsigned variant))
{
    add(row, 0);
    for (unsigned v = 0; v < QFB_VARIANTS; v++) {
        if (variants & 1u << v)
            add(row, 1u << v);
    }
}

const char *qfb_variant_suffix(unsigned variant)
{
    return variant & QFB_THREADS        ? "/threads:2"
           : variant & QFB_IN_PLACE     ? "/in_place"
           : variant & QFB_FRESH_OUTPUT ? "/fresh"
                                        : "";
}
