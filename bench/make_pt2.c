/* A minimal archive of torch.export's layout, written with the library's own zip writer. */
#include "make_pt2.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../driver/io/json.h"
#include "../driver/io/zip.h"

#define HEAD 128

/* One tensor's meta data; strides row-major unless `turned`. */
static void add_meta(qfi_text *t, const char *sizes, const char *strides)
{
    qfi_text_format(t,
                    "{\"dtype\":7,\"sizes\":[%s],\"requires_grad\":false,\"device\":{\"type\":"
                    "\"cpu\",\"index\":null},"
                    "\"strides\":[%s],\"storage_offset\":{\"as_int\":0},\"layout\":7}",
                    sizes, strides);
}

static void add_matrix_meta(qfi_text *t, int n, bool turned)
{
    char sizes[64], strides[64];
    snprintf(sizes, sizeof sizes, "{\"as_int\":%d},{\"as_int\":%d}", n, n);
    snprintf(strides, sizeof strides,
             turned ? "{\"as_int\":1},{\"as_int\":%d}" : "{\"as_int\":%d},{\"as_int\":1}", n);
    add_meta(t, sizes, strides);
}

static void add_head_meta(qfi_text *t, int n, bool turned)
{
    char sizes[128], strides[128];
    const int heads = n / HEAD, half = HEAD / 2;
    snprintf(sizes, sizeof sizes, "{\"as_int\":%d},{\"as_int\":%d},{\"as_int\":%d},{\"as_int\":%d}",
             heads, turned ? half : 2, turned ? 2 : half, n);
    snprintf(strides, sizeof strides,
             "{\"as_int\":%d},{\"as_int\":%d},{\"as_int\":%d},{\"as_int\":1}", HEAD * n,
             turned ? n : half * n, turned ? half * n : n);
    add_meta(t, sizes, strides);
}

/* A node of one tensor argument `self` and more arguments given as text; its result has the node's
 * name. */
static void add_node(qfi_text *t, const char *op, const char *name, const char *self,
                     const char *more)
{
    qfi_text_format(
        t,
        "{\"target\":\"torch.ops.aten.%s\",\"inputs\":[{\"name\":\"self\",\"arg\":{\"as_tensor\":{"
        "\"name\":\"%s\"}},"
        "\"kind\":1}%s],\"outputs\":[{\"as_tensor\":{\"name\":\"%s\"}}],\"metadata\":{},"
        "\"is_hop_single_tensor_return\":null,\"name\":\"%s\"},",
        op, self, more, name, name);
}

static void add_dims(char *out, size_t size, int dim0, int dim1)
{
    snprintf(out, size,
             ",{\"name\":\"dim0\",\"arg\":{\"as_int\":%d},\"kind\":1},{\"name\":\"dim1\",\"arg\":{"
             "\"as_int\":%d},\"kind\":1}",
             dim0, dim1);
}

/* The nodes of one layer; x{i} = x{i-1} @ chain(w{i}). */
static void add_layer(qfi_text *t, qfb_chain chain, int i, int n)
{
    char name[4][32], more[256];
    snprintf(name[0], sizeof name[0], "p_w%d", i);
    snprintf(name[1], sizeof name[1], "a%d", i);
    snprintf(name[2], sizeof name[2], "b%d", i);
    snprintf(name[3], sizeof name[3], "c%d", i);
    const char *weight = chain == QFB_CHAIN_QK     ? name[3]
                         : chain == QFB_CHAIN_TURN ? name[1]
                                                   : name[0];
    if (chain == QFB_CHAIN_TURN) {
        add_dims(more, sizeof more, 0, 1);
        add_node(t, "transpose.int", name[1], name[0], more);
    } else if (chain == QFB_CHAIN_QK) {
        snprintf(more, sizeof more,
                 ",{\"name\":\"size\",\"arg\":{\"as_ints\":[%d,2,%d,%d]},\"kind\":1}", n / HEAD,
                 HEAD / 2, n);
        add_node(t, "view.default", name[1], name[0], more);
        add_dims(more, sizeof more, 1, 2);
        add_node(t, "transpose.int", name[2], name[1], more);
        snprintf(more, sizeof more,
                 ",{\"name\":\"shape\",\"arg\":{\"as_ints\":[%d,%d]},\"kind\":1}", n, n);
        add_node(t, "reshape.default", name[3], name[2], more);
    }
    char self[32], result[32];
    snprintf(self, sizeof self, i ? "x%d" : "x", i - 1);
    snprintf(result, sizeof result, "x%d", i);
    snprintf(more, sizeof more,
             ",{\"name\":\"mat2\",\"arg\":{\"as_tensor\":{\"name\":\"%s\"}},\"kind\":1}", weight);
    add_node(t, "mm.default", result, self, more);
}

static void add_value(qfi_text *t, char prefix, int i)
{
    qfi_text_format(t, "\"%c%d\":", prefix, i);
}

/* tensor_values of one layer. */
static void add_layer_meta(qfi_text *t, qfb_chain chain, int i, int n)
{
    qfi_text_format(t, "\"p_w%d\":", i);
    add_matrix_meta(t, n, false);
    qfi_text_str(t, ",");
    if (chain == QFB_CHAIN_TURN) {
        add_value(t, 'a', i);
        add_matrix_meta(t, n, true);
        qfi_text_str(t, ",");
    } else if (chain == QFB_CHAIN_QK) {
        for (int k = 0; k < 2; k++) {
            add_value(t, k ? 'b' : 'a', i);
            add_head_meta(t, n, k == 1);
            qfi_text_str(t, ",");
        }
        add_value(t, 'c', i);
        add_matrix_meta(t, n, false);
        qfi_text_str(t, ",");
    }
    add_value(t, 'x', i);
    add_matrix_meta(t, n, false);
    qfi_text_str(t, ",");
}

static void add_model(qfi_text *t, qfb_chain chain, int layers, int n)
{
    qfi_text_str(t, "{\"graph_module\":{\"graph\":{\"inputs\":[");
    for (int i = 0; i < layers; i++)
        qfi_text_format(t, "{\"as_tensor\":{\"name\":\"p_w%d\"}},", i);
    qfi_text_format(t,
                    "{\"as_tensor\":{\"name\":\"x\"}}],\"outputs\":[{\"as_tensor\":{\"name\":\"x%"
                    "d\"}}],\"nodes\":[",
                    layers - 1);
    for (int i = 0; i < layers; i++)
        add_layer(t, chain, i, n);
    t->n--; /* the last comma */
    qfi_text_str(t, "],\"tensor_values\":{");
    for (int i = 0; i < layers; i++)
        add_layer_meta(t, chain, i, n);
    qfi_text_str(t, "\"x\":");
    add_matrix_meta(t, n, false);
    qfi_text_str(t, "},\"sym_int_values\":{},\"sym_bool_values\":{},\"is_single_tensor_return\":"
                    "false,\"custom_obj_values\":{},"
                    "\"sym_float_values\":{}},\"signature\":{\"input_specs\":[");
    for (int i = 0; i < layers; i++)
        qfi_text_format(
            t, "{\"parameter\":{\"arg\":{\"name\":\"p_w%d\"},\"parameter_name\":\"w%d\"}},", i, i);
    qfi_text_format(t,
                    "{\"user_input\":{\"arg\":{\"as_tensor\":{\"name\":\"x\"}}}}],\"output_specs\":"
                    "[{\"user_output\":{\"arg\":"
                    "{\"as_tensor\":{\"name\":\"x%d\"}}}}]},\"module_call_graph\":[{\"fqn\":\"\","
                    "\"signature\":null}],\"metadata\":{},"
                    "\"treespec_namedtuple_fields\":{}},\"opset_version\":{\"aten\":10},\"range_"
                    "constraints\":{},"
                    "\"schema_version\":{\"major\":8,\"minor\":20},\"verifiers\":[\"TRAINING\"],"
                    "\"torch_version\":\"2.13.0\",\"guards_code\":[]}",
                    layers - 1);
}

static void add_config(qfi_text *t, int layers, int n)
{
    qfi_text_str(t, "{\"config\":{");
    for (int i = 0; i < layers; i++) {
        qfi_text_format(t,
                        "%s\"w%d\":{\"path_name\":\"weight_%d\",\"is_param\":true,\"use_pickle\":"
                        "false,\"tensor_meta\":",
                        i ? "," : "", i, i);
        add_matrix_meta(t, n, false);
        qfi_text_str(t, "}");
    }
    qfi_text_str(t, "}}");
}

static qf_str as_str(const char *text)
{
    return (qf_str){ text, strlen(text) };
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

static qf_status put_members(qfi_layout *layout, const float *weight, qfb_chain chain, int layers,
                             int n, qf_diag *diag)
{
    qfi_text config = { .pool = &layout->pool }, model = { .pool = &layout->pool };
    qfi_zip_writer *w = qfi_zip_writer_new(layout);
    add_config(&config, layers, n);
    add_model(&model, chain, layers, n);
    if (!w || config.failed || model.failed)
        QF_FAIL(diag, QF_ERR_NOMEM, "out of memory");
    for (int i = 0; i < layers; i++) {
        char *name = qfi_pool_format(&layout->pool, "m/data/weights/weight_%d", i);
        if (!name)
            QF_FAIL(diag, QF_ERR_NOMEM, "out of memory");
        const qf_str payload = { (const char *)weight, (size_t)n * (size_t)n * sizeof *weight };
        QF_TRY(qfi_zip_put_text(w, as_str(name), payload, diag));
    }
    QF_TRY(qfi_zip_put_text(w, as_str("m/data/weights/model_weights_config.json"),
                            (qf_str){ config.p, config.n }, diag));
    QF_TRY(qfi_zip_put_text(w, as_str("m/models/model.json"), (qf_str){ model.p, model.n }, diag));
    QF_TRY(put_small_members(w, diag));
    return qfi_zip_finish(w, diag);
}

qf_status qfb_make_pt2(const char *path, qfb_chain chain, int layers, int n, qf_diag *diag)
{
    const size_t elements = (size_t)n * (size_t)n;
    float *weight = malloc(elements * sizeof *weight);
    qfi_layout layout = { 0 };
    qf_status st = QF_OK;
    if (!weight)
        QF_FAIL(diag, QF_ERR_NOMEM, "out of memory");
    for (size_t i = 0; i < elements; i++)
        weight[i] = (float)(i % 1021) * 0x1p-10f;
    QF_TRY_OUT(put_members(&layout, weight, chain, layers, n, diag));
    QF_TRY_OUT(qfi_write(&layout, NULL, path, &(qfi_write_options){ .replace = true }, NULL, diag));
out:
    qfi_layout_free(&layout);
    free(weight);
    return st;
}
