/* One node of a torch.export graph, lowered without a file, a fold or values. */
#include "aten_support.h"

#include <stdio.h>
#include <string.h>

#include "io/aten.h"
#include "io/json.h"
#include "io/pt2.h"

#define MAX_IN 8

/* What the scopes of a graph need of an archive. */
typedef struct archive {
    qfi_pt2 pt2;
    qfi_pt2_scope scope;
    qfi_ref ref[MAX_IN];
} archive;

/* ---- the environment ---- */

static qfi_ref operand_ref(qfi_env *env, qfi_id value)
{
    const archive *a = env->user;
    return value < MAX_IN ? a->ref[value] : QFI_NONE;
}

static bool no_scalar(qfi_env *env, qfi_id value, qf_scalar *out)
{
    (void)env, (void)value, (void)out;
    return false;
}

static bool no_elements(qfi_env *env, qfi_ref ref, qf_scalar *out, uint32_t *n)
{
    (void)env, (void)ref, (void)out, (void)n;
    return false;
}

/* ---- the graph ---- */

static int put_meta(char *p, size_t n, uint32_t k, const qf_type *type)
{
    int at = snprintf(p, n, "%s\"x%u\":{\"dtype\":%d,\"sizes\":[", k ? "," : "", (unsigned)k,
                      (int)qf_dtype_get(type->dtype)->torch);
    for (int i = 0; i < type->rank; i++)
        at += snprintf(p + at, n - (size_t)at, "%s{\"as_int\":%lld}", i ? "," : "",
                       (long long)type->dim[i]);
    at += snprintf(p + at, n - (size_t)at, "],\"strides\":[");
    for (int i = 0; i < type->rank; i++)
        at += snprintf(p + at, n - (size_t)at, "%s{\"as_int\":%d}", i ? "," : "", i);
    return at + snprintf(p + at, n - (size_t)at,
                         "],\"requires_grad\":false,\"device\":{\"type\":\"cpu\",\"index\":null},"
                         "\"storage_offset\":{\"as_int\":0},\"layout\":7}");
}

static void write_graph(lowered *l, const char *op, const char *inputs, const char *outputs,
                        const qf_type *in, uint32_t n_in)
{
    const size_t n = sizeof l->text;
    int at = snprintf(l->text, n, "{\"inputs\":[");
    char tags[128], *save = NULL;

    for (uint32_t k = 0; k < n_in; k++)
        at += snprintf(l->text + at, n - (size_t)at, "{\"as_tensor\":{\"name\":\"x%u\"}},",
                       (unsigned)k);
    at += snprintf(l->text + at, n - (size_t)at,
                   "{\"as_sym_int\":{\"as_name\":\"s\"}}],\"nodes\":[{\"target\":\"%s\",\"inputs\":"
                   "%s,\"outputs\":[",
                   op, inputs);
    snprintf(tags, sizeof tags, "%s", outputs);
    int k = 0;
    for (char *tag = strtok_r(tags, " ", &save); tag; tag = strtok_r(NULL, " ", &save), k++)
        at += snprintf(l->text + at, n - (size_t)at, "%s{\"%s\":{\"%s\":\"y%d\"}}", k ? "," : "",
                       tag, strncmp(tag, "as_sym", 6) ? "name" : "as_name", k);
    at += snprintf(l->text + at, n - (size_t)at,
                   "],\"metadata\":{},\"name\":\"n\"}],\"outputs\":[],\"tensor_values\":{");
    for (uint32_t i = 0; i < n_in; i++)
        at += put_meta(l->text + at, n - (size_t)at, i, &in[i]);
    at += snprintf(l->text + at, n - (size_t)at, "},\"sym_int_values\":{}}");
    assert_true((size_t)at < n);
}

void lower_node(lowered *l, const char *op, const char *inputs, const char *outputs,
                const qf_type *in, uint32_t n_in)
{
    memset(l, 0, sizeof *l);
    assert_true(n_in <= MAX_IN);
    archive *a = qfi_pool_alloc(&l->graph.pool, 1, sizeof *a);
    assert_non_null(a);
    write_graph(l, op, inputs, outputs, in, n_in);
    a->pt2.model = (qf_str){ l->text, strlen(l->text) };
    a->pt2.symbols.pool = a->pt2.ops.names.pool = a->scope.names.pool = &l->graph.pool;
    a->scope.pt2 = &a->pt2;
    a->scope.top = &l->graph;
    l->graph.source = &a->scope;
    qfi_json j = { .text = l->text, .n = strlen(l->text), .name = "graph", .diag = &l->diag };
    if (!qfi_pt2_graph_read(&l->graph, &j))
        fail_msg("%s\n%s", l->diag.text, l->text);

    l->prog.graph = &l->graph;
    for (uint32_t k = 0; k < n_in; k++) {
        const qf_attrs attrs = { .full = { .type = in[k],
                                           .value = { .is_int = true, .i = (int64_t)k } } };
        assert_ok(qfi_prog_call(&l->prog, QF_OP_full, &attrs, NULL, 0, &a->ref[k], &l->diag),
                  &l->diag);
    }
    for (size_t i = 0; i < sizeof l->out / sizeof *l->out; i++)
        l->out[i] = QFI_NONE;
    l->env = (qfi_env){ .prog = &l->prog,
                        .user = a,
                        .ref = operand_ref,
                        .scalar = no_scalar,
                        .elements = no_elements,
                        .out = l->out,
                        .written = QFI_NONE };
    l->status = qfi_aten_lower(&l->graph, 0, &l->env, &l->diag);
}

void lower_end(lowered *l)
{
    qfi_prog_free(&l->prog);
    qfi_pool_free(&l->graph.pool);
}

const qfi_def *first_result(const lowered *l)
{
    assert_ok(l->status, &l->diag);
    if (l->env.reason != QF_REASON_none || l->out[0] == QFI_NONE)
        fail_msg("kept: %s (%s)\n%s", qf_reason_name(l->env.reason), l->env.detail, l->text);
    return &l->prog.def[l->out[0]];
}

qf_scalar number_result(const lowered *l)
{
    const qfi_def *def = first_result(l);

    assert_int_equal(def->op, QF_OP_full);
    assert_int_equal(def->type.rank, 0);
    return def->attrs->full.value;
}

const qf_type aten_matrix = { .dtype = QF_DT_f32, .rank = 2, .dim = { 2, 3 } };

void expect_reason(const char *op, const char *inputs, qf_reason reason)
{
    lowered l;
    lower_node(&l, op, inputs, "as_tensor", (const qf_type[]){ aten_matrix, aten_matrix }, 2);
    assert_ok(l.status, &l.diag);
    if (l.env.reason != reason)
        fail_msg("%s: %s (%s), not %s", inputs, qf_reason_name(l.env.reason), l.env.detail,
                 qf_reason_name(reason));
    lower_end(&l);
}
