/* The .pt2 loader on what torch writes: every fixture read right; on what it must refuse: the error
 * names file and place. */
#include "io_support.h"

#include <string.h>

#include <qfold/io.h>

#include "pt2_support.h"

static const qfi_value *value_of(const qf_graph *g, const char *name)
{
    return &g->value[value_named(g, name)];
}

/* Kind, dtype, sizes and strides of a value; dims end with -9. */
static void check_value(const qf_graph *g, const char *name, qf_value_kind kind, qf_dtype dtype,
                        const int64_t *dims, const int64_t *strides, int64_t offset)
{
    const qfi_value *v = value_of(g, name);
    assert_int_equal(v->kind, kind);
    assert_int_equal(v->type.dtype, dtype);
    assert_true(v->strided);
    assert_int_equal(v->offset, offset);
    int8_t rank = 0;
    for (; dims[rank] != -9; rank++) {
        assert_int_equal(v->type.dim[rank], dims[rank]);
        assert_int_equal(v->stride[rank], strides[rank]);
    }
    assert_int_equal(v->type.rank, rank);
}

#define DIMS(...)                                                                                  \
    (const int64_t[])                                                                              \
    {                                                                                              \
        __VA_ARGS__, -9                                                                            \
    }

static void test_views(void **state)
{
    (void)state;
    qf_graph *g = open_fixture("views");
    assert_string_equal(qf_graph_format(g), "pt2");
    assert_int_equal(qf_graph_nodes(g), 6);
    assert_int_equal(qf_graph_values(g), 8);
    assert_int_equal(qf_graph_payloads(g), 1);
    check_value(g, "p_w", QF_VALUE_PARAM, QF_DT_f32, DIMS(4, 2), DIMS(2, 1), 0);
    check_value(g, "inputs_0", QF_VALUE_INPUT, QF_DT_f32, DIMS(2, 4), DIMS(4, 1), 0);
    check_value(g, "permute", QF_VALUE_COMPUTED, QF_DT_f32, DIMS(2, 4), DIMS(1, 2), 0);
    const qf_node_view n = qf_graph_node(g, 0);
    assert_true(qfi_str_is(n.name, "permute") && qfi_str_is(n.op, "aten.permute.default"));
    assert_int_equal(n.n_in, 1);
    const qf_value_view v = qf_graph_value(g, 0);
    assert_int_equal(v.payload, 0);
    assert_int_equal(v.payload_bytes, 32);
    assert_int_equal(g->value[0].n_use, 2);
    assert_true(value_of(g, "add_1")->is_output);
    assert_false(value_of(g, "add")->is_output);
    assert_true(value_of(g, "p_w")->requires_grad);
    assert_true(g->payload[0].copyable);
    assert_int_equal(qfi_graph_file(g)->size, g->file_size);
    qf_close(g);
}

static void test_storage(void **state)
{
    (void)state;
    qf_graph *g = open_fixture("shared_storage");
    check_value(g, "b_offset", QF_VALUE_BUFFER, QF_DT_f32, DIMS(2, 4), DIMS(4, 1), 2);
    check_value(g, "b_step", QF_VALUE_BUFFER, QF_DT_f32, DIMS(2, 4), DIMS(8, 2), 5);
    check_value(g, "b_turned", QF_VALUE_BUFFER, QF_DT_f32, DIMS(2, 4), DIMS(1, 2), 0);
    check_value(g, "b_repeated", QF_VALUE_BUFFER, QF_DT_f32, DIMS(2, 4), DIMS(0, 1), 3);
    assert_int_equal(value_of(g, "b_offset")->payload, value_of(g, "b_turned")->payload);
    assert_int_not_equal(value_of(g, "b_offset")->payload, value_of(g, "b_repeated")->payload);
    qf_close(g);
    g = open_fixture("tied");
    assert_int_equal(value_of(g, "p_embed_weight")->payload, 0);
    assert_int_equal(g->n_payload, 1);
    for (uint32_t i = 0; i < g->n_input; i++)
        assert_true(g->value[i].kind == QF_VALUE_INPUT || g->value[i].payload == 0);
    qf_close(g);
}

/* Constants of both kinds, and a deflated archive, whose payloads cannot be copied but read the
 * same. */
static void test_constants(void **state)
{
    (void)state;
    const char *const names[] = { "lifted", "deflated" };
    for (int i = 0; i < 2; i++) {
        float row[4];
        qf_diag diag = { 0 };
        qf_graph *g = open_fixture(names[i]);
        check_value(g, "c_lifted_tensor_0", QF_VALUE_CONST, QF_DT_f32, DIMS(4), DIMS(1), 0);
        check_value(g, "c_lifted_tensor_1", QF_VALUE_CONST, QF_DT_i64, DIMS(-9), DIMS(-9), 0);
        const qfi_payload *p = &g->payload[value_of(g, "c_lifted_tensor_0")->payload];
        assert_int_equal(p->copyable, i == 0);
        assert_true(i ? p->packed != p->size : p->packed == p->size);
        assert_ok(p->storage->read(p->storage->ctx, 0, row, sizeof row, &diag), &diag);
        assert_memory_equal(row, ((float[]){ 1, 2, 3, 4 }), sizeof row);
        qf_close(g);
    }
    qf_graph *g = open_fixture("transient");
    assert_int_equal(value_of(g, "b_t")->kind, QF_VALUE_BUFFER);
    assert_true(qfi_str_is(g->payload[0].name, "data/constants/tensor_0"));
    qf_close(g);
}

static void test_bodies(void **state)
{
    (void)state;
    qf_graph *g = open_fixture("cond");
    const qfi_node *n = &g->node[node_named(g, "cond")];
    assert_int_equal(n->n_body, 2);
    const qf_graph *branch = g->body[n->first_body + 1];
    assert_true(qfi_str_is(branch->path, "cond/false_graph_0/"));
    assert_int_equal(branch->n_input, 2);
    assert_int_equal(branch->n_node, 2);
    assert_int_equal(qfi_pt2_value(branch, (qf_str){ "p_w", 3 }), 1);
    assert_int_equal(n->n_in, 3); /* the predicate and two operands */
    assert_int_equal(g->operand[n->first_in + 2], value_named(g, "p_w"));
    assert_ptr_equal(branch->parent, g);
    qf_close(g);
    g = open_fixture("rotary");
    n = &g->node[node_named(g, "wrap_with_autocast")];
    assert_int_equal(n->n_body, 1);
    assert_int_equal(n->n_out, 2);
    assert_int_equal(n->n_in, g->body[0]->n_input);
    assert_int_equal(g->body[0]->n_output, 2);
    assert_int_equal(value_of(g, "sin")->slot, 1);
    qf_close(g);
}

static void test_mutation(void **state)
{
    (void)state;
    const char *const names[] = { "written_functional", "reversed_keys" };
    for (int i = 0; i < 2; i++) {
        qf_graph *g = open_fixture(names[i]);
        assert_true(value_of(g, "b_state")->mutated && value_of(g, "b_state")->pinned);
        assert_true(value_of(g, "b_cache")->mutated);
        assert_false(value_of(g, "b_k")->mutated);
        assert_int_equal(g->n_output, 3);
        assert_int_equal(g->n_node, 11);
        qf_close(g);
    }
    /* In place, the program says nothing about it in its signature. */
    qf_graph *g = open_fixture("written");
    assert_false(value_of(g, "b_state")->mutated);
    qf_close(g);
}

static void test_results(void **state)
{
    (void)state;
    qf_graph *g = open_fixture("split");
    const qfi_node *split = &g->node[node_named(g, "split_with_sizes")];
    const qfi_node *topk = &g->node[node_named(g, "topk")];
    assert_int_equal(split->n_out, 3);
    assert_int_equal(topk->n_out, 2);
    check_value(g, "getitem_2", QF_VALUE_COMPUTED, QF_DT_f32, DIMS(4, 4), DIMS(4, 1), 20);
    assert_int_equal(value_of(g, "getitem_2")->slot, 2);
    assert_ptr_equal(qfi_producer(g, value_named(g, "getitem_4")), topk);
    assert_int_equal(value_of(g, "getitem_1")->n_use, 0);
    qf_close(g);
}

static void test_scalars(void **state)
{
    (void)state;
    qf_graph *g = open_fixture("item");
    assert_int_equal(value_of(g, "item")->kind, QF_VALUE_SCALAR);
    assert_int_equal(value_of(g, "item")->type.dtype, QF_DT_i64);
    assert_int_equal(value_of(g, "item_1")->type.dtype, QF_DT_f64);
    const qfi_node *n = &g->node[node_named(g, "mul_1")];
    assert_true(qfi_str_is(n->op, "_operator.mul"));
    assert_int_equal(n->n_in, 1);
    qf_close(g);
    g = open_fixture("item_sizes");
    assert_int_equal(value_of(g, "ge_1")->type.dtype, QF_DT_b8);
    assert_int_equal(g->node[node_named(g, "full")].n_in, 1);
    assert_int_equal(g->node[node_named(g, "_assert_scalar_default")].n_out, 0);
    assert_true(value_of(g, "full")->type.dim[0] < 0);
    qf_close(g);
    g = open_fixture("scalars"); /* numbers and text given by the user are placeholders too */
    assert_int_equal(g->n_input, 4);
    assert_int_equal(g->value[2].kind, QF_VALUE_OTHER);
    assert_true(qfi_str_is(g->value[3].name, "inputs_2"));
    qf_close(g);
}

/* Equal symbolic sizes are equal symbols, others are not. */
static void test_symbols(void **state)
{
    (void)state;
    qf_graph *g = open_fixture("dynamic");
    const int64_t rows = value_of(g, "inputs_0")->type.dim[0];
    const int64_t doubled = value_of(g, "reshape")->type.dim[0];
    assert_true(rows < 0 && doubled < 0 && rows != doubled);
    assert_int_equal(value_of(g, "expand")->type.dim[0], doubled);
    assert_int_equal(value_of(g, "add")->type.dim[0], doubled);
    qf_close(g);
}

static void test_types(void **state)
{
    (void)state;
    qf_graph *g = open_fixture("int8_channel");
    check_value(g, "b_q", QF_VALUE_BUFFER, QF_DT_i8, DIMS(6, 4), DIMS(4, 1), 0);
    check_value(g, "b_zero", QF_VALUE_BUFFER, QF_DT_i64, DIMS(6), DIMS(1), 0);
    assert_int_equal(g->node[0].n_in, 3);
    qf_close(g);
    g = open_fixture("bf16");
    check_value(g, "p_w", QF_VALUE_PARAM, QF_DT_bf16, DIMS(2, 4), DIMS(4, 1), 0);
    qf_close(g);
    g = open_fixture("empty");
    check_value(g, "b_e", QF_VALUE_BUFFER, QF_DT_f32, DIMS(0, 4), DIMS(4, 1), 0);
    assert_int_equal(g->payload[0].size, 0);
    qf_close(g);
}

/* What a module's signature names must stay. */
static void test_signature(void **state)
{
    (void)state;
    qf_graph *g = open_fixture("signature");
    assert_true(value_of(g, "add")->pinned);
    assert_true(value_of(g, "mul")->pinned);
    assert_false(value_of(g, "add_1")->pinned);
    qf_close(g);
}

/* A member of no bytes stands for zeros; a pickled weight for something unknown; a shared buffer
 * for state. */
static void test_special_payloads(void **state)
{
    (void)state;
    unsigned char bytes[32];
    qf_diag diag = { 0 };
    qf_graph *g = open_fixture("zeros");
    assert_int_equal(g->payload[0].size, 32);
    assert_int_equal(g->payload[0].packed, 0);
    assert_false(g->payload[0].copyable);
    memset(bytes, 1, sizeof bytes);
    const qf_storage *s = g->payload[0].storage;
    assert_ok(s->read(s->ctx, 0, bytes, 32, &diag), &diag);
    for (int i = 0; i < 32; i++)
        assert_int_equal(bytes[i], 0);
    qf_close(g);
    g = open_fixture("opaque");
    assert_int_equal(value_of(g, "p_w")->kind, QF_VALUE_PARAM);
    assert_int_equal(value_of(g, "p_w")->payload, QFI_NONE);
    assert_int_equal(value_of(g, "p_w")->type.rank, -1);
    qf_close(g);
    g = open_fixture("two_models");
    assert_true(value_of(g, "b_b")->mutated);
    assert_false(value_of(g, "p_p")->mutated);
    qf_close(g);
}

/* ---- what is refused ---- */

static const struct {
    const char *name;
    qf_status code;
    const char *part;
} refused[] = {
    { "no_archive_format", QF_ERR_MEMBER, "'archive_format'" },
    { "no_archive_version", QF_ERR_MEMBER, "'archive_version'" },
    { "no_data_version", QF_ERR_MEMBER, "'.data/version'" },
    { "no_sample_inputs", QF_ERR_MEMBER, "data/sample_inputs/model.pt" },
    { "no_program", QF_ERR_MEMBER, "no program" },
    { "no_weights_config", QF_ERR_MEMBER, "data/weights/model_weights_config.json" },
    { "no_constants_config", QF_ERR_MEMBER, "data/constants/model_constants_config.json" },
    { "no_payload", QF_ERR_MEMBER, "tensor 'w': there is no member 'data/weights/weight_0'" },
    { "other_archive_format", QF_ERR_FORMAT, "'pt3'" },
    { "other_archive_version", QF_ERR_VERSION, "archive_version is '1'" },
    { "other_data_version", QF_ERR_VERSION, ".data/version is '11" },
    { "big_endian", QF_ERR_UNSUPPORTED, "big-endian" },
    { "short_payload", QF_ERR_RANGE, "'w' needs 32 bytes, data/weights/weight_0 has 28" },
    { "odd_payload", QF_ERR_RANGE, "the 33 bytes of data/weights/weight_0" },
    { "far_offset", QF_ERR_RANGE, "'w' needs 36 bytes, data/weights/weight_0 has 32" },
    { "huge_size", QF_ERR_OVERFLOW, "tensor 'w'" },
    { "dtype_0", QF_ERR_DTYPE, "'w' has dtype 0" },
    { "dtype_36", QF_ERR_DTYPE, "'w' has dtype 36" },
    { "two_dtypes", QF_ERR_DTYPE, "tensor 'v': another dtype than 'w'" },
    { "no_tensor_meta", QF_ERR_SCHEMA, "'w': it has no tensor_meta" },
    { "no_layout", QF_ERR_SCHEMA, "'layout' is missing" },
    { "no_is_param", QF_ERR_SCHEMA, "'w' lacks 'is_param'" },
    { "symbolic_stride", QF_ERR_SCHEMA, "'w': a stored tensor with symbolic sizes" },
    { "negative_offset", QF_ERR_SCHEMA, "a negative size, stride or offset" },
    { "one_stride", QF_ERR_SCHEMA, "1 strides for 2 sizes" },
    { "parameter_as_buffer", QF_ERR_SCHEMA, "the parameter 'w' is stored as a buffer" },
    { "unknown_prefix", QF_ERR_SCHEMA, "tensor 'k': its path has no known prefix" },
    { "missing_fqn", QF_ERR_MEMBER, "'nowhere' is not among the stored weights" },
    { "other_name", QF_ERR_SCHEMA, "input 0 is 'p_w' in the graph, 'p_v' here" },
    { "too_few_specs", QF_ERR_SCHEMA, "1 specs for 2 values" },
    { "too_many_outputs", QF_ERR_SCHEMA, "more than 1 specs" },
    { "other_output", QF_ERR_SCHEMA, "output 0 is 'add_1' in the graph, 'add' here" },
    { "unknown_spec", QF_ERR_SCHEMA, "unknown input spec 'secret'" },
    { "unknown_mutation", QF_ERR_NAME, "writes 'nowhere'" },
    { "no_input_meta", QF_ERR_SCHEMA, "the input 'p_w' has no tensor_values entry" },
    { "not_topological", QF_ERR_NAME, "node 'add_1': 'add' is not defined" },
    { "self_reference", QF_ERR_NAME, "node 'permute': 'permute' is not defined" },
    { "duplicate_value", QF_ERR_NAME, "node 'add_1': 'add_1' is defined twice" },
    { "undefined_output", QF_ERR_NAME, "the output 'nothing' is not defined" },
    { "unknown_tag", QF_ERR_SCHEMA, "unknown tag 'as_secret'" },
    { "two_tags", QF_ERR_SCHEMA, "a union with two tags" },
    { "no_tag", QF_ERR_SCHEMA, "a union without a tag" },
    { "no_target", QF_ERR_SCHEMA, "a node lacks 'target'" },
    { "no_nodes", QF_ERR_SCHEMA, "a graph lacks 'nodes'" },
    { "no_module_calls", QF_ERR_SCHEMA, "module_call_graph is empty" },
    { "schema_major_9", QF_ERR_VERSION, "schema version 9" },
    { "no_schema_version", QF_ERR_SCHEMA, "lacks 'schema_version'" },
    { "cut_program", QF_ERR_JSON, "models/model.json: byte 1000" },
    { "text_behind", QF_ERR_JSON, "text behind the end" },
    { "bad_stamp", QF_ERR_SCHEMA, "extra/qfold.json" },
    { "no_root", QF_ERR_FORMAT, "lies outside" },
    { "two_roots", QF_ERR_FORMAT, "lies outside 'a/'" },
    { "nested_root", QF_ERR_MEMBER, "'archive_format'" },
    { "torch_2_7", QF_ERR_VERSION, "load and save it with torch >= 2.9" },
    { "torch_2_8", QF_ERR_VERSION, "load and save it with torch >= 2.9" },
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        qf_graph *g = NULL;
        qf_diag diag = { 0 };
        const qf_status st = qf_open(malformed(refused[i].name), &g, &diag);
        assert_fails(st, &diag, refused[i].code, refused[i].part);
        if (!strstr(diag.text, refused[i].name))
            fail_msg("'%s' does not name the file %s", diag.text, refused[i].name);
        assert_null(g);
    }
    assert_int_equal(pool_live(), 0);
}

static void test_arguments(void **state)
{
    (void)state;
    qf_graph *g = NULL;
    qf_diag diag = { 0 };
    assert_fails(qf_open(NULL, &g, &diag), &diag, QF_ERR_ARG, "path");
    diag = (qf_diag){ 0 };
    assert_fails(qf_open(scratch("nothing"), &g, &diag), &diag, QF_ERR_OPEN, "nothing");
    assert_int_not_equal(qf_open(malformed("no_root"), &g, NULL), QF_OK); /* no diag: no crash */
    qf_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_storage),
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_mutation),
        cmocka_unit_test(test_results),
        cmocka_unit_test(test_scalars),
        cmocka_unit_test(test_symbols),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_signature),
        cmocka_unit_test(test_special_payloads),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, scratch_remove);
}
