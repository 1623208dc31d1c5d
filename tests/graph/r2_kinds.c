/* R2: kinds of value. Only tensors become stored constants; numbers feed other folds or become
 * literals. */
#include "suite.h"

static void test_number_feeds_fold(void **state)
{
    (void)state;
    model *m = model_new(16);
    const qfi_id x = add_input(m, "x", TYPE(f32, 2, 4));
    const qfi_id w = add_stored(m, QF_VALUE_PARAM, "w", TYPE(f32, 2, 4));
    const qfi_id n = add_stored(m, QF_VALUE_CONST, "n", type_of(QF_DT_i64, 0, NULL));
    set_elements(m, n, (double[]){ 3 });
    const qfi_id number = add_call(m, "number", "t.item.d", IN(n), NO_ARGS);
    const qfi_id folded_one = add_call(m, "scaled", "t.scale.d", IN(w, number), NO_ARGS);
    const qfi_id kept = add_call(m, "kept", "t.scale.d", IN(x, number), NO_ARGS);
    add_output(m, add_call(m, "y", "t.add.d", IN(kept, folded_one), NO_ARGS));
    folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = 4096 });
    assert_int_equal(verdict_of(f, "number"), QF_FOLDED);
    assert_int_equal(verdict_of(f, "scaled"), QF_FOLDED);
    assert_int_equal(verdict_of(f, "kept"), QF_KEPT);
    assert_true(f->fold.edits.is_literal[number]);
    assert_true(f->fold.edits.literal[number].is_int);
    assert_int_equal(f->fold.edits.literal[number].i, 3);
    assert_int_equal(f->fold.edits.n_constant, 1); /* not the number */
    folded_free(f);
    model_free(m);
}

/* What binds the symbols of a number that stays must stay, too. */
static void test_number_of_a_kept_number(void **state)
{
    (void)state;
    static const char *const keep[] = { "again", NULL };
    model *m = model_new(16);
    const qfi_id x = add_input(m, "x", TYPE(f32, 2));
    const qfi_id n = add_stored(m, QF_VALUE_CONST, "n", type_of(QF_DT_i64, 0, NULL));
    const qfi_id number = add_call(m, "number", "t.item.d", IN(n), NO_ARGS);
    const qfi_id again = add_call(m, "again", "t.item.d", IN(number), NO_ARGS);
    add_output(m, add_call(m, "y", "t.scale.d", IN(x, again), NO_ARGS));
    folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = 4096, .keep = keep });
    assert_int_equal(reason_of(f, "number"), QF_REASON_output_kind);
    assert_int_equal(verdict_of(f, "again"), QF_KEPT);
    assert_false(f->fold.edits.is_literal[number]);
    folded_free(f);
    f = fold_and_check(m, &(qf_fold_options){ .max_growth = 4096 });
    assert_int_equal(verdict_of(f, "number"), QF_FOLDED);
    assert_int_equal(verdict_of(f, "again"), QF_FOLDED);
    folded_free(f);
    model_free(m);
}

/* A number that reads a written buffer is no literal. */
static void test_number_of_state(void **state)
{
    (void)state;
    model *m = model_new(16);
    const qfi_id x = add_input(m, "x", TYPE(f32, 2));
    const qfi_id n = add_stored(m, QF_VALUE_BUFFER, "n", type_of(QF_DT_i64, 0, NULL));
    const qfi_id one = add_stored(m, QF_VALUE_CONST, "one", type_of(QF_DT_i64, 0, NULL));
    const qfi_id number = add_call(m, "number", "t.item.d", IN(n), NO_ARGS);
    const qfi_id y = add_call(m, "y", "t.scale.d", IN(x, number), NO_ARGS);
    add_call(m, "w", "t.add_.d", IN(n, one), NO_ARGS);
    add_output(m, y);
    folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = 4096 });
    assert_int_equal(reason_of(f, "number"), QF_REASON_state);
    assert_int_equal(reason_of(f, "y"), QF_REASON_runtime);
    folded_free(f);
    model_free(m);
}

/* A result of another type than the file says is not trusted. */
static void test_type_mismatch(void **state)
{
    (void)state;
    model *m = model_new(16);
    const qfi_id w = add_stored(m, QF_VALUE_PARAM, "w", TYPE(f32, 2, 4));
    const qfi_id v = add_stored(m, QF_VALUE_PARAM, "v", TYPE(f32, 2, 4));
    const qfi_id liar = add_call(m, "liar", "t.liar.d", IN(w), ARGS(QF_DT_i64));
    add_output(m, liar);
    add_output(m, add_call(m, "good", "t.add.d", IN(v, v), NO_ARGS));
    folded *f = fold_model(m, &(qf_fold_options){ .max_growth = 4096 });
    assert_int_equal(f->status, QF_OK);
    assert_int_equal(reason_of(f, "liar"), QF_REASON_type_mismatch);
    assert_int_equal(verdict_of(f, "good"), QF_FOLDED);
    folded_free(f);
    f = fold_model(m, &(qf_fold_options){ .max_growth = 4096, .strict = true });
    assert_int_equal(f->status, QF_ERR_STRICT);
    assert_non_null(strstr(f->diag.text, "liar"));
    folded_free(f);
    model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_number_feeds_fold),
        cmocka_unit_test(test_number_of_a_kept_number),
        cmocka_unit_test(test_number_of_state),
        cmocka_unit_test(test_type_mismatch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
