/* R10: it says why. Every node has a verdict, every kept one a reason; one that fails is kept and
 * never loses the others. */
#include "suite.h"

static qfi_report *report_of(folded *f)
{
    qfi_report *report = NULL;
    assert_int_equal(qfi_fold_report(&f->fold, &report, &f->diag), QF_OK);
    return report;
}

/* x // 0 is undefined: found while it is written. */
static void test_undefined(void **state)
{
    (void)state;
    model *m = model_new(32);
    const qfi_id x = add_input(m, "x", TYPE(i64, 4));
    const qfi_id a = add_stored(m, QF_VALUE_CONST, "a", TYPE(i64, 4));
    const qfi_id b = add_stored(m, QF_VALUE_CONST, "b", TYPE(i64, 4));
    const qfi_id c = add_stored(m, QF_VALUE_CONST, "c", TYPE(i64, 4));
    set_elements(m, b, (double[]){ 1, 0, 2, 3 });
    set_elements(m, c, (double[]){ 1, 5, 2, 3 });
    const qfi_id good = add_call(m, "good", "t.idiv.d", IN(a, c), NO_ARGS);
    const qfi_id bad = add_call(m, "bad", "t.idiv.d", IN(good, b), NO_ARGS);
    const qfi_id after = add_call(m, "after", "t.add.d", IN(bad, good), NO_ARGS);
    add_output(m, add_call(m, "y", "t.add.d", IN(x, after), NO_ARGS));
    folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = 4096 });
    assert_int_equal(reason_of(f, "bad"), QF_REASON_undefined);
    assert_int_equal(verdict_of(f, "after"), QF_KEPT);
    assert_int_equal(verdict_of(f, "good"), QF_FOLDED);
    assert_int_equal(f->fold.attempt, 1);
    folded_free(f);
    f = fold_model(m, &(qf_fold_options){ .max_growth = 4096, .strict = true });
    assert_int_equal(f->status, QF_ERR_STRICT);
    folded_free(f);
    model_free(m);
}

/* However many fail, they are found together, and nothing else stays. */
static void test_many_undefined(void **state)
{
    (void)state;
    model *m = model_new(64);
    const qfi_id x = add_input(m, "x", TYPE(i64, 4));
    const qfi_id a = add_stored(m, QF_VALUE_CONST, "a", TYPE(i64, 4));
    const qfi_id zero = add_stored(m, QF_VALUE_CONST, "zero", TYPE(i64, 4));
    set_elements(m, zero, (double[]){ 0, 0, 0, 0 });
    const qfi_id one = add_stored(m, QF_VALUE_CONST, "one", TYPE(i64, 4));
    set_elements(m, one, (double[]){ 1, 1, 1, 1 });
    qfi_id y = x, k = a;
    for (int i = 0; i < 6; i++) {
        k = add_call(m, "k", "t.add.d", IN(k, a), NO_ARGS);
        const qfi_id d = add_call(m, "d", "t.idiv.d", IN(k, zero), NO_ARGS);
        const qfi_id e = add_call(m, "e", "t.add.d", IN(d, a), NO_ARGS);
        y = add_call(m, "y", "t.add.d", IN(y, e), NO_ARGS);
    }
    y = add_call(m, "y", "t.add.d", IN(y, add_call(m, "good", "t.idiv.d", IN(k, one), NO_ARGS)),
                 NO_ARGS);
    add_output(m, y);
    folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = 4096 });
    assert_int_equal(reason_of(f, "d"), QF_REASON_undefined);
    assert_int_equal(verdict_of(f, "k"), QF_FOLDED);
    assert_int_equal(verdict_of(f, "good"), QF_FOLDED);
    assert_int_equal(f->out->graph.n_node, 6 * 3 + 1);
    assert_int_equal(f->fold.attempt, 1);
    folded_free(f);
    model_free(m);
}

/* At the end of a long chain of calls that might fail, one does. */
static void test_undefined_at_the_end(void **state)
{
    (void)state;
    model *m = model_new(128);
    const qfi_id x = add_input(m, "x", TYPE(i64, 4));
    const qfi_id a = add_stored(m, QF_VALUE_CONST, "a", TYPE(i64, 4));
    const qfi_id b = add_stored(m, QF_VALUE_CONST, "b", TYPE(i64, 4));
    const qfi_id zero = add_stored(m, QF_VALUE_CONST, "zero", TYPE(i64, 4));
    set_elements(m, b, (double[]){ 1, 2, 1, 2 });
    set_elements(m, zero, (double[]){ 0, 0, 0, 0 });
    qfi_id k = a;
    for (int i = 0; i < 70; i++)
        k = add_call(m, i == 69 ? "last" : "k", "t.idiv.d", IN(k, b), NO_ARGS);
    const qfi_id bad = add_call(m, "bad", "t.idiv.d", IN(k, zero), NO_ARGS);
    add_output(m, add_call(m, "y", "t.add.d", IN(x, bad), NO_ARGS));
    folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = 4096 });
    assert_int_equal(verdict_of(f, "k"), QF_FOLDED);
    assert_int_equal(verdict_of(f, "last"), QF_FOLDED);
    assert_int_equal(reason_of(f, "bad"), QF_REASON_undefined);
    folded_free(f);
    model_free(m);
}

/* What is written with such a result becomes state; who reads both is told about the result. */
static void test_undefined_write(void **state)
{
    (void)state;
    for (int turned = 0; turned < 2; turned++) {
        model *m = model_new(32);
        const qfi_id x = add_input(m, "x", TYPE(i64, 4));
        const qfi_id a = add_stored(m, QF_VALUE_CONST, "a", TYPE(i64, 4));
        const qfi_id zero = add_stored(m, QF_VALUE_CONST, "zero", TYPE(i64, 4));
        set_elements(m, zero, (double[]){ 0, 0, 0, 0 });
        const qfi_id z = add_call(m, "z", "t.add.d", IN(a, a), NO_ARGS);
        const qfi_id bad = add_call(m, "bad", "t.idiv.d", IN(a, zero), NO_ARGS);
        add_call(m, "w", "t.add_.d", IN(z, bad), NO_ARGS);
        const qfi_id both =
            add_call(m, "both", "t.add.d", turned ? IN(bad, z) : IN(z, bad), NO_ARGS);
        const qfi_id fed = add_call(m, "fed", "t.add.d", IN(both, x), NO_ARGS);
        add_output(m, add_call(m, "y", "t.add.d", IN(fed, z), NO_ARGS));
        folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = 4096 });
        assert_int_equal(reason_of(f, "bad"), QF_REASON_undefined);
        assert_int_equal(reason_of(f, "z"), QF_REASON_state);
        static const char *const told[] = { "w", "both" };
        for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
            assert_int_equal(reason_of(f, told[i]), QF_REASON_operand);
            assert_string_equal(f->fold.node[find_node(m, told[i])].detail, "bad: undefined");
        }
        assert_int_equal(reason_of(f, "fed"), QF_REASON_runtime);
        assert_int_equal(reason_of(f, "y"), QF_REASON_runtime);
        folded_free(f);
        model_free(m);
    }
}

/* A write that cannot be evaluated makes state of what it writes; it keeps its own reason, alone
 * and behind a view. */
static void test_refused_write(void **state)
{
    (void)state;
    for (int through_view = 0; through_view < 2; through_view++) {
        model *m = model_new(32);
        const qfi_id x = add_input(m, "x", TYPE(f32, 2, 4));
        const qfi_id z = add_call(m, "z", "t.full.d", NO_IN, ARGS(8, 2, 4));
        const qfi_id p = add_call(m, "p", "t.permute.d", IN(z), ARGS(1, 0));
        add_call(m, "u", "t.refuse_.d", IN(through_view ? p : z), NO_ARGS);
        add_call(m, "f", "t.fill_.d", IN(z), ARGS(24));
        add_output(m, add_call(m, "y", "t.add.d", IN(x, z), NO_ARGS));
        folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = 4096 });
        assert_int_equal(reason_of(f, "u"), QF_REASON_unsupported_argument);
        assert_string_equal(f->fold.node[find_node(m, "u")].detail, "any");
        assert_int_equal(reason_of(f, "z"), QF_REASON_state);
        assert_int_equal(reason_of(f, "f"), QF_REASON_state);
        assert_null(f->out);
        folded_free(f);
        model_free(m);
    }
}

static void test_requests(void **state)
{
    (void)state;
    model *m = model_new(32);
    const qfi_id x = add_input(m, "x", TYPE(f32, 2, 4));
    const qfi_id w = add_stored(m, QF_VALUE_PARAM, "w", TYPE(f32, 2, 4));
    const qfi_id a = add_call(m, "aa", "t.mul.d", IN(w, w), NO_ARGS);
    const qfi_id b = add_call(m, "bb", "t.add.d", IN(a, w), NO_ARGS);
    const qfi_id e = add_call(m, "ee", "t.exp.d", IN(w), NO_ARGS);
    const qfi_id y = add_call(m, "y", "t.add.d", IN(x, b), NO_ARGS);
    add_output(m, add_call(m, "z", "t.add.d", IN(y, e), NO_ARGS));
    const char *const names[] = { "a*", NULL }, *const ops[] = { "t.mul*", NULL };
    const char *const only[] = { "bb", NULL };

    folded *f = fold_model(m, &(qf_fold_options){ .max_growth = 4096, .keep = names });
    assert_int_equal(reason_of(f, "aa"), QF_REASON_keep_name);
    assert_int_equal(reason_of(f, "bb"), QF_REASON_operand);
    folded_free(f);
    f = fold_model(m, &(qf_fold_options){ .max_growth = 4096, .keep_op = ops });
    assert_int_equal(reason_of(f, "aa"), QF_REASON_keep_op);
    assert_int_equal(verdict_of(f, "ee"), QF_FOLDED);
    folded_free(f);
    f = fold_model(m, &(qf_fold_options){ .max_growth = 4096, .only = only });
    assert_int_equal(verdict_of(f, "bb"), QF_FOLDED);
    assert_int_equal(reason_of(f, "ee"), QF_REASON_not_selected);
    assert_int_equal(f->fold.edits.n_constant, 1);
    folded_free(f);
    f = fold_model(m, &(qf_fold_options){ .max_growth = 4096, .exact = true });
    assert_int_equal(reason_of(f, "ee"), QF_REASON_inexact);
    assert_int_equal(verdict_of(f, "aa"), QF_FOLDED);
    folded_free(f);
    model_free(m);
}

/* Infinity that a literal brought in is meant; infinity out of finite sources is worth a warning,
 * and an error under --strict. */
static void test_nonfinite(void **state)
{
    (void)state;
    for (int accident = 0; accident < 2; accident++) {
        model *m = model_new(32);
        const qfi_id x = add_input(m, "x", TYPE(f32, 4));
        const qfi_id w = add_stored(m, QF_VALUE_PARAM, "w", TYPE(f32, 4));
        set_elements(m, w, (double[]){ 1, 3e38, 2, 3 });
        const qfi_id inf = add_call(m, "inf", "t.inf.d", NO_IN, ARGS(0, 4));
        const qfi_id c = add_call(m, "c", "t.add.d", IN(w, accident ? w : inf), NO_ARGS);
        add_output(m, add_call(m, "y", "t.add.d", IN(x, c), NO_ARGS));
        folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = 4096 });
        qfi_report *report = report_of(f);
        assert_int_equal(report->base.constant[0].nonfinite, accident ? 1 : 4);
        assert_int_equal(report->base.n_notes, accident);
        qf_report_free(&report->base);
        folded_free(f);
        f = fold_model(m, &(qf_fold_options){ .max_growth = 4096, .strict = true });
        assert_int_equal(f->status, accident ? QF_ERR_STRICT : QF_OK);
        folded_free(f);
        model_free(m);
    }
}

static void test_memory(void **state)
{
    (void)state;
    model *m = model_new(32);
    const qfi_id x = add_input(m, "x", TYPE(f32, 2, 4));
    const qfi_id w = add_stored(m, QF_VALUE_PARAM, "w", TYPE(f32, 2, 4));
    const qfi_id a = add_call(m, "a", "t.mul.d", IN(w, w), NO_ARGS);
    add_output(m, add_call(m, "y", "t.add.d", IN(x, a), NO_ARGS));
    folded *f = fold_model(m, &(qf_fold_options){ .max_growth = 4096, .memory = 1 });
    assert_int_equal(f->status, QF_OK);
    assert_int_equal(reason_of(f, "a"), QF_REASON_memory);
    folded_free(f);
    model_free(m);
}

static void test_report(void **state)
{
    (void)state;
    model *m = model_new(32);
    const qfi_id x = add_input(m, "x", TYPE(f32, 2, 4));
    const qfi_id w = add_stored(m, QF_VALUE_PARAM, "w", TYPE(f32, 2, 4));
    const qfi_id v = add_stored(m, QF_VALUE_PARAM, "v", TYPE(f32, 2, 4));
    const qfi_id a = add_call(m, "a", "t.mul.d", IN(w, v), NO_ARGS);
    const qfi_id b = add_call(m, "b", "t.add.d", IN(a, w), NO_ARGS);
    const qfi_id t = add_call(m, "t", "t.permute.d", IN(v), ARGS(1, 0));
    add_call(m, "dead", "t.add.d", IN(a, a), NO_ARGS);
    add_output(m, add_call(m, "y", "t.add.d", IN(x, b), NO_ARGS));
    add_output(m, t);
    folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = 4096 });
    qfi_report *report = report_of(f);
    const qf_report *r = &report->base;
    assert_int_equal(r->n_nodes, 5);
    assert_int_equal(r->n_folded, 3);
    assert_int_equal(r->n_kept, 1);
    assert_int_equal(r->n_dead, 1);
    assert_string_equal(r->node[1].name, "b");
    assert_int_equal(r->node[1].n_sources, 2);
    assert_int_equal(r->node[1].bytes_after, 32);
    assert_int_equal(r->n_reasons, 1);
    assert_int_equal(r->reason[0].reason, QF_REASON_runtime);
    assert_int_equal(r->n_constants, 2);
    assert_string_equal(r->constant[0].name, "b");
    assert_false(r->constant[0].view);
    assert_true(r->constant[1].view);
    assert_int_equal(r->constant[1].bytes, 0);
    assert_int_equal(r->n_steps, 1);
    assert_string_equal(r->step[0].name, "b");
    assert_int_equal(r->step[0].n_calls, 2);
    assert_int_equal(r->bytes_before, 64);
    assert_int_equal(r->bytes_after, 64);
    for (uint32_t n = 0; n < r->n_nodes; n++)
        assert_int_equal(r->node[n].verdict == QF_KEPT, r->node[n].reason != QF_REASON_none);
    qf_report_free(&report->base);
    folded_free(f);
    model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_undefined),
        cmocka_unit_test(test_many_undefined),
        cmocka_unit_test(test_undefined_at_the_end),
        cmocka_unit_test(test_undefined_write),
        cmocka_unit_test(test_refused_write),
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_nonfinite),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
