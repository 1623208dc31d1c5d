/* From the boundary to what the output gains: constants, new payloads, and the pipelines that
 * compute them.
 *
 * A pipeline that cannot be built within the memory, or at all, makes the nodes that its bytes were
 * for stay; all of them are found before the passes start again. */
#include "work.h"

#include <string.h>

typedef struct planner {
    qfi_fold *fold;
    qfi_run *run;
    qfi_edits *edits;
    size_t cap_constant, cap_payload;
    qfi_compiler compiler;
} planner;

static qf_status payload_of_unit(planner *p, uint32_t u, uint32_t *out, qf_diag *diag)
{
    qfi_edits *edits = p->edits;
    if (p->run->payload_of[u] == QFI_NONE) {
        const qfi_unit *unit = &p->run->unit[u];
        qfi_new_payload *payloads =
            qfi_pool_grow(&edits->pool, edits->new_payload, edits->n_new_payload, &p->cap_payload,
                          sizeof *payloads);
        if (!payloads)
            return QFI_NO_MEMORY(diag);
        edits->new_payload = payloads;
        qfi_new_payload *payload = &payloads[edits->n_new_payload];
        *payload = (qfi_new_payload){ .size = unit->bytes, .ref = unit->base };
        memcpy(payload->order, unit->order, sizeof payload->order);
        p->run->unit_of_new[edits->n_new_payload] = u;
        p->run->payload_of[u] = edits->n_new_payload++;
    }
    *out = p->fold->graph->n_payload + p->run->payload_of[u];
    return QF_OK;
}

static qf_status add_constant(planner *p, qfi_constant constant, qfi_ref ref, const qfi_form *form,
                              qf_diag *diag)
{
    qfi_edits *edits = p->edits;
    constant.type = p->fold->prog.def[ref].type;
    constant.offset = form->offset;
    memcpy(constant.stride, form->stride, sizeof constant.stride);
    constant.payload = form->stored;
    if (form->stored == QFI_NONE)
        QF_TRY(payload_of_unit(p, qfi_unit_find(p->fold, form), &constant.payload, diag));
    qfi_constant *constants = qfi_pool_grow(&edits->pool, edits->constant, edits->n_constant,
                                            &p->cap_constant, sizeof *constants);
    if (!constants)
        return QFI_NO_MEMORY(diag);
    edits->constant = constants;
    constants[edits->n_constant++] = constant;
    return QF_OK;
}

static qf_status add_move(planner *p, const qfi_move *move, qf_diag *diag)
{
    const qf_graph *g = p->fold->graph;
    const uint32_t part = qfi_node_part(&p->fold->whole, move->node);
    qfi_patch *patch = &p->edits->patch[p->edits->n_patch++];
    *patch = (qfi_patch){
        .node = move->node, .result = move->result, .axis = move->axis, .n_block = move->n_block
    };
    memcpy(patch->block, move->block, sizeof patch->block);
    for (uint32_t k = 0; k < 3; k++) {
        patch->new_operand[k] = QFI_NONE;
        if (move->ref[k] == QFI_NONE)
            continue;
        const qfi_id like = g->operand[g->node[move->node].first_in + k];
        patch->new_operand[k] = p->edits->n_constant;
        QF_TRY(add_constant(p, (qfi_constant){ .value = QFI_NONE, .like = like, .part = part },
                            move->ref[k], &move->form[k], diag));
    }
    return QF_OK;
}

static qf_status add_constants(planner *p, qf_diag *diag)
{
    const qfi_run *run = p->run;
    for (qfi_id v = 0; v < p->fold->graph->n_value; v++) {
        const bool number = p->fold->graph->value[v].kind == QF_VALUE_SCALAR;
        if (run->boundary[v] != QFI_NONE && !number)
            QF_TRY(add_constant(
                p,
                (qfi_constant){ .value = v, .like = v, .part = qfi_value_part(&p->fold->whole, v) },
                run->boundary[v], &run->form[v], diag));
    }
    for (size_t m = 0; m < run->n_move; m++)
        QF_TRY(add_move(p, &run->move[m], diag));
    return QF_OK;
}

/* The nodes whose results the payload was for stay from now on; for a move, the first view that it
 * would have taken over. */
static void hold_nodes(planner *p, uint32_t new_payload, qf_reason reason)
{
    const qf_graph *g = p->fold->graph;
    qfi_work *work = qfi_work_of(p->fold);
    const uint32_t payload = g->n_payload + new_payload;
    for (uint32_t i = 0; i < p->edits->n_constant; i++) {
        const qfi_constant *constant = &p->edits->constant[i];
        if (constant->payload == payload && constant->value != QFI_NONE)
            work->hold[g->value[constant->value].node] = (uint16_t)reason;
    }
    for (uint32_t i = 0; i < p->edits->n_patch; i++) {
        const qfi_patch *patch = &p->edits->patch[i];
        for (uint32_t k = 0; k < 3; k++)
            if (patch->new_operand[k] != QFI_NONE &&
                p->edits->constant[patch->new_operand[k]].payload == payload)
                work->hold[g->value[patch->result].node] = (uint16_t)reason;
    }
    work->restart = true;
}

static const struct {
    qf_status status;
    qf_reason reason;
} build_errors[] = {
    { QF_ERR_LIMIT, QF_REASON_memory },
    { QF_ERR_UNSUPPORTED, QF_REASON_unsupported_argument },
    { QF_ERR_RANK, QF_REASON_unsupported_rank },
    { QF_ERR_DTYPE, QF_REASON_unsupported_dtype },
};

static qf_status compile(planner *p, uint32_t i, qf_diag *diag)
{
    qfi_fold *fold = p->fold;
    const qfi_new_payload *payload = &p->edits->new_payload[i];
    qf_diag local = { 0 };
    const qf_status st = qfi_compile(&p->compiler, payload->ref, payload->order, &fold->pipe[i],
                                     &p->run->n_calls[i], &local);
    for (size_t e = 0; st != QF_OK && e < sizeof build_errors / sizeof *build_errors; e++) {
        if (build_errors[e].status != st)
            continue;
        hold_nodes(p, i, build_errors[e].reason);
        return QF_OK;
    }
    if (st != QF_OK)
        QF_FAIL(diag, st, "%s", local.text);
    p->run->cost[i] = qf_pipe_cost(fold->pipe[i]);
    return QF_OK;
}

static qf_status compile_all(planner *p, qf_diag *diag)
{
    qfi_fold *fold = p->fold;
    const uint32_t n = p->edits->n_new_payload;
    fold->pipe = qfi_pool_alloc(&p->run->pool, n, sizeof *fold->pipe);
    fold->nonfinite = qfi_pool_alloc(&p->run->pool, n, sizeof *fold->nonfinite);
    fold->accident = qfi_pool_alloc(&p->run->pool, n, sizeof *fold->accident);
    p->run->cost = qfi_pool_alloc(&p->run->pool, n, sizeof *p->run->cost);
    p->run->n_calls = qfi_pool_alloc(&p->run->pool, n, sizeof *p->run->n_calls);
    if (!fold->pipe || !fold->nonfinite || !fold->accident || !p->run->cost || !p->run->n_calls)
        return QFI_NO_MEMORY(diag);
    fold->n_pipe = n;
    for (uint32_t i = 0; i < n; i++)
        QF_TRY(compile(p, i, diag));
    return QF_OK;
}

qf_status qfi_make_plan(qfi_fold *fold, qf_diag *diag)
{
    qfi_run *run = &qfi_work_of(fold)->run;
    planner p = { .fold = fold,
                  .run = run,
                  .edits = &fold->edits,
                  .compiler = { .prog = &fold->prog, .ctx = fold->ctx } };
    run->payload_of = qfi_pool_alloc(&run->pool, run->n_unit, sizeof *run->payload_of);
    run->unit_of_new = qfi_pool_alloc(&run->pool, run->n_unit, sizeof *run->unit_of_new);
    fold->edits.patch = qfi_pool_alloc(&fold->edits.pool, run->n_move, sizeof *fold->edits.patch);
    if (!run->payload_of || !run->unit_of_new || !fold->edits.patch)
        return QFI_NO_MEMORY(diag);
    for (size_t u = 0; u < run->n_unit; u++)
        run->payload_of[u] = QFI_NONE;
    QF_TRY(add_constants(&p, diag));
    const qf_status st = compile_all(&p, diag);
    qfi_compiler_free(&p.compiler);
    return st;
}
