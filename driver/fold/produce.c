/* Computing the new payloads while they are written, counting what is not finite, and finding the
 * culprit when a value is undefined. */
#include "work.h"

#include <string.h>

/* More candidates than this are not tried one by one. */
#define MAX_TRIALS 64u
#define MAX_ATTEMPTS 4u
/* Bytes read and made of a payload that is computed without being written. */
#define MAX_REHEARSED ((uint64_t)1 << 20)

/* ---------------------------------------- NaN and infinity */

/* A sink before the sink: counts on its way in. ctx, arena: what the pipeline runs in. The count is
 * word 0 of a note, the rest belongs to the sink behind. */
typedef struct counter {
    const qf_ctx *ctx;
    qf_arena *arena;
    qf_dtype dtype;
    uint64_t count;
    const qf_sink *sink;
} counter;

static counter counter_of(const qf_ctx *ctx, qf_arena *arena, qf_dtype dtype)
{
    return (counter){ .ctx = ctx, .arena = arena, .dtype = dtype };
}

static void count_window(void *user, const void *data, size_t n, qf_digest *note)
{
    const counter *c = user;
    qf_digest behind = { 0 };

    if (c->sink && c->sink->digest)
        c->sink->digest(c->sink->user, data, n, &behind);
    note->word[1] = behind.word[0];
    note->word[0] = qfi_count_nonfinite(c->dtype, data, n);
}

static qf_status pass_on(void *user, const void *data, size_t n, const qf_digest *note,
                         qf_diag *diag)
{
    counter *c = user;
    const qf_digest behind = { { note->word[1] } };

    c->count += note->word[0];
    return c->sink ? c->sink->take(c->sink->user, data, n, &behind, diag) : QF_OK;
}

static qf_status stream_pipe(const qf_pipe *pipe, counter *c, qf_diag *diag)
{
    const qf_sink sink = { .digest = count_window, .take = pass_on, .user = c };
    return qf_pipe_stream(c->ctx, pipe, c->arena, &sink, diag);
}

/* ---------------------------------------- definitions behind a result */

/* needed[i]: whether result `ref` comes from definition i. NULL when out of memory. */
static bool *mark_cone(qfi_pool *pool, const qfi_prog *prog, qfi_ref ref)
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

static qf_status stream(const qfi_fold *fold, qfi_ref ref, counter *c, qf_diag *diag)
{
    qf_pipe *pipe = NULL;
    qf_status st;
    QF_TRY_OUT(qfi_compile_one(&fold->prog, c->ctx, ref, &pipe, diag));
    QF_TRY_OUT(stream_pipe(pipe, c, diag));
out:
    qf_pipe_free(pipe);
    return st;
}

static bool is_finite(qf_scalar x)
{
    return x.is_int || x.f - x.f == 0;
}

/* full(-inf) is no accident: a literal counts as a source. */
static bool is_nonfinite_literal(const qfi_def *def)
{
    if (def->leaf != QFI_NONE || def->op == QF_OP_COUNT)
        return false;
    return (def->op == QF_OP_full && !is_finite(def->attrs->full.value)) ||
           (def->op == QF_OP_arange &&
            !(is_finite(def->attrs->arange.start) && is_finite(def->attrs->arange.step)));
}

static qf_status sources_finite(const qfi_fold *fold, qfi_ref ref, const counter *made,
                                bool *finite, qf_diag *diag)
{
    const qfi_prog *prog = &fold->prog;
    qfi_pool pool = { 0 };
    qf_status st = QF_OK;
    const bool *needed = mark_cone(&pool, prog, ref);
    *finite = true;
    if (!needed)
        st = QFI_NO_MEMORY(diag);
    for (qfi_ref i = 0; needed && i <= ref && *finite && st == QF_OK; i++) {
        if (!needed[i])
            continue;
        counter c = counter_of(made->ctx, made->arena, prog->def[i].type.dtype);
        if (prog->def[i].leaf != QFI_NONE && qfi_may_be_nonfinite(c.dtype))
            st = stream(fold, i, &c, diag);
        *finite = !c.count && !is_nonfinite_literal(&prog->def[i]);
    }
    qfi_pool_free(&pool);
    return st;
}

/* ---------------------------------------- producing */

/* NaN or infinity made of finite numbers is an accident, such as a cast that overflows. */
static qf_status check_finite(const qfi_fold *fold, uint32_t i, const counter *made, qf_diag *diag)
{
    const qfi_id first = qfi_work_of(fold)->run.unit[qfi_work_of(fold)->run.unit_of_new[i]].first;
    if (!fold->nonfinite[i])
        return QF_OK;
    QF_TRY(sources_finite(fold, fold->edits.new_payload[i].ref, made, &fold->accident[i], diag));
    if (!fold->options->strict || !fold->accident[i])
        return QF_OK;
    const qf_str name =
        first == QFI_NONE ? (qf_str){ "a moved operand", 15 } : fold->graph->value[first].name;
    QF_FAIL(diag, QF_ERR_STRICT, "%.*s holds NaN or infinity, its sources do not", QFI_STR(name));
}

qf_status qfi_fold_produce(qfi_fold *fold, uint32_t new_payload, const qf_ctx *ctx, qf_arena *arena,
                           const qf_sink *sink, qf_diag *diag)
{
    const qfi_ref ref = fold->edits.new_payload[new_payload].ref;
    counter c = counter_of(ctx, arena, fold->prog.def[ref].type.dtype);
    c.sink = sink;
    const qf_status st = stream_pipe(fold->pipe[new_payload], &c, diag);
    if (st == QF_ERR_VALUE)
        __atomic_store_n(&qfi_work_of(fold)->failed_payload, new_payload, __ATOMIC_RELAXED);
    if (st != QF_OK)
        return st;
    fold->nonfinite[new_payload] = c.count;
    return check_finite(fold, new_payload, &c, diag);
}

/* ---------------------------------------- rejecting */

static bool is_checked(const qfi_def *def)
{
    return def->leaf == QFI_NONE && (qf_op_get(def->op)->flags & QF_OP_CHECKED);
}

/* The first call that fails by itself is the culprit: what it reads did not fail. */
static qf_status try_calls(qfi_fold *fold, const bool *needed, qfi_ref ref, bool *found,
                           qf_diag *diag)
{
    uint32_t trials = 0;
    for (qfi_ref i = 0; i <= ref && trials < MAX_TRIALS; i++) {
        if (!needed[i] || !is_checked(&fold->prog.def[i]))
            continue;
        trials++;
        counter nowhere = { .ctx = fold->ctx };
        qf_diag local = { 0 };
        const qf_status st = stream(fold, i, &nowhere, &local);
        *found = st == QF_ERR_VALUE;
        if (*found) {
            fold->prog.def[i].undefined = true;
            return QF_OK;
        }
        if (st != QF_OK && st != QF_ERR_LIMIT)
            QF_FAIL(diag, st, "%s", local.text);
    }
    return QF_OK;
}

qf_status qfi_fold_reject(qfi_fold *fold, qf_diag *diag)
{
    const uint32_t payload = qfi_work_of(fold)->failed_payload;
    if (payload == QFI_NONE || fold->attempt >= MAX_ATTEMPTS)
        QF_FAIL(diag, QF_ERR_INTERNAL, "a value stays undefined");
    fold->attempt++;
    const qfi_ref ref = fold->edits.new_payload[payload].ref;
    qfi_pool pool = { 0 };
    bool found = false;
    qf_status st = QF_OK;
    const bool *needed = mark_cone(&pool, &fold->prog, ref);
    if (!needed)
        st = QFI_NO_MEMORY(diag);
    else
        st = try_calls(fold, needed, ref, &found, diag);
    for (qfi_ref i = 0; st == QF_OK && !found && i <= ref; i++)
        fold->prog.def[i].undefined |= needed[i] && is_checked(&fold->prog.def[i]);
    qfi_pool_free(&pool);
    return st == QF_OK ? qfi_fold_plan(fold, diag) : st;
}

/* ---------------------------------------- rehearsing */

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

/* The first attempt that meets ERR_VALUE ends it. */
static qf_status rehearse_once(qfi_fold *fold, qf_diag *diag)
{
    const qfi_run *run = &qfi_work_of(fold)->run;
    qfi_pool pool = { 0 };
    qf_status st = QF_OK;
    const bool *doubtful = mark_doubtful(&pool, &fold->prog);

    if (!doubtful && fold->prog.n)
        st = QFI_NO_MEMORY(diag);
    for (uint32_t i = 0; st == QF_OK && i < fold->edits.n_new_payload; i++) {
        const qfi_new_payload *new = &fold->edits.new_payload[i];
        if (doubtful[new->ref] && qfi_add_saturating(run->cost[i].read, new->size) <= MAX_REHEARSED)
            st = qfi_fold_produce(fold, i, fold->ctx, NULL, NULL, diag);
    }
    qfi_pool_free(&pool);
    return st;
}

qf_status qfi_fold_rehearse(qfi_fold *fold, qf_diag *diag)
{
    for (;;) {
        qf_diag attempt = { 0 };
        const qf_status st = rehearse_once(fold, &attempt);
        if (st != QF_ERR_VALUE) {
            if (st != QF_OK && diag)
                *diag = attempt;
            return st;
        }
        QF_TRY(qfi_fold_reject(fold, diag));
    }
}
