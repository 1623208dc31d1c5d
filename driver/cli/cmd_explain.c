/* qfold explain: a verdict for every node, with the reason where one stays. */
#include <string.h>

#include "folding.h"

static void print_list(const char *title, const char *const *item, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        printf("  %-9s  ", i ? "" : title);
        qfi_put(stdout, item[i], strlen(item[i]), 0);
        putchar('\n');
    }
}

static void print_bytes(const char *title, uint64_t bytes)
{
    char text[24];
    if (bytes)
        printf("  %-9s  %s\n", title, qfi_human(bytes, text));
}

static void print_node(const qf_report_node *node)
{
    static const char *const why[] = {
        [QF_FOLDED] = ": depends on constants alone",
        [QF_KEPT] = "",
        [QF_DEAD] = ": nothing needs it any more, removed",
    };
    printf("%s%s (%s)\n  %-9s  %s%s\n", node->graph, node->name, node->op, "verdict",
           qf_verdict_name(node->verdict), why[node->verdict]);
    if (node->verdict == QF_KEPT)
        printf("  %-9s  %s (%s): %s\n", "reason", qf_reason_name(node->reason),
               qf_reason_class_name(qf_reason_class_of(node->reason)),
               qf_reason_text(node->reason));
    if (*node->detail)
        print_list("detail", &node->detail, 1);
    print_bytes("result", node->bytes);
    print_bytes("removed", node->bytes_before);
    print_bytes("stored", node->bytes_after);
    print_list("from", node->sources, node->n_sources);
}

/* By its name alone, or behind the path of the body in which it stands. */
static bool is_named(const qf_report_node *node, const char *name)
{
    const size_t path = strlen(node->graph);
    return !strcmp(node->name, name) ||
           (!strncmp(node->graph, name, path) && !strcmp(node->name, name + path));
}

static int explain_one(const qfi_args *args, const qf_report *report)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < report->n_nodes; i++)
        if (is_named(&report->node[i], args->node)) {
            print_node(&report->node[i]);
            found++;
        }
    if (found)
        return 0;
    qfi_usage(args->command, "--node %s: %s has no such node", args->node, args->operand);
    return QFI_EXIT_USAGE;
}

int qfi_cmd_explain(const qfi_args *args)
{
    qf_report *report = NULL;
    int code = qfi_fold_run(args, NULL, &report);
    if (code)
        return code;
    if (args->json)
        code = qfi_report_write(args, report);
    else if (args->node)
        code = explain_one(args, report);
    else
        qfi_print_nodes(report);
    qf_report_free(report);
    return code;
}
