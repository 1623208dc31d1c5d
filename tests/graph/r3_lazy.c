/* R3: no work up front. Planning reads no payload but those of numbers, and a file without folds is
 * none at all. */
#include "suite.h"

static uint64_t reads(const model *m)
{
    uint64_t sum = 0;
    for (uint32_t p = 0; p < m->graph.n_payload; p++)
        sum += m->bytes[p].reads;
    return sum;
}

static void test_nothing_to_fold(void **state)
{
    (void)state;
    model *m = model_new(16);
    const qfi_id x = add_input(m, "x", TYPE(f32, 64, 64));
    const qfi_id w = add_stored(m, QF_VALUE_PARAM, "w", TYPE(f32, 64, 64));
    add_stored(m, QF_VALUE_PARAM, "unread", TYPE(f32, 64, 64));
    add_output(m, add_call(m, "y", "t.mul.d", IN(x, w), NO_ARGS));
    folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = 4096 });
    assert_true(qfi_fold_is_idle(&f->fold));
    assert_int_equal(reads(m), 0);
    folded_free(f);
    model_free(m);
}

static void test_plan_reads_nothing(void **state)
{
    (void)state;
    model *m = model_new(16);
    const qfi_id x = add_input(m, "x", TYPE(f32, 64, 64));
    const qfi_id w = add_stored(m, QF_VALUE_PARAM, "w", TYPE(f32, 64, 64));
    const qfi_id t = add_call(m, "t", "t.permute.d", IN(w), ARGS(1, 0));
    const qfi_id d = add_call(m, "d", "t.add.d", IN(t, w), NO_ARGS);
    add_output(m, add_call(m, "y", "t.mul.d", IN(x, d), NO_ARGS));
    qf_fold_options options = { .max_growth = 4096 };
    qf_ctx ctx = { .struct_size = sizeof ctx };
    qf_diag diag = { 0 };
    qfi_fold fold = { .top = &m->graph, .options = &options, .ctx = &ctx };
    assert_int_equal(qfi_fold_plan(&fold, &diag), QF_OK);
    assert_int_equal(fold.edits.n_new_payload, 1);
    assert_int_equal(reads(m), 0);
    qfi_fold_free(&fold);
    model_free(m);
}

/* Views of stored bytes are written without reading them. */
static void test_views_read_nothing(void **state)
{
    (void)state;
    model *m = model_new(16);
    const qfi_id x = add_input(m, "x", TYPE(f32, 8, 4));
    const qfi_id w = add_stored(m, QF_VALUE_PARAM, "w", TYPE(f32, 4, 8));
    const qfi_id t = add_call(m, "t", "t.permute.d", IN(w), ARGS(1, 0));
    add_output(m, add_call(m, "y", "t.mul.d", IN(x, t), NO_ARGS));
    folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = 0 });
    assert_int_equal(verdict_of(f, "t"), QF_FOLDED);
    assert_int_equal(f->fold.edits.n_new_payload, 0);
    assert_int_equal(reads(m), 0);
    folded_free(f);
    model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_to_fold),
        cmocka_unit_test(test_plan_reads_nothing),
        cmocka_unit_test(test_views_read_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
