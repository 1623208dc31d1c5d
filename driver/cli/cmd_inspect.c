/* qfold inspect: what a model file holds; no tensor data is read. */
#include <qfold/io.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "inspect.h"
#include "terminal.h"

const char *const qfi_value_kinds[] = {
    [QF_VALUE_INPUT] = "input",   [QF_VALUE_PARAM] = "parameter",   [QF_VALUE_CONST] = "constant",
    [QF_VALUE_BUFFER] = "buffer", [QF_VALUE_COMPUTED] = "computed", [QF_VALUE_SCALAR] = "number",
    [QF_VALUE_OTHER] = "other",
};

bool qfi_value_is_listed(const qf_value_view *value)
{
    return value->kind == QF_VALUE_INPUT || value->payload != UINT32_MAX;
}

static void print_values(const qf_graph *graph)
{
    char size[24], type[120];
    printf("\n%-10s %12s  %-32s %s\n", "kind", "bytes", "name", "type");
    for (uint32_t i = 0; i < qf_graph_values(graph); i++) {
        const qf_value_view value = qf_graph_value(graph, i);
        uint64_t bytes = 0;
        if (!qfi_value_is_listed(&value))
            continue;
        const bool known = qf_type_bytes(&value.type, &bytes);
        printf("%-10s %12s  ", qfi_value_kinds[value.kind], known ? qfi_human(bytes, size) : "?");
        qfi_put(stdout, value.name.p, value.name.n, 32);
        printf(" %s\n", qfi_type_text(&value.type, type, sizeof type));
    }
}

static int by_name(const void *a, const void *b)
{
    const qf_str *x = a, *y = b;
    const int order = memcmp(x->p, y->p, x->n < y->n ? x->n : y->n);
    return order ? order : (x->n > y->n) - (x->n < y->n);
}

/* Operators with their counts, by name. */
static int print_operators(const qf_graph *graph)
{
    const uint32_t n = qf_graph_nodes(graph);
    qf_str *op = malloc((n ? n : 1) * sizeof *op);
    if (!op) {
        const qf_diag diag = { .code = QF_ERR_NOMEM };
        return qfi_complain(QF_ERR_NOMEM, &diag);
    }
    for (uint32_t i = 0; i < n; i++)
        op[i] = qf_graph_node(graph, i).op;
    qsort(op, n, sizeof *op, by_name);
    printf("\n%-10s %s\n", "count", "operator");
    for (uint32_t i = 0, run; i < n; i += run) {
        for (run = 1; i + run < n && by_name(&op[i], &op[i + run]) == 0; run++)
            ;
        printf("%-10u ", run);
        qfi_put(stdout, op[i].p, op[i].n, 0);
        putchar('\n');
    }
    free(op);
    return 0;
}

static int print_model(const char *path, const qf_graph *graph)
{
    char size[24];
    printf("%s: %s, %u nodes, %s in %u payloads\n", path, qf_graph_format(graph),
           qf_graph_nodes(graph), qfi_human(qfi_stored_bytes(graph), size),
           qf_graph_payloads(graph));
    print_values(graph);
    return print_operators(graph);
}

int qfi_cmd_inspect(const qfi_args *args)
{
    qf_graph *graph = NULL;
    qf_diag diag = { 0 };
    const qf_status st = qf_open(args->operand, &graph, &diag);
    if (st != QF_OK)
        return qfi_complain(st, &diag);
    const qfi_inspected what = { args->operand, graph };
    const int code = args->json ? qfi_write_json(args->json, qfi_inspect_json, &what)
                                : print_model(args->operand, graph);
    qf_close(graph);
    return code;
}
