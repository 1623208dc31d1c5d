/* R5: quantised stays quantised. Integers move under the dequantize, scale, zero point and axis
 * with them. */
#include "suite.h"

typedef struct parts {
    model *m;
    qfi_id x, q, scale, zero, w;
} parts;

/* An i8 weight [4, 6], one scale per row, and an input of the given shape. */
static parts weight(qf_type input)
{
    parts p = { .m = model_new(32) };
    p.x = add_input(p.m, "x", input);
    p.q = add_stored(p.m, QF_VALUE_BUFFER, "q", TYPE(i8, 4, 6));
    p.scale = add_stored(p.m, QF_VALUE_BUFFER, "scale", TYPE(f32, 4));
    p.zero = add_stored(p.m, QF_VALUE_BUFFER, "zero", TYPE(i64, 4));
    p.w = add_call(p.m, "w", "t.dequantize.d", IN(p.q, p.scale, p.zero), ARGS(0));
    return p;
}

static const qf_fold_options options = { .max_growth = 4096 };

static void test_permute(void **state)
{
    (void)state;
    parts p = weight(TYPE(f32, 6, 4));
    const qfi_id t = add_call(p.m, "t", "t.permute.d", IN(p.w), ARGS(1, 0));
    add_output(p.m, add_call(p.m, "y", "t.mul.d", IN(p.x, t), NO_ARGS));
    folded *f = fold_and_check(p.m, &options);
    assert_int_equal(verdict_of(f, "t"), QF_FOLDED);
    assert_int_equal(reason_of(f, "w"), QF_REASON_quantised);
    assert_int_equal(f->fold.edits.n_patch, 1);
    assert_int_equal(f->fold.edits.patch[0].axis, 1);
    assert_int_equal(f->fold.edits.patch[0].new_operand[1], QFI_NONE); /* the same scales */
    assert_int_equal(f->fold.edits.n_new_payload, 0);                  /* and the same bytes */
    assert_int_equal(stored_bytes(f->out), stored_bytes(p.m));
    folded_free(f);
    model_free(p.m);
}

/* A slice of the channels takes its scales along; nothing in between need stay. */
static void test_slice_of_channels(void **state)
{
    (void)state;
    parts p = weight(TYPE(f32, 2, 6));
    const qfi_id t = add_call(p.m, "t", "t.permute.d", IN(p.w), ARGS(1, 0));
    const qfi_id s = add_call(p.m, "s", "t.slice.d", IN(t), ARGS(1, 1, 2, 2));
    const qfi_id b = add_call(p.m, "b", "t.permute.d", IN(s), ARGS(1, 0));
    add_output(p.m, add_call(p.m, "y", "t.mul.d", IN(p.x, b), NO_ARGS));
    folded *f = fold_and_check(p.m, &options);
    assert_int_equal(verdict_of(f, "t"), QF_FOLDED);
    assert_int_equal(verdict_of(f, "s"), QF_FOLDED);
    assert_int_equal(verdict_of(f, "b"), QF_FOLDED);
    assert_int_equal(f->fold.edits.patch[0].axis, 0);
    assert_int_not_equal(f->fold.edits.patch[0].new_operand[1], QFI_NONE);
    folded_free(f);
    model_free(p.m);
}

/* Splitting the axis has no form in this operator, what stands before it does. */
static void test_layout(void **state)
{
    (void)state;
    parts p = weight(TYPE(f32, 6, 2, 2));
    const qfi_id t = add_call(p.m, "t", "t.permute.d", IN(p.w), ARGS(1, 0));
    const qfi_id r = add_call(p.m, "r", "t.reshape.d", IN(t), ARGS(6, 2, 2));
    add_output(p.m, add_call(p.m, "y", "t.mul.d", IN(p.x, r), NO_ARGS));
    folded *f = fold_and_check(p.m, &options);
    assert_int_equal(verdict_of(f, "t"), QF_FOLDED);
    assert_int_equal(reason_of(f, "r"), QF_REASON_quant_layout);
    folded_free(f);
    model_free(p.m);
}

/* A reshape that keeps the axis moves, with one new payload of integers if it has to copy. */
static void test_reshape(void **state)
{
    (void)state;
    parts p = weight(TYPE(f32, 2, 3, 4));
    const qfi_id t = add_call(p.m, "t", "t.permute.d", IN(p.w), ARGS(1, 0));
    const qfi_id r = add_call(p.m, "r", "t.reshape.d", IN(t), ARGS(2, 3, 4));
    add_output(p.m, add_call(p.m, "y", "t.mul.d", IN(p.x, r), NO_ARGS));
    folded *f = fold_and_check(p.m, &options);
    assert_int_equal(verdict_of(f, "r"), QF_FOLDED);
    assert_int_equal(f->fold.edits.patch[0].axis, 2);
    assert_int_equal(stored_bytes(f->out), stored_bytes(p.m));
    folded_free(f);
    model_free(p.m);
}

static void test_shared(void **state)
{
    (void)state;
    parts p = weight(TYPE(f32, 4, 6));
    const qfi_id t = add_call(p.m, "t", "t.permute.d", IN(p.w), ARGS(1, 0));
    const qfi_id u = add_call(p.m, "u", "t.add.d", IN(p.x, p.w), NO_ARGS);
    const qfi_id ut = add_call(p.m, "ut", "t.permute.d", IN(u), ARGS(1, 0));
    add_output(p.m, add_call(p.m, "y", "t.mul.d", IN(ut, t), NO_ARGS));
    folded *f = fold_and_check(p.m, &options);
    assert_int_equal(reason_of(f, "t"), QF_REASON_quant_shared);
    assert_null(f->out);
    folded_free(f);
    model_free(p.m);
}

/* Arithmetic on a dequantized weight would store it wide; allowed on request only. */
static void test_fold_dequant(void **state)
{
    (void)state;
    parts p = weight(TYPE(f32, 4, 6));
    const qfi_id s = add_call(p.m, "s", "t.add.d", IN(p.w, p.w), NO_ARGS);
    add_output(p.m, add_call(p.m, "y", "t.mul.d", IN(p.x, s), NO_ARGS));
    folded *f = fold_and_check(p.m, &options);
    assert_int_equal(reason_of(f, "s"), QF_REASON_quantised);
    assert_int_equal(reason_of(f, "w"), QF_REASON_quantised);
    folded_free(f);
    f = fold_and_check(p.m, &(qf_fold_options){ .max_growth = 4096, .fold_dequant = true });
    assert_int_equal(verdict_of(f, "s"), QF_FOLDED);
    assert_int_equal(verdict_of(f, "w"), QF_FOLDED);
    assert_int_equal(f->out->graph.n_node, 1);
    folded_free(f);
    model_free(p.m);
}

/* A small part of the weight is narrower than the whole, but not than its own integers. */
static void test_part_of_weight(void **state)
{
    (void)state;
    parts p = weight(TYPE(f32, 6));
    const qfi_id s = add_call(p.m, "s", "t.select.d", IN(p.w), ARGS(0, 1));
    const qfi_id d = add_call(p.m, "d", "t.add.d", IN(s, s), NO_ARGS);
    add_output(p.m, add_call(p.m, "y", "t.mul.d", IN(p.x, d), NO_ARGS));
    folded *f = fold_and_check(p.m, &options);
    assert_int_equal(reason_of(f, "d"), QF_REASON_quantised);
    folded_free(f);
    model_free(p.m);
}

/* What is as narrow as its integers again is stored as such, and nothing is owed behind it: a
 * second fold, which finds it stored, does no more. */
static void test_narrow_again(void **state)
{
    (void)state;
    parts p = weight(TYPE(f32, 4, 6));
    const qfi_id sign = add_call(p.m, "sign", "t.cast.d", IN(p.w), ARGS(QF_DT_b8));
    const qfi_id wide = add_call(p.m, "wide", "t.cast.d", IN(sign), ARGS(QF_DT_f32));
    add_output(p.m, add_call(p.m, "y", "t.mul.d", IN(p.x, wide), NO_ARGS));
    folded *f = fold_and_check(p.m, &options);
    assert_int_equal(verdict_of(f, "sign"), QF_FOLDED);
    assert_int_equal(verdict_of(f, "wide"), QF_FOLDED);
    assert_int_equal(f->out->graph.n_node, 1);
    folded_free(f);
    model_free(p.m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_permute),        cmocka_unit_test(test_slice_of_channels),
        cmocka_unit_test(test_layout),         cmocka_unit_test(test_reshape),
        cmocka_unit_test(test_shared),         cmocka_unit_test(test_fold_dequant),
        cmocka_unit_test(test_part_of_weight), cmocka_unit_test(test_narrow_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
