/* Reports as text: a line for every node, a line for every payload. */
#include <string.h>

#include "folding.h"

/* Columns as wide as the longest name, within reason. */
static int widest(const qf_report *r, bool op)
{
    size_t width = 0;
    for (uint32_t i = 0; i < r->n_nodes; i++) {
        const qf_report_node *node = &r->node[i];
        const size_t n = op ? strlen(node->op) : strlen(node->graph) + strlen(node->name);
        width = n > width && n <= 40 ? n : width;
    }
    return (int)width;
}

static void print_why(const qf_report_node *node)
{
    char size[24];
    if (node->verdict == QF_KEPT) {
        printf("%s: %s", qf_reason_name(node->reason), qf_reason_text(node->reason));
        if (*node->detail)
            fputs(": ", stdout);
        qfi_put(stdout, node->detail, strlen(node->detail), 0);
    } else if (node->bytes) {
        fputs(qfi_human(node->bytes, size), stdout);
    }
    putchar('\n');
}

void qfi_print_nodes(const qf_report *r)
{
    const int name = widest(r, false), op = widest(r, true);
    for (uint32_t i = 0; i < r->n_nodes; i++) {
        const qf_report_node *node = &r->node[i];
        printf("%-6s  ", qf_verdict_name(node->verdict));
        const int path = (int)strlen(node->graph);
        fputs(node->graph, stdout);
        qfi_put(stdout, node->name, strlen(node->name), name > path ? name - path : 0);
        fputs("  ", stdout);
        qfi_put(stdout, node->op, strlen(node->op), op);
        fputs("  ", stdout);
        print_why(node);
    }
}

void qfi_print_steps(const qf_report *r)
{
    char bytes[24], read[24], memory[24];
    if (!r->n_steps)
        return;
    printf("\n%12s %12s %12s %6s  %s\n", "bytes", "read", "memory", "calls", "computed");
    for (uint32_t i = 0; i < r->n_steps; i++) {
        const qf_report_step *step = &r->step[i];
        printf("%12s %12s %12s %6u  ", qfi_human(step->bytes, bytes), qfi_human(step->read, read),
               qfi_human(step->scratch + step->window, memory), step->n_calls);
        qfi_put(stdout, step->name, strlen(step->name), 0);
        putchar('\n');
    }
}
