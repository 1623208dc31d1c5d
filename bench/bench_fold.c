/* Folding whole files against copying them: the files are generated here, in $TMPDIR or /tmp, so
 * the figures need no other tool. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <qfold/fold.h>
#include <qfold/io.h>

#include "file_copy.h"
#include "fold_child.h"
#include "interrupt.h"
#include "make_pt2.h"

/* name: fold/<work>/<size>[/fsync]. */
typedef struct fold_case {
    const char *name;
    qfb_model model;
    qfb_fold_how how;
} fold_case;

#define ROUNDS 5 /* disks and page caches are moody */

#define CONTIGUOUS                                                                                 \
    {                                                                                              \
        .contiguous = true                                                                         \
    }
#define DEQUANT                                                                                    \
    {                                                                                              \
        .fold_dequant = true                                                                       \
    }
#define SYNC                                                                                       \
    {                                                                                              \
        .sync = true                                                                               \
    }

static const fold_case cases[] = {
    { "fold/idle/16x2048x2048", { QFB_CHAIN_NONE, false, 16, 2048 }, { 0 } },
    { "fold/transpose/16x2048x2048", { QFB_CHAIN_TURN, false, 16, 2048 }, { 0 } },
    { "fold/qk/16x2048x2048", { QFB_CHAIN_QK, false, 16, 2048 }, { 0 } },
    { "fold/qk/64x2048x2048", { QFB_CHAIN_QK, false, 64, 2048 }, { 0 } },
    { "fold/qk/256x128x128", { QFB_CHAIN_QK, false, 256, 128 }, { 0 } },
    { "fold/qk_f32/64MiB", { QFB_CHAIN_QK, false, 16, 1024 }, { 0 } },
    { "fold/transpose_bf16/64MiB", { QFB_CHAIN_TURN, true, 32, 1024 }, { 0 } },
    { "fold/transpose_bf16_contiguous/64MiB", { QFB_CHAIN_TURN, true, 32, 1024 }, CONTIGUOUS },
    { "fold/lora_bf16/64MiB", { QFB_CHAIN_LORA, true, 32, 1024 }, { 0 } },
    { "fold/int8_f32/64MiB", { QFB_CHAIN_INT8, false, 16, 1024 }, DEQUANT },
    { "fold/qk_f32/64MiB/fsync", { QFB_CHAIN_QK, false, 16, 1024 }, SYNC },
    { "fold/qk_f32/1GiB", { QFB_CHAIN_QK, false, 16, 4096 }, { 0 } },
    { "fold/transpose_bf16/1GiB", { QFB_CHAIN_TURN, true, 32, 4096 }, { 0 } },
    { "fold/transpose_bf16_contiguous/1GiB", { QFB_CHAIN_TURN, true, 32, 4096 }, CONTIGUOUS },
    { "fold/lora_bf16/1GiB", { QFB_CHAIN_LORA, true, 32, 4096 }, { 0 } },
    { "fold/int8_f32/1GiB", { QFB_CHAIN_INT8, false, 16, 4096 }, DEQUANT },
    { "fold/qk_f32/1GiB/fsync", { QFB_CHAIN_QK, false, 16, 4096 }, SYNC },
    { "fold/lora_bf16/1GiB/fsync", { QFB_CHAIN_LORA, true, 32, 4096 }, SYNC },
    { "fold/tiny_nodes/20000", { QFB_CHAIN_TINY, false, 2000, 0 }, { 0 } },
    { "fold/json/20000", { QFB_CHAIN_TEXT, false, 1820, 0 }, { 0 } },
};

/* A case at work. moved: bytes that the copy moves, as many as the fold reads and writes. */
typedef struct fold_run {
    const fold_case *c;
    char folder[256], input[300], output[300], copy[300];
    size_t text_bytes;
    uint64_t moved;
    qf_report *report;
    qf_diag diag;
} fold_run;

static bool make_paths(fold_run *r)
{
    const char *base = getenv("TMPDIR");
    snprintf(r->folder, sizeof r->folder, "%s/qfold-bench-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(r->folder))
        return false;
    snprintf(r->input, sizeof r->input, "%s/model.pt2", r->folder);
    snprintf(r->output, sizeof r->output, "%s/folded.pt2", r->folder);
    snprintf(r->copy, sizeof r->copy, "%s/copy.pt2", r->folder);
    return true;
}

static void close_run(fold_run *r)
{
    unlink(r->input);
    unlink(r->output);
    unlink(r->copy);
    rmdir(r->folder);
    qf_report_free(r->report);
}

/* Old results go first, so that nobody pays for freeing them, and nothing waits for the disk, which
 * would slow down whoever writes next. */
static void before_round(void *arg)
{
    const fold_run *r = arg;
    unlink(r->output);
    unlink(r->copy);
    sync();
}

static void fold_once(void *arg)
{
    fold_run *r = arg;
    const qf_fold_options options = qfb_fold_options(r->c->how);
    qf_report_free(r->report);
    r->report = NULL;
    (void)!qf_fold_file(r->input, r->output, &options, &r->report, &r->diag);
}

static void copy_once(void *arg)
{
    fold_run *r = arg;
    if (!qfb_interrupted() && !qfb_copy_file(r->input, r->copy, r->moved, r->c->how.sync))
        (void)qf_fail(&r->diag, QF_ERR_WRITE, "%s: cannot be copied", r->input);
}

static void open_once(void *arg)
{
    fold_run *r = arg;
    qf_graph *graph = NULL;
    (void)!qf_open(r->input, &graph, &r->diag);
    qf_close(graph);
}

/* The file, a first fold of it, and what that has to be compared with. */
static void prepare(fold_run *r)
{
    if (!make_paths(r)) {
        (void)qf_fail(&r->diag, QF_ERR_OPEN, "no temporary folder");
        return;
    }
    if (qfb_make_pt2(r->input, &r->c->model, &r->text_bytes, &r->diag) != QF_OK)
        return;
    fold_once(r);
    if (!r->report)
        return;
    r->moved = (r->report->input_bytes + r->report->output_bytes) / 2;
    if (r->report->n_folded != qfb_model_folds(&r->c->model) * (uint32_t)r->c->model.layers)
        (void)qf_fail(&r->diag, QF_ERR_ARG, "the fold did not do the work");
}

static void count_memory(qfb_state *state, fold_run *r)
{
    qfb_fold_memory memory;
    if (!qfb_fold_alone(r->input, r->output, r->c->how, &memory)) {
        (void)qf_fail(&r->diag, QF_ERR_OPEN, "the fold in its own process failed");
        return;
    }
    const double mib = (double)r->report->output_bytes / (1 << 20);
    qfb_counter(state, "peak_rss_MiB", (double)memory.peak / (1 << 20));
    qfb_counter(state, "faults", (double)memory.faults);
    qfb_counter(state, "faults/MiB", (double)memory.faults / mib);
}

static void count(qfb_state *state, fold_run *r, const qfb_race *race)
{
    const double seconds = qfb_race_ratio(race, NULL);
    const qf_report *report = r->report;
    qfb_race_report(race, state);
    qfb_counter(state, "GB/s", 2 * (double)r->moved / seconds * 1e-9);
    qfb_counter(state, "bytes", 2 * (double)r->moved);
    qfb_counter(state, "peak_KiB", (double)report->peak_bytes / 1024);
    qfb_counter(state, "read_bytes", (double)report->read_bytes);
    qfb_counter(state, "folded", report->n_folded);
    if (r->c->model.chain == QFB_CHAIN_TINY)
        qfb_counter(state, "us/node",
                    (seconds - qfb_race_ratio(race, "x_open") * seconds) * 1e6 / report->n_folded);
    if (r->c->model.chain == QFB_CHAIN_TEXT)
        qfb_counter(state, "json_MB/s", (double)r->text_bytes / seconds * 1e-6);
    count_memory(state, r);
}

static void run_fold(qfb_state *state, const void *argument)
{
    static qfb_race race;
    fold_run r = { .c = argument };
    race = (qfb_race){ .rounds = ROUNDS };
    qfb_interrupt_hold();
    while (qfb_next(state)) {
        prepare(&r);
        if (r.diag.code != QF_OK)
            break;
        qfb_race_add(
            &race,
            (qfb_runner){ .label = "fold", .before = before_round, .run = fold_once, .arg = &r });
        if (r.c->model.n > 0)
            qfb_race_add(&race, (qfb_runner){ .counter = "x_cp",
                                              .label = "cp",
                                              .before = before_round,
                                              .run = copy_once,
                                              .arg = &r });
        if (r.c->model.chain == QFB_CHAIN_TINY)
            qfb_race_add(&race, (qfb_runner){ .counter = "x_open",
                                              .label = "opening the file",
                                              .run = open_once,
                                              .arg = &r });
        qfb_race_run(&race, qfb_budget);
        if (r.diag.code == QF_OK && !qfb_interrupted())
            count(state, &r, &race);
    }
    if (r.diag.code != QF_OK)
        qfb_skip(state, r.diag.text);
    close_run(&r);
    qfb_interrupt_release();
}

void qfb_add_fold(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        qfb_add(run_fold, &cases[i], "%s", cases[i].name);
}
