/* The operator table: look-up, what rows say of nodes, arguments of every kind, promotion, python
 * arithmetic. What the calls compute is for tests/oracle/ops.py, with torch. */
#include "aten_support.h"

#include <stdio.h>
#include <string.h>

#include "io/aten.h"

/* Every row again, as text. */
static const struct {
    const char *name, *schema;
    uint8_t effect, alias;
    uint16_t reason;
} rows[] = {
#define QF_ATEN(name, schema, builder, alias)                                                      \
    { name, schema, QFI_PURE, QFI_##alias, QF_REASON_none },
#define QF_WRITE(name, schema, builder) { name, schema, QFI_WRITE, QFI_ALIAS, QF_REASON_none },
#define QF_OUT(name, schema, builder) { name, schema, QFI_WRITE, QFI_ALIAS_LAST, QF_REASON_none },
#define QF_EMPTY(name, schema) { name, schema, QFI_PURE, QFI_FRESH, QF_REASON_uninitialised },
#define QF_ASSERT(name, schema, builder) { name, schema, QFI_ASSERT, QFI_FRESH, QF_REASON_none },
#define QF_DEQUANTIZE_BLOCKS(name, schema, builder)                                                \
    { name, schema, QFI_PURE, QFI_FRESH, QF_REASON_none },
#define QF_DEQUANTIZE(name, schema, builder) { name, schema, QFI_PURE, QFI_FRESH, QF_REASON_none },
#define QF_REGION(name) { name, NULL, QFI_REGION, QFI_FRESH, QF_REASON_none },
#define QF_CONTROL(name) { name, NULL, QFI_CONTROL, QFI_FRESH, QF_REASON_control_flow },
#define QF_KEEP(name, reason) { name, NULL, QFI_KEEP, QFI_FRESH, QF_REASON_##reason },
#include "io/aten_ops.def"
#undef QF_ATEN
#undef QF_WRITE
#undef QF_OUT
#undef QF_EMPTY
#undef QF_ASSERT
#undef QF_DEQUANTIZE
#undef QF_DEQUANTIZE_BLOCKS
#undef QF_REGION
#undef QF_CONTROL
#undef QF_KEEP
};
#define N_ROWS (sizeof rows / sizeof *rows)

static qf_str str(const char *s)
{
    return (qf_str){ s, strlen(s) };
}

/* ---- look-up ---- */

static void test_every_row_is_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_ROWS; i++) {
        const qfi_aten_row *row = qfi_aten_find(str(rows[i].name));
        qfi_node node = { 0 };
        if (!row)
            fail_msg("%s is not found", rows[i].name);
        qfi_aten_describe(row, str(rows[i].name), &node);
        assert_int_equal(node.effect, rows[i].effect);
        assert_int_equal(node.alias, rows[i].alias);
        assert_int_equal(node.reason, rows[i].reason);
        assert_ptr_equal(node.row, row);
    }
}

static void test_other_names_are_not_found(void **state)
{
    (void)state;
    static const char *const names[] = { "",
                                         "a",
                                         "aten",
                                         "aten.add",
                                         "aten.add.",
                                         "aten.add.Tensor2",
                                         "aten.add.Tenso",
                                         "zzz",
                                         "torch.ops.aten.add.Tensor",
                                         "prims.add.default",
                                         "aten.ADD.Tensor" };
    qfi_node node = { 0 };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_null(qfi_aten_find(str(names[i])));
    assert_null(qfi_aten_find((qf_str){ "aten.add.Tensor\0", 16 }));
    assert_null(qfi_aten_find((qf_str){ "aten.add\0Tensor", 15 }));
    qfi_aten_describe(NULL, str("my.op"), &node);
    assert_int_equal(node.effect, QFI_UNKNOWN);
    assert_int_equal(node.reason, QF_REASON_unknown_op);
    assert_true(node.op.n == 5);
}

static void test_enabled_autocast_is_no_region(void **state)
{
    (void)state;
    static const struct {
        const char *third;
        uint8_t effect;
    } cases[] = {
        { "{\"as_bool\":false}", QFI_REGION },
        { "{\"as_bool\":true}", QFI_KEEP },
        { "{\"as_int\":0}", QFI_KEEP },
        { "{\"as_none\":true}", QFI_KEEP },
        { "{}", QFI_KEEP },
        { "7", QFI_KEEP },
    };
    const char *op = "higher_order.wrap_with_autocast";
    char text[400];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        qfi_node node = { 0 };
        qfi_aten_describe(qfi_aten_find(str(op)), str(op), &node);
        snprintf(text, sizeof text,
                 "{\"target\":\"%s\",\"inputs\":[{\"name\":\"\",\"arg\":{\"as_string\":\"cpu\"},"
                 "\"kind\":1},"
                 "{\"arg\":{\"as_none\":true},\"name\":\"\",\"kind\":1},{\"name\":\"\",\"kind\":1,"
                 "\"arg\":%s}]}",
                 op, cases[i].third);
        qfi_aten_describe_region(str(text), &node);
        assert_int_equal(node.effect, cases[i].effect);
        for (size_t n = 0; n < strlen(text) && cases[i].effect == QFI_KEEP; n++) {
            qfi_aten_describe(qfi_aten_find(str(op)), str(op), &node);
            qfi_aten_describe_region((qf_str){ text, n }, &node);
            assert_int_equal(node.effect, QFI_KEEP);
        }
    }
    qfi_node grad = { 0 };
    op = "higher_order.wrap_with_set_grad_enabled";
    qfi_aten_describe(qfi_aten_find(str(op)), str(op), &grad);
    qfi_aten_describe_region(str("{\"inputs\":[]}"), &grad);
    assert_int_equal(grad.effect, QFI_REGION);
}

/* ---- arguments ---- */

#define X0 "{\"name\":\"self\",\"arg\":{\"as_tensor\":{\"name\":\"x0\"}},\"kind\":1}"
#define X1 "{\"kind\":1,\"arg\":{\"as_tensor\":{\"name\":\"x1\"}},\"name\":\"other\"}"

static void test_arguments_that_cannot_be_expressed(void **state)
{
    (void)state;
    const char *add = "torch.ops.aten.add.Tensor";

    expect_reason(add, "[" X0 "," X1 "]", QF_REASON_none);
    expect_reason(add, "[" X1 "," X0 "]", QF_REASON_none);
    expect_reason(add, "[" X0 "]", QF_REASON_unsupported_argument);
    expect_reason(add, "[]", QF_REASON_unsupported_argument);
    expect_reason(add, "[" X0 "," X1 ",{\"name\":\"gamma\",\"arg\":{\"as_int\":1},\"kind\":2}]",
                  QF_REASON_unsupported_argument);
    expect_reason(
        add,
        "[" X0 "," X1
        ",{\"name\":\"alpha\",\"arg\":{\"as_complex\":{\"real\":1.0,\"imag\":1.0}},\"kind\":2}]",
        QF_REASON_unsupported_argument);
    expect_reason(add,
                  "[" X0
                  ",{\"name\":\"other\",\"arg\":{\"as_sym_int\":{\"as_name\":\"s\"}},\"kind\":1}]",
                  QF_REASON_runtime);
    expect_reason("torch.ops.aten.permute.default",
                  "[" X0 ",{\"name\":\"dims\",\"arg\":{\"as_ints\":[1,1]},\"kind\":1}]",
                  QF_REASON_undefined);
    expect_reason("torch.ops.aten.permute.default",
                  "[" X0 ",{\"name\":\"dims\",\"arg\":{\"as_ints\":[0,1,2]},\"kind\":1}]",
                  QF_REASON_undefined);
    expect_reason("torch.ops.aten.view.default",
                  "[" X0 ",{\"name\":\"size\",\"arg\":{\"as_ints\":[-1,-1]},\"kind\":1}]",
                  QF_REASON_undefined);
    expect_reason("torch.ops.aten.view.default",
                  "[" X0
                  ",{\"name\":\"size\",\"arg\":{\"as_ints\":[1,1,1,1,1,1,1,1,6]},\"kind\":1}]",
                  QF_REASON_unsupported_rank);
    expect_reason("torch.ops.aten._to_copy.default",
                  "[" X0 ",{\"name\":\"layout\",\"arg\":{\"as_layout\":1},\"kind\":2}]",
                  QF_REASON_unsupported_argument);
    expect_reason("torch.ops.aten._to_copy.default",
                  "[" X0 ",{\"name\":\"dtype\",\"arg\":{\"as_scalar_type\":77},\"kind\":2}]",
                  QF_REASON_unsupported_dtype);
    expect_reason("torch.ops.aten.rand.default", "[]", QF_REASON_random);
    expect_reason("torch.ops.my.op.default", "[]", QF_REASON_unknown_op);
}

/* A range from "0" to an end by a step, without a result: in an integer dtype steps lose their
 * fraction, and none may be 0. */
static void test_ranges_without_a_length(void **state)
{
    (void)state;
    static const char *const ends_and_steps[][3] = {
        { "{\"as_int\":10}", "{\"as_float\":0.5}", "5" },
        { "{\"as_int\":10}", "{\"as_int\":0}", "5" },
        { "{\"as_int\":10}", "{\"as_float\":0.0}", "7" },
        { "{\"as_int\":10}", "{\"as_float\":\"NaN\"}", "7" },
        { "{\"as_float\":\"Infinity\"}", "{\"as_int\":1}", "7" },
        { "{\"as_int\":10}", "{\"as_int\":-1}", "5" },
        { "{\"as_float\":1e300}", "{\"as_float\":1e-300}", "7" },
    };

    for (size_t i = 0; i < sizeof ends_and_steps / sizeof *ends_and_steps; i++) {
        char inputs[400];
        lowered l;
        snprintf(
            inputs, sizeof inputs,
            "[{\"name\":\"start\",\"arg\":{\"as_int\":0},\"kind\":1},"
            "{\"name\":\"end\",\"arg\":%s,\"kind\":1},{\"name\":\"step\",\"arg\":%s,\"kind\":1},"
            "{\"name\":\"dtype\",\"arg\":{\"as_scalar_type\":%s},\"kind\":2}]",
            ends_and_steps[i][0], ends_and_steps[i][1], ends_and_steps[i][2]);
        lower_node(&l, "torch.ops.aten.arange.start_step", inputs, "as_tensor", NULL, 0);
        assert_int_equal(l.status, QF_OK);
        assert_int_not_equal(l.env.reason, QF_REASON_none);
        lower_end(&l);
    }
}

static void test_defaults_and_order(void **state)
{
    (void)state;
    lowered l;

    lower_node(&l, "torch.ops.aten.sub.Tensor", "[" X1 "," X0 "]", "as_tensor",
               (const qf_type[]){ aten_matrix, aten_matrix }, 2);
    assert_int_equal(first_result(&l)->op, QF_OP_sub);
    assert_int_equal(first_result(&l)->in[0], 0);
    assert_int_equal(first_result(&l)->in[1], 1);
    lower_end(&l);
    lower_node(&l, "torch.ops.aten.flatten.using_ints", "[" X0 "]", "as_tensor", &aten_matrix, 1);
    assert_int_equal(first_result(&l)->type.rank, 1);
    assert_int_equal(first_result(&l)->type.dim[0], 6);
    lower_end(&l);
}

/* Equations over two tensors of [2, 3] and [3, 2]; a reason, or the shape of the result. */
static const struct {
    const char *text;
    uint16_t reason;
    int8_t rank;
    int64_t dim[4];
} equations[] = {
    { "ij,jk->ik", QF_REASON_none, 2, { 2, 2 } },
    { "ab,cd", QF_REASON_none, 4, { 2, 3, 3, 2 } },
    { "ij,ji->", QF_REASON_none, 0, { 0 } },
    { " z A , A b -> b", QF_REASON_none, 1, { 2 } },
    { "", QF_REASON_undefined, 0, { 0 } },
    { ",", QF_REASON_undefined, 0, { 0 } },
    { "ij", QF_REASON_undefined, 0, { 0 } },
    { "ij,jk,kl->il", QF_REASON_undefined, 0, { 0 } },
    { "ij,jk-", QF_REASON_undefined, 0, { 0 } },
    { "ij,jk->ik-", QF_REASON_undefined, 0, { 0 } },
    { "ij,jk->ik,", QF_REASON_undefined, 0, { 0 } },
    { "ij,jk->iz", QF_REASON_undefined, 0, { 0 } },
    { "i,jk->ik", QF_REASON_undefined, 0, { 0 } },
    { "ijklmnopq,jk->ik", QF_REASON_unsupported_argument, 0, { 0 } },
    { "ij,jk->ii", QF_REASON_unsupported_argument, 0, { 0 } },
    { "...j,jk->k", QF_REASON_unsupported_argument, 0, { 0 } },
    { "ij,ij->ij", QF_REASON_unsupported_argument, 0, { 0 } },
};

static void test_equations(void **state)
{
    (void)state;
    const qf_type in[2] = { { .dtype = QF_DT_f32, .rank = 2, .dim = { 2, 3 } },
                            { .dtype = QF_DT_f32, .rank = 2, .dim = { 3, 2 } } };

    for (size_t i = 0; i < sizeof equations / sizeof *equations; i++) {
        char inputs[300];
        lowered l;
        snprintf(inputs, sizeof inputs,
                 "[{\"name\":\"equation\",\"arg\":{\"as_string\":\"%s\"},\"kind\":1},"
                 "{\"name\":\"tensors\",\"arg\":{\"as_tensors\":[{\"name\":\"x0\"},"
                 "{\"name\":\"x1\"}]},\"kind\":1}]",
                 equations[i].text);
        lower_node(&l, "torch.ops.aten.einsum.default", inputs, "as_tensor", in, 2);
        assert_ok(l.status, &l.diag);
        if (l.env.reason != equations[i].reason)
            fail_msg("%s: reason %u (%s)", equations[i].text, (unsigned)l.env.reason, l.env.detail);
        if (equations[i].reason == QF_REASON_none) {
            assert_int_equal(first_result(&l)->type.rank, equations[i].rank);
            for (int8_t d = 0; d < equations[i].rank; d++)
                assert_int_equal(first_result(&l)->type.dim[d], equations[i].dim[d]);
        }
        lower_end(&l);
    }
}

static const char *const any_value[] = {
    "{\"as_none\":true}",
    "{\"as_tensor\":{\"name\":\"x0\"}}",
    "{\"as_tensor\":{\"name\":\"x1\"}}",
    "{\"as_tensors\":[{\"name\":\"x0\"},{\"name\":\"x1\"}]}",
    "{\"as_tensors\":[]}",
    "{\"as_int\":0}",
    "{\"as_int\":-1}",
    "{\"as_int\":9223372036854775807}",
    "{\"as_int\":-9223372036854775808}",
    "{\"as_ints\":[]}",
    "{\"as_ints\":[1,0]}",
    "{\"as_ints\":[9223372036854775807,-9223372036854775808,2]}",
    "{\"as_ints\":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}",
    "{\"as_float\":0.5}",
    "{\"as_float\":\"Infinity\"}",
    "{\"as_float\":\"NaN\"}",
    "{\"as_float\":1e300}",
    "{\"as_floats\":[1.0]}",
    "{\"as_string\":\"floor\"}",
    "{\"as_sym_int\":{\"as_name\":\"s\"}}",
    "{\"as_sym_int\":{\"as_int\":2}}",
    "{\"as_sym_ints\":[{\"as_int\":2},{\"as_name\":\"s\"}]}",
    "{\"as_scalar_type\":4}",
    "{\"as_scalar_type\":13}",
    "{\"as_scalar_type\":29}",
    "{\"as_bool\":true}",
    "{\"as_bools\":[true]}",
    "{\"as_optional_tensors\":[{\"as_none\":true},{\"as_tensor\":{\"name\":\"x1\"}}]}",
    "{\"as_device\":{\"type\":\"cpu\",\"index\":null}}",
    "{\"as_memory_format\":1}",
    "{\"as_layout\":7}",
};
static const qf_type any_types[][2] = {
    { { .dtype = QF_DT_f32, .rank = 2, .dim = { 2, 3 } },
      { .dtype = QF_DT_i64, .rank = 1, .dim = { 3 } } },
    { { .dtype = QF_DT_i8, .rank = 0 },
      { .dtype = QF_DT_b8, .rank = 8, .dim = { 1, 1, 1, 1, 1, 1, 1, 2 } } },
    { { .dtype = QF_DT_f64, .rank = 1, .dim = { 0 } },
      { .dtype = QF_DT_f8e4m3, .rank = 3, .dim = { 2, 0, 2 } } },
};

/* Every argument of every row, given each kind of value there is: kept, understood, or an error;
 * never a crash. */
/* The argument behind this one in a schema. */
static const char *next_argument(const char *p)
{
    int depth = 0;

    for (; *p && (depth || *p != ','); p++)
        depth += (*p == '[') - (*p == ']');
    return *p ? p + 2 : p;
}

static void test_every_argument_of_every_kind(void **state)
{
    (void)state;
    const size_t n_values = sizeof any_value / sizeof *any_value;
    uint64_t seed = 1;

    for (size_t i = 0; i < N_ROWS; i++) {
        if (!rows[i].schema)
            continue;
        for (size_t round = 0; round < 3 * n_values; round++) {
            char inputs[2000] = "[", target[120];
            size_t at = 1, k = 0;
            for (const char *p = rows[i].schema; *p; p = next_argument(p), k++) {
                const size_t n = strcspn(p, "=,");
                if (*p != '*')
                    at += (size_t)snprintf(
                        inputs + at, sizeof inputs - at,
                        "%s{\"name\":\"%.*s\",\"arg\":%s,\"kind\":1}", at > 1 ? "," : "", (int)n, p,
                        k == 0 && round % 4 ? any_value[1]
                                            : any_value[random_next(&seed) % n_values]);
            }
            snprintf(inputs + at, sizeof inputs - at, "]");
            snprintf(target, sizeof target, "%s%s",
                     strchr("_mt", rows[i].name[0]) ? "" : "torch.ops.", rows[i].name);
            lowered l;
            lower_node(&l, target, inputs, "as_tensor as_tensor", any_types[round % 3], 2);
            if (l.status != QF_OK && l.status != l.diag.code)
                fail_msg("%s%s: %s without a message", target, inputs, qf_status_name(l.status));
            lower_end(&l);
        }
    }
}

static void test_memory_runs_out(void **state)
{
    (void)state;
    const char *inputs = "[{\"name\":\"tensors\",\"arg\":{\"as_tensors\":[{\"name\":\"x0\"},{"
                         "\"name\":\"x1\"}]},\"kind\":1}]";
    lowered l;

    lower_node(&l, "torch.ops.aten.stack.default", inputs, "as_tensor",
               (const qf_type[]){ aten_matrix, aten_matrix }, 2);
    first_result(&l);
    for (size_t k = 1;; k++) {
        l.env.reason = QF_REASON_none;
        pool_fail_at(k);
        qf_diag diag = { 0 };
        qfi_prog fresh = { .graph = &l.graph };
        qfi_ref x[2];
        bool ready = true;
        for (uint32_t i = 0; i < 2 && ready; i++) {
            const qf_attrs attrs = { .full = { .type = aten_matrix,
                                               .value = { .is_int = true, .i = i } } };
            ready = qfi_prog_call(&fresh, QF_OP_full, &attrs, NULL, 0, &x[i], &diag) == QF_OK;
        }
        l.env.prog = &fresh;
        const qf_status st = ready ? qfi_aten_lower(&l.graph, 0, &l.env, &diag) : QF_ERR_NOMEM;
        const bool failed = pool_failed();
        pool_fail_at(0);
        qfi_prog_free(&fresh);
        if (!failed) {
            assert_ok(st, &diag);
            break;
        }
        assert_int_equal(st, QF_ERR_NOMEM);
        assert_true(k < 100);
    }
    lower_end(&l);
    assert_int_equal(pool_live(), 0);
}

/* ---- promotion: torch.promote_types as torch prints it, one row per first operand ---- */

static void test_promotion(void **state)
{
    (void)state;
    static const qf_dtype dtypes[] = { QF_DT_b8,   QF_DT_u8,  QF_DT_i8,  QF_DT_u16,
                                       QF_DT_i16,  QF_DT_i32, QF_DT_i64, QF_DT_f16,
                                       QF_DT_bf16, QF_DT_f32, QF_DT_f64 };
    static const char *const table[] = {
        "b8 u8 i8 - i16 i32 i64 f16 bf16 f32 f64",
        "u8 u8 i16 - i16 i32 i64 f16 bf16 f32 f64",
        "i8 i16 i8 - i16 i32 i64 f16 bf16 f32 f64",
        "- - - u16 - - - f16 bf16 f32 f64",
        "i16 i16 i16 - i16 i32 i64 f16 bf16 f32 f64",
        "i32 i32 i32 - i32 i32 i64 f16 bf16 f32 f64",
        "i64 i64 i64 - i64 i64 i64 f16 bf16 f32 f64",
        "f16 f16 f16 f16 f16 f16 f16 f16 f32 f32 f64",
        "bf16 bf16 bf16 bf16 bf16 bf16 bf16 f32 bf16 f32 f64",
        "f32 f32 f32 f32 f32 f32 f32 f32 f32 f32 f64",
        "f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64",
    };
    const size_t n = sizeof dtypes / sizeof *dtypes;

    for (size_t a = 0; a < n; a++) {
        char copy[80], *save = NULL;
        snprintf(copy, sizeof copy, "%s", table[a]);
        char *want = strtok_r(copy, " ", &save);
        for (size_t b = 0; b < n; b++, want = strtok_r(NULL, " ", &save)) {
            const qf_type in[2] = { { .dtype = dtypes[a], .rank = 1, .dim = { 2 } },
                                    { .dtype = dtypes[b], .rank = 1, .dim = { 2 } } };
            lowered l;
            lower_node(&l, "torch.ops.aten.maximum.default", "[" X0 "," X1 "]", "as_tensor", in, 2);
            assert_ok(l.status, &l.diag);
            const char *got = l.env.reason ? "-" : qf_dtype_get(first_result(&l)->type.dtype)->name;
            if (strcmp(got, want))
                fail_msg("%s with %s: %s, torch has %s", qf_dtype_get(dtypes[a])->name,
                         qf_dtype_get(dtypes[b])->name, got, want);
            lower_end(&l);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_row_is_found),
        cmocka_unit_test(test_other_names_are_not_found),
        cmocka_unit_test(test_enabled_autocast_is_no_region),
        cmocka_unit_test(test_arguments_that_cannot_be_expressed),
        cmocka_unit_test(test_ranges_without_a_length),
        cmocka_unit_test(test_defaults_and_order),
        cmocka_unit_test(test_equations),
        cmocka_unit_test(test_every_argument_of_every_kind),
        cmocka_unit_test(test_memory_runs_out),
        cmocka_unit_test(test_promotion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
