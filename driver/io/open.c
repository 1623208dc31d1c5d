/* Opening and closing model files. */
#include <qfold/io.h>

#include "format.h"

qf_status qf_open(const char *path, qf_graph **out, qf_diag *diag)
{
    qfi_file file;
    qf_status st = QF_OK;
    if (!path || !out)
        QF_FAIL(diag, QF_ERR_ARG, "qf_open needs a path and a place for the graph");
    *out = NULL;
    qf_diag found = { 0 };
    QF_TRY(qfi_file_open(path, &file, diag));
    const qfi_format *format = qfi_format_find(&file, diag ? diag : &found);
    if (!format)
        st = diag ? diag->code : found.code;
    else
        st = format->load(&file, out, diag);
    if (st != QF_OK) {
        qfi_file_close(&file);
        return st;
    }
    st = qfi_graph_measure(*out, diag);
    if (st != QF_OK) {
        qf_close(*out);
        *out = NULL;
    }
    return st;
}

void qf_close(qf_graph *graph)
{
    if (graph)
        graph->close(graph);
}

const char *qf_graph_format(const qf_graph *graph)
{
    return graph->format->name;
}
