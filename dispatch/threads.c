/* The thread pool, and the floating-point mode of tasks. */
#include "dispatch/threads.h"

#include <fenv.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <pthreadpool.h>

/* The pool's own code carries no marks for ThreadSanitizer: what it hands from thread to thread is
 * told here. */
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#define HAND_OVER(p) __tsan_release(p)
#define TAKE_OVER(p) __tsan_acquire(p)
#else
#define HAND_OVER(p) ((void)(p))
#define TAKE_OVER(p) ((void)(p))
#endif

/* Set while this thread runs a pool's task: the pool's lock is not recursive, so a nested call runs
 * in place. */
static _Thread_local bool inside;

/* Threads are made when there is work for two: small models have none. made: also set if they could
 * not be made; then one thread does it all. */
typedef struct pool {
    pthread_mutex_t lock;
    uint32_t n;
    bool made;
    pthreadpool_t threads;
} pool;

static void *wait_at_gate(void *gate)
{
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
    return NULL;
}

/* How many threads, up to n, the system lets run beside each other, the caller's among them: the
 * pool below waits for ever for one that could not be made. */
static uint32_t threads_allowed(uint32_t n)
{
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    pthread_t *thread = calloc(n, sizeof *thread);
    uint32_t made = 0;

    if (!thread)
        return 1;
    pthread_mutex_lock(&gate);
    while (made + 1 < n && !pthread_create(&thread[made], NULL, wait_at_gate, &gate))
        made++;
    pthread_mutex_unlock(&gate);
    for (uint32_t i = 0; i < made; i++)
        pthread_join(thread[i], NULL);
    free(thread);
    return made + 1;
}

static pthreadpool_t threads_of(pool *p)
{
    pthread_mutex_lock(&p->lock);
    if (!p->made) {
        const uint32_t n = threads_allowed(p->n);
        p->threads = n > 1 ? pthreadpool_create(n) : NULL;
    }
    p->made = true;
    pthread_mutex_unlock(&p->lock);
    return p->threads;
}

typedef struct pool_run {
    void (*task)(void *arg, uint32_t i, uint32_t worker);
    void *arg;
    uint32_t n, next;
} pool_run;

/* One item of the pool per worker number, which then takes tasks in order: the pool itself does not
 * number its threads. */
static void pool_worker(void *context, size_t worker)
{
    pool_run *run = context;
    const bool outside = !inside;

    TAKE_OVER(run);
    inside = true;
    for (uint32_t i; (i = __atomic_fetch_add(&run->next, 1, __ATOMIC_RELAXED)) < run->n;)
        run->task(run->arg, i, (uint32_t)worker);
    if (outside)
        inside = false;
    HAND_OVER(run);
}

/* Workers sleep between calls instead of spinning: a library does not burn the host's cores. */
static void pool_for(void *context, uint32_t n,
                     void (*task)(void *arg, uint32_t i, uint32_t worker), void *arg)
{
    pool_run run = { .task = task, .arg = arg, .n = n };
    const pthreadpool_t threads = inside || n == 1 ? NULL : threads_of(context);

    if (!threads) {
        pool_worker(&run, 0);
        return;
    }
    HAND_OVER(&run);
    pthreadpool_parallelize_1d(threads, pool_worker, &run, pthreadpool_get_threads_count(threads),
                               PTHREADPOOL_FLAG_YIELD_WORKERS);
    TAKE_OVER(&run);
}

qf_status qf_threads_open(qf_ctx *ctx, uint32_t n, qf_diag *diag)
{
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    if (n == 0)
        n = cpus > 0 ? (uint32_t)cpus : 1;
    if (n > 4096)
        QF_FAIL(diag, QF_ERR_ARG, "%u threads are more than 4096", n);
    pool *p = calloc(1, sizeof *p);
    if (!p)
        QF_FAIL(diag, QF_ERR_NOMEM, "no memory for %u threads", n);
    p->n = n;
    pthread_mutex_init(&p->lock, NULL);
    ctx->pool = p;
    ctx->parallel_for = pool_for;
    ctx->workers = n;
    return QF_OK;
}

void qf_threads_close(qf_ctx *ctx)
{
    if (ctx->parallel_for == pool_for) {
        pool *p = ctx->pool;
        if (p->threads)
            pthreadpool_destroy(p->threads);
        pthread_mutex_destroy(&p->lock);
        free(p);
    }
    ctx->parallel_for = NULL;
    ctx->pool = NULL;
    ctx->workers = 0;
}

typedef struct job {
    qfi_task *task;
    void *arg;
} job;

/* The mode of kernels: round to nearest, subnormals on, nothing traps; host_mode is what it was. On
 * x86-64 kernels use SSE alone, whose register is set in a few cycles: setting that of the old unit
 * too, with fesetenv, took 5 % of an update of 64 KiB. */
#if defined(__x86_64__)
typedef unsigned host_mode;

static inline host_mode enter_mode(void)
{
    const host_mode host = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(0x1f80);
    return host;
}

static inline void leave_mode(host_mode host)
{
    __builtin_ia32_ldmxcsr(host);
}
#else
typedef fenv_t host_mode;

static inline host_mode enter_mode(void)
{
    host_mode host;
    fegetenv(&host);
    fesetenv(FE_DFL_ENV);
    return host;
}

static inline void leave_mode(host_mode host)
{
    fesetenv(&host);
}
#endif

static void run_job(void *arg, uint32_t i, uint32_t worker)
{
    const job *j = arg;
    const host_mode host = enter_mode();

    j->task(j->arg, i, worker);
    leave_mode(host);
}

void qfi_parallel(const qf_ctx *ctx, uint32_t n, qfi_task *task, void *arg)
{
    job j = { task, arg };

    if (ctx->parallel_for && n > 0) {
        ctx->parallel_for(ctx->pool, n, run_job, &j);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        run_job(&j, i, 0);
}

uint32_t qfi_workers(const qf_ctx *ctx)
{
    return ctx->parallel_for && ctx->workers > 0 ? ctx->workers : 1;
}
