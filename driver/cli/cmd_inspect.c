/* qfold inspect: what a model file holds; no tensor data is read. */
#include <inttypes.h>
#include <qfold/io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "terminal.h"

/* Values on one payload, as far as they are counted for each of them. */
#define MAX_COUNTED 99

static const char *stride_text(const qf_value_view *value, char *text, size_t size)
{
    size_t n = (size_t)snprintf(text, size, value->strided ? "[" : "");
    for (int k = 0; value->strided && k < value->type.rank; k++)
        n += (size_t)snprintf(text + n, size - n, "%s%lld", k ? ", " : "",
                              (long long)value->stride[k]);
    if (value->strided)
        snprintf(text + n, size - n, "]");
    return text;
}

/* The next value on the same payload, and how many there are beside it. */
static void print_shared(const qf_graph *graph, uint32_t i)
{
    uint32_t n = 0;
    const uint32_t first = qf_graph_value(graph, i).next_shared;
    for (uint32_t v = first; v != i && n <= MAX_COUNTED; v = qf_graph_value(graph, v).next_shared)
        n++;
    if (!n)
        return;
    const qf_str name = qf_graph_value(graph, first).name;
    fputs("  shared with ", stdout);
    qfi_put(stdout, name.p, name.n, 0);
    if (n > MAX_COUNTED)
        printf(" and more than %d others", MAX_COUNTED - 1);
    else if (n > 1)
        printf(" and %u more", n - 1);
}

static void print_values(const qf_graph *graph)
{
    char size[24], type[120], stride[200];
    printf("\n%-10s %12s  %-32s %-24s %s\n", "kind", "bytes", "name", "type", "strides");
    for (uint32_t i = 0; i < qf_graph_values(graph); i++) {
        const qf_value_view value = qf_graph_value(graph, i);
        uint64_t bytes = 0;
        if (value.kind != QF_VALUE_INPUT && value.payload == UINT32_MAX)
            continue;
        const bool known = qf_type_bytes(&value.type, &bytes);
        printf("%-10s %12s  ", qf_value_kind_name(value.kind),
               known ? qfi_human(bytes, size) : "?");
        qfi_put(stdout, value.name.p, value.name.n, 32);
        printf(" %-24s %s", qfi_type_text(&value.type, type, sizeof type),
               stride_text(&value, stride, sizeof stride));
        print_shared(graph, i);
        putchar('\n');
    }
}

static int by_name(const void *a, const void *b)
{
    const qf_str *x = a, *y = b;
    const int order = memcmp(x->p, y->p, x->n < y->n ? x->n : y->n);
    return order ? order : (x->n > y->n) - (x->n < y->n);
}

/* Operators of a graph and of the bodies in it, behind op[n]; how many there are then. op NULL:
 * they are only counted. */
static size_t list_operators(const qf_graph *graph, qf_str *op, size_t n)
{
    for (uint32_t i = 0; i < qf_graph_nodes(graph); i++) {
        const qf_node_view node = qf_graph_node(graph, i);
        if (op)
            op[n] = node.op;
        n++;
        for (uint32_t k = 0; k < node.n_body; k++)
            n = list_operators(qf_graph_body(graph, i, k), op, n);
    }
    return n;
}

/* Operators with their counts, by name. */
static int print_operators(const qf_graph *graph)
{
    const size_t n = list_operators(graph, NULL, 0);
    qf_str *op = malloc((n ? n : 1) * sizeof *op);
    if (!op) {
        const qf_diag diag = { .code = QF_ERR_NOMEM };
        return qfi_complain(QF_ERR_NOMEM, &diag);
    }
    list_operators(graph, op, 0);
    qsort(op, n, sizeof *op, by_name);
    printf("\n%-10s %s\n", "count", "operator");
    for (size_t i = 0, run; i < n; i += run) {
        for (run = 1; i + run < n && by_name(&op[i], &op[i + run]) == 0; run++)
            ;
        printf("%-10zu ", run);
        qfi_put(stdout, op[i].p, op[i].n, 0);
        putchar('\n');
    }
    free(op);
    return 0;
}

static int print_model(const char *path, const qf_graph *graph)
{
    char size[24];
    qf_graph_counts counts;
    qf_diag diag = { 0 };
    const qf_status st = qf_graph_count(graph, &counts, &diag);
    if (st != QF_OK)
        return qfi_complain(st, &diag);
    const double share = counts.nodes ? 100 * (double)counts.constant / (double)counts.nodes : 0;
    qfi_put(stdout, path, strlen(path), 0);
    printf(": %s, %" PRIu64 " nodes, %" PRIu64 " constant (%.1f%%), %s in %u payloads\n",
           qf_graph_format(graph), counts.nodes, counts.constant, share,
           qfi_human(qf_graph_stored_bytes(graph), size), qf_graph_payloads(graph));
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
