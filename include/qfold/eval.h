/* Evaluation: one operator at a time, or a straight-line program compiled into pipelines. */
#ifndef QFOLD_EVAL_H
#define QFOLD_EVAL_H

#include <qfold/kernels.h>
#include <qfold/ops.h>
#include <qfold/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Memory source. Both functions may be called from several threads. */
typedef struct qf_allocator {
    void *(*alloc)(void *user, size_t size, size_t align);
    void (*free)(void *user, void *p, size_t size);
    void *user;
} qf_allocator;

/* Bytes of working memory where 0 was asked for. */
#define QF_MEMORY_DEFAULT ((uint64_t)128 << 20)

/* What an evaluation runs on. Zero-initialise, set struct_size, then what should differ:
 *   table         NULL: qf_table_best(). Must outlive every pipeline built with it
 *   allocator     NULL functions: those of the C library
 *   parallel_for  calls task(arg, i, worker) once for every i < n, on at most `workers` threads,
 *                 and returns when all are done; worker < workers, and no two running tasks share
 *                 one. NULL: in order, on the calling thread. pool: its first argument
 *   progress      told how many bytes of the result are done, by one thread at a time; false
 *                 cancels with ERR_CANCELLED
 *   memory        bytes that one pipeline may use for scratch and windows; 0: QF_MEMORY_DEFAULT
 *   cache         bytes of the last cache level: results of more than half of it are stored past
 *                 the caches. 0: qf_cache_detect()
 *   providers     QF_PROVIDER_… that may take what they offer (qf_provided_rows) where they are
 *                 ready: products also inside pipelines, other operators in qf_eval. 0: none
 * ERR_ARG from every call if struct_size is not set, or beyond the struct that the library knows. A
 * context may serve several calls at once if its callbacks may. */
typedef struct qf_ctx {
    size_t struct_size;
    const qf_table *table;
    qf_allocator allocator;
    void (*parallel_for)(void *pool, uint32_t n,
                         void (*task)(void *arg, uint32_t i, uint32_t worker), void *arg);
    void *pool;
    uint32_t workers;
    bool (*progress)(void *user, uint64_t done);
    void *progress_user;
    uint64_t memory;
    uint64_t cache;
    uint32_t providers;
} qf_ctx;

/* Libraries that can take whole operators: bits of qf_ctx.providers. */
#define QF_PROVIDER_BLAS 1u
#define QF_PROVIDER_XNN 2u

/* One of them. library: its name for people. */
typedef struct qf_provider {
    const char *name, *library;
    uint32_t bit;
} qf_provider;

/* What a provider takes. numbers: how its results relate to those of the own kernels. */
typedef struct qf_provided {
    const char *provider, *op, *type, *numbers;
} qf_provided;

/* Provider i, NULL after the last; every row of every provider. Static, thread-safe. */
QF_API const qf_provider *qf_provider_at(size_t i);
QF_API const qf_provided *qf_provided_rows(size_t *n);

/* Whether the provider of this bit can be used here, and in text (of `size` bytes) which one it is,
 * or why not. The first call loads it. Thread-safe. */
QF_API bool qf_provider_ready(uint32_t bit, char *text, size_t size);

/* A pool of `n` threads (0: one per CPU) set into ctx->parallel_for, pool and workers; close with
 * qf_threads_close, when no call uses the context any more. ERR_ARG: more than 4096 threads.
 * ERR_NOMEM. Calls from several threads wait for each other. */
QF_API QF_NODISCARD qf_status qf_threads_open(qf_ctx *ctx, uint32_t n, qf_diag *diag);
QF_API void qf_threads_close(qf_ctx *ctx);

/* out = op(in). Types as qf_infer gives them; `out` is the caller's, with any strides that do not
 * repeat an element; it may be the memory of an input when the operator is POINTWISE and both views
 * are the same. A VIEW operator copies. On failure the contents of `out` are undefined. ctx NULL:
 * defaults. Errors: those of qf_infer; ERR_RANGE: a tensor leaves its storage; ERR_DTYPE,
 * ERR_SHAPE: `out` is of another type; ERR_STRIDE, ERR_ALIAS: its strides repeat elements, or it
 * overlaps an input; ERR_ARG: its storage is not writable memory; ERR_UNSUPPORTED: no kernel;
 * ERR_VALUE: a CHECKED operator met a value that it does not define; ERR_LIMIT, ERR_NOMEM; what
 * read() of a storage returns. */
QF_API QF_NODISCARD qf_status qf_eval(const qf_ctx *ctx, qf_op op, const qf_attrs *attrs,
                                      const qf_tensor *in, size_t n_in, qf_tensor *out,
                                      qf_diag *diag);

/* One step of a program. in: ids of operands: 0 … n_in-1 are the program's inputs, then one id per
 * step, in order. */
typedef struct qf_step {
    qf_op op;
    qf_attrs attrs;
    uint16_t n_in;
    const uint32_t *in;
} qf_step;

/* A straight-line program over tensors; every id is below the ids that use it. Read while a
 * pipeline is built, and not kept. */
typedef struct qf_program {
    const qf_tensor *input;
    uint32_t n_input;
    const qf_step *step;
    uint32_t n_step;
} qf_program;

/* A program compiled for one result, immutable. Views, broadcasts, casts and pointwise steps are
 * fused; a value is kept in scratch only where the program needs it whole. */
typedef struct qf_pipe qf_pipe;

/* What a pipeline will do, in bytes. scratch: of values kept whole while it runs.  window: the
 * least working memory beside that.  read, written: payload.  flops: multiply-adds of matrix
 * products. */
typedef struct qf_cost {
    uint64_t scratch, window, read, written, flops;
} qf_cost;

/* Compile the value `result`. Layout of the result: `order` (NULL: 0, 1, 2 …) lists its dims from
 * the slowest to the fastest varying, so that the bytes are a dense block in that order. Storages
 * of the program's inputs are referenced until qf_pipe_free, which takes NULL. Errors: those of
 * qf_infer and qf_tensor_check for what the result needs; ERR_ARG: an id or an order that is none;
 * ERR_UNSUPPORTED: no kernel; ERR_LIMIT: scratch and the least window exceed ctx->memory, or the
 * program is too entangled; ERR_NOMEM. *out is NULL then. A pipeline may run in several threads at
 * once. */
QF_API QF_NODISCARD qf_status qf_pipe_build(const qf_ctx *ctx, const qf_program *program,
                                            uint32_t result, const uint8_t *order, qf_pipe **out,
                                            qf_diag *diag);
QF_API void qf_pipe_free(qf_pipe *pipe);

/* The same computation on other inputs, in much less time than building it: `input` holds as many
 * tensors as the program of `pipe`, and differs from those in storages alone, in memory or behind a
 * reader as they are; inputs that shared a storage share one. Freed like any other, in any order.
 * ERR_ARG: an input is not so; ERR_RANGE: one leaves its storage; ERR_NOMEM. Thread-safe. */
QF_API QF_NODISCARD qf_status qf_pipe_bind(qf_pipe *pipe, const qf_tensor *input, qf_pipe **out,
                                           qf_diag *diag);

/* What it will do; the type of its result. */
QF_API qf_cost qf_pipe_cost(const qf_pipe *pipe);
QF_API qf_type qf_pipe_type(const qf_pipe *pipe);

/* Memory of runs, kept from one to the next. One run at a time. NULL: no memory, or a wrong
 * context. peak: the most bytes that a run took. free takes NULL. */
typedef struct qf_arena qf_arena;
QF_API qf_arena *qf_arena_new(const qf_ctx *ctx);
QF_API void qf_arena_free(qf_arena *arena);
QF_API uint64_t qf_arena_peak(const qf_arena *arena);

/* What a consumer noted about a window: words that only it reads. */
typedef struct qf_digest {
    uint64_t word[2];
} qf_digest;

/* A consumer of consecutive bytes, which come in windows of whole elements (those of 4 bits: of
 * whole bytes).
 *   digest  may be NULL; called once for each window before it is taken, in any order and by
 *           several threads at once, each the one that made the window and has it in its cache
 *   take    called in order, by one thread at a time, not always the same, with what digest noted
 *           (zeros without one); a failure stops the run, which returns its status */
typedef struct qf_sink {
    void (*digest)(void *user, const void *data, size_t n, qf_digest *note);
    qf_status (*take)(void *user, const void *data, size_t n, const qf_digest *note, qf_diag *diag);
    void *user;
} qf_sink;

/* One window that the caller made: digest, then take. */
QF_API QF_NODISCARD qf_status qf_sink_write(const qf_sink *sink, const void *data, size_t n,
                                            qf_diag *diag);

/* Produce the whole result in order into the sink. arena NULL: memory is taken for this run alone.
 * ERR_VALUE: a CHECKED operator met a value that it does not define. ERR_LIMIT, ERR_NOMEM,
 * ERR_CANCELLED; what read() of a storage returns. */
QF_API QF_NODISCARD qf_status qf_pipe_stream(const qf_ctx *ctx, const qf_pipe *pipe,
                                             qf_arena *arena, const qf_sink *sink, qf_diag *diag);

/* Produce the whole result into `dst` (qf_type_bytes of its type). It may be the memory of an input
 * of which each element of the result needs none but the one that it replaces. Errors as above. */
QF_API QF_NODISCARD qf_status qf_pipe_run(const qf_ctx *ctx, const qf_pipe *pipe, qf_arena *arena,
                                          void *dst, qf_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
