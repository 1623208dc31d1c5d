/* Operands, results and pipelines of the cases. */
#include "bench_work.h"

#include <stdlib.h>
#include <string.h>

#define OUT QFB_OPERANDS

static void *counted_alloc(void *user, size_t size, size_t align)
{
    qfb_work *w = user;
    void *p = aligned_alloc(align, (size + align - 1) / align * align);
    if (!p)
        return NULL;
    const uint64_t held = __atomic_add_fetch(&w->held, size, __ATOMIC_RELAXED);
    uint64_t peak = __atomic_load_n(&w->peak, __ATOMIC_RELAXED);
    while (held > peak && !__atomic_compare_exchange_n(&w->peak, &peak, held, true,
                                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    return p;
}

static void counted_free(void *user, void *p, size_t size)
{
    qfb_work *w = user;
    __atomic_sub_fetch(&w->held, size, __ATOMIC_RELAXED);
    free(p);
}

void qfb_work_open(qfb_work *w, unsigned variant)
{
    w->variant = variant;
    w->ctx =
        (qf_ctx){ .struct_size = sizeof w->ctx, .allocator = { counted_alloc, counted_free, w } };
    if (variant & QFB_THREADS && qf_threads_open(&w->ctx, 2, &w->diag) != QF_OK)
        w->ctx.parallel_for = NULL;
}

void qfb_work_close(qfb_work *w)
{
    qf_pipe_free(w->pipe);
    qf_pipe_free(w->other);
    qf_arena_free(w->arena);
    for (uint32_t i = 0; i < w->n_in; i++)
        qf_storage_unref(w->in[i].storage);
    qf_storage_unref(w->out.storage);
    for (size_t i = 0; i <= OUT; i++)
        qfb_buffer_free(&w->buffer[i]);
    if (w->ctx.parallel_for)
        qf_threads_close(&w->ctx);
}

/* A dense tensor in `buffer`, or in operand 0's for a result in place. */
static void make_tensor(qfb_work *w, const qf_type *type, unsigned slot, qf_tensor *out)
{
    uint64_t bytes;
    qfb_buffer *b = &w->buffer[slot == OUT && w->variant & QFB_IN_PLACE ? 0 : slot];
    if (w->diag.code != QF_OK)
        return;
    if (!qf_type_bytes(type, &bytes) ||
        (!b->p && !qfb_buffer_get(b, bytes, slot == OUT ? 0 : slot + 1, QFB_REUSED))) {
        (void)qf_fail(&w->diag, QF_ERR_NOMEM, "no memory for an operand");
        return;
    }
    qf_storage *storage = qf_storage_wrap(b->p, b->size, true);
    if (!storage)
        (void)qf_fail(&w->diag, QF_ERR_NOMEM, "out of memory");
    else if (qf_tensor_dense(storage, type, out, &w->diag) != QF_OK)
        qf_storage_unref(storage);
    *(slot == OUT ? &w->written : &w->read) += bytes;
}

void *qfb_work_in(qfb_work *w, qf_dtype dtype, int rank, const int64_t *dim)
{
    qf_type type = { .dtype = dtype, .rank = (int8_t)rank };
    memcpy(type.dim, dim, (size_t)rank * sizeof *dim);
    const uint32_t i = w->n_in++;
    make_tensor(w, &type, i, &w->in[i]);
    return w->diag.code == QF_OK ? w->buffer[i].p : NULL;
}

void qfb_work_splat(qfb_work *w, int rank, const int64_t *dim, float value)
{
    float *p = qfb_work_in(w, QF_DT_f32, rank, dim);
    for (size_t i = 0; p && i < w->buffer[w->n_in - 1].size / sizeof *p; i++)
        p[i] = value;
}

void qfb_work_op(qfb_work *w, qf_op op, const qf_attrs *attrs)
{
    qf_type types[QFB_OPERANDS], out;
    w->op = op;
    w->attrs = attrs ? *attrs : (qf_attrs){ 0 };
    if (w->diag.code != QF_OK)
        return;
    for (uint32_t i = 0; i < w->n_in; i++)
        types[i] = qf_tensor_type(&w->in[i]);
    const qf_call call = { .op = op, .n_in = (uint16_t)w->n_in, .in = types, .attrs = &w->attrs };
    if (qf_infer(&call, &out, &w->diag) == QF_OK)
        make_tensor(w, &out, OUT, &w->out);
    w->moved = (double)(w->read + w->written);
}

uint32_t qfb_work_step(qfb_work *w, qf_op op, const qf_attrs *attrs, uint32_t n,
                       const uint32_t *ids)
{
    const uint32_t i = w->n_step++;
    memcpy(w->id[i], ids, n * sizeof *ids);
    w->step[i] = (qf_step){ .op = op, .n_in = (uint16_t)n, .in = w->id[i] };
    if (attrs)
        w->step[i].attrs = *attrs;
    return w->n_in + i;
}

static qf_pipe *build(qfb_work *w, uint32_t result)
{
    qf_pipe *pipe = NULL;
    const qf_program program = {
        .input = w->in, .n_input = w->n_in, .step = w->step, .n_step = w->n_step
    };
    if (w->diag.code == QF_OK)
        (void)!qf_pipe_build(&w->ctx, &program, result, NULL, &pipe, &w->diag);
    return pipe;
}

void qfb_work_build(qfb_work *w)
{
    w->pipe = build(w, w->n_in + w->n_step - 1);
    w->arena = qf_arena_new(&w->ctx);
    if (!w->pipe)
        return;
    const qf_type type = qf_pipe_type(w->pipe);
    const qf_cost cost = qf_pipe_cost(w->pipe);
    make_tensor(w, &type, OUT, &w->out);
    w->moved = (double)(cost.read + cost.written) + 2 * (double)cost.scratch;
    w->flops = 2 * (double)cost.flops;
}

void qfb_work_other(qfb_work *w, uint32_t step, const char *counter, const char *label)
{
    w->other = build(w, step);
    w->other_counter = counter;
    w->other_label = label;
}

void qfb_work_before(void *work)
{
    qfb_work *w = work;
    const size_t size = w->buffer[OUT].size;
    qfb_buffer_free(&w->buffer[OUT]);
    if (!qfb_buffer_get(&w->buffer[OUT], size, 0, QFB_FRESH))
        abort();
    w->out.storage->data = w->buffer[OUT].p;
}

static void run(qfb_work *w, const qf_ctx *ctx)
{
    if (w->pipe)
        (void)!qf_pipe_run(ctx, w->pipe, w->arena, w->out.storage->data, &w->diag);
    else
        (void)!qf_eval(ctx, w->op, &w->attrs, w->in, w->n_in, &w->out, &w->diag);
}

void qfb_work_run(void *work)
{
    qfb_work *w = work;
    run(w, &w->ctx);
}

void qfb_work_run_one(void *work)
{
    qfb_work *w = work;
    qf_ctx one = w->ctx;
    one.parallel_for = NULL;
    one.workers = 0;
    run(w, &one);
}

void qfb_work_run_other(void *work)
{
    qfb_work *w = work;
    (void)!qf_pipe_run(&w->ctx, w->other, w->arena, w->out.storage->data, &w->diag);
}
