/* Minimal archives of torch.export's layout, written with the library's own zip writer. */
#include "make_pt2.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../driver/io/zip.h"
#include "pt2_text.h"

#define HEAD 128
#define RANK 16
#define TINY 4
#define CALLS 10 /* of a layer of TINY and TEXT */
#define NAME 32

enum { I8 = 2, I64 = 5, F32 = 7, BF16 = 13 }; /* torch's numbers */

/* A model being built. value: what the last layer made. */
typedef struct maker {
    const qfb_model *model;
    qfb_pt2 text;
    int i, dtype;
    char value[NAME];
} maker;

static void name_it(char *out, const char *prefix, int i)
{
    snprintf(out, NAME, "%s%d", prefix, i);
}

static qfb_meta matrix(int dtype, int64_t m, int64_t n)
{
    return (qfb_meta){ .dtype = dtype, .rank = 2, .dim = { m, n } };
}

static qfb_meta vector(int dtype, int64_t n)
{
    return (qfb_meta){ .dtype = dtype, .rank = 1, .dim = { n } };
}

/* Parameter <prefix><i>; `out`: the value that it is in the program. */
static void param(maker *m, const char *prefix, qfb_meta meta, char *out)
{
    char name[NAME - 2];
    snprintf(name, sizeof name, "%s%d", prefix, m->i);
    qfb_pt2_param(&m->text, name, &meta);
    snprintf(out, NAME, "p_%s", name);
}

/* result = target(self, other). */
static void binary(maker *m, const char *target, const char *names[2], const char *operands[2],
                   const char *result, qfb_meta meta)
{
    qfb_pt2_begin(&m->text, target);
    qfb_pt2_tensor(&m->text, names[0], operands[0]);
    qfb_pt2_tensor(&m->text, names[1], operands[1]);
    qfb_pt2_end(&m->text, result, &meta);
}

static void product(maker *m, const char *a, const char *b, const char *result, qfb_meta meta)
{
    binary(m, "aten.mm.default", (const char *[]){ "self", "mat2" }, (const char *[]){ a, b },
           result, meta);
}

static void sum(maker *m, const char *a, const char *b, const char *result, qfb_meta meta)
{
    binary(m, "aten.add.Tensor", (const char *[]){ "self", "other" }, (const char *[]){ a, b },
           result, meta);
}

static void transpose(maker *m, const char *a, const int dims[2], const char *result,
                      const qfb_meta *meta)
{
    qfb_pt2_begin(&m->text, "aten.transpose.int");
    qfb_pt2_tensor(&m->text, "self", a);
    qfb_pt2_int(&m->text, "dim0", dims[0]);
    qfb_pt2_int(&m->text, "dim1", dims[1]);
    qfb_pt2_end(&m->text, result, meta);
}

static void none(maker *m, char *weight)
{
    param(m, "w", matrix(m->dtype, m->model->n, m->model->n), weight);
}

static void turned(maker *m, const char *a, char *result)
{
    const int n = m->model->n;
    const qfb_meta meta = { .dtype = m->dtype, .rank = 2, .dim = { n, n }, .stride = { 1, n } };
    name_it(result, "a", m->i);
    transpose(m, a, (const int[]){ 0, 1 }, result, &meta);
}

static void turn(maker *m, char *weight)
{
    char w[NAME];
    none(m, w);
    turned(m, w, weight);
}

static void qk(maker *m, char *weight)
{
    const int64_t n = m->model->n, half = HEAD / 2, heads = n / HEAD;
    const int64_t size[] = { heads, 2, half, n }, shape[] = { n, n };
    const qfb_meta split = { m->dtype, 4, { heads, 2, half, n }, { 0 } };
    const qfb_meta swapped = { m->dtype, 4, { heads, half, 2, n }, { HEAD * n, n, half * n, 1 } };
    const qfb_meta whole = matrix(m->dtype, n, n);
    char w[NAME], a[NAME], b[NAME];
    none(m, w);
    name_it(a, "a", m->i);
    name_it(b, "b", m->i);
    name_it(weight, "c", m->i);
    qfb_pt2_begin(&m->text, "aten.view.default");
    qfb_pt2_tensor(&m->text, "self", w);
    qfb_pt2_ints(&m->text, "size", 4, size);
    qfb_pt2_end(&m->text, a, &split);
    transpose(m, a, (const int[]){ 1, 2 }, b, &swapped);
    qfb_pt2_begin(&m->text, "aten.reshape.default");
    qfb_pt2_tensor(&m->text, "self", b);
    qfb_pt2_ints(&m->text, "shape", 2, shape);
    qfb_pt2_end(&m->text, weight, &whole);
}

static void lora(maker *m, char *weight)
{
    const int64_t n = m->model->n;
    const qfb_meta whole = matrix(m->dtype, n, n);
    char w[NAME], b[NAME], a[NAME], ba[NAME], scaled[NAME];
    none(m, w);
    param(m, "lora_b", matrix(m->dtype, n, RANK), b);
    param(m, "lora_a", matrix(m->dtype, RANK, n), a);
    name_it(ba, "a", m->i);
    name_it(scaled, "b", m->i);
    name_it(weight, "c", m->i);
    product(m, b, a, ba, whole);
    qfb_pt2_begin(&m->text, "aten.mul.Scalar");
    qfb_pt2_tensor(&m->text, "self", ba);
    qfb_pt2_float(&m->text, "other", 0x1p-6);
    qfb_pt2_end(&m->text, scaled, &whole);
    sum(m, w, scaled, weight, whole);
}

static void int8(maker *m, char *weight)
{
    const int64_t n = m->model->n;
    const qfb_meta whole = matrix(F32, n, n);
    char q[NAME], scale[NAME], zero[NAME], real[NAME];
    param(m, "w", matrix(I8, n, n), q);
    param(m, "scale", vector(F32, n), scale);
    param(m, "zero", vector(I64, n), zero);
    name_it(real, "b", m->i);
    qfb_pt2_begin(&m->text, "quantized_decomposed.dequantize_per_channel.default");
    qfb_pt2_tensor(&m->text, "input", q);
    qfb_pt2_tensor(&m->text, "scales", scale);
    qfb_pt2_tensor(&m->text, "zero_points", zero);
    qfb_pt2_int(&m->text, "axis", 0);
    qfb_pt2_int(&m->text, "quant_min", -128);
    qfb_pt2_int(&m->text, "quant_max", 127);
    qfb_pt2_dtype(&m->text, "dtype", I8);
    qfb_pt2_end(&m->text, real, &whole);
    turned(m, real, weight);
}

/* CALLS sums of a value with itself, v, v1, v2 …; `out`: the last. */
static void calls(maker *m, const char *v, const char *prefix, char *out)
{
    char from[NAME];
    snprintf(from, sizeof from, "%s", v);
    for (int k = 0; k < CALLS; k++) {
        snprintf(out, NAME, "%s%d_%d", prefix, m->i, k);
        sum(m, from, from, out, vector(F32, TINY));
        snprintf(from, sizeof from, "%s", out);
    }
}

static void tiny(maker *m, char *weight)
{
    char w[NAME];
    param(m, "w", vector(F32, TINY), w);
    calls(m, w, "a", weight);
}

/* The calls are on x, which is not known; the weight folds alone. */
static void text(maker *m, char *weight)
{
    char w[NAME], x[NAME];
    calls(m, m->value, "a", x);
    snprintf(m->value, sizeof m->value, "%s", x);
    param(m, "w", vector(F32, TINY), w);
    name_it(weight, "b", m->i);
    sum(m, w, w, weight, vector(F32, TINY));
}

/* layer: makes the nodes of a layer and names its weight.  folds: how many of them fold. */
static const struct {
    void (*layer)(maker *m, char *weight);
    unsigned folds;
    bool small;
} chains[QFB_CHAINS] = {
    [QFB_CHAIN_NONE] = { none, 0, false }, [QFB_CHAIN_TURN] = { turn, 1, false },
    [QFB_CHAIN_QK] = { qk, 3, false },     [QFB_CHAIN_LORA] = { lora, 3, false },
    [QFB_CHAIN_INT8] = { int8, 2, false }, [QFB_CHAIN_TINY] = { tiny, CALLS, true },
    [QFB_CHAIN_TEXT] = { text, 1, true },
};

unsigned qfb_model_folds(const qfb_model *model)
{
    return chains[model->chain].folds;
}

/* x{i} = x{i-1} used with the weight of layer i. */
static void add_layers(maker *m)
{
    const bool small = chains[m->model->chain].small;
    const qfb_meta meta = small ? vector(F32, TINY) : matrix(m->dtype, m->model->n, m->model->n);
    snprintf(m->value, sizeof m->value, "x");
    for (m->i = 0; m->i < m->model->layers; m->i++) {
        char weight[NAME], result[NAME];
        chains[m->model->chain].layer(m, weight);
        name_it(result, "x", m->i);
        (small ? sum : product)(m, m->value, weight, result, meta);
        snprintf(m->value, sizeof m->value, "%s", result);
    }
}

static qf_str as_str(const char *s)
{
    return (qf_str){ s, strlen(s) };
}

static qf_status put_small_members(qfi_zip_writer *w, qf_diag *diag)
{
    static const char *const member[][2] = {
        { "m/data/constants/model_constants_config.json", "{\"config\":{}}" },
        { "m/data/sample_inputs/model.pt", "" },
        { "m/archive_format", "pt2" },
        { "m/archive_version", "0" },
        { "m/.data/version", "6\n" },
        { "m/byteorder", "little" },
    };
    for (size_t i = 0; i < sizeof member / sizeof *member; i++)
        QF_TRY(qfi_zip_put_text(w, as_str(member[i][0]), as_str(member[i][1]), diag));
    return QF_OK;
}

/* Bytes of the k-th parameter of a layer. */
static size_t payload_size(const qfb_model *model, int k)
{
    const size_t n = (size_t)model->n;
    if (chains[model->chain].small)
        return TINY * sizeof(float);
    if (model->chain == QFB_CHAIN_INT8)
        return k == 0 ? n * n : k == 1 ? n * sizeof(float) : n * sizeof(int64_t);
    return (k == 0 ? n * n : n * RANK) * (model->bf16 ? 2 : sizeof(float));
}

/* payload: numbers, and zeros behind those of the first parameter. */
static qf_status put_members(qfi_layout *layout, const char *payload, maker *m, size_t *text_bytes,
                             qf_diag *diag)
{
    const qfb_meta x = chains[m->model->chain].small ? vector(F32, TINY)
                                                     : matrix(m->dtype, m->model->n, m->model->n);
    qfi_text model = { .pool = &layout->pool }, config = { .pool = &layout->pool };
    qfi_zip_writer *w = qfi_zip_writer_new(layout);
    qfb_pt2_open(&m->text, &layout->pool);
    add_layers(m);
    qfb_pt2_model(&m->text, &x, m->value, &model);
    qfi_text_str(&config, "{\"config\":{");
    qfi_text_add(&config, m->text.config.p, m->text.config.n);
    qfi_text_str(&config, "}}");
    if (!w || config.failed || model.failed)
        QF_FAIL(diag, QF_ERR_NOMEM, "out of memory");
    const int per_layer = m->text.n_params / m->model->layers;
    for (int i = 0; i < m->text.n_params; i++) {
        char *name = qfi_pool_format(&layout->pool, "m/data/weights/weight_%d", i);
        if (!name)
            QF_FAIL(diag, QF_ERR_NOMEM, "out of memory");
        const size_t size = payload_size(m->model, i % per_layer);
        const bool zeros = m->model->chain == QFB_CHAIN_INT8 && i % per_layer == 2;
        const qf_str bytes = { zeros ? payload + payload_size(m->model, 0) : payload, size };
        QF_TRY(qfi_zip_put_text(w, as_str(name), bytes, diag));
    }
    QF_TRY(qfi_zip_put_text(w, as_str("m/data/weights/model_weights_config.json"),
                            (qf_str){ config.p, config.n }, diag));
    QF_TRY(qfi_zip_put_text(w, as_str("m/models/model.json"), (qf_str){ model.p, model.n }, diag));
    QF_TRY(put_small_members(w, diag));
    if (text_bytes)
        *text_bytes = model.n;
    return qfi_zip_finish(w, diag);
}

qf_status qfb_make_pt2(const char *path, const qfb_model *model, size_t *text_bytes, qf_diag *diag)
{
    const size_t size = payload_size(model, 0);
    maker m = { .model = model, .dtype = model->bf16 ? BF16 : F32 };
    qfi_layout layout = { 0 };
    qf_status st = QF_OK;
    char *payload = calloc(1, size + payload_size(model, 2));
    if (!payload)
        QF_FAIL(diag, QF_ERR_NOMEM, "out of memory");
    /* Numbers between 2^-7 and 2^-6 as f32 and as bf16, any as integers. */
    for (size_t i = 0; i + 1 < size; i += 2) {
        payload[i] = (char)(i * 37 >> 3);
        payload[i + 1] = 0x3c;
    }
    QF_TRY_OUT(put_members(&layout, payload, &m, text_bytes, diag));
    QF_TRY_OUT(qfi_write(&layout, NULL, path, &(qfi_write_options){ .replace = true }, NULL, diag));
out:
    qfi_layout_free(&layout);
    free(payload);
    return st;
}
