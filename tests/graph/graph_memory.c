/* Every allocation of the fold fails once: an error, no crash, no leak, and the next fold is as
 * ever. */
#include "suite.h"

#include <stdlib.h>

static long left;

static void *failing(size_t size)
{
    return left-- > 0 ? calloc(1, size) : NULL;
}

static model *everything(void)
{
    model *m = model_new(64);
    const qfi_id x = add_input(m, "x", TYPE(f32, 6, 4));
    const qfi_id w = add_stored(m, QF_VALUE_PARAM, "w", TYPE(f32, 6, 4));
    const qfi_id q = add_stored(m, QF_VALUE_BUFFER, "q", TYPE(i8, 4, 6));
    const qfi_id scale = add_stored(m, QF_VALUE_BUFFER, "scale", TYPE(f32, 4));
    const qfi_id zero = add_stored(m, QF_VALUE_BUFFER, "zero", TYPE(i64, 4));
    const qfi_id d = add_call(m, "d", "t.dequantize.d", IN(q, scale, zero), ARGS(0));
    const qfi_id t = add_call(m, "t", "t.permute.d", IN(d), ARGS(1, 0));
    const qfi_id z = add_call(m, "z", "t.full.d", NO_IN, ARGS(0, 6, 4));
    const qfi_id s = add_call(m, "s", "t.slice.d", IN(z), ARGS(1, 1, 2, 2));
    add_call(m, "f", "t.fill_.d", IN(s), ARGS(24));
    const qfi_id big = add_call(m, "big", "t.full.d", NO_IN, ARGS(0, 100, 6, 4));
    const qfi_id p = add_call(m, "p", "t.mul.d", IN(z, w), NO_ARGS);
    const qfi_id a = add_call(m, "a", "t.add.d", IN(x, t), NO_ARGS);
    const qfi_id b = add_call(m, "b", "t.add.d", IN(a, big), NO_ARGS);
    add_output(m, add_call(m, "y", "t.add.d", IN(b, p), NO_ARGS));
    return m;
}

static qf_status plan_and_report(const model *m, qf_diag *diag)
{
    const qf_fold_options options = { .max_growth = 4096 };
    qf_ctx ctx = { .struct_size = sizeof ctx };
    qfi_fold fold = { .top = &m->graph, .options = &options, .ctx = &ctx };
    qfi_report *report = NULL;
    qf_status st = qfi_fold_plan(&fold, diag);
    if (st == QF_OK)
        st = qfi_fold_report(&fold, &report, diag);
    if (st == QF_OK)
        qf_report_free(&report->base);
    qfi_fold_free(&fold);
    return st;
}

static void test_failing(void **state)
{
    (void)state;
    model *m = everything();
    qf_status st = QF_ERR_NOMEM;
    long n = 0;
    qfi_pool_hook(failing, free);
    for (; st != QF_OK; n++) {
        qf_diag diag = { 0 };
        left = n;
        st = plan_and_report(m, &diag);
        assert_true(st == QF_OK || (st == QF_ERR_NOMEM && diag.code == QF_ERR_NOMEM));
        assert_true(n < 10000);
    }
    qfi_pool_hook(NULL, NULL);
    assert_true(n > 4);
    model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_failing) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
