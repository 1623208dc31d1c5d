/* Folding a file: joins the fold and the formats. Opens, plans, writes, and starts again from the
 * plan when a value turns out to be undefined while it is written. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <qfold/io.h>

#include "../io/format.h"
#include "../io/layout.h"
#include "makers.h"
#include "plan_file.h"
#include "run_options.h"

/* One run. written: bytes of the output.  rejected: a payload of this attempt has no defined value.
 * alone, in_lane: payloads are not made side by side; one of those that were failed. */
typedef struct run {
    qf_graph *graph;
    const char *output;
    qf_fold_options options;
    qf_ctx ctx;
    qfi_fold fold;
    qfi_makers makers;
    uint64_t written, output_bytes;
    double started;
    bool rejected, alone, in_lane;
} run;

static double now(void)
{
    struct timespec t = { 0 };
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static qf_status produce(void *user, uint32_t new_payload, uint32_t lane, const qf_sink *to,
                         qf_diag *diag)
{
    run *r = user;
    const qfi_maker *maker = qfi_makers_get(&r->makers, lane);
    if (!maker)
        QF_FAIL(diag, QF_ERR_NOMEM, "no memory for making a payload");
    const qf_status st =
        qfi_fold_produce(&r->fold, new_payload, &maker->ctx, maker->arena, to, diag);
    if (st == QF_ERR_VALUE)
        __atomic_store_n(&r->rejected, true, __ATOMIC_RELAXED);
    if (st != QF_OK && lane != QFI_NO_LANE)
        __atomic_store_n(&r->in_lane, true, __ATOMIC_RELAXED);
    return st;
}

static bool fits(void *user, uint32_t new_payload, uint32_t n_lane)
{
    const run *r = user;
    return !r->alone && qfi_makers_fit(&r->makers, r->fold.pipe[new_payload], n_lane);
}

/* The output of the plan as it stands; without a change the input, byte for byte. */
static qf_status make_layout(run *r, qfi_layout *layout, qf_diag *diag)
{
    const qf_graph *graph = r->graph;
    if (qfi_fold_is_idle(&r->fold))
        return qfi_layout_add(layout, (qfi_extent){ .kind = QFI_COPY, .size = graph->file_size },
                              diag);
    if (!graph->format->layout)
        QF_FAIL(diag, QF_ERR_UNSUPPORTED, "%s: files of format %s can be read, not written",
                qfi_graph_file(graph)->path, graph->format->name);
    return graph->format->layout(graph, &r->fold.prog, &r->fold.edits, layout, diag);
}

static qf_status write_once(run *r, qf_diag *diag)
{
    qfi_layout layout = { 0 };
    const qfi_write_options options = { .produce = produce,
                                        .fits = fits,
                                        .threads = &r->ctx,
                                        .user = r,
                                        .progress = r->options.progress,
                                        .progress_user = r->options.progress_user,
                                        .replace = r->options.force,
                                        .sync = r->options.sync };
    qf_status st;

    r->rejected = r->in_lane = false;
    qfi_makers_rest(&r->makers);
    QF_TRY_OUT(make_layout(r, &layout, diag));
    r->output_bytes = layout.size;
    QF_TRY_OUT(
        qfi_write(&layout, qfi_graph_file(r->graph), r->output, &options, &r->written, diag));
out:
    qfi_layout_free(&layout);
    return st;
}

/* Every rejection keeps at least one more node, so this ends. Of payloads that are made side by
 * side, another one may be the first that strictness forbids than of those made one after the
 * other: so they are made again in that order. */
static qf_status write_output(run *r, qf_diag *diag)
{
    for (;;) {
        qf_diag attempt = { 0 };
        const qf_status st = write_once(r, &attempt);
        if (st == QF_OK)
            return QF_OK;
        if (r->in_lane && st == QF_ERR_STRICT) {
            r->alone = true;
            continue;
        }
        if (st != QF_ERR_VALUE || !r->rejected) {
            if (diag && diag->code == QF_OK)
                *diag = attempt;
            return st;
        }
        QF_TRY(qfi_fold_reject(&r->fold, diag));
    }
}

/* What the fold cannot know: paths, sizes, options, and what the run took. */
static qf_status fill_report(const run *r, const char *input, qfi_report *report, qf_diag *diag)
{
    qf_report *base = &report->base;
    const qfi_file *file = qfi_graph_file(r->graph);
    base->caps = qf_caps_name(qf_table_caps(qf_table_best()));
    base->format = r->graph->format->name;
    base->input = qfi_pool_text(&report->pool, input, strlen(input));
    base->output = r->output ? qfi_pool_text(&report->pool, r->output, strlen(r->output)) : NULL;
    if (!base->input || (r->output && !base->output))
        QF_FAIL(diag, QF_ERR_NOMEM, "%s: no memory for the report", input);
    base->input_bytes = r->graph->file_size;
    base->output_bytes = r->output_bytes;
    base->read_bytes = __atomic_load_n(&file->read_bytes, __ATOMIC_RELAXED);
    base->written_bytes = r->written;
    base->peak_bytes = r->makers.peak;
    base->threads = r->ctx.workers ? r->ctx.workers : 1;
    QF_TRY(qfi_run_keep_options(&report->pool, &r->options, &base->options, diag));
    base->seconds = now() - r->started;
    return QF_OK;
}

static qf_status make_report(const run *r, const char *input, qf_report **out, qf_diag *diag)
{
    qfi_report *report = NULL;
    QF_TRY(qfi_fold_report(&r->fold, &report, diag));
    const qf_status st = fill_report(r, input, report, diag);
    if (st != QF_OK)
        qf_report_free(&report->base);
    else
        *out = &report->base;
    return st;
}

/* Products by OpenBLAS, if that is asked for. */
static qf_status choose_providers(run *r, qf_diag *diag)
{
    char why[96];

    if (!r->options.fast_gemm)
        return QF_OK;
    if (!qf_provider_ready(QF_PROVIDER_BLAS, why, sizeof why))
        QF_FAIL(diag, QF_ERR_UNSUPPORTED, "OpenBLAS cannot be used: %s", why);
    r->ctx.providers = QF_PROVIDER_BLAS;
    return QF_OK;
}

static qf_status check_output(const char *output, bool force, qf_diag *diag)
{
    if (output && !force && qfi_file_exists(output))
        QF_FAIL(diag, QF_ERR_EXISTS, "%s: exists already", output);
    return QF_OK;
}

qf_status qf_fold_file(const char *input, const char *output, const qf_fold_options *options,
                       qf_report **report, qf_diag *diag)
{
    run r = { .output = output, .ctx = { .struct_size = sizeof r.ctx }, .started = now() };
    qf_status st;

    QF_TRY(qfi_run_options(options, &r.options, diag));
    QF_TRY(check_output(output, r.options.force, diag));
    QF_TRY_OUT(qf_open(input, &r.graph, diag));
    r.options.max_growth = qfi_fold_growth(r.options.max_growth, r.graph->file_size);
    r.ctx.memory = r.options.memory;
    QF_TRY_OUT(choose_providers(&r, diag));
    QF_TRY_OUT(qf_threads_open(&r.ctx, r.options.threads, diag));
    r.fold = (qfi_fold){ .top = r.graph, .options = &r.options, .ctx = &r.ctx };
    QF_TRY_OUT(qfi_makers_open(&r.makers, &r.ctx, diag));
    QF_TRY_OUT(qfi_plan_file(&r.fold, input, diag));
    QF_TRY_OUT(output ? write_output(&r, diag) : qfi_fold_rehearse(&r.fold, diag));
    qfi_makers_rest(&r.makers);
    if (report)
        QF_TRY_OUT(make_report(&r, input, report, diag));
out:
    /* A caller that is told of a failure finds no output. One that replaced a file keeps it: the
     * old one is gone already. */
    if (st != QF_OK && r.written && !r.options.force)
        remove(output);
    qfi_makers_free(&r.makers);
    qfi_fold_free(&r.fold);
    qf_threads_close(&r.ctx);
    qf_close(r.graph);
    return st;
}
