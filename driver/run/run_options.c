/* Fold options: read from callers of any version, copied. */
#include <string.h>

#include "run_options.h"

qf_status qfi_run_options(const qf_fold_options *given, qf_fold_options *out, qf_diag *diag)
{
    *out = (qf_fold_options){ .struct_size = sizeof *out, .max_growth = QF_GROWTH_DEFAULT };
    if (!given)
        return QF_OK;
    if (given->struct_size < sizeof given->struct_size)
        QF_FAIL(diag, QF_ERR_ARG, "qf_fold_options: struct_size is not set");
    /* A caller built against an older header has a shorter struct: what it lacks is 0. */
    *out = (qf_fold_options){ 0 };
    memcpy(out, given, given->struct_size < sizeof *out ? given->struct_size : sizeof *out);
    out->struct_size = sizeof *out;
    return QF_OK;
}

static qf_status keep_list(qfi_pool *pool, const char *const *list, const char *const **out,
                           qf_diag *diag)
{
    size_t n = 0;
    if (!list)
        return QF_OK;
    while (list[n])
        n++;
    const char **copy = qfi_pool_alloc(pool, n + 1, sizeof *copy);
    if (!copy)
        QF_FAIL(diag, QF_ERR_NOMEM, "no memory for the report");
    for (size_t i = 0; i < n; i++) {
        copy[i] = qfi_pool_text(pool, list[i], strlen(list[i]));
        if (!copy[i])
            QF_FAIL(diag, QF_ERR_NOMEM, "no memory for the report");
    }
    *out = copy;
    return QF_OK;
}

qf_status qfi_run_keep_options(qfi_pool *pool, const qf_fold_options *options, qf_fold_options *out,
                               qf_diag *diag)
{
    *out = *options;
    out->progress = NULL;
    out->progress_user = NULL;
    QF_TRY(keep_list(pool, options->keep, &out->keep, diag));
    QF_TRY(keep_list(pool, options->keep_op, &out->keep_op, diag));
    return keep_list(pool, options->only, &out->only, diag);
}
