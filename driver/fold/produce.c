/* Computing the new payloads while they are written, and counting what is not finite. */
#include "work.h"

#include <string.h>

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
    const bool *needed = qfi_mark_cone(&pool, prog, ref);
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
    if (st != QF_OK)
        return st;
    fold->nonfinite[new_payload] = c.count;
    return check_finite(fold, new_payload, &c, diag);
}
