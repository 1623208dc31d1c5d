/* R7: seeds are values, wherever they stand: parameters, constants, buffers that nobody writes. */
#include "suite.h"

static void test_kinds(void **state)
{
    (void)state;
    static const qf_value_kind kinds[] = { QF_VALUE_PARAM, QF_VALUE_CONST, QF_VALUE_BUFFER };
    for (size_t i = 0; i < 3; i++) {
        for (int mutated = 0; mutated < 2; mutated++) {
            model *m = model_new(16);
            const qfi_id w = add_stored(m, kinds[i], "w", TYPE(f32, 2, 4));
            m->graph.value[w].mutated = mutated;
            add_output(m, add_call(m, "y", "t.mul.d", IN(w, w), NO_ARGS));
            folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = 4096 });
            assert_int_equal(verdict_of(f, "y"), mutated ? QF_KEPT : QF_FOLDED);
            if (mutated)
                assert_int_equal(reason_of(f, "y"), QF_REASON_state);
            folded_free(f);
            model_free(m);
        }
    }
}

static void test_opaque_and_pinned(void **state)
{
    (void)state;
    model *m = model_new(16);
    const qfi_id w = add_stored(m, QF_VALUE_PARAM, "w", TYPE(f32, 2, 4));
    const qfi_id o = add_stored(m, QF_VALUE_CONST, "o", TYPE(f32, 2, 4));
    m->graph.value[o].payload = QFI_NONE;
    const qfi_id a = add_call(m, "a", "t.mul.d", IN(w, o), NO_ARGS);
    const qfi_id b = add_call(m, "b", "t.mul.d", IN(w, w), NO_ARGS);
    m->graph.value[b].pinned = true;
    add_output(m, a);
    add_output(m, b);
    folded *f = fold_model(m, &(qf_fold_options){ .max_growth = 4096 });
    assert_int_equal(f->status, QF_OK);
    assert_int_equal(reason_of(f, "a"), QF_REASON_opaque);
    assert_int_equal(reason_of(f, "b"), QF_REASON_signature);
    folded_free(f);
    model_free(m);
}

static void test_training(void **state)
{
    (void)state;
    model *m = model_new(16);
    const qfi_id w = add_stored(m, QF_VALUE_PARAM, "w", TYPE(f32, 2, 4));
    add_output(m, add_call(m, "y", "t.mul.d", IN(w, w), NO_ARGS));
    m->graph.training = true;
    folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = 4096 });
    assert_int_equal(reason_of(f, "y"), QF_REASON_training);
    assert_true(qfi_fold_is_idle(&f->fold));
    folded_free(f);
    model_free(m);
}

/* Constants as outputs, and stored values that nobody reads any more. */
static void test_unused(void **state)
{
    (void)state;
    model *m = model_new(16);
    const qfi_id w = add_stored(m, QF_VALUE_PARAM, "w", TYPE(f32, 2, 4));
    const qfi_id dead = add_stored(m, QF_VALUE_PARAM, "dead", TYPE(f32, 64, 64));
    add_stored(m, QF_VALUE_PARAM, "never", TYPE(f32, 64, 64));
    const qfi_id d = add_call(m, "d", "t.mul.d", IN(dead, dead), NO_ARGS);
    add_call(m, "e", "t.add.d", IN(d, d), NO_ARGS);
    add_output(m, add_call(m, "y", "t.mul.d", IN(w, w), NO_ARGS));
    folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = 4096 });
    assert_int_equal(verdict_of(f, "d"), QF_DEAD);
    assert_int_equal(verdict_of(f, "e"), QF_DEAD);
    assert_int_equal(stored_bytes(f->out), 32);
    folded_free(f);
    model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_opaque_and_pinned),
        cmocka_unit_test(test_training),
        cmocka_unit_test(test_unused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
