/* Values that turn out to be undefined while they are made: finding every call that is to blame, so
 * that it stays in the program and nothing else does. */
#include "work.h"

/* More candidates than this are not tried one by one. */
#define MAX_TRIALS 1024u
/* Bytes read and made of a payload that is computed although nobody writes it. */
#define MAX_SHOWN ((uint64_t)1 << 20)

bool *qfi_mark_cone(qfi_pool *pool, const qfi_prog *prog, qfi_ref ref)
{
    bool *needed = qfi_pool_alloc(pool, (size_t)ref + 1, sizeof *needed);
    if (!needed)
        return NULL;
    needed[ref] = true;
    for (qfi_ref i = ref + 1; i-- > 0;)
        for (uint32_t k = 0; needed[i] && k < prog->def[i].n_in; k++)
            needed[prog->def[i].in[k]] = true;
    return needed;
}

static bool is_checked(const qfi_def *def)
{
    return def->leaf == QFI_NONE && (qf_op_get(def->op)->flags & QF_OP_CHECKED);
}

/* ---------------------------------------- one payload */

static qf_status ignore(void *user, const void *data, size_t n, const qf_digest *note,
                        qf_diag *diag)
{
    (void)user, (void)data, (void)n, (void)note, (void)diag;
    return QF_OK;
}

/* *undefined: whether computing the result fails. One that cannot be computed alone does not. */
static qf_status try_call(const qfi_fold *fold, qfi_ref ref, bool *undefined, qf_diag *diag)
{
    const qf_sink nowhere = { .take = ignore };
    qf_diag local = { 0 };
    qf_pipe *pipe = NULL;
    qf_status st = qfi_compile_one(&fold->prog, fold->ctx, ref, &pipe, &local);

    if (st == QF_OK)
        st = qf_pipe_stream(fold->ctx, pipe, NULL, &nowhere, &local);
    qf_pipe_free(pipe);
    *undefined = st == QF_ERR_VALUE;
    if (st != QF_OK && st != QF_ERR_VALUE && st != QF_ERR_LIMIT)
        QF_FAIL(diag, st, "%s", local.text);
    return QF_OK;
}

/* Marks the calls that fail although what they read does not. alive[i]: definition i is needed;
 * afterwards also that it did not fail, nor anything that it reads. *found: whether any
 * failed. */
static qf_status try_calls(qfi_fold *fold, bool *alive, qfi_ref ref, bool *found, qf_diag *diag)
{
    uint32_t trials = 0;

    for (qfi_ref i = 0; i <= ref && trials < MAX_TRIALS; i++) {
        qfi_def *def = &fold->prog.def[i];
        for (uint32_t k = 0; alive[i] && k < def->n_in; k++)
            alive[i] = alive[def->in[k]];
        if (!alive[i] || !is_checked(def))
            continue;
        if (!def->undefined) { /* another payload may have shown it */
            trials++;
            QF_TRY(try_call(fold, i, &def->undefined, diag));
        }
        alive[i] = !def->undefined;
        *found |= def->undefined;
    }
    return QF_OK;
}

/* Where no single call is found, all that could be it are. */
static qf_status blame_payload(qfi_fold *fold, uint32_t payload, qf_diag *diag)
{
    const qfi_ref ref = fold->edits.new_payload[payload].ref;
    qfi_pool pool = { 0 };
    bool found = false;
    qf_status st = QF_OK;
    bool *alive = qfi_mark_cone(&pool, &fold->prog, ref);

    if (!alive)
        st = QFI_NO_MEMORY(diag);
    else
        st = try_calls(fold, alive, ref, &found, diag);
    for (qfi_ref i = 0; st == QF_OK && !found && i <= ref; i++)
        fold->prog.def[i].undefined |= alive[i] && is_checked(&fold->prog.def[i]);
    qfi_pool_free(&pool);
    return st;
}

/* ---------------------------------------- all of them */

/* doubtful[i]: whether definition i may turn out to be undefined. NULL when out of memory. */
static const bool *mark_doubtful(qfi_pool *pool, const qfi_prog *prog)
{
    bool *doubtful = qfi_pool_alloc(pool, prog->n, sizeof *doubtful);
    for (qfi_ref i = 0; doubtful && i < prog->n; i++) {
        doubtful[i] = is_checked(&prog->def[i]);
        for (uint32_t k = 0; k < prog->def[i].n_in && !doubtful[i]; k++)
            doubtful[i] = doubtful[prog->def[i].in[k]];
    }
    return doubtful;
}

/* Produces, for nobody, the payloads of at most so many bytes that are in doubt. */
static qf_status blame_payloads(qfi_fold *fold, uint64_t most, uint32_t *n_failed, qf_diag *diag)
{
    const qfi_run *run = &qfi_work_of(fold)->run;
    qfi_pool pool = { 0 };
    qf_status st = QF_OK;
    const bool *doubtful = mark_doubtful(&pool, &fold->prog);

    if (!doubtful && fold->prog.n)
        st = QFI_NO_MEMORY(diag);
    for (uint32_t i = 0; st == QF_OK && i < fold->edits.n_new_payload; i++) {
        const qfi_new_payload *new = &fold->edits.new_payload[i];
        qf_diag local = { 0 };
        if (!doubtful[new->ref] || qfi_add_saturating(run->cost[i].read, new->size) > most)
            continue;
        st = qfi_fold_produce(fold, i, fold->ctx, NULL, NULL, &local);
        if (st == QF_ERR_VALUE) {
            ++*n_failed;
            st = blame_payload(fold, i, diag);
        } else if (st != QF_OK && diag) {
            *diag = local;
        }
    }
    qfi_pool_free(&pool);
    return st;
}

/* Every round marks definitions that were not marked before, so repeating this ends. */
static qf_status reject(qfi_fold *fold, uint64_t most, bool *again, qf_diag *diag)
{
    uint32_t n_failed = 0;

    QF_TRY(blame_payloads(fold, most, &n_failed, diag));
    *again = n_failed > 0;
    fold->attempt += *again;
    return *again ? qfi_fold_plan(fold, diag) : QF_OK;
}

qf_status qfi_fold_reject(qfi_fold *fold, qf_diag *diag)
{
    bool again;

    QF_TRY(reject(fold, UINT64_MAX, &again, diag));
    if (!again)
        QF_FAIL(diag, QF_ERR_INTERNAL, "a value stays undefined");
    return QF_OK;
}

qf_status qfi_fold_rehearse(qfi_fold *fold, qf_diag *diag)
{
    bool again = true;

    while (again)
        QF_TRY(reject(fold, MAX_SHOWN, &again, diag));
    return QF_OK;
}
