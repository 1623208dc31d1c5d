/* R1: deny by default. What draws, allocates, writes state or is unknown stays; what only the
 * constant region owns folds, in program order, in-place calls included. */
#include "suite.h"

static void test_random_stays(void **state)
{
    (void)state;
    model *m = model_new(16);
    const qfi_id x = add_input(m, "x", TYPE(f32, 2, 4));
    const qfi_id r = add_call(m, "rand", "t.rand.d", NO_IN, ARGS(0, 2, 4));
    const qfi_id a = add_call(m, "noise", "t.add.d", IN(r, r), NO_ARGS);
    const qfi_id two = add_call(m, "two", "t.full.d", NO_IN, ARGS(16, 2, 4));
    const qfi_id six = add_call(m, "six", "t.mul.d", IN(two, two), NO_ARGS);
    const qfi_id y = add_call(m, "y", "t.add.d", IN(x, a), NO_ARGS);
    const qfi_id drawn = add_call(m, "drawn", "t.bernoulli_.d", IN(y), NO_ARGS);
    const qfi_id seen = add_call(m, "seen", "t.add.d", IN(drawn, drawn), NO_ARGS);
    add_output(m, add_call(m, "z", "t.add.d", IN(seen, six), NO_ARGS));
    folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = 4096 });
    assert_int_equal(reason_of(f, "rand"), QF_REASON_random);
    assert_int_equal(reason_of(f, "noise"), QF_REASON_operand);
    assert_int_equal(reason_of(f, "y"), QF_REASON_runtime);
    assert_int_equal(reason_of(f, "drawn"), QF_REASON_random);
    assert_int_equal(reason_of(f, "seen"), QF_REASON_runtime);
    assert_int_equal(verdict_of(f, "two"), QF_FOLDED);
    assert_int_equal(verdict_of(f, "six"), QF_FOLDED);
    assert_int_equal(f->fold.edits.n_constant, 1);
    folded_free(f);
    model_free(m);
}

static void test_unknown_stays(void **state)
{
    (void)state;
    model *m = model_new(16);
    const qfi_id w = add_stored(m, QF_VALUE_PARAM, "w", TYPE(f32, 2, 4));
    const qfi_id c = add_call(m, "c", "t.custom.d", IN(w), NO_ARGS);
    const qfi_id e = add_call(m, "e", "t.empty.d", NO_IN, ARGS(0, 2, 4));
    const qfi_id s = add_call(m, "s", "t.add.d", IN(c, e), NO_ARGS);
    const qfi_id d = add_call(m, "d", "t.add.d", IN(w, w), NO_ARGS);
    add_output(m, add_call(m, "y", "t.add.d", IN(s, d), NO_ARGS));
    folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = 4096 });
    assert_int_equal(reason_of(f, "c"), QF_REASON_unknown_op);
    assert_int_equal(reason_of(f, "e"), QF_REASON_uninitialised);
    assert_int_equal(reason_of(f, "s"), QF_REASON_operand);
    assert_int_equal(verdict_of(f, "d"), QF_FOLDED);
    folded_free(f);
    model_free(m);
}

/* A buffer that the program writes is not constant, whatever the order, the view or the name. */
static void test_written_buffer(void **state)
{
    (void)state;
    model *m = model_new(16);
    const qfi_id x = add_input(m, "x", TYPE(f32, 2, 4));
    const qfi_id cache = add_stored(m, QF_VALUE_BUFFER, "cache", TYPE(f32, 2, 4));
    view part = { .type = TYPE(f32, 4), .stride = { 1 }, .offset = 4 };
    const qfi_id tied = add_tied(m, QF_VALUE_CONST, "tied", cache, part);
    const qfi_id k = add_stored(m, QF_VALUE_BUFFER, "k", TYPE(f32, 2, 4));
    const qfi_id before = add_call(m, "before", "t.mul.d", IN(cache, k), NO_ARGS);
    const qfi_id same = add_call(m, "same", "t.add.d", IN(tied, tied), NO_ARGS);
    const qfi_id row = add_call(m, "row", "t.select.d", IN(cache), ARGS(0, 1));
    const qfi_id xrow = add_call(m, "xrow", "t.select.d", IN(x), ARGS(0, 0));
    const qfi_id w = add_call(m, "w", "t.add_.d", IN(row, xrow), NO_ARGS);
    const qfi_id kk = add_call(m, "kk", "t.mul.d", IN(k, k), NO_ARGS);
    add_output(m, add_call(m, "y", "t.add.d", IN(before, kk), NO_ARGS));
    add_output(m, same);
    add_output(m, w);
    folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = 4096 });
    assert_int_equal(reason_of(f, "before"), QF_REASON_state);
    assert_int_equal(reason_of(f, "same"), QF_REASON_state);
    assert_int_equal(reason_of(f, "row"), QF_REASON_state);
    assert_int_equal(reason_of(f, "w"), QF_REASON_state);
    assert_int_equal(verdict_of(f, "kk"), QF_FOLDED);
    folded_free(f);
    model_free(m);
}

/* Even a constant write makes a stored value state: it happens again on the next run. */
static void test_counter(void **state)
{
    (void)state;
    model *m = model_new(16);
    const qfi_id n = add_stored(m, QF_VALUE_BUFFER, "n", TYPE(f32, 2));
    const qfi_id one = add_call(m, "one", "t.full.d", NO_IN, ARGS(8, 2));
    const qfi_id w = add_call(m, "w", "t.add_.d", IN(n, one), NO_ARGS);
    add_output(m, add_call(m, "y", "t.mul.d", IN(n, n), NO_ARGS));
    add_output(m, w);
    folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = 4096 });
    assert_int_equal(reason_of(f, "w"), QF_REASON_state);
    assert_int_equal(reason_of(f, "y"), QF_REASON_state);
    assert_int_equal(verdict_of(f, "one"), QF_FOLDED);
    folded_free(f);
    model_free(m);
}

/* zeros, then writes through views: the mask that the constant region owns folds. */
static void test_owned_mask(void **state)
{
    (void)state;
    model *m = model_new(64);
    const qfi_id x = add_input(m, "x", TYPE(f32, 4, 6));
    const qfi_id zeros = add_call(m, "zeros", "t.full.d", NO_IN, ARGS(0, 4, 6));
    const qfi_id whole = add_call(m, "whole", "t.detach_.d", IN(zeros), NO_ARGS);
    for (int i = 0; i < 3; i++) {
        const qfi_id s = add_call(m, "s", "t.slice.d", IN(zeros), ARGS(1, i, 2, 2));
        const qfi_id p = add_call(m, "p", "t.permute.d", IN(s), ARGS(1, 0));
        const qfi_id r = add_call(m, "r", "t.select.d", IN(p), ARGS(1, i));
        const qfi_id filled = add_call(m, "f", "t.fill_.d", IN(r), ARGS(8 * i + 8));
        add_call(m, "g", "t.add_.d", IN(p, p), NO_ARGS);
        add_call(m, "h", "t.add_.d", IN(filled, r), NO_ARGS);
    }
    add_output(m, add_call(m, "y", "t.add.d", IN(x, whole), NO_ARGS));
    folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = 4096 });
    assert_int_equal(f->out->graph.n_node, 1);
    assert_int_equal(verdict_of(f, "zeros"), QF_FOLDED);
    assert_int_equal(verdict_of(f, "f"), QF_FOLDED);
    folded_free(f);
    model_free(m);
}

/* One write that depends on an input, and the whole mask stays: nobody may write into a stored
 * constant. */
static void test_owned_until_written(void **state)
{
    (void)state;
    model *m = model_new(32);
    const qfi_id x = add_input(m, "x", TYPE(f32, 2, 4));
    const qfi_id z = add_call(m, "z", "t.full.d", NO_IN, ARGS(0, 2, 4));
    const qfi_id early = add_call(m, "early", "t.add.d", IN(z, z), NO_ARGS);
    const qfi_id row = add_call(m, "row", "t.select.d", IN(z), ARGS(0, 1));
    add_call(m, "f", "t.fill_.d", IN(row), ARGS(24));
    const qfi_id xr = add_call(m, "xr", "t.select.d", IN(x), ARGS(0, 0));
    add_call(m, "w", "t.add_.d", IN(row, xr), NO_ARGS);
    add_output(m, add_call(m, "y", "t.add.d", IN(z, early), NO_ARGS));
    folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = 4096 });
    static const char *const all[] = { "z", "early", "row", "f", "w" };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        assert_int_equal(reason_of(f, all[i]), QF_REASON_state);
    assert_null(f->out);
    folded_free(f);
    model_free(m);
}

/* A kept reader between two writes: one name, two contents. */
static void test_two_versions(void **state)
{
    (void)state;
    model *m = model_new(32);
    const qfi_id x = add_input(m, "x", TYPE(f32, 2, 4));
    const qfi_id z = add_call(m, "z", "t.full.d", NO_IN, ARGS(0, 2, 4));
    const qfi_id a = add_call(m, "a", "t.add.d", IN(x, z), NO_ARGS);
    add_call(m, "f", "t.fill_.d", IN(z), ARGS(24));
    add_output(m, add_call(m, "b", "t.add.d", IN(a, z), NO_ARGS));
    folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = 4096 });
    assert_int_equal(reason_of(f, "z"), QF_REASON_state);
    assert_int_equal(reason_of(f, "f"), QF_REASON_state);
    folded_free(f);
    model_free(m);
}

/* A reshape of the same shape is a copy where the layouts differ: what is written through views of
 * it is its own. Where it may be the same memory, writes through it are not followed. */
static void test_written_copy(void **state)
{
    (void)state;
    for (int turned = 0; turned < 2; turned++) {
        model *m = model_new(32);
        const qfi_id x = add_input(m, "x", TYPE(f32, 4, 4));
        const qfi_id w = add_stored(m, QF_VALUE_PARAM, "w", TYPE(f32, 4, 4));
        const qfi_id d = add_call(m, "d", "t.add.d", IN(w, w), NO_ARGS);
        const qfi_id p = add_call(m, "p", "t.permute.d", IN(d), turned ? ARGS(1, 0) : ARGS(0, 1));
        const qfi_id r = add_call(m, "r", "t.reshape.d", IN(p), ARGS(4, 4));
        const qfi_id row = add_call(m, "row", "t.select.d", IN(r), ARGS(0, 1));
        add_call(m, "f", "t.fill_.d", IN(row), ARGS(24));
        const qfi_id a = add_call(m, "a", "t.add.d", IN(x, r), NO_ARGS);
        add_output(m, add_call(m, "y", "t.add.d", IN(a, d), NO_ARGS));
        folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = 4096 });
        static const char *const all[] = { "d", "p", "r", "row", "f" };
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            if (turned)
                assert_int_equal(verdict_of(f, all[i]), QF_FOLDED);
            else
                assert_int_equal(reason_of(f, all[i]), QF_REASON_alias);
        folded_free(f);
        model_free(m);
    }
}

/* Views that others hold, and unknown operators that might hand out a view, follow a write too. */
static void test_watched(void **state)
{
    (void)state;
    static const char *const holders[] = { "t.custom.d", "t.permute.d" };
    for (int i = 0; i < 2; i++) {
        model *m = model_new(32);
        const qfi_id x = add_input(m, "x", TYPE(f32, 4, 4));
        const qfi_id z = add_call(m, "z", "t.full.d", NO_IN, ARGS(0, 4, 4));
        const qfi_id v = add_call(m, "v", holders[i], IN(z), ARGS(1, 0));
        add_call(m, "f", "t.fill_.d", IN(z), ARGS(24));
        add_output(m, add_call(m, "y", "t.add.d", IN(x, v), NO_ARGS));
        const char *const keep[] = { "v", NULL };
        folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = 4096, .keep = keep });
        assert_int_equal(verdict_of(f, "z"), QF_KEPT);
        assert_int_equal(verdict_of(f, "f"), QF_KEPT);
        folded_free(f);
        model_free(m);
    }
}

static void test_in_place_unknown(void **state)
{
    (void)state;
    static const char *const writers[] = { "t.custom_.d", "t.bernoulli_.d" };
    for (int i = 0; i < 2; i++) {
        model *m = model_new(32);
        const qfi_id w = add_stored(m, QF_VALUE_PARAM, "w", TYPE(f32, 2, 4));
        const qfi_id p = add_call(m, "p", "t.permute.d", IN(w), ARGS(1, 0));
        add_call(m, "u", writers[i], IN(p), NO_ARGS);
        add_output(m, add_call(m, "y", "t.add.d", IN(w, w), NO_ARGS));
        folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = 4096 });
        assert_int_equal(reason_of(f, "y"), QF_REASON_state);
        assert_null(f->out);
        folded_free(f);
        model_free(m);
    }
}

/* Regions run exactly once: read as part of the program, or kept whole. A body that writes a
 * capture is a write. */
static void test_regions(void **state)
{
    (void)state;
    for (int writes = 0; writes < 2; writes++) {
        model *m = model_new(32);
        const qfi_id x = add_input(m, "x", TYPE(f32, 2, 4));
        const qfi_id w = add_stored(m, QF_VALUE_PARAM, "w", TYPE(f32, 2, 4));
        model *body = model_body(m);
        const qfi_id c = add_input(body, "c", TYPE(f32, 2, 4));
        const qfi_id t = add_call(body, "t", "t.mul.d", IN(c, c), NO_ARGS);
        if (writes)
            add_call(body, "u", "t.custom_.d", IN(c), NO_ARGS);
        add_output(body, t);
        const qfi_id r = add_region(m, "r", "t.region.d", IN(w), body);
        const qfi_id y = add_call(m, "y", "t.add.d", IN(x, r), NO_ARGS);
        const qfi_id d = add_call(m, "d", "t.add.d", IN(w, w), NO_ARGS);
        add_output(m, add_call(m, "out", "t.add.d", IN(y, d), NO_ARGS));
        folded *f = fold_model(m, &(qf_fold_options){ .max_growth = 4096 });
        assert_int_equal(f->status, QF_OK);
        assert_int_equal(verdict_of(f, "r"), writes ? QF_KEPT : QF_FOLDED);
        assert_int_equal(verdict_of(f, "d"), writes ? QF_KEPT : QF_FOLDED);
        if (!writes)
            expect_same_results(m, f->out, 2);
        folded_free(f);
        model_free(m);
    }
}

/* Regions in regions, the innermost of which computes w * w. */
static qfi_id nest(model *m, qfi_id w, int depth)
{
    if (!depth)
        return add_call(m, "t", "t.mul.d", IN(w, w), NO_ARGS);
    model *body = model_body(m);
    add_output(body, nest(body, add_input(body, "c", TYPE(f32, 2, 4)), depth - 1));
    return add_region(m, "r", "t.region.d", IN(w), body);
}

/* The limit on regions in regions: 16 fold, 17 are kept. */
static void test_region_depth(void **state)
{
    (void)state;
    for (int depth = 16; depth <= 17; depth++) {
        model *m = model_new(32);
        const qfi_id x = add_input(m, "x", TYPE(f32, 2, 4));
        const qfi_id w = add_stored(m, QF_VALUE_PARAM, "w", TYPE(f32, 2, 4));
        add_output(m, add_call(m, "out", "t.add.d", IN(x, nest(m, w, depth)), NO_ARGS));
        folded *f = fold_model(m, &(qf_fold_options){ .max_growth = 4096 });
        assert_int_equal(f->status, QF_OK);
        assert_int_equal(verdict_of(f, "r"), depth <= 16 ? QF_FOLDED : QF_KEPT);
        folded_free(f);
        model_free(m);
    }
}

static void test_asserts(void **state)
{
    (void)state;
    for (int holds = 0; holds < 2; holds++) {
        model *m = model_new(32);
        const qfi_id x = add_input(m, "x", TYPE(f32, 2, 4));
        const qfi_id w = add_stored(m, QF_VALUE_PARAM, "w", TYPE(f32, 2, 4));
        const qfi_id t = add_call(m, "t", "t.mul.d", IN(w, w), NO_ARGS);
        add_call(m, "check_w", "t.assert.d", IN(t), ARGS(holds));
        add_call(m, "check_x", "t.assert.d", IN(x), ARGS(1));
        add_output(m, add_call(m, "y", "t.add.d", IN(x, t), NO_ARGS));
        folded *f = fold_model(m, &(qf_fold_options){ .max_growth = 4096 });
        assert_int_equal(f->status, holds ? QF_OK : QF_ERR_ASSERT);
        if (holds) {
            assert_int_equal(verdict_of(f, "check_w"), QF_FOLDED);
            assert_int_equal(reason_of(f, "check_x"), QF_REASON_assertion);
        } else {
            assert_non_null(strstr(f->diag.text, "check_w"));
        }
        folded_free(f);
        model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_stays),     cmocka_unit_test(test_unknown_stays),
        cmocka_unit_test(test_written_buffer),   cmocka_unit_test(test_counter),
        cmocka_unit_test(test_owned_mask),       cmocka_unit_test(test_owned_until_written),
        cmocka_unit_test(test_two_versions),     cmocka_unit_test(test_watched),
        cmocka_unit_test(test_in_place_unknown), cmocka_unit_test(test_regions),
        cmocka_unit_test(test_region_depth),     cmocka_unit_test(test_asserts),
        cmocka_unit_test(test_written_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
