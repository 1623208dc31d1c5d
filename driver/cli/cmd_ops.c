/* qfold ops: internal operators, and for every kernel the row that this CPU gets; or what other
 * libraries would take. */
#include <qfold/eval.h>
#include <qfold/kernels.h>
#include <qfold/ops.h>
#include <stdio.h>
#include <string.h>

#include "args.h"

static const char *const kinds[] = {
    [QF_KIND_VIEW] = "view",     [QF_KIND_INDEX] = "index",     [QF_KIND_POINTWISE] = "pointwise",
    [QF_KIND_PIECES] = "pieces", [QF_KIND_BREAKER] = "breaker",
};
static const char *const families[QFK_FAMILY_COUNT] = {
    [QFK_copy] = "copy",       [QFK_binary] = "binary", [QFK_unary] = "unary",
    [QFK_compare] = "compare", [QFK_select] = "select", [QFK_cast] = "cast",
    [QFK_quant] = "quant",     [QFK_fill] = "fill",     [QFK_guard] = "guard",
    [QFK_reduce] = "reduce",   [QFK_gather] = "gather", [QFK_gemm] = "gemm",
};

static void print_operators(void)
{
    printf("operators\n  %-16s %-10s %-7s %-12s %s\n", "name", "kind", "inputs", "attributes", "");
    for (int i = 0; i < QF_OP_COUNT; i++) {
        const qf_op_info *op = qf_op_get((qf_op)i);
        char inputs[8] = "any";
        if (op->n_in >= 0)
            snprintf(inputs, sizeof inputs, "%d", op->n_in);
        printf("  %-16s %-10s %-7s %-12s %s%s\n", op->name, kinds[op->kind], inputs,
               strcmp(op->attrs, "none") ? op->attrs : "-",
               op->flags & QF_OP_CHECKED ? "checked " : "",
               op->flags & QF_OP_INEXACT ? "inexact" : "");
    }
}

/* "add_f32_avx2  (also add_f32_scalar)": the picked row, then the others of this key that were
 * built. */
static void print_key(const qf_table *table, uint16_t op_id, int key)
{
    size_t n;
    const char *before = "  (also ";
    const qfk_row *row = qfk_rows(&n), *picked = qfk_pick(table, op_id, (qfk_key)key);
    for (size_t i = 0; i < n; i++) {
        if (row[i].op_id != op_id || row[i].key != key || &row[i] == picked)
            continue;
        if (*before == ' ')
            printf("    %s", picked ? picked->name : "none");
        printf("%s%s", before, row[i].name);
        before = ", ";
    }
    if (*before == ',')
        puts(")");
    else if (picked)
        printf("    %s\n", picked->name);
}

static void print_kernels(const qf_table *table)
{
    size_t n;
    const qfk_op_info *op = qfk_ops(&n);
    printf("\nkernels for %s\n", qf_caps_name(qf_table_caps(table)));
    for (size_t i = 0; i < n; i++) {
        printf("  %s %s: %s\n", families[op[i].family], op[i].name, op[i].text);
        for (int key = 0; key < QFK_KEY_COUNT; key++)
            print_key(table, (uint16_t)i, key);
    }
}

static void print_rows(const char *provider)
{
    size_t n;
    const qf_provided *row = qf_provided_rows(&n);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(row[i].provider, provider))
            printf("  %-12s %-24s %s\n", row[i].op, row[i].type, row[i].numbers);
}

static void print_providers(void)
{
    const qf_provider *provider;
    char text[96];
    for (size_t i = 0; (provider = qf_provider_at(i)) != NULL; i++) {
        const bool ready = qf_provider_ready(provider->bit, text, sizeof text);
        printf("%s%s: %s%s\n", i ? "\n" : "", provider->library, ready ? "" : "not used: ", text);
        print_rows(provider->name);
    }
}

int qfi_cmd_ops(const qfi_args *args)
{
    if (args->providers) {
        print_providers();
        return 0;
    }
    qf_table *table = qf_table_make(qf_caps_detect());
    if (!table) {
        fputs("qfold: out of memory\n", stderr);
        return qf_status_exit_code(QF_ERR_NOMEM);
    }
    print_operators();
    print_kernels(table);
    qf_table_free(table);
    return 0;
}
