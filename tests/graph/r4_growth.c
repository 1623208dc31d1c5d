/* R4: bounded growth, decided in bytes before anything is computed. */
#include "suite.h"

/* x + big[:1] or x + big, where big is a computed mask of 64 KiB. */
static model *mask(bool corner)
{
    model *m = model_new(16);
    const qfi_id x = add_input(m, "x", TYPE(f32, 1, 128));
    const qfi_id full = add_call(m, "full", "t.full.d", NO_IN, ARGS(8, 128, 128));
    const qfi_id big = add_call(m, "big", "t.add.d", IN(full, full), NO_ARGS);
    const qfi_id part = corner ? add_call(m, "part", "t.slice.d", IN(big), ARGS(0, 0, 1, 1)) : big;
    add_output(m, add_call(m, "y", "t.add.d", IN(x, part), NO_ARGS));
    return m;
}

static void test_mask_stays(void **state)
{
    (void)state;
    model *m = mask(false);
    folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = 65535 });
    assert_null(f->out);
    assert_int_equal(reason_of(f, "full"), QF_REASON_growth);
    assert_int_equal(reason_of(f, "big"), QF_REASON_growth);
    folded_free(f);
    f = fold_and_check(m, &(qf_fold_options){ .max_growth = 65536 });
    assert_int_equal(verdict_of(f, "full"), QF_FOLDED);
    assert_int_equal(f->fold.edits.spent, 65536);
    folded_free(f);
    f = fold_and_check(m, &(qf_fold_options){ .max_growth = QF_GROWTH_NONE });
    assert_int_equal(verdict_of(f, "big"), QF_FOLDED);
    folded_free(f);
    /* What an earlier fold spent counts. */
    m->graph.spent = 1;
    f = fold_and_check(m, &(qf_fold_options){ .max_growth = 65536 });
    assert_null(f->out);
    folded_free(f);
    model_free(m);
}

/* Only what is stored counts: a corner of a huge mask folds, however huge the rest would be. */
static void test_corner_folds(void **state)
{
    (void)state;
    model *m = mask(true);
    folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = 1024 });
    assert_int_equal(verdict_of(f, "part"), QF_FOLDED);
    assert_int_equal(verdict_of(f, "full"), QF_FOLDED);
    assert_int_equal(f->fold.edits.n_new_payload, 1);
    assert_int_equal(f->fold.edits.new_payload[0].size, 512);
    folded_free(f);
    model_free(m);
}

/* A repeated weight stays an expansion of the product, which folds. */
static void test_expand_of_product(void **state)
{
    (void)state;
    model *m = model_new(16);
    const qfi_id x = add_input(m, "x", TYPE(f32, 1, 16));
    const qfi_id w = add_stored(m, QF_VALUE_PARAM, "w", TYPE(f32, 1, 16));
    const qfi_id two = add_call(m, "two", "t.mul.d", IN(w, w), NO_ARGS);
    const qfi_id wide = add_call(m, "wide", "t.expand.d", IN(two), ARGS(1000, 16));
    const qfi_id dense = add_call(m, "dense", "t.clone.d", IN(wide), NO_ARGS);
    add_output(m, add_call(m, "y", "t.add.d", IN(x, dense), NO_ARGS));
    folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = 0 });
    assert_int_equal(reason_of(f, "dense"), QF_REASON_growth);
    assert_int_equal(verdict_of(f, "two"), QF_FOLDED);
    assert_true(stored_bytes(f->out) <= stored_bytes(m));
    folded_free(f);
    model_free(m);
}

/* A weight that loses its last reader pays for its successor; under another name it has one more.
 */
static void test_replaced_weight(void **state)
{
    (void)state;
    for (int tied = 0; tied < 2; tied++) {
        model *m = model_new(16);
        const qfi_id x = add_input(m, "x", TYPE(f32, 64, 64));
        const qfi_id w = add_stored(m, QF_VALUE_PARAM, "w", TYPE(f32, 64, 64));
        view same = { .type = TYPE(f32, 64, 64), .stride = { 64, 1 } };
        const qfi_id u = add_tied(m, QF_VALUE_PARAM, "u", w, same);
        const qfi_id d = add_call(m, "d", "t.mul.d", IN(w, w), NO_ARGS);
        const qfi_id y = add_call(m, "y", "t.add.d", IN(x, d), NO_ARGS);
        add_output(m, tied ? add_call(m, "z", "t.add.d", IN(y, u), NO_ARGS) : y);
        folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = 0 });
        assert_int_equal(verdict_of(f, "d"), tied ? QF_KEPT : QF_FOLDED);
        if (tied)
            assert_int_equal(reason_of(f, "d"), QF_REASON_growth);
        else
            assert_int_equal(stored_bytes(f->out), stored_bytes(m));
        folded_free(f);
        model_free(m);
    }
}

/* Small groups first, whatever the order of the program; the budget is one for the whole file. */
static void test_ascending(void **state)
{
    (void)state;
    static const int64_t rows[] = { 8, 2, 4 };
    static const char *const names[] = { "a", "b", "c" };
    model *m = model_new(16);
    const qfi_id x = add_input(m, "x", TYPE(f32, 1, 32));
    for (int i = 0; i < 3; i++) {
        const qfi_id c = add_call(m, names[i], "t.full.d", NO_IN, ARGS(i + 1, rows[i], 32));
        add_output(m, add_call(m, "y", "t.add.d", IN(x, c), NO_ARGS));
    }
    folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = 1000 });
    assert_int_equal(reason_of(f, "a"), QF_REASON_growth);
    assert_int_equal(verdict_of(f, "b"), QF_FOLDED);
    assert_int_equal(verdict_of(f, "c"), QF_FOLDED);
    assert_int_equal(f->fold.edits.spent, 768);
    folded_free(f);
    model_free(m);
}

/* A mask made in place folds or stays as a whole. */
static void test_mask_in_place(void **state)
{
    (void)state;
    for (int allowed = 0; allowed < 2; allowed++) {
        model *m = model_new(16);
        const qfi_id x = add_input(m, "x", TYPE(f32, 64, 64));
        const qfi_id z = add_call(m, "z", "t.full.d", NO_IN, ARGS(0, 64, 64));
        const qfi_id row = add_call(m, "row", "t.slice.d", IN(z), ARGS(0, 0, 1, 8));
        add_call(m, "fill", "t.fill_.d", IN(row), ARGS(8));
        add_output(m, add_call(m, "y", "t.add.d", IN(x, z), NO_ARGS));
        folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = allowed ? 1 << 20 : 99 });
        assert_int_equal(verdict_of(f, "z"), allowed ? QF_FOLDED : QF_KEPT);
        assert_int_equal(verdict_of(f, "fill"), allowed ? QF_FOLDED : QF_KEPT);
        if (!allowed)
            assert_int_equal(reason_of(f, "z"), QF_REASON_growth);
        folded_free(f);
        model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mask_stays),        cmocka_unit_test(test_corner_folds),
        cmocka_unit_test(test_expand_of_product), cmocka_unit_test(test_replaced_weight),
        cmocka_unit_test(test_ascending),         cmocka_unit_test(test_mask_in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
