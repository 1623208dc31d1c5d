/* Parts of model.json. */
#include "pt2_text.h"

static void add_list(qfi_text *t, int n, const int64_t *v)
{
    for (int i = 0; i < n; i++)
        qfi_text_format(t, "%s{\"as_int\":%lld}", i ? "," : "", (long long)v[i]);
}

static void add_meta(qfi_text *t, const qfb_meta *m)
{
    int64_t stride[4] = { 0 }, step = 1;
    for (int d = m->rank - 1; d >= 0; d--) {
        stride[d] = m->stride[d] ? m->stride[d] : step;
        step *= m->dim[d];
    }
    qfi_text_format(t, "{\"dtype\":%d,\"sizes\":[", m->dtype);
    add_list(t, m->rank, m->dim);
    qfi_text_str(t, "],\"requires_grad\":false,\"device\":{\"type\":\"cpu\",\"index\":null},"
                    "\"strides\":[");
    add_list(t, m->rank, stride);
    qfi_text_str(t, "],\"storage_offset\":{\"as_int\":0},\"layout\":7}");
}

static void add_comma(qfi_text *t)
{
    if (t->n > 0)
        qfi_text_str(t, ",");
}

static void add_value(qfb_pt2 *p, const char *prefix, const char *name, const qfb_meta *meta)
{
    add_comma(&p->values);
    qfi_text_format(&p->values, "\"%s%s\":", prefix, name);
    add_meta(&p->values, meta);
}

void qfb_pt2_open(qfb_pt2 *p, qfi_pool *pool)
{
    *p = (qfb_pt2){ .inputs = { .pool = pool },
                    .nodes = { .pool = pool },
                    .values = { .pool = pool },
                    .specs = { .pool = pool },
                    .config = { .pool = pool } };
}

void qfb_pt2_param(qfb_pt2 *p, const char *name, const qfb_meta *meta)
{
    add_comma(&p->inputs);
    qfi_text_format(&p->inputs, "{\"as_tensor\":{\"name\":\"p_%s\"}}", name);
    add_comma(&p->specs);
    qfi_text_format(&p->specs,
                    "{\"parameter\":{\"arg\":{\"name\":\"p_%s\"},\"parameter_name\":\"%s\"}}", name,
                    name);
    add_comma(&p->config);
    qfi_text_format(&p->config,
                    "\"%s\":{\"path_name\":\"weight_%d\",\"is_param\":true,\"use_pickle\":false,"
                    "\"tensor_meta\":",
                    name, p->n_params++);
    add_meta(&p->config, meta);
    qfi_text_str(&p->config, "}");
    add_value(p, "p_", name, meta);
}

void qfb_pt2_begin(qfb_pt2 *p, const char *target)
{
    add_comma(&p->nodes);
    qfi_text_format(&p->nodes, "{\"target\":\"torch.ops.%s\",\"inputs\":[", target);
    p->first_argument = true;
}

static void begin_argument(qfb_pt2 *p, const char *argument)
{
    qfi_text_format(&p->nodes, "%s{\"name\":\"%s\",\"arg\":", p->first_argument ? "" : ",",
                    argument);
    p->first_argument = false;
}

static void end_argument(qfb_pt2 *p)
{
    qfi_text_str(&p->nodes, ",\"kind\":1}");
}

void qfb_pt2_tensor(qfb_pt2 *p, const char *argument, const char *value)
{
    begin_argument(p, argument);
    qfi_text_format(&p->nodes, "{\"as_tensor\":{\"name\":\"%s\"}}", value);
    end_argument(p);
}

void qfb_pt2_ints(qfb_pt2 *p, const char *argument, int n, const int64_t *v)
{
    begin_argument(p, argument);
    qfi_text_str(&p->nodes, "{\"as_ints\":[");
    for (int i = 0; i < n; i++)
        qfi_text_format(&p->nodes, "%s%lld", i ? "," : "", (long long)v[i]);
    qfi_text_str(&p->nodes, "]}");
    end_argument(p);
}

void qfb_pt2_int(qfb_pt2 *p, const char *argument, int64_t v)
{
    begin_argument(p, argument);
    qfi_text_format(&p->nodes, "{\"as_int\":%lld}", (long long)v);
    end_argument(p);
}

void qfb_pt2_float(qfb_pt2 *p, const char *argument, double v)
{
    begin_argument(p, argument);
    qfi_text_str(&p->nodes, "{\"as_float\":");
    qfi_text_double(&p->nodes, v);
    qfi_text_str(&p->nodes, "}");
    end_argument(p);
}

void qfb_pt2_dtype(qfb_pt2 *p, const char *argument, int dtype)
{
    begin_argument(p, argument);
    qfi_text_format(&p->nodes, "{\"as_scalar_type\":%d}", dtype);
    end_argument(p);
}

void qfb_pt2_end(qfb_pt2 *p, const char *name, const qfb_meta *meta)
{
    qfi_text_format(&p->nodes,
                    "],\"outputs\":[{\"as_tensor\":{\"name\":\"%s\"}}],\"metadata\":{},"
                    "\"is_hop_single_tensor_return\":null,\"name\":\"%s\"}",
                    name, name);
    add_value(p, "", name, meta);
}

static void add_part(qfi_text *out, const char *before, const qfi_text *part)
{
    qfi_text_str(out, before);
    qfi_text_add(out, part->p, part->n);
    out->failed |= part->failed;
}

void qfb_pt2_model(qfb_pt2 *p, const qfb_meta *x, const char *result, qfi_text *out)
{
    add_value(p, "", "x", x);
    add_part(out, "{\"graph_module\":{\"graph\":{\"inputs\":[", &p->inputs);
    qfi_text_format(out,
                    "%s{\"as_tensor\":{\"name\":\"x\"}}],\"outputs\":[{\"as_tensor\":{\"name\":"
                    "\"%s\"}}],\"nodes\":[",
                    p->n_params ? "," : "", result);
    add_part(out, "", &p->nodes);
    add_part(out, "],\"tensor_values\":{", &p->values);
    add_part(out,
             "},\"sym_int_values\":{},\"sym_bool_values\":{},\"is_single_tensor_return\":false,"
             "\"custom_obj_values\":{},\"sym_float_values\":{}},\"signature\":{\"input_specs\":[",
             &p->specs);
    qfi_text_format(
        out,
        "%s{\"user_input\":{\"arg\":{\"as_tensor\":{\"name\":\"x\"}}}}],\"output_specs\":"
        "[{\"user_output\":{\"arg\":{\"as_tensor\":{\"name\":\"%s\"}}}}]},\"module_call_graph\":"
        "[{\"fqn\":\"\",\"signature\":null}],\"metadata\":{},\"treespec_namedtuple_fields\":{}},"
        "\"opset_version\":{\"aten\":10},\"range_constraints\":{},"
        "\"schema_version\":{\"major\":8,\"minor\":20},\"verifiers\":[\"TRAINING\"],"
        "\"torch_version\":\"2.13.0\",\"guards_code\":[]}",
        p->n_params ? "," : "", result);
}
