/* R6: fixed order. Folding twice changes nothing (every other test checks that too), equal input
 * gives equal output, and the cost follows the size of the graph. */
#include "suite.h"

static model *layers(uint32_t n)
{
    model *m = model_new(4 * n + 8);
    qfi_id x = add_input(m, "x", TYPE(f32, 4, 4));
    const qfi_id w = add_stored(m, QF_VALUE_PARAM, "w", TYPE(f32, 4, 4));
    qfi_id c = w;
    for (uint32_t i = 0; i < n; i++) {
        const qfi_id t = add_call(m, "t", "t.permute.d", IN(c), ARGS(1, 0));
        c = add_call(m, "c", i % 2 ? "t.add.d" : "t.mul.d", IN(t, w), NO_ARGS);
        if (i % 64 == 0)
            x = add_call(m, "x", "t.add.d", IN(x, t), NO_ARGS);
    }
    add_output(m, x);
    return m;
}

static void test_same_again(void **state)
{
    (void)state;
    model *m = layers(200);
    folded *a = fold_and_check(m, &(qf_fold_options){ .max_growth = 1 << 20 });
    folded *b = fold_and_check(m, &(qf_fold_options){ .max_growth = 1 << 20 });
    const qfi_edits *x = &a->fold.edits, *y = &b->fold.edits;
    assert_int_equal(x->n_constant, y->n_constant);
    assert_int_equal(x->n_new_payload, y->n_new_payload);
    for (uint32_t i = 0; i < x->n_constant; i++) {
        assert_int_equal(x->constant[i].value, y->constant[i].value);
        assert_int_equal(x->constant[i].payload, y->constant[i].payload);
    }
    for (uint32_t i = 0; i < x->n_new_payload; i++) {
        assert_int_equal(x->new_payload[i].size, y->new_payload[i].size);
        assert_memory_equal(a->payload[i], b->payload[i], x->new_payload[i].size);
    }
    folded_free(a);
    folded_free(b);
    model_free(m);
}

/* Chains as long as a file allows: no recursion, no quadratic work in the planning of what stays.
 */
static void test_long_chain(void **state)
{
    (void)state;
    enum { N = 100000 };
    model *m = model_new(N + 8);
    const qfi_id x = add_input(m, "x", TYPE(f32, 4, 4));
    const qfi_id w = add_stored(m, QF_VALUE_PARAM, "w", TYPE(f32, 4, 4));
    const qfi_id z = add_call(m, "z", "t.full.d", NO_IN, ARGS(0, 4, 4));
    qfi_id v = z, r = x;
    for (int i = 0; i < N / 2; i++)
        v = add_call(m, "v", "t.permute.d", IN(v), ARGS(1, 0));
    add_call(m, "f", "t.add_.d", IN(z, w), NO_ARGS);
    for (int i = 0; i < N / 2 - 8; i++)
        r = add_call(m, "r", "t.permute.d", IN(r), ARGS(1, 0));
    add_output(m, add_call(m, "y", "t.add.d", IN(r, w), NO_ARGS));
    folded *f = fold_model(m, &(qf_fold_options){ .max_growth = 4096 });
    assert_int_equal(f->status, QF_OK);
    assert_int_equal(verdict_of(f, "y"), QF_KEPT);
    assert_int_equal(verdict_of(f, "v"), QF_DEAD);
    folded_free(f);
    model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_again),
        cmocka_unit_test(test_long_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
