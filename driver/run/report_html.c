/* A report as a page: the text in JSON within the page that is made from page/ while building. */
#include <string.h>

#include "../io/file.h"
#include "report_text.h"

/* JSON inside a script element. A '<' stands in strings alone; written as an escape it can neither
 * end the element nor begin a comment, whatever a file calls its nodes. */
static qf_status write_json(qfi_temp *temp, const qfi_text *t, qf_diag *diag)
{
    static const char escape[] = "\\u003c";
    const char *p = t->p, *const end = t->p + t->n;

    while (p < end) {
        const char *found = memchr(p, '<', (size_t)(end - p));
        const char *const stop = found ? found : end;
        QF_TRY(qfi_temp_write(temp, p, (size_t)(stop - p), diag));
        if (found)
            QF_TRY(qfi_temp_write(temp, escape, sizeof escape - 1, diag));
        p = found ? found + 1 : end;
    }
    return QF_OK;
}

static qf_status write_page(qfi_temp *temp, const qfi_text *t, qf_diag *diag)
{
    QF_TRY(qfi_temp_write(temp, qfi_page_head, qfi_page_head_size, diag));
    QF_TRY(write_json(temp, t, diag));
    return qfi_temp_write(temp, qfi_page_tail, qfi_page_tail_size, diag);
}

qf_status qf_report_html(const qf_report *report, const char *path, qf_diag *diag)
{
    qfi_pool pool = { 0 };
    qfi_text t = { .pool = &pool };
    qfi_temp temp = { .fd = -1 };
    qf_status st;

    qfi_report_text(report, &t);
    if (t.failed) {
        st = qf_fail(diag, QF_ERR_NOMEM, "%s: no memory for the report", path);
        goto out;
    }
    QF_TRY_OUT(qfi_temp_open(path, true, NULL, &temp, diag));
    QF_TRY_OUT(write_page(&temp, &t, diag));
    QF_TRY_OUT(qfi_temp_finish(&temp, false, diag));
out:
    qfi_temp_discard(&temp);
    qfi_pool_free(&pool);
    return st;
}
