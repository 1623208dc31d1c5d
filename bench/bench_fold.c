/* Folding whole files against copying them: the files are generated here, so the figures need no
 * other tool. x_cp: time of a copy of the input file by the same system calls that `cp` uses, over
 * the time of the fold. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <qfold/fold.h>

#include "../driver/io/file.h"
#include "make_pt2.h"

/* name: fold/<work>/<layers>x<n>x<n>, weights in f32. */
typedef struct fold_case {
    const char *name;
    qfb_chain chain;
    int layers, n;
} fold_case;

static const fold_case cases[] = {
    { "fold/idle/16x2048x2048", QFB_CHAIN_NONE, 16, 2048 },
    { "fold/transpose/16x2048x2048", QFB_CHAIN_TURN, 16, 2048 },
    { "fold/qk/16x2048x2048", QFB_CHAIN_QK, 16, 2048 },
    { "fold/qk/64x2048x2048", QFB_CHAIN_QK, 64, 2048 },
    { "fold/qk/256x128x128", QFB_CHAIN_QK, 256, 128 },
};

typedef struct paths {
    char folder[256], input[300], output[300];
} paths;

static bool make_paths(paths *p)
{
    const char *base = getenv("TMPDIR");
    snprintf(p->folder, sizeof p->folder, "%s/qfold-bench-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(p->folder))
        return false;
    snprintf(p->input, sizeof p->input, "%s/model.pt2", p->folder);
    snprintf(p->output, sizeof p->output, "%s/folded.pt2", p->folder);
    return true;
}

static void remove_paths(const paths *p)
{
    unlink(p->input);
    unlink(p->output);
    rmdir(p->folder);
}

static qf_status copy_file(const paths *p, qf_diag *diag)
{
    qfi_file from = { 0 };
    qfi_temp to = { 0 };
    qf_status st;
    QF_TRY(qfi_file_open(p->input, &from, diag));
    QF_TRY_OUT(qfi_temp_open(p->output, true, NULL, &to, diag));
    QF_TRY_OUT(qfi_temp_copy(&to, &from, 0, from.size, diag));
    QF_TRY_OUT(qfi_temp_finish(&to, false, diag));
out:
    qfi_temp_discard(&to);
    qfi_file_close(&from);
    return st;
}

static double best_of_copies(const paths *p, qf_diag *diag)
{
    double best = 1e9;
    for (int i = 0; i < 3; i++) {
        const double begin = qfb_now();
        if (copy_file(p, diag) != QF_OK)
            return 0;
        const double took = qfb_now() - begin;
        best = took < best ? took : best;
    }
    return best;
}

static qf_status fold_once(const paths *p, qf_report **report, qf_diag *diag)
{
    const qf_fold_options options = {
        .struct_size = sizeof options, .max_growth = QF_GROWTH_DEFAULT, .threads = 0, .force = true
    };
    return qf_fold_file(p->input, p->output, &options, report, diag);
}

static void count(qfb_state *state, const fold_case *c, const paths *p, size_t faults,
                  qf_diag *diag)
{
    qf_report *report = NULL;
    if (fold_once(p, &report, diag) != QF_OK)
        return;
    const double seconds = qfb_seconds_per_iteration(state);
    qfb_counter(state, "GB/s", seconds > 0 ? (double)report->input_bytes / seconds * 1e-9 : 0);
    qfb_counter(state, "x_cp", seconds > 0 ? best_of_copies(p, diag) / seconds : 0);
    qfb_counter(state, "faults", (double)faults);
    qfb_counter(state, "peak_KiB", (double)report->peak_bytes / 1024);
    qfb_counter(state, "read_bytes", (double)report->read_bytes);
    qfb_counter(state, "folded", report->n_folded);
    const uint32_t per_layer = c->chain == QFB_CHAIN_QK ? 3 : c->chain == QFB_CHAIN_TURN ? 1 : 0;
    if (report->n_folded != per_layer * (uint32_t)c->layers)
        qfb_skip(state, "the fold did not do the work");
    qf_report_free(report);
}

static void run_fold(qfb_state *state, const void *argument)
{
    const fold_case *c = argument;
    paths p = { 0 };
    qf_diag diag = { 0 };
    if (!make_paths(&p)) {
        qfb_skip(state, "no temporary folder");
        return;
    }
    qf_status st = qfb_make_pt2(p.input, c->chain, c->layers, c->n, &diag);
    size_t faults = 0, rounds = 0;
    if (st == QF_OK)
        st = fold_once(&p, NULL, &diag);
    if (st == QF_OK) {
        const size_t before = qfb_minor_faults();
        for (; qfb_next(state); rounds++)
            st = st == QF_OK ? fold_once(&p, NULL, &diag) : st;
        faults = (qfb_minor_faults() - before) / (rounds ? rounds : 1);
    }
    if (st == QF_OK)
        count(state, c, &p, faults, &diag);
    if (diag.code != QF_OK)
        qfb_skip(state, diag.text);
    remove_paths(&p);
}

void qfb_add_fold(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        qfb_add(false, run_fold, &cases[i], "%s", cases[i].name);
}
