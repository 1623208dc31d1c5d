/* Numbers that nodes compute, as python would, and assertions on them. */
#include "aten_support.h"

#include <stdio.h>

/* ---- python arithmetic: what python prints ---- */

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *op, *a, *b;
        bool is_int;
        double want;
    } cases[] = {
        { "_operator.add", "{\"as_int\":7}", "{\"as_int\":-9}", true, -2 },
        { "_operator.add", "{\"as_int\":7}", "{\"as_float\":0.5}", false, 7.5 },
        { "_operator.sub", "{\"as_int\":7}", "{\"as_int\":-9}", true, 16 },
        { "_operator.mul", "{\"as_float\":0.5}", "{\"as_float\":3.0}", false, 1.5 },
        { "_operator.floordiv", "{\"as_int\":-7}", "{\"as_int\":2}", true, -4 },
        { "_operator.floordiv", "{\"as_int\":7}", "{\"as_int\":-2}", true, -4 },
        { "_operator.floordiv", "{\"as_int\":-8}", "{\"as_int\":2}", true, -4 },
        { "_operator.floordiv", "{\"as_float\":1.0}", "{\"as_float\":0.1}", false, 9 },
        { "_operator.floordiv", "{\"as_float\":-7.0}", "{\"as_int\":2}", false, -4 },
        { "_operator.mod", "{\"as_int\":-7}", "{\"as_int\":3}", true, 2 },
        { "_operator.mod", "{\"as_int\":7}", "{\"as_int\":-3}", true, -2 },
        { "_operator.mod", "{\"as_float\":-7.5}", "{\"as_int\":2}", false, 0.5 },
        { "_operator.truediv", "{\"as_int\":7}", "{\"as_int\":2}", false, 3.5 },
        { "_operator.pow", "{\"as_int\":-3}", "{\"as_int\":3}", true, -27 },
        { "_operator.pow", "{\"as_int\":5}", "{\"as_int\":0}", true, 1 },
        { "_operator.lt", "{\"as_int\":2}", "{\"as_float\":2.5}", true, 1 },
        { "_operator.le", "{\"as_int\":2}", "{\"as_int\":2}", true, 1 },
        { "_operator.gt", "{\"as_int\":2}", "{\"as_int\":2}", true, 0 },
        { "_operator.ge", "{\"as_float\":\"NaN\"}", "{\"as_int\":2}", true, 0 },
        { "_operator.eq", "{\"as_float\":\"NaN\"}", "{\"as_float\":\"NaN\"}", true, 0 },
        { "_operator.ne", "{\"as_float\":\"NaN\"}", "{\"as_float\":\"NaN\"}", true, 1 },
        { "_operator.ne", "{\"as_int\":9007199254740993}", "{\"as_int\":9007199254740992}", true,
          1 },
        { "_operator.and_", "{\"as_bool\":true}", "{\"as_bool\":false}", true, 0 },
        { "_operator.or_", "{\"as_int\":5}", "{\"as_int\":2}", true, 7 },
        { "_operator.lshift", "{\"as_int\":-3}", "{\"as_int\":4}", true, -48 },
        { "_operator.lshift", "{\"as_int\":0}", "{\"as_int\":99}", true, 0 },
        { "_operator.rshift", "{\"as_int\":-9}", "{\"as_int\":1}", true, -5 },
        { "_operator.rshift", "{\"as_int\":9}", "{\"as_int\":70}", true, 0 },
        { "torch.sym_max", "{\"as_int\":3}", "{\"as_float\":2.5}", false, 3 },
        { "torch.sym_max", "{\"as_int\":3}", "{\"as_int\":5}", true, 5 },
        { "torch.sym_min", "{\"as_int\":3}", "{\"as_int\":5}", true, 3 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char inputs[300];
        lowered l;
        snprintf(inputs, sizeof inputs,
                 "[{\"name\":\"a\",\"arg\":%s,\"kind\":1},{\"name\":\"b\",\"arg\":%s,\"kind\":1}]",
                 cases[i].a, cases[i].b);
        lower_node(&l, cases[i].op, inputs, "as_sym_int", NULL, 0);
        const qf_scalar got = number_result(&l);
        if (got.is_int != cases[i].is_int || (got.is_int ? (double)got.i : got.f) != cases[i].want)
            fail_msg("%s(%s, %s) = %lld or %g, not %g", cases[i].op, cases[i].a, cases[i].b,
                     (long long)got.i, got.f, cases[i].want);
        lower_end(&l);
    }
}

static void test_numbers_of_one_operand(void **state)
{
    (void)state;
    static const struct {
        const char *op, *a;
        bool is_int;
        double want;
    } cases[] = {
        { "_operator.neg", "{\"as_int\":4}", true, -4 },
        { "_operator.neg", "{\"as_float\":4.5}", false, -4.5 },
        { "_operator.pos", "{\"as_bool\":true}", true, 1 },
        { "_operator.pos", "{\"as_float\":-4.5}", false, -4.5 },
        { "torch._sym_sqrt", "{\"as_int\":9}", false, 3 },
        { "torch.sym_float", "{\"as_int\":4}", false, 4 },
        { "torch.sym_int", "{\"as_float\":-4.5}", true, -4 },
        { "torch.sym_not", "{\"as_bool\":true}", true, 0 },
        { "torch.sym_not", "{\"as_bool\":false}", true, 1 },
    };
    char inputs[300];
    lowered l;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(inputs, sizeof inputs, "[{\"name\":\"a\",\"arg\":%s,\"kind\":1}]", cases[i].a);
        lower_node(&l, cases[i].op, inputs, "as_sym_int", NULL, 0);
        const qf_scalar got = number_result(&l);
        assert_int_equal(got.is_int, cases[i].is_int);
        assert_true((got.is_int ? (double)got.i : got.f) == cases[i].want);
        lower_end(&l);
    }
    for (int truth = 0; truth < 2; truth++) {
        snprintf(inputs, sizeof inputs,
                 "[{\"name\":\"b\",\"arg\":{\"as_bool\":%s},\"kind\":1},{\"name\":\"t\",\"arg\":{"
                 "\"as_int\":5},\"kind\":1},"
                 "{\"name\":\"f\",\"arg\":{\"as_int\":6},\"kind\":1}]",
                 truth ? "true" : "false");
        lower_node(&l, "torch.sym_ite", inputs, "as_sym_int", NULL, 0);
        assert_int_equal(number_result(&l).i, truth ? 5 : 6);
        lower_end(&l);
    }
}

static void test_numbers_without_a_result(void **state)
{
    (void)state;
#define A_B(a, b)                                                                                  \
    "[{\"name\":\"a\",\"arg\":" a ",\"kind\":1},{\"name\":\"b\",\"arg\":" b ",\"kind\":1}]"
    expect_reason("_operator.add", A_B("{\"as_int\":9223372036854775807}", "{\"as_int\":1}"),
                  QF_REASON_undefined);
    expect_reason("_operator.mul", A_B("{\"as_int\":9223372036854775807}", "{\"as_int\":2}"),
                  QF_REASON_undefined);
    expect_reason("_operator.floordiv", A_B("{\"as_int\":1}", "{\"as_int\":0}"),
                  QF_REASON_undefined);
    expect_reason("_operator.floordiv", A_B("{\"as_int\":-9223372036854775808}", "{\"as_int\":-1}"),
                  QF_REASON_undefined);
    expect_reason("_operator.mod", A_B("{\"as_int\":1}", "{\"as_float\":0.0}"),
                  QF_REASON_undefined);
    expect_reason("_operator.pow", A_B("{\"as_int\":10}", "{\"as_int\":19}"), QF_REASON_undefined);
}

/* ---- assertions ---- */

static bool holds(const char *op, const char *inputs)
{
    lowered l;
    lower_node(&l, op, inputs, "", &aten_matrix, 1);
    assert_ok(l.status, &l.diag);
    assert_int_equal(l.env.reason, QF_REASON_none);
    const bool truth = l.env.holds;
    lower_end(&l);
    return truth;
}

static void test_assertions(void **state)
{
    (void)state;
#define META(more) "[{\"name\":\"a\",\"arg\":{\"as_tensor\":{\"name\":\"x0\"}},\"kind\":1}" more "]"
#define SIZE(v, key, bound)                                                                        \
    "[{\"name\":\"size\",\"arg\":{\"as_int\":" v "},\"kind\":1},{\"name\":\"" key                  \
    "\",\"arg\":{\"as_int\":" bound "},\"kind\":2}]"
    const char *meta = "torch.ops.aten._assert_tensor_metadata.default";

    assert_true(holds(meta, META("")));
    assert_true(
        holds(meta, META(",{\"name\":\"dtype\",\"arg\":{\"as_scalar_type\":7},\"kind\":2}")));
    assert_false(
        holds(meta, META(",{\"name\":\"dtype\",\"arg\":{\"as_scalar_type\":8},\"kind\":2}")));
    assert_true(holds(meta, META(",{\"name\":\"size\",\"arg\":{\"as_ints\":[2,3]},\"kind\":1}")));
    assert_false(holds(meta, META(",{\"name\":\"size\",\"arg\":{\"as_ints\":[3,2]},\"kind\":1}")));
    assert_false(holds(meta, META(",{\"name\":\"size\",\"arg\":{\"as_ints\":[2]},\"kind\":1}")));
    assert_true(holds(meta, META(",{\"name\":\"stride\",\"arg\":{\"as_ints\":[0,1]},\"kind\":1}")));
    assert_false(
        holds(meta, META(",{\"name\":\"stride\",\"arg\":{\"as_ints\":[3,1]},\"kind\":1}")));
    assert_true(holds("torch.ops.aten.sym_constrain_range.default", SIZE("4", "min", "4")));
    assert_false(holds("torch.ops.aten.sym_constrain_range.default", SIZE("4", "min", "5")));
    assert_false(holds("torch.ops.aten.sym_constrain_range.default", SIZE("4", "max", "3")));
    assert_false(
        holds("torch.ops.aten.sym_constrain_range_for_size.default", SIZE("-1", "max", "3")));
    assert_true(holds("torch.ops.aten._assert_scalar.default",
                      "[{\"name\":\"self\",\"arg\":{\"as_bool\":true},\"kind\":1},"
                      "{\"name\":\"assert_msg\",\"arg\":{\"as_string\":\"m\"},\"kind\":1}]"));
    assert_false(holds("torch.ops.aten._assert_scalar.default",
                       "[{\"name\":\"self\",\"arg\":{\"as_int\":0},\"kind\":1}]"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_numbers_of_one_operand),
        cmocka_unit_test(test_numbers_without_a_result),
        cmocka_unit_test(test_assertions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
