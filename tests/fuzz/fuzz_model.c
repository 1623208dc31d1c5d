/* Whole model files: opened, or refused with a message that names the file (by the last part of its
 * path, at least). Checksums of stored members are put right first, or no change inside a member
 * would ever reach its parser. */
#include <libdeflate.h>
#include <qfold/io.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_file.h"

static uint32_t number(const uint8_t *p, size_t n)
{
    uint32_t v = 0;
    for (size_t i = 0; i < n; i++)
        v |= (uint32_t)p[i] << (8 * i);
    return v;
}

/* The stored member of the directory entry at p[at], if there is one. */
static void repair_entry(uint8_t *p, size_t n, size_t at)
{
    const uint64_t size = number(p + at + 20, 4), local = number(p + at + 42, 4);
    if (number(p + at + 10, 2) || local > n || n - local < 30)
        return;
    const uint64_t data = local + 30 + number(p + local + 26, 2) + number(p + local + 28, 2);
    if (data > n || size > n - data)
        return;
    const uint32_t crc = libdeflate_crc32(0, p + data, (size_t)size);
    memcpy(p + at + 16, &crc, sizeof crc);
}

static void repair(uint8_t *p, size_t n)
{
    for (size_t at = 0; at + 46 <= n; at++)
        if (number(p + at, 4) == 0x02014b50)
            repair_entry(p, n, at);
}

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
    uint8_t *copy = malloc(n + 1);
    FUZZ_CHECK(copy);
    memcpy(copy, data, n);
    repair(copy, n);
    const int fd = fuzz_file(copy, n, path);
    const qf_status st = qf_open(path, &graph, &diag);
    FUZZ_CHECK(st == diag.code && !graph == (st != QF_OK));
    FUZZ_CHECK(st == QF_OK || strstr(diag.text, strrchr(path, '/') + 1));
    if (graph) {
        look_around(graph);
        qf_close(graph);
    }
    close(fd);
    free(copy);
    return 0;
}
