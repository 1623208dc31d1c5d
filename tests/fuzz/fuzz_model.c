/* Whole model files: opened, or refused with a message that names the file (by the last part of its
 * path, at least). */
#include <qfold/io.h>

#include "fuzz_archive.h"

static void look_around(const qf_graph *graph)
{
    for (uint32_t i = 0; i < qf_graph_values(graph); i++)
        (void)qf_graph_value(graph, i);
    for (uint32_t i = 0; i < qf_graph_nodes(graph); i++)
        (void)qf_graph_node(graph, i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char path[32];
    qf_graph *graph = NULL;
    qf_diag diag = { 0 };
    const int fd = fuzz_archive(data, n, path);
    const qf_status st = qf_open(path, &graph, &diag);
    FUZZ_CHECK(st == diag.code && !graph == (st != QF_OK));
    FUZZ_CHECK(st == QF_OK || strstr(diag.text, strrchr(path, '/') + 1));
    if (graph) {
        look_around(graph);
        qf_close(graph);
    }
    close(fd);
    return 0;
}
