/* Options into a run, its failure into a message, its report into a file. */
#include "folding.h"
#include "progress.h"

/* Size of the input for percentages; 0 if it cannot be told, which the fold itself will explain. */
static uint64_t size_of(const char *path)
{
    FILE *file = fopen(path, "rb");
    off_t size = -1;
    if (file && fseeko(file, 0, SEEK_END) == 0)
        size = ftello(file);
    if (file)
        fclose(file);
    return size > 0 ? (uint64_t)size : 0;
}

static uint64_t growth_of(const qfi_args *args)
{
    const qfi_growth *growth = &args->max_growth;
    if (!growth->is_percent)
        return growth->bytes;
    const double bytes = (double)size_of(args->operand) * growth->percent / 100;
    return bytes < 9e18 ? (uint64_t)bytes : QF_GROWTH_NONE;
}

int qfi_fold_run(const qfi_args *args, const char *output, qf_report **report)
{
    qfi_progress bar;
    qf_diag diag = { 0 };
    const qf_fold_options options = {
        .struct_size = sizeof options,
        .max_growth = growth_of(args),
        .memory = args->memory,
        .threads = args->threads,
        .keep = args->keep.item,
        .keep_op = args->keep_op.item,
        .only = args->only.item,
        .fold_dequant = args->fold_dequant,
        .contiguous = args->contiguous,
        .fast_gemm = args->fast_gemm,
        .exact = args->exact,
        .strict = args->strict,
        .force = args->force,
        .sync = args->sync,
        .progress = qfi_progress_update,
        .progress_user = &bar,
    };
    qfi_progress_start(&bar, "folding", args->quiet);
    const qf_status st = qf_fold_file(args->operand, output, &options, report, &diag);
    qfi_progress_end(&bar);
    if (st != QF_OK)
        return qfi_complain(st, &diag);
    if (!args->quiet)
        qfi_print_notes(*report);
    return 0;
}

static qf_status make_json(const void *what, FILE *out, qf_diag *diag)
{
    return qf_report_json(what, qfi_put_text, out, diag);
}

int qfi_report_write(const qfi_args *args, const qf_report *report)
{
    qf_diag diag = { 0 };
    if (args->report) {
        const qf_status st = qf_report_html(report, args->report, &diag);
        if (st != QF_OK)
            return qfi_complain(st, &diag);
    }
    return args->json ? qfi_write_json(args->json, make_json, report) : 0;
}
