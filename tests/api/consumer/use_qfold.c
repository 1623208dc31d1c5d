/* Links everything: a fold of a file that is not there says so. */
#include <qfold/qfold.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    qf_fold_options options = { .struct_size = sizeof options, .max_growth = QF_GROWTH_DEFAULT };
    qf_report *report = NULL;
    qf_diag diag = { QF_OK, 0, "" };
    const qf_status st = qf_fold_file("absent.pt2", NULL, &options, &report, &diag);

    printf("qfold %s: %s: %s\n", qf_version(), qf_status_name(st), diag.text);
    return st == QF_ERR_OPEN && !report && strstr(diag.text, "absent.pt2") &&
                   strcmp(qf_version(), "0.1.0") == 0
               ? 0
               : 1;
}
