/* qfold inspect: what a model file holds; no tensor data is read. */
#include <qfold/io.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "terminal.h"

static void print_values(const qf_graph *graph)
{
    char size[24], type[120];
    printf("\n%-10s %12s  %-32s %s\n", "kind", "bytes", "name", "type");
    for (uint32_t i = 0; i < qf_graph_values(graph); i++) {
        const qf_value_view value = qf_graph_value(graph, i);
        uint64_t bytes = 0;
        if (value.kind != QF_VALUE_INPUT && value.payload == UINT32_MAX)
            continue;
        const bool known = qf_type_bytes(&value.type, &bytes);
        printf("%-10s %12s  ", qf_value_kind_name(value.kind),
               known ? qfi_human(bytes, size) : "?");
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
           qf_graph_nodes(graph), qfi_human(qf_graph_stored_bytes(graph), size),
           qf_graph_payloads(graph));
    print_values(graph);
    return print_operators(graph);
}

/* What make_json is given. */
typedef struct inspected {
    const char *path;
    const qf_graph *graph;
} inspected;

static qf_status make_json(const void *what, FILE *out, qf_diag *diag)
{
    const inspected *model = what;
    return qf_graph_json(model->graph, model->path, qfi_put_text, out, diag);
}

int qfi_cmd_inspect(const qfi_args *args)
{
    qf_graph *graph = NULL;
    qf_diag diag = { 0 };
    const qf_status st = qf_open(args->operand, &graph, &diag);
    if (st != QF_OK)
        return qfi_complain(st, &diag);
    const inspected what = { args->operand, graph };
    const int code = args->json ? qfi_write_json(args->json, make_json, &what)
                                : print_model(args->operand, graph);
    qf_close(graph);
    return code;
}
