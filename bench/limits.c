/* Limits as runners of a race, and the memory that they run in. */
#include "limits.h"

#include <stdlib.h>

#define GRAIN 64 /* a worker's part is whole lines */

static const char *counter_of(unsigned kind)
{
    static const struct {
        unsigned kind;
        const char *counter;
    } counters[] = {
        { QFB_COPY, "x_copy" },      { QFB_WRITE, "x_write" },        { QFB_READ, "x_read" },
        { QFB_UPDATE, "x_inplace" }, { QFB_ACCUMULATE, "x_inplace" }, { QFB_COMBINE, "x_stream3" },
    };
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
        if (counters[i].kind == kind)
            return counters[i].counter;
    }
    return NULL;
}

/* The three operands, grown to what is asked for and kept; where they are is known when a limit
 * runs. */
static qfb_buffer kept[3];

static bool reserve(unsigned slot, size_t n)
{
    if (kept[slot].size >= n)
        return true;
    qfb_buffer_free(&kept[slot]);
    return qfb_buffer_get(&kept[slot], n, slot, QFB_REUSED);
}

static void run_range(const qfb_limit_run *r, size_t at, size_t n)
{
    char *x = r->terms.fresh ? r->pages.p : kept[0].p;
    const char *a = kept[1].p, *b = kept[2].p;
    r->limit->run(x + at, a + at, r->limit->kind == QFB_COMBINE ? b + at : b, n);
}

static void run_part(void *arg, uint32_t i, uint32_t worker)
{
    const qfb_limit_run *r = arg;
    const uint32_t workers = r->terms.ctx->workers;
    const size_t part = (r->terms.n / workers / GRAIN + 1) * GRAIN, at = i * part;
    (void)worker;
    if (at < r->terms.n)
        run_range(r, at, part < r->terms.n - at ? part : r->terms.n - at);
}

static void run_limit(void *arg)
{
    const qfb_limit_run *r = arg;
    if (r->terms.ctx && r->terms.ctx->workers > 1)
        r->terms.ctx->parallel_for(r->terms.ctx->pool, r->terms.ctx->workers, run_part, arg);
    else
        run_range(r, 0, r->terms.n);
}

static void take_pages(void *arg)
{
    qfb_limit_run *r = arg;
    qfb_buffer_free(&r->pages);
    if (!qfb_buffer_get(&r->pages, r->terms.n, 0, QFB_FRESH))
        abort();
}

/* What the machine can do limits it, whatever QFOLD_CAPS lets the kernels use. */
static bool available(const qfb_limit *limit)
{
#if defined(__x86_64__)
    return !(limit->needs & QF_CAP_AVX2) || __builtin_cpu_supports("avx2");
#else
    return limit->needs == 0;
#endif
}

static bool add_limit(qfb_limit_set *set, qfb_race *race, const qfb_limit *limit,
                      const qfb_limit_terms *terms)
{
    if (set->n == QFB_LIMITS)
        return true;
    if (!reserve(0, terms->n) || !reserve(1, terms->n) ||
        !reserve(2, limit->kind == QFB_COMBINE ? terms->n : 1))
        return false;
    qfb_limit_run *r = &set->run[set->n++];
    *r = (qfb_limit_run){ .limit = limit, .terms = *terms };
    qfb_race_add(race,
                 (qfb_runner){ .counter = terms->counter ? terms->counter : counter_of(terms->kind),
                               .label = limit->label,
                               .before = terms->fresh ? take_pages : NULL,
                               .run = run_limit,
                               .arg = r });
    return true;
}

bool qfb_limits_add(qfb_limit_set *set, qfb_race *race, const qfb_limit_terms *terms)
{
    static const qfb_limit *const tables[] = { qfb_copy_limits, qfb_fill_limits, qfb_read_limits,
                                               qfb_update_limits };
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        for (const qfb_limit *l = tables[t]; l->label; l++) {
            if (l->kind == terms->kind && available(l) && !add_limit(set, race, l, terms))
                return false;
        }
    }
    return true;
}

void qfb_limits_free(qfb_limit_set *set)
{
    for (size_t i = 0; i < set->n; i++)
        qfb_buffer_free(&set->run[i].pages);
}
