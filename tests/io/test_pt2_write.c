/* The .pt2 writer with edits made by hand: what is new, what stays to the byte, what is dropped. */
#include "io_support.h"

#include <stdlib.h>
#include <string.h>

#include <qfold/io.h>

#include "pt2_support.h"

#define NAMES(...)                                                                                 \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

/* Whether the text holds the part. */
static bool holds(qf_str text, const char *part)
{
    return memmem(text.p, text.n, part, strlen(part)) != NULL;
}

/* The first n floats of a payload. */
static void payload_floats(const qf_graph *g, uint32_t payload, float *out, size_t n)
{
    qf_diag diag = { 0 };
    qf_storage *s = g->payload[payload].storage;
    assert_int_equal(g->payload[payload].size, n * sizeof *out);
    assert_ok(s->read(s->ctx, 0, out, n * sizeof *out, &diag), &diag);
}

static qf_graph *reopen(const char *path)
{
    qf_graph *g = NULL;
    qf_diag diag = { 0 };
    assert_ok(qf_open(path, &g, &diag), &diag);
    return g;
}

/* The text of the archive's program from "module_call_graph" on: no edit may touch it. */
static qf_str tail_of(const qf_graph *g)
{
    const qf_str model = qfi_pt2_of(g)->model;
    const char *p = memmem(model.p, model.n, "\"module_call_graph\"", 19);
    assert_non_null(p);
    return (qf_str){ p, model.n - (size_t)(p - model.p) };
}

static void assert_same_tail(const qf_graph *a, const qf_graph *b)
{
    assert_true(qfi_str_equal(tail_of(a), tail_of(b)));
}

static void test_idle(void **state)
{
    (void)state;
    qf_graph *g = open_fixture("lifted");
    size_t n, n_out;
    write_edited(g, NULL, scratch("idle.pt2"));
    uint8_t *in = file_get(fixture("lifted"), &n), *out = file_get(scratch("idle.pt2"), &n_out);
    assert_int_equal(n, n_out);
    assert_memory_equal(in, out, n);
    free(in);
    free(out);
    qf_close(g);
}

/* w.permute becomes a view of the stored bytes, (w.t * 2) a new payload. */
static hand_edits fold_views(const qf_graph *g, float *twice)
{
    hand_edits e = edits_begin(g);
    payload_floats(g, 0, twice, 8);
    for (int i = 0; i < 8; i++)
        twice[i] *= 2;
    edits_drop_nodes(&e, NAMES("permute", "t", "alias", "mul"));
    edits_drop_values(&e, NAMES("p_w"));
    const uint32_t payload = edits_payload(&e, twice, 32);
    edits_constant(&e, "permute", NULL, 0, (int64_t[]){ 1, 2 }, 0);
    edits_constant(&e, "mul", NULL, payload, (int64_t[]){ 1, 2 }, 0);
    e.edits.spent = 32;
    return e;
}

static void test_views(void **state)
{
    (void)state;
    float twice[8], back[8];
    qf_graph *g = open_fixture("views");
    hand_edits e = fold_views(g, twice);
    write_edited(g, &e, scratch("views.pt2"));
    qf_graph *x = reopen(scratch("views.pt2"));
    assert_int_equal(x->n_input, 3);
    assert_int_equal(x->n_node, 2);
    assert_int_equal(x->n_payload, 2);
    assert_int_equal(x->spent, 32);
    const qfi_value *view = &x->value[value_named(x, "permute")];
    const qfi_value *mul = &x->value[value_named(x, "mul")];
    assert_int_equal(view->kind, QF_VALUE_BUFFER);
    assert_int_equal(mul->kind, QF_VALUE_CONST);
    assert_int_equal(view->stride[0], 1);
    assert_int_equal(view->stride[1], 2);
    assert_true(qfi_str_is(x->payload[view->payload].name, "data/weights/weight_0"));
    assert_true(qfi_str_is(x->payload[mul->payload].name, "data/constants/tensor_0"));
    payload_floats(x, mul->payload, back, 8);
    assert_memory_equal(back, twice, sizeof back);
    assert_int_equal(value_named(x, "inputs_0"), 2); /* behind what is stored */
    assert_same_tail(g, x);
    const qf_str kept = qfi_pt2_node_text(g, node_named(g, "add"));
    assert_true(qfi_str_equal(kept, qfi_pt2_node_text(x, node_named(x, "add"))));
    const qf_str model = qfi_pt2_of(x)->model;
    assert_false(holds(model, "\"p_w\"") || holds(model, "\"alias\"") || holds(model, "\"t\""));
    assert_false(holds(qfi_pt2_of(x)->config[QFI_PT2_WEIGHTS].text, "\"w\""));
    edits_end(&e);
    qf_close(x);
    qf_close(g);
}

/* Equal edits give equal bytes, and payloads keep a start at a multiple of 64. */
static void test_same_bytes(void **state)
{
    (void)state;
    float twice[8];
    size_t n[2];
    uint8_t *bytes[2];
    for (int i = 0; i < 2; i++) {
        qf_graph *g = open_fixture("views");
        hand_edits e = fold_views(g, twice);
        write_edited(g, &e, scratch(i ? "b.pt2" : "a.pt2"));
        bytes[i] = file_get(scratch(i ? "b.pt2" : "a.pt2"), &n[i]);
        edits_end(&e);
        qf_close(g);
    }
    assert_int_equal(n[0], n[1]);
    assert_memory_equal(bytes[0], bytes[1], n[0]);
    qf_graph *x = reopen(scratch("a.pt2"));
    for (uint32_t i = 0; i < x->n_payload; i++)
        assert_int_equal(x->payload[i].file_offset % 64, 0);
    qf_close(x);
    free(bytes[0]);
    free(bytes[1]);
}

/* Numbers stand where names stood, in nodes and in lists; their values and sources are gone. */
static void test_literals(void **state)
{
    (void)state;
    qf_graph *g = open_fixture("item");
    hand_edits e = edits_begin(g);
    edits_drop_nodes(&e, NAMES("item", "item_1", "mul_1"));
    edits_drop_values(&e, NAMES("b_n", "b_f"));
    edits_literal(&e, "item", (qf_scalar){ .is_int = true, .i = 3 });
    edits_literal(&e, "item_1", (qf_scalar){ .f = 0.10000000149011612 });
    edits_literal(&e, "mul_1", (qf_scalar){ .is_int = true, .i = 6 });
    write_edited(g, &e, scratch("item.pt2"));
    qf_graph *x = reopen(scratch("item.pt2"));
    assert_int_equal(x->n_node, 5);
    assert_int_equal(x->n_payload, 1);
    assert_int_equal(x->node[node_named(x, "mul")].n_in, 1);
    assert_true(holds(qfi_pt2_node_text(x, node_named(x, "mul")), "\"arg\": {\"as_int\": 3}"));
    assert_true(holds(qfi_pt2_node_text(x, node_named(x, "add")),
                      "\"arg\": {\"as_float\": 0.10000000149011612}"));
    assert_true(holds(qfi_pt2_node_text(x, node_named(x, "full")), "\"arg\": {\"as_int\": 6}"));
    assert_true(holds(qfi_pt2_of(x)->model, "\"sym_int_values\": {}"));
    assert_true(holds(qfi_pt2_of(x)->model, "\"sym_float_values\": {}"));
    assert_same_tail(g, x);
    edits_end(&e);
    qf_close(x);
    qf_close(g);
}

/* The same inside a list of sizes, and as an output of the program, where the signature says it
 * again. */
static void test_literal_places(void **state)
{
    (void)state;
    qf_graph *g = open_fixture("item_sizes");
    hand_edits e = edits_begin(g);
    edits_drop_nodes(
        &e, NAMES("item", "ge_1", "le_1", "_assert_scalar_default", "_assert_scalar_default_1"));
    edits_drop_values(&e, NAMES("b_n"));
    edits_literal(&e, "item", (qf_scalar){ .is_int = true, .i = 3 });
    write_edited(g, &e, scratch("places.pt2"));
    qf_graph *x = reopen(scratch("places.pt2"));
    assert_int_equal(x->n_node, 4);
    assert_int_equal(x->n_payload, 0);
    assert_int_equal(x->n_output, 2);
    assert_int_equal(x->output[1], QFI_NONE);
    assert_true(holds(qfi_pt2_node_text(x, node_named(x, "full")),
                      "\"as_sym_ints\": [{\"as_int\": 3}, {\"as_int\": 4}]"));
    assert_true(holds(qfi_pt2_of(x)->model, "{\"user_output\": {\"arg\": {\"as_int\": 3}}}"));
    assert_true(holds(qfi_pt2_of(x)->model, "\"sym_bool_values\": {}"));
    edits_end(&e);
    qf_close(x);
    qf_close(g);
}

/* permute(dequantize(q)) becomes dequantize(permuted q): the integers move, the channel axis with
 * them. */
static void test_patch(void **state)
{
    (void)state;
    qf_graph *g = open_fixture("int8_channel");
    hand_edits e = edits_begin(g);
    const qfi_id dequantize = node_named(g, "dequantize_per_channel");
    edits_drop_nodes(&e, NAMES("permute"));
    edits_drop_values(&e, NAMES("b_q"));
    const uint32_t moved = edits_constant(&e, NULL, "b_q", 0, (int64_t[]){ 1, 4 }, 0);
    e.edits.constant[moved].type.dim[0] = 4;
    e.edits.constant[moved].type.dim[1] = 6;
    e.edits.patch[e.edits.n_patch++] = (qfi_patch){ .node = dequantize,
                                                    .result = value_named(g, "permute"),
                                                    .new_operand = { moved, QFI_NONE, QFI_NONE },
                                                    .axis = 1 };
    write_edited(g, &e, scratch("patch.pt2"));
    qf_graph *x = reopen(scratch("patch.pt2"));
    assert_int_equal(x->n_node, 2);
    const qfi_node *n = &x->node[node_named(x, "dequantize_per_channel")];
    assert_true(qfi_str_is(x->value[n->first_out].name, "permute"));
    const qfi_value *q = &x->value[x->operand[n->first_in]];
    assert_true(qfi_str_is(q->name, "b_q_folded"));
    assert_int_equal(q->type.dtype, QF_DT_i8);
    assert_int_equal(q->type.dim[0], 4);
    assert_int_equal(q->stride[0], 1);
    assert_int_equal(q->stride[1], 4);
    assert_true(holds(qfi_pt2_node_text(x, 0), "\"name\": \"axis\", \"arg\": {\"as_int\": 1}"));
    assert_int_equal(x->value[n->first_out].type.dim[0], 4);
    edits_end(&e);
    qf_close(x);
    qf_close(g);
}

/* A region with two results goes as a whole; its only source goes with it. */
static void test_region(void **state)
{
    (void)state;
    const float table[16] = { 1, 1, 1, 1, 0.5403023f,  0.99995f,      0.5403023f,  0.99995f,
                              0, 0, 0, 0, 0.84147096f, 0.0099998331f, 0.84147096f, 0.0099998331f };
    qf_graph *g = open_fixture("rotary");
    hand_edits e = edits_begin(g);
    edits_drop_nodes(&e, NAMES("wrap_with_autocast"));
    edits_drop_values(&e, NAMES("b_inverse"));
    const uint32_t payload = edits_payload(&e, table, sizeof table);
    edits_constant(&e, "cos", NULL, payload, (int64_t[]){ 4, 1 }, 0);
    edits_constant(&e, "sin", NULL, payload, (int64_t[]){ 4, 1 }, 8);
    write_edited(g, &e, scratch("region.pt2"));
    qf_graph *x = reopen(scratch("region.pt2"));
    assert_int_equal(x->n_node, 4);
    assert_int_equal(x->n_body, 0);
    assert_int_equal(x->n_payload, 1);
    assert_int_equal(x->value[value_named(x, "sin")].offset, 8);
    /* tensor_0 is the number of a member of the input: the new one takes the next. */
    assert_true(qfi_str_is(x->payload[0].name, "data/constants/tensor_1"));
    edits_end(&e);
    qf_close(x);
    qf_close(g);
}

/* All tensors of a list; the output of the program; no stored tensor is left in the weights. */
static void test_everything(void **state)
{
    (void)state;
    const float values[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    qf_graph *g = open_fixture("transient");
    hand_edits e = edits_begin(g);
    edits_drop_nodes(&e, NAMES("mul", "add"));
    edits_drop_values(&e, NAMES("b_t"));
    edits_constant(&e, "add", NULL, edits_payload(&e, values, sizeof values), (int64_t[]){ 4, 1 },
                   0);
    write_edited(g, &e, scratch("all.pt2"));
    qf_graph *x = reopen(scratch("all.pt2"));
    assert_int_equal(x->n_node, 0);
    assert_int_equal(x->n_input, 2);
    assert_int_equal(x->output[0], 0);
    assert_int_equal(x->value[0].kind, QF_VALUE_CONST);
    edits_end(&e);
    qf_close(x);
    qf_close(g);
}

/* A tensor that is tied to one that stays keeps the shared payload; one that is not, takes its
 * payload along. */
static void test_shared_payload(void **state)
{
    (void)state;
    qf_graph *g = open_fixture("shared_storage");
    hand_edits e = edits_begin(g);
    edits_drop_nodes(&e, NAMES("mul", "mul_2"));
    edits_drop_values(&e, NAMES("b_offset", "b_repeated"));
    const float ones[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    const uint32_t payload = edits_payload(&e, ones, sizeof ones);
    edits_constant(&e, "mul", NULL, payload, (int64_t[]){ 4, 1 }, 0);
    edits_constant(&e, "mul_2", NULL, payload, (int64_t[]){ 4, 1 }, 0);
    write_edited(g, &e, scratch("shared.pt2"));
    qf_graph *x = reopen(scratch("shared.pt2"));
    assert_int_equal(x->n_payload, 2);
    assert_int_equal(x->value[value_named(x, "mul")].payload,
                     x->value[value_named(x, "mul_2")].payload);
    assert_int_equal(x->value[value_named(x, "b_step")].offset, 5);
    assert_int_equal(x->n_input, 5);
    edits_end(&e);
    qf_close(x);
    qf_close(g);
}

/* Zeros that are stored as nothing: a view of them needs the entry that says how many there are. */
static void test_zero_payload(void **state)
{
    (void)state;
    qf_graph *g = open_fixture("zeros");
    hand_edits e = edits_begin(g);
    edits_drop_nodes(&e, NAMES("permute"));
    edits_constant(&e, "permute", NULL, 0, (int64_t[]){ 1, 2 }, 0);
    edits_drop_values(&e, NAMES("p_w"));
    edits_drop_nodes(&e, NAMES("t", "alias", "mul"));
    edits_constant(&e, "mul", NULL, 0, (int64_t[]){ 1, 2 }, 0);
    write_edited(g, &e, scratch("zeros.pt2"));
    qf_graph *x = reopen(scratch("zeros.pt2"));
    assert_int_equal(x->n_payload, 1);
    assert_int_equal(x->payload[0].size, 32);
    assert_int_equal(x->n_input, 3);
    assert_true(holds(qfi_pt2_of(x)->config[QFI_PT2_WEIGHTS].text, "\"w\""));
    edits_end(&e);
    qf_close(x);
    qf_close(g);
}

/* The other program of an archive keeps its text and its payloads. */
static void test_other_model(void **state)
{
    (void)state;
    const float values[8] = { 0 };
    qf_graph *g = open_fixture("two_models");
    hand_edits e = edits_begin(g);
    edits_drop_nodes(&e, NAMES("mul"));
    edits_drop_values(&e, NAMES("p_p"));
    edits_constant(&e, "mul", NULL, edits_payload(&e, values, sizeof values), (int64_t[]){ 4, 1 },
                   0);
    write_edited(g, &e, scratch("two.pt2"));
    qf_graph *x = reopen(scratch("two.pt2"));
    assert_non_null(qfi_pt2_member(x, "data/weights/weight_0"));
    assert_non_null(qfi_pt2_member(x, "models/other.json"));
    assert_int_equal(x->n_payload, 2);
    edits_end(&e);
    qf_close(x);
    qf_close(g);
}

/* A stamp is replaced, its mark of row-major results kept. */
static void test_stamp(void **state)
{
    (void)state;
    float twice[8];
    qf_graph *g = open_fixture("stamped");
    assert_int_equal(g->spent, 123);
    hand_edits e = fold_views(g, twice);
    e.edits.spent = 155;
    write_edited(g, &e, scratch("stamp.pt2"));
    qf_graph *x = reopen(scratch("stamp.pt2"));
    assert_int_equal(x->spent, 155);
    assert_true(qfi_pt2_of(x)->stamped_contiguous);
    edits_end(&e);
    qf_close(x);
    qf_close(g);
}

/* Every name that a new tensor could take is taken already. */
static void test_unique_names(void **state)
{
    (void)state;
    float twice[8];
    qf_graph *g = open_fixture("views");
    hand_edits e = fold_views(g, twice);
    write_edited(g, &e, scratch("first.pt2"));
    edits_end(&e);
    qf_close(g);
    g = reopen(scratch("first.pt2"));
    e = edits_begin(g);
    edits_drop_nodes(&e, NAMES("add"));
    const uint32_t payload = edits_payload(&e, twice, 32);
    edits_constant(&e, "add", NULL, payload, (int64_t[]){ 4, 1 }, 0);
    edits_constant(&e, NULL, "mul", payload, (int64_t[]){ 4, 1 }, 0);
    edits_constant(&e, NULL, "mul", payload, (int64_t[]){ 4, 1 }, 0);
    write_edited(g, &e, scratch("second.pt2"));
    qf_graph *x = reopen(scratch("second.pt2"));
    assert_true(qfi_str_is(x->payload[x->value[value_named(x, "add")].payload].name,
                           "data/constants/tensor_1"));
    assert_int_equal(x->value[value_named(x, "mul_folded")].kind, QF_VALUE_CONST);
    assert_int_equal(x->value[value_named(x, "mul_folded_1")].kind, QF_VALUE_CONST);
    edits_end(&e);
    qf_close(x);
    qf_close(g);
}

/* Every allocation may fail: an error, no leak, no file. */
static void test_no_memory(void **state)
{
    (void)state;
    float twice[8];
    qf_graph *g = open_fixture("views");
    for (size_t k = 1;; k++) {
        hand_edits e = fold_views(g, twice);
        qfi_layout layout = { 0 };
        qf_diag diag = { 0 };
        pool_fail_at(k);
        const qf_status st = g->format->layout(g, NULL, &e.edits, &layout, &diag);
        const bool failed = pool_failed();
        pool_fail_at(0);
        qfi_layout_free(&layout);
        edits_end(&e);
        if (!failed) {
            assert_ok(st, &diag);
            break;
        }
        assert_int_equal(st, QF_ERR_NOMEM);
    }
    qf_close(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_idle),           cmocka_unit_test(test_views),
        cmocka_unit_test(test_same_bytes),     cmocka_unit_test(test_literals),
        cmocka_unit_test(test_literal_places), cmocka_unit_test(test_patch),
        cmocka_unit_test(test_region),         cmocka_unit_test(test_everything),
        cmocka_unit_test(test_shared_payload), cmocka_unit_test(test_zero_payload),
        cmocka_unit_test(test_other_model),    cmocka_unit_test(test_stamp),
        cmocka_unit_test(test_unique_names),   cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, scratch_remove);
}
