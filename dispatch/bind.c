/* Pipelines on other inputs: qf_pipe_bind and qf_pipe_free. */
#include <stddef.h>
#include <string.h>

#include "dispatch/pipeline.h"

static bool same_view(const qf_tensor *a, const qf_tensor *b)
{
    const size_t n = a->rank * sizeof *a->shape;
    return a->dtype == b->dtype && a->rank == b->rank && a->offset == b->offset &&
           !memcmp(a->shape, b->shape, n) && !memcmp(a->stride, b->stride, n);
}

/* Whether input i may stand for that of `pipe`. */
static qf_status check_input(const qf_pipe *pipe, const qf_tensor *input, uint32_t i, qf_diag *diag)
{
    const qf_tensor *was = &pipe->input[i], *is = &input[i];
    const uint32_t joined = pipe->joined[i];

    if (!is->storage || !same_view(was, is) || !was->storage->data != !is->storage->data ||
        (joined && input[joined - 1].storage != is->storage))
        QF_FAIL(diag, QF_ERR_ARG, "input %u is not like that of the pipeline", (unsigned)i);
    return qf_tensor_check(is, diag);
}

/* A pipeline that is bound, with its inputs behind it. */
static size_t bound_size(const qf_pipe *pipe)
{
    return sizeof *pipe + pipe->n_input * sizeof *pipe->input;
}

qf_status qf_pipe_bind(qf_pipe *pipe, const qf_tensor *input, qf_pipe **out, qf_diag *diag)
{
    const qf_allocator *from = &pipe->pool.from;

    *out = NULL;
    for (uint32_t i = 0; i < pipe->n_input; i++)
        if (pipe->input[i].storage)
            QF_TRY(check_input(pipe, input, i, diag));
    qf_pipe *bound = from->alloc(from->user, bound_size(pipe), _Alignof(max_align_t));
    if (!bound)
        QF_FAIL(diag, QF_ERR_NOMEM, "no memory for a pipeline");
    *bound = *pipe;
    bound->parent = pipe->parent ? pipe->parent : pipe;
    bound->input = (qf_tensor *)(bound + 1);
    __atomic_add_fetch(&bound->parent->refs, 1, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < pipe->n_input; i++) {
        bound->input[i] = pipe->input[i];
        if (pipe->input[i].storage)
            bound->input[i].storage = qf_storage_ref(input[i].storage);
    }
    *out = bound;
    return QF_OK;
}

static void drop(qf_pipe *pipe)
{
    if (__atomic_sub_fetch(&pipe->refs, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    qfi_bump pool = pipe->pool; /* holds *pipe itself */
    qfi_bump_free(&pool);
}

void qf_pipe_free(qf_pipe *pipe)
{
    if (!pipe)
        return;
    qf_pipe *parent = pipe->parent;
    for (uint32_t i = 0; i < pipe->n_input; i++)
        qf_storage_unref(pipe->input[i].storage);
    if (parent)
        pipe->pool.from.free(pipe->pool.from.user, pipe, bound_size(pipe));
    drop(parent ? parent : pipe);
}
