/* Plain loops. */
#include "plain_c.h"

#include <math.h>
#include <string.h>

#define BLOCK 32 /* of a blocked transpose: 32 lines of each side stay in the first-level cache */

static void *data_of(const qf_tensor *t)
{
    return t->storage->data;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

#define TRANSPOSE(type, name)                                                                      \
    static void name(type *restrict x, const type *restrict a, int64_t m, int64_t n)               \
    {                                                                                              \
        for (int64_t ib = 0; ib < m; ib += BLOCK) {                                                \
            for (int64_t jb = 0; jb < n; jb += BLOCK) {                                            \
                const int64_t ie = least(ib + BLOCK, m), je = least(jb + BLOCK, n);                \
                for (int64_t j = jb; j < je; j++)                                                  \
                    for (int64_t i = ib; i < ie; i++)                                              \
                        x[j * m + i] = a[i * n + j];                                               \
            }                                                                                      \
        }                                                                                          \
    }

TRANSPOSE(uint8_t, transpose_8)
TRANSPOSE(uint16_t, transpose_16)
TRANSPOSE(uint32_t, transpose_32)

void qfb_plain_permute(void *work)
{
    const qfb_work *w = work;
    const qf_tensor *t = &w->in[0];
    const int8_t *perm = w->attrs.dims.dim;
    const unsigned bytes = qf_dtype_get(t->dtype)->bits / 8u;
    int64_t batch = 1, m = 1, n = 1;
    int d = 0;
    for (; perm[d] == d; d++)
        batch *= t->shape[d];
    for (; d < perm[d]; d++)
        n *= t->shape[perm[d]];
    m = (int64_t)qf_tensor_elements(t) / (batch * n);
    for (int64_t b = 0; b < batch; b++) {
        char *x = (char *)data_of(&w->out) + b * m * n * bytes;
        const char *a = (const char *)data_of(t) + b * m * n * bytes;
        if (bytes == 1)
            transpose_8((uint8_t *)(void *)x, (const uint8_t *)(const void *)a, m, n);
        else if (bytes == 2)
            transpose_16((uint16_t *)(void *)x, (const uint16_t *)(const void *)a, m, n);
        else
            transpose_32((uint32_t *)(void *)x, (const uint32_t *)(const void *)a, m, n);
    }
}

/* Elements between the scales of neighbouring rows and columns. */
static void scale_steps(const qfb_work *w, int64_t *row, int64_t *column)
{
    *column = w->in[1].shape[1] > 1;
    *row = w->in[1].shape[0] > 1 ? w->in[1].shape[1] : 0;
}

void qfb_plain_dequantize(void *work)
{
    const qfb_work *w = work;
    const int64_t m = w->out.shape[0], n = w->out.shape[1];
    int64_t row, column;
    scale_steps(w, &row, &column);
    for (int64_t i = 0; i < m; i++) {
        const int8_t *restrict q = (const int8_t *)data_of(&w->in[0]) + i * n;
        const float *restrict s = (const float *)data_of(&w->in[1]) + i * row;
        const float *restrict z = (const float *)data_of(&w->in[2]) + i * row;
        float *restrict x = (float *)data_of(&w->out) + i * n;
        if (column) {
            for (int64_t j = 0; j < n; j++)
                x[j] = ((float)q[j] - z[j]) * s[j];
        } else {
            const float scale = *s, zero = *z;
            for (int64_t j = 0; j < n; j++)
                x[j] = ((float)q[j] - zero) * scale;
        }
    }
}

void qfb_plain_quantize(void *work)
{
    const qfb_work *w = work;
    const int64_t m = w->out.shape[0], n = w->out.shape[1];
    int64_t row, column;
    scale_steps(w, &row, &column);
    for (int64_t i = 0; i < m; i++) {
        const float *restrict a = (const float *)data_of(&w->in[0]) + i * n;
        const float *restrict s = (const float *)data_of(&w->in[1]) + i * row;
        const float *restrict z = (const float *)data_of(&w->in[2]) + i * row;
        int8_t *restrict x = (int8_t *)data_of(&w->out) + i * n;
        for (int64_t j = 0; j < n; j++) {
            const float v = rintf(a[j] * s[j * column]) + z[j * column];
            x[j] = (int8_t)(v < -128 ? -128 : v > 127 ? 127 : v);
        }
    }
}

void qfb_plain_narrow(void *work)
{
    const qfb_work *w = work;
    const uint64_t n = qf_tensor_elements(&w->out);
    const uint32_t *restrict a = data_of(&w->in[0]);
    uint16_t *restrict x = data_of(&w->out);
    for (uint64_t i = 0; i < n; i++) {
        const bool nan = (a[i] & 0x7fffffff) > 0x7f800000;
        x[i] = (uint16_t)(nan ? a[i] >> 16 | 0x40 : (a[i] + 0x7fff + (a[i] >> 16 & 1)) >> 16);
    }
}

void qfb_plain_widen(void *work)
{
    const qfb_work *w = work;
    const uint64_t n = qf_tensor_elements(&w->out);
    const uint16_t *restrict a = data_of(&w->in[0]);
    uint32_t *restrict x = data_of(&w->out);
    for (uint64_t i = 0; i < n; i++)
        x[i] = (uint32_t)a[i] << 16;
}

void qfb_plain_add(void *work)
{
    const qfb_work *w = work;
    const int64_t m = w->out.shape[0], n = w->out.shape[1];
    const int64_t row = w->in[1].shape[0] > 1 ? n : 0;
    for (int64_t i = 0; i < m; i++) {
        const float *a = (const float *)data_of(&w->in[0]) + i * n;
        const float *restrict b = (const float *)data_of(&w->in[1]) + i * row;
        float *x = (float *)data_of(&w->out) + i * n;
        for (int64_t j = 0; j < n; j++)
            x[j] = a[j] + b[j];
    }
}

void qfb_plain_where(void *work)
{
    const qfb_work *w = work;
    const uint64_t n = qf_tensor_elements(&w->out);
    const uint8_t *restrict c = data_of(&w->in[0]);
    const float *restrict a = data_of(&w->in[1]), *restrict b = data_of(&w->in[2]);
    float *restrict x = data_of(&w->out);
    for (uint64_t i = 0; i < n; i++)
        x[i] = c[i] ? a[i] : b[i];
}
