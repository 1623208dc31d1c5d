/* A fold knows no file: what it finds wrong with the program itself gets the file's name here. */
#include "plan_file.h"

qf_status qfi_plan_file(qfi_fold *fold, const char *path, qf_diag *diag)
{
    qf_diag found = { QF_OK, 0, "" };
    const qf_status st = qfi_fold_plan(fold, &found);
    if (st == QF_ERR_ASSERT)
        QF_FAIL(diag, st, "%s: %s", path, found.text);
    if (st != QF_OK && diag && diag->code == QF_OK)
        *diag = found;
    return st;
}
