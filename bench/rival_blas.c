/* OpenBLAS: products by its own kernels, on one thread. */
#include "rivals.h"

#if QFB_OPENBLAS
#include <cblas.h>

#define FACTORS 3 /* a buffer that no operand of an update needs */

static blasint size_of(int64_t n)
{
    return (blasint)n;
}

static void multiply(void *work)
{
    const qfb_work *w = work;
    const int rank = w->out.rank;
    const int64_t m = w->out.shape[rank - 2], n = w->out.shape[rank - 1];
    const int64_t k = w->in[0].shape[rank - 1], batch = rank > 2 ? w->out.shape[0] : 1;
    const float *a = w->in[0].storage->data, *b = w->in[1].storage->data;
    float *x = w->out.storage->data;
    for (int64_t i = 0; i < batch; i++)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size_of(m), size_of(n), size_of(k),
                    1, a + i * m * k, size_of(k), b + i * k * n, size_of(n), 0, x + i * m * n,
                    size_of(n));
}

/* W and both factors in f32, whatever the work's own type: conversions are not counted against
 * OpenBLAS. */
static void update(void *work)
{
    const qfb_work *w = work;
    const int64_t m = w->in[1].shape[0], k = w->in[1].shape[1], n = w->in[2].shape[1];
    float *x = w->buffer[FACTORS].p;
    const float *b = x + m * n, *a = b + m * k;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size_of(m), size_of(n), size_of(k),
                0x1p-10f, b, size_of(k), a, size_of(n), 1, x, size_of(n));
}

static bool add(qfb_race *race, qfb_work *w, void (*run)(void *))
{
    openblas_set_num_threads(1);
    qfb_race_add(race,
                 (qfb_runner){ .counter = "x_blas", .label = "OpenBLAS", .run = run, .arg = w });
    return true;
}

bool qfb_blas_matmul(qfb_race *race, qfb_work *w)
{
    return add(race, w, multiply);
}

bool qfb_blas_update(qfb_race *race, qfb_work *w)
{
    const int64_t m = w->in[1].shape[0], k = w->in[1].shape[1], n = w->in[2].shape[1];
    const size_t size = (size_t)(m * n + m * k + k * n) * sizeof(float);
    return qfb_buffer_get(&w->buffer[FACTORS], size, FACTORS, QFB_REUSED) && add(race, w, update);
}
#endif
