/* The table of torch's operators: look-up, what a row says of a node, and lowering through the
 * row's builder. */
#include "aten_build.h"

#include <stddef.h>
#include <string.h>

#include "pt2.h"

static const qfi_aten_row rows[] = {
#define QF_ATEN(name, schema, builder, alias)                                                      \
    { name, schema, qfi_build_##builder, QFI_PURE, QFI_##alias, QF_REASON_none, 0 },
#define QF_WRITE(name, schema, builder)                                                            \
    { name, schema, qfi_build_##builder, QFI_WRITE, QFI_ALIAS, QF_REASON_none, 0 },
#define QF_OUT(name, schema, builder)                                                              \
    { name, schema, qfi_build_##builder, QFI_WRITE, QFI_ALIAS_LAST, QF_REASON_none, 0 },
#define QF_EMPTY(name, schema)                                                                     \
    { name, schema, qfi_build_empty, QFI_PURE, QFI_FRESH, QF_REASON_uninitialised, 0 },
#define QF_ASSERT(name, schema, builder)                                                           \
    { name, schema, qfi_build_##builder, QFI_ASSERT, QFI_FRESH, QF_REASON_none, 0 },
#define QF_DEQUANTIZE(name, schema, builder)                                                       \
    { name, schema, qfi_build_##builder, QFI_PURE, QFI_FRESH, QF_REASON_none, QFI_DEQUANTIZE_AXIS },
#define QF_DEQUANTIZE_BLOCKS(name, schema, builder)                                                \
    {                                                                                              \
        name,      schema,         qfi_build_##builder,  QFI_PURE,                                 \
        QFI_FRESH, QF_REASON_none, QFI_DEQUANTIZE_BLOCKS                                           \
    },
#define QF_REGION(name) { name, NULL, NULL, QFI_REGION, QFI_FRESH, QF_REASON_none, 0 },
#define QF_CONTROL(name) { name, NULL, NULL, QFI_CONTROL, QFI_FRESH, QF_REASON_control_flow, 0 },
#define QF_KEEP(name, reason) { name, NULL, NULL, QFI_KEEP, QFI_FRESH, QF_REASON_##reason, 0 },
#include "aten_ops.def"
#undef QF_ATEN
#undef QF_WRITE
#undef QF_OUT
#undef QF_EMPTY
#undef QF_ASSERT
#undef QF_DEQUANTIZE
#undef QF_DEQUANTIZE_BLOCKS
#undef QF_REGION
#undef QF_CONTROL
#undef QF_KEEP
};

static int compare(qf_str a, const char *b)
{
    const int order = strncmp(a.p, b, a.n);
    return order ? order : b[a.n] ? -1 : 0;
}

const qfi_aten_row *qfi_aten_find(qf_str target)
{
    size_t lo = 0, hi = sizeof rows / sizeof *rows;

    if (memchr(target.p, 0, target.n))
        return NULL;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        const int order = compare(target, rows[mid].name);
        if (!order)
            return &rows[mid];
        if (order < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return NULL;
}

void qfi_aten_describe(const qfi_aten_row *row, qf_str target, qfi_node *node)
{
    node->op = target;
    node->row = row;
    node->effect = row ? row->effect : QFI_UNKNOWN;
    node->alias = row ? row->alias : QFI_FRESH;
    node->reason = row ? row->reason : QF_REASON_unknown_op;
    node->dequantize = row ? row->dequantize : 0;
}

void qfi_aten_describe_region(qf_str text, qfi_node *node)
{
    bool enabled = true;

    if (node->effect != QFI_REGION || !qfi_str_is(node->op, "higher_order.wrap_with_autocast"))
        return;
    /* wrap_with_autocast(device, dtype, enabled, cache, body, operands…) */
    if (!qfi_aten_bool_at(text, 2, &enabled) || enabled) {
        node->effect = QFI_KEEP;
        node->reason = QF_REASON_control_flow;
    }
}

/* Appends an operator that the program calls for the first time; NULL when out of memory. */
static const qfi_aten_op *add_op(qfi_aten_ops *ops, qf_str target)
{
    qfi_aten_op *op = qfi_pool_alloc(ops->names.pool, 1, sizeof *op);
    const qfi_aten_op **all =
        qfi_pool_grow(ops->names.pool, ops->op, ops->n, &ops->cap, sizeof *all);
    uint32_t was;

    if (all)
        ops->op = all;
    if (!op || !all || !qfi_names_put(&ops->names, target, (uint32_t)ops->n, &was))
        return NULL;
    op->row = qfi_aten_find(target);
    if (op->row && op->row->schema && !qfi_aten_defaults(op, ops->names.pool))
        return NULL;
    return ops->op[ops->n++] = op;
}

bool qfi_aten_meet(qfi_aten_ops *ops, qf_str target, qfi_node *node)
{
    const uint32_t number = qfi_names_get(&ops->names, target);
    const qfi_aten_op *op = number < ops->n ? ops->op[number] : add_op(ops, target);

    if (!op)
        return false;
    qfi_aten_describe(op->row, target, node);
    node->row = op;
    return true;
}

qf_status qfi_aten_lower(const qf_graph *graph, qfi_id node, qfi_env *env, qf_diag *diag)
{
    const qfi_aten_op *op = graph->node[node].row;
    const qfi_aten_row *row = op->row;
    qfi_lowering l;

    if (!row || !row->build)
        return qfi_env_keep(env, row && row->reason ? (qf_reason)row->reason : QF_REASON_unknown_op,
                            "%.*s", QFI_STR(graph->node[node].op));
    memset(&l, 0, offsetof(qfi_lowering, arg));
    l.graph = graph;
    l.node = node;
    l.env = env;
    l.diag = diag;
    l.row = row;
    l.n_arg = op->n_arg;
    memcpy(l.arg, op->arg, op->n_arg * sizeof *op->arg);
    qfi_aten_parse(&l, qfi_pt2_node_text(graph, node));
    if (qfi_lowering_ok(&l))
        row->build(&l);
    return l.status;
}
