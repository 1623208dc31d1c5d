/* OpenBLAS: products of f32 and f64.
 *
 * Its threaded products are neither reproducible nor safe to call from several threads, so it works
 * on one thread and is called for fixed panels from the pool of the context. The number of threads
 * is a setting of the process: where this file loads the library it becomes one; a host that loaded
 * it before keeps its own, and calls wait for each other if that is more than one. */
#include "dispatch/providers/providers.h"

#include <stdio.h>

#if QFOLD_HAVE_OPENBLAS
#include <cblas.h>
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#define LIBRARY "libopenblas.so.0"

static struct {
    pthread_once_t once;
    pthread_mutex_t lock;
    const char *why; /* it cannot be used */
    __typeof__(cblas_sgemm) *sgemm;
    __typeof__(cblas_dgemm) *dgemm;
    __typeof__(openblas_get_num_threads) *threads;
    __typeof__(openblas_get_config) *config;
    __typeof__(openblas_get_corename) *core;
} blas = { .once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER };

/* POSIX lets an object pointer hold a function; C does not say so. */
#define FIND(to, name)                                                                             \
    do {                                                                                           \
        void *at = dlsym(library, name);                                                           \
        memcpy(&(to), &at, sizeof at);                                                             \
    } while (0)

static void load(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    const bool by_host = library != NULL;
    __typeof__(openblas_set_num_threads) *set_threads;

    if (!library)
        library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        blas.why = LIBRARY " is not installed";
        return;
    }
    FIND(blas.sgemm, "cblas_sgemm");
    FIND(blas.dgemm, "cblas_dgemm");
    FIND(blas.threads, "openblas_get_num_threads");
    FIND(blas.config, "openblas_get_config");
    FIND(blas.core, "openblas_get_corename");
    FIND(set_threads, "openblas_set_num_threads");
    if (!blas.sgemm || !blas.dgemm || !blas.threads || !blas.config || !blas.core || !set_threads)
        blas.why = LIBRARY " lacks functions of OpenBLAS";
    else if (!by_host)
        set_threads(1);
}

bool qfi_blas_ready(char *text, size_t size)
{
    pthread_once(&blas.once, load);
    if (blas.why)
        snprintf(text, size, "%s", blas.why);
    else
        snprintf(text, size, "kernels %s, threads %d%s", blas.core(), blas.threads(),
                 blas.threads() > 1 ? ": calls wait for each other" : "");
    return !blas.why;
}

static bool small(int64_t n)
{
    return n >= 0 && n <= INT32_MAX;
}

/* A matrix of which one dim is adjacent; *pitch between its lines. Returns whether it has to be
 * named transposed. */
static bool is_turned(int64_t rows, int64_t row, int64_t col, int64_t *pitch)
{
    const bool turned = col != 1 && (row == 1 || rows == 1);
    *pitch = turned ? col : row;
    return turned;
}

static bool is_matrix(int64_t rows, int64_t cols, int64_t row, int64_t col)
{
    if (col == 1)
        return row >= cols && small(row);
    return row == 1 && col >= rows && small(col);
}

bool qfi_blas_takes(const qfi_blas_product *p)
{
    if ((p->dtype != QF_DT_f32 && p->dtype != QF_DT_f64) || !small(p->m) || !small(p->n) ||
        !small(p->k) || p->k == 0 || !is_matrix(p->m, p->k, p->a_row, p->a_k) ||
        !is_matrix(p->k, p->n, p->b_k, p->b_col) || p->c_row < p->n || !small(p->c_row))
        return false;
    pthread_once(&blas.once, load);
    return !blas.why;
}

void qfi_blas_run(const qfi_blas_product *p)
{
    int64_t a_pitch, b_pitch;
    const enum CBLAS_TRANSPOSE a = is_turned(p->m, p->a_row, p->a_k, &a_pitch) ? CblasTrans
                                                                               : CblasNoTrans,
                               b = is_turned(p->k, p->b_k, p->b_col, &b_pitch) ? CblasTrans
                                                                               : CblasNoTrans;
    const blasint m = (blasint)p->m, n = (blasint)p->n, k = (blasint)p->k;
    const bool alone = blas.threads() > 1;

    if (alone)
        pthread_mutex_lock(&blas.lock);
    if (p->dtype == QF_DT_f32)
        blas.sgemm(CblasRowMajor, a, b, m, n, k, 1, p->a, (blasint)a_pitch, p->b, (blasint)b_pitch,
                   0, p->c, (blasint)p->c_row);
    else
        blas.dgemm(CblasRowMajor, a, b, m, n, k, 1, p->a, (blasint)a_pitch, p->b, (blasint)b_pitch,
                   0, p->c, (blasint)p->c_row);
    if (alone)
        pthread_mutex_unlock(&blas.lock);
}
#else
bool qfi_blas_ready(char *text, size_t size)
{
    snprintf(text, size, "this build was made without it");
    return false;
}

bool qfi_blas_takes(const qfi_blas_product *p)
{
    (void)p;
    return false;
}

void qfi_blas_run(const qfi_blas_product *p)
{
    (void)p;
}
#endif
