/* Folds a file and says what became of it: fold IN OUT. */
#include <qfold/qfold.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    qf_fold_options options = { .struct_size = sizeof options, .max_growth = QF_GROWTH_DEFAULT };
    qf_report *report = NULL;
    qf_diag diag = { QF_OK, 0, "" };

    if (argc != 3)
        return 2;
    if (qf_fold_file(argv[1], argv[2], &options, &report, &diag) != QF_OK) {
        fprintf(stderr, "%s (%s)\n", diag.text, qf_status_name(diag.code));
        return qf_status_exit_code(diag.code);
    }
    printf("%u of %u nodes folded\n", report->n_folded, report->n_nodes);
    qf_report_free(report);
    return 0;
}
