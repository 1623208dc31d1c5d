/* The report of a fold: what became of every node and why, what was stored, what it took. */
#include "work.h"

#include <stdlib.h>
#include <string.h>

#include "../graph/hash.h"

/* Names of sources are for people: a result that comes from more stored tensors lists the first
 * ones. */
#define MAX_SOURCES 64u
#define MAX_VISITED 4096u
/* Thousands of nodes share a few operators, whose names are copied once. */
#define OPS 64u

typedef struct writer {
    const qfi_fold *fold;
    const qfi_run *run;
    const qf_graph *graph;
    qfi_pool *pool;
    qf_report *report;
    uint32_t *seen; /* per definition: the last node that visited it */
    qfi_ref *queue;
    const char **value_name; /* per value: what inputs call it, once that is known */
    const char *name[MAX_SOURCES];
    uint32_t n_name;
    qf_str op[OPS]; /* copies, each in the place that its hash gives */
    bool failed;    /* memory ran out: told at the end */
} writer;

static const char *text(writer *w, qf_str s)
{
    const char *copy = s.n ? qfi_pool_text(w->pool, s.p, s.n) : "";
    w->failed |= !copy;
    return copy ? copy : "";
}

static const char *text_of_op(writer *w, qf_str op)
{
    qf_str *known = &w->op[qfi_hash_bytes(0, op.p, op.n) % OPS];
    if (!known->p || !qfi_str_equal(*known, op)) {
        const char *copy = text(w, op);
        *known = (qf_str){ copy, *copy ? op.n : 0 };
    }
    return known->p;
}

static void *array(writer *w, size_t n, size_t size)
{
    void *p = qfi_pool_alloc(w->pool, n, size);
    w->failed |= !p;
    return p;
}

/* ---------------------------------------- sources */

static void add_source(writer *w, qfi_id value)
{
    if (w->n_name < MAX_SOURCES)
        w->name[w->n_name++] = text(w, w->graph->value[value].name);
}

static void visit_definitions(writer *w, qfi_ref ref, uint32_t mark)
{
    const qfi_prog *prog = &w->fold->prog;
    uint32_t n = 0;
    w->queue[n++] = ref;
    for (uint32_t i = 0; i < n; i++) {
        const qfi_def *def = &prog->def[w->queue[i]];
        if (w->seen[w->queue[i]] == mark)
            continue;
        w->seen[w->queue[i]] = mark;
        if (def->leaf != QFI_NONE)
            add_source(w, def->leaf);
        for (uint32_t k = 0; k < def->n_in && n < MAX_VISITED; k++)
            if (w->seen[def->in[k]] != mark)
                w->queue[n++] = def->in[k];
    }
}

static void set_sources(writer *w, qf_report_node *out, const qfi_node *node, uint32_t mark)
{
    w->n_name = 0;
    for (uint32_t k = 0; k < node->n_out; k++)
        if (w->run->boundary[node->first_out + k] != QFI_NONE)
            visit_definitions(w, w->run->boundary[node->first_out + k], mark);
    if (!w->n_name)
        return;
    const char **names = array(w, w->n_name, sizeof *names);
    if (!names)
        return;
    memcpy(names, w->name, w->n_name * sizeof *names);
    out->sources = names;
    out->n_sources = w->n_name;
}

/* ---------------------------------------- inputs */

/* A node of a body stands behind the path of the body. */
static const char *path_of_node(writer *w, qfi_id n)
{
    const qf_str path = w->fold->whole.part[qfi_node_part(&w->fold->whole, n)].graph->path;
    const qf_str name = w->graph->node[n].name;
    if (!path.n)
        return text(w, name);
    char *whole = array(w, path.n + name.n + 1, 1);
    if (!whole)
        return "";
    memcpy(whole, path.p, path.n);
    memcpy(whole + path.n, name.p, name.n);
    return whole;
}

static const char *name_of_value(writer *w, qfi_id value)
{
    const qfi_value *v = &w->graph->value[value];
    if (!w->value_name[value])
        w->value_name[value] = v->node == QFI_NONE ? text(w, v->name) : path_of_node(w, v->node);
    return w->value_name[value];
}

static void set_inputs(writer *w, qf_report_node *out, const qfi_node *node)
{
    const char **names = node->n_in ? array(w, node->n_in, sizeof *names) : NULL;
    uint32_t n = 0;
    for (uint32_t k = 0; names && k < node->n_in; k++)
        if (w->graph->operand[node->first_in + k] != QFI_NONE)
            names[n++] = name_of_value(w, w->graph->operand[node->first_in + k]);
    out->inputs = names;
    out->n_inputs = n;
}

/* ---------------------------------------- nodes and reasons */

static uint64_t bytes_of_results(const qf_graph *g, const qfi_node *node)
{
    uint64_t sum = 0, bytes;
    for (uint32_t k = 0; k < node->n_out; k++) {
        const qfi_value *value = &g->value[node->first_out + k];
        if (value->kind == QF_VALUE_COMPUTED && qf_type_bytes(&value->type, &bytes))
            sum = qfi_add_saturating(sum, bytes);
    }
    return sum;
}

static void write_node(writer *w, qfi_id n, qf_report_node *out)
{
    const qfi_node *node = &w->graph->node[n];
    const qfi_node_state *state = &w->fold->node[n];
    const qfi_part *part = &w->fold->whole.part[qfi_node_part(&w->fold->whole, n)];
    *out = (qf_report_node){ .graph = text(w, part->graph->path),
                             .name = text(w, node->name),
                             .op = text_of_op(w, node->op),
                             .verdict = state->verdict,
                             .reason = state->verdict == QF_KEPT ? state->reason : QF_REASON_none,
                             .bytes = bytes_of_results(w->graph, node),
                             .bytes_before = state->bytes_before,
                             .bytes_after = state->bytes_after };
    const char *detail = state->verdict == QF_KEPT && state->detail ? state->detail : "";
    out->detail = text(w, (qf_str){ detail, strlen(detail) });
    set_inputs(w, out, node);
    if (state->verdict == QF_FOLDED)
        set_sources(w, out, node, n + 1);
    w->report->n_folded += state->verdict == QF_FOLDED;
    w->report->n_kept += state->verdict == QF_KEPT;
    w->report->n_dead += state->verdict == QF_DEAD;
    w->report->n_carried += state->carried && node->dequantize;
}

static void write_nodes(writer *w)
{
    const uint32_t n = w->graph->n_node;
    qf_report_node *nodes = array(w, n, sizeof *nodes);
    w->seen = array(w, w->fold->prog.n, sizeof *w->seen);
    w->queue = array(w, MAX_VISITED, sizeof *w->queue);
    w->value_name = array(w, w->graph->n_value, sizeof *w->value_name);
    if (!nodes || !w->seen || !w->queue || !w->value_name)
        return;
    for (qfi_id i = 0; i < n; i++)
        write_node(w, i, &nodes[i]);
    w->report->node = nodes;
    w->report->n_nodes = n;
}

/* Reasons by their place in the list, and the place of each, plus one. */
enum {
#define QF_REASON(name, number, kind, text) AT_##name,
#include <qfold/reasons.def>
#undef QF_REASON
    N_REASONS
};
static const qf_reason all_reasons[] = {
#define QF_REASON(name, number, kind, text) QF_REASON_##name,
#include <qfold/reasons.def>
#undef QF_REASON
};
static const uint8_t places[] = {
#define QF_REASON(name, number, kind, text) [QF_REASON_##name] = AT_##name + 1,
#include <qfold/reasons.def>
#undef QF_REASON
};

static void write_reasons(writer *w)
{
    qf_report_reason *reasons = array(w, N_REASONS, sizeof *reasons);
    if (!reasons)
        return;
    for (size_t i = 0; i < N_REASONS; i++)
        reasons[i].reason = all_reasons[i];
    for (uint32_t n = 0; n < w->report->n_nodes; n++) {
        const qf_report_node *node = &w->report->node[n];
        if (!places[node->reason])
            continue;
        qf_report_reason *reason = &reasons[places[node->reason] - 1];
        reason->count++;
        reason->bytes += node->bytes;
    }
    uint32_t used = 0;
    for (size_t i = 0; i < N_REASONS; i++)
        if (reasons[i].count)
            reasons[used++] = reasons[i];
    w->report->reason = reasons;
    w->report->n_reasons = used;
}

/* ---------------------------------------- constants, steps, notes */

static void write_constant(writer *w, const qfi_constant *constant, bool *counted,
                           qf_report_constant *out)
{
    const qf_graph *g = w->graph;
    const qfi_value *like = &g->value[constant->like];
    *out = (qf_report_constant){ .name = text(w, like->name),
                                 .type = constant->type,
                                 .view = constant->payload < g->n_payload };
    if (!out->view && !counted[constant->payload - g->n_payload]) {
        const uint32_t i = constant->payload - g->n_payload;
        counted[i] = true;
        out->bytes = w->fold->edits.new_payload[i].size;
        out->nonfinite = w->fold->nonfinite[i];
    }
    const char **names = like->node == QFI_NONE ? NULL : array(w, 1, sizeof *names);
    if (!names)
        return;
    names[0] = name_of_value(w, constant->like);
    out->nodes = names;
    out->n_nodes = 1;
}

static void write_notes(writer *w)
{
    qf_report *report = w->report;
    qf_report_note *notes = array(w, report->n_constants, sizeof *notes);
    for (uint32_t i = 0; notes && i < report->n_constants; i++) {
        const qf_report_constant *c = &report->constant[i];
        const uint32_t payload = w->fold->edits.constant[i].payload;
        if (!c->nonfinite || !w->fold->accident[payload - w->graph->n_payload])
            continue;
        const char *told =
            qfi_pool_format(w->pool, "%llu elements are NaN or infinite, none of its sources is",
                            (unsigned long long)c->nonfinite);
        w->failed |= !told;
        notes[report->n_notes++] = (qf_report_note){ "warning", "nonfinite", c->name, told };
    }
    report->note = notes;
}

static void write_constants(writer *w)
{
    const qfi_edits *edits = &w->fold->edits;
    qf_report_constant *constants = array(w, edits->n_constant, sizeof *constants);
    qf_report_step *steps = array(w, edits->n_new_payload, sizeof *steps);
    bool *counted = array(w, edits->n_new_payload, sizeof *counted);
    if (!constants || !steps || !counted)
        return;
    for (uint32_t i = 0; i < edits->n_constant; i++) {
        const uint32_t payload = edits->constant[i].payload;
        const bool fresh =
            payload >= w->graph->n_payload && !counted[payload - w->graph->n_payload];
        write_constant(w, &edits->constant[i], counted, &constants[i]);
        if (fresh)
            steps[payload - w->graph->n_payload].name = constants[i].name;
    }
    for (uint32_t i = 0; i < edits->n_new_payload; i++) {
        const qf_cost *cost = &w->run->cost[i];
        steps[i].bytes = edits->new_payload[i].size;
        steps[i].read = cost->read;
        steps[i].scratch = cost->scratch;
        steps[i].window = cost->window;
        steps[i].n_calls = w->run->n_calls[i];
    }
    w->report->constant = constants;
    w->report->n_constants = edits->n_constant;
    w->report->step = steps;
    w->report->n_steps = edits->n_new_payload;
}

static void write_bytes(writer *w)
{
    const qfi_edits *edits = &w->fold->edits;
    for (uint32_t p = 0; p < w->graph->n_payload; p++) {
        w->report->bytes_before += w->graph->payload[p].packed;
        if (!edits->drop_payload[p])
            w->report->bytes_after += w->graph->payload[p].packed;
    }
    for (uint32_t i = 0; i < edits->n_new_payload; i++)
        w->report->bytes_after += edits->new_payload[i].size;
}

/* In order: names that one has made, the next ones use. */
static void (*const parts[])(writer *) = { write_nodes, write_reasons, write_constants, write_notes,
                                           write_bytes };

qf_status qfi_fold_report(const qfi_fold *fold, qfi_report **out, qf_diag *diag)
{
    qfi_report *report = calloc(1, sizeof *report);
    if (!report)
        return QFI_NO_MEMORY(diag);
    writer w = { .fold = fold,
                 .run = &qfi_work_of(fold)->run,
                 .graph = fold->graph,
                 .pool = &report->pool,
                 .report = &report->base };
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !w.failed; i++)
        parts[i](&w);
    if (w.failed) {
        qf_report_free(&report->base);
        return QFI_NO_MEMORY(diag);
    }
    *out = report;
    return QF_OK;
}

void qf_report_free(qf_report *report)
{
    if (!report)
        return;
    qfi_report *whole = (qfi_report *)report; /* its first member */
    qfi_pool_free(&whole->pool);
    free(whole);
}
