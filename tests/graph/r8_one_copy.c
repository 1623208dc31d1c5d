/* R8: one copy. Views cost nothing, equal results and views of one result are stored once. */
#include "suite.h"

static void test_stored_views(void **state)
{
    (void)state;
    model *m = model_new(32);
    const qfi_id w = add_stored(m, QF_VALUE_PARAM, "w", TYPE(f32, 4, 6));
    const qfi_id t = add_call(m, "t", "t.permute.d", IN(w), ARGS(1, 0));
    const qfi_id s = add_call(m, "s", "t.slice.d", IN(t), ARGS(0, 1, 2, 2));
    const qfi_id r = add_call(m, "r", "t.select.d", IN(w), ARGS(0, 2));
    const qfi_id v = add_call(m, "v", "t.reshape.d", IN(w), ARGS(2, 2, 6));
    const qfi_id e = add_call(m, "e", "t.expand.d", IN(r), ARGS(100, 6));
    const qfi_id all[] = { t, s, r, v, e };
    for (size_t i = 0; i < 5; i++)
        add_output(m, all[i]);
    folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = 0 });
    assert_int_equal(f->fold.edits.n_constant, 5);
    assert_int_equal(f->fold.edits.n_new_payload, 0);
    assert_int_equal(stored_bytes(f->out), stored_bytes(m));
    folded_free(f);
    model_free(m);
}

/* The layout that the program recorded is kept: a copy of a transposed weight is another layout
 * than its view. */
static void test_recorded_layout(void **state)
{
    (void)state;
    model *m = model_new(32);
    const qfi_id w = add_stored(m, QF_VALUE_PARAM, "w", TYPE(f32, 4, 6));
    const qfi_id t = add_call(m, "t", "t.permute.d", IN(w), ARGS(1, 0));
    const qfi_id c = add_call(m, "c", "t.clone.d", IN(t), NO_ARGS);
    add_output(m, t);
    add_output(m, c);
    folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = 4096 });
    const qfi_edits *edits = &f->fold.edits;
    assert_int_equal(edits->n_constant, 2);
    assert_int_equal(edits->n_new_payload, 1);
    assert_int_equal(edits->constant[0].stride[0], 1);
    assert_int_equal(edits->constant[0].stride[1], 6);
    assert_int_equal(edits->constant[1].stride[0], 4);
    assert_int_equal(edits->constant[1].stride[1], 1);
    folded_free(f);
    f = fold_and_check(m, &(qf_fold_options){ .max_growth = 4096, .contiguous = true });
    assert_int_equal(f->fold.edits.constant[0].stride[0], 4);
    assert_true(f->fold.edits.contiguous);
    folded_free(f);
    model_free(m);
}

/* What every layer computes again is stored once, and so are views of it. */
static void test_equal_results(void **state)
{
    (void)state;
    model *m = model_new(64);
    const qfi_id x = add_input(m, "x", TYPE(f32, 8, 8));
    const qfi_id w = add_stored(m, QF_VALUE_BUFFER, "w", TYPE(f32, 8, 8));
    for (int layer = 0; layer < 8; layer++) {
        const qfi_id d = add_call(m, "d", "t.mul.d", IN(w, w), NO_ARGS);
        const qfi_id v = add_call(m, "v", "t.reshape.d", IN(d), ARGS(1, 8, 8));
        const qfi_id t = add_call(m, "t", "t.permute.d", IN(d), ARGS(1, 0));
        const qfi_id y = add_call(m, "y", "t.add.d", IN(x, v), NO_ARGS);
        add_output(m, add_call(m, "z", "t.add.d", IN(y, t), NO_ARGS));
    }
    folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = 0 });
    assert_int_equal(f->fold.edits.n_constant, 16);
    assert_int_equal(f->fold.edits.n_new_payload, 1);
    assert_int_equal(stored_bytes(f->out), stored_bytes(m));
    folded_free(f);
    model_free(m);
}

/* A view whose whole is much larger is stored alone. */
static void test_small_part(void **state)
{
    (void)state;
    model *m = model_new(64);
    const qfi_id x = add_input(m, "x", TYPE(f32, 64));
    const qfi_id w = add_stored(m, QF_VALUE_BUFFER, "w", TYPE(f32, 64, 64));
    const qfi_id d = add_call(m, "d", "t.mul.d", IN(w, w), NO_ARGS);
    const qfi_id r = add_call(m, "r", "t.select.d", IN(d), ARGS(0, 3));
    add_output(m, add_call(m, "y", "t.add.d", IN(x, r), NO_ARGS));
    folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = 0 });
    assert_int_equal(stored_bytes(f->out), 256);
    folded_free(f);
    model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stored_views),
        cmocka_unit_test(test_recorded_layout),
        cmocka_unit_test(test_equal_results),
        cmocka_unit_test(test_small_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
