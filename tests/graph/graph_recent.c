/* Many small programs, alike and nearly alike: every constant is what its own nodes say, whatever
 * was compiled before it. */
#include "suite.h"

#include <stdio.h>

enum { LAYERS = 60, NAME = 16 };

static char names[LAYERS][4][NAME];

static const char *name_of(int layer, int k)
{
    snprintf(names[layer][k], NAME, "%c%d", "wuxy"[k], layer);
    return names[layer][k];
}

/* Placeholders come first. Layer i multiplies w by u: w itself, another name of its memory, or
 * another weight. */
static void add_weights(model *m, int i, qfi_id *w, qfi_id *u)
{
    const view whole = { .type = TYPE(f32, 2, 3, 4), .stride = { 12, 4, 1 } };

    *u = *w = add_stored(m, QF_VALUE_PARAM, name_of(i, 0), TYPE(f32, 2, 3, 4));
    if (i % 5 == 1)
        *u = add_tied(m, QF_VALUE_PARAM, name_of(i, 1), *w, whole);
    else if (i % 5 > 1)
        *u = add_stored(m, QF_VALUE_PARAM, name_of(i, 1), TYPE(f32, 2, 3, 4));
}

/* The product, permuted in one of two ways or not at all, twice. */
static void add_layer(model *m, int i, qfi_id w, qfi_id u)
{
    qfi_id x = add_call(m, name_of(i, 2), "t.mul.d", IN(w, u), NO_ARGS);
    if (i % 3 > 0)
        x = add_call(m, name_of(i, 3), "t.permute.d", IN(x),
                     i % 3 == 1 ? ARGS(1, 0, 2) : ARGS(2, 0, 1));
    add_output(m, add_call(m, "z", "t.add.d", IN(x, x), NO_ARGS));
}

static void test_alike(void **state)
{
    (void)state;
    for (int contiguous = 0; contiguous < 2; contiguous++) {
        model *m = model_new(8 * LAYERS);
        qfi_id w[LAYERS], u[LAYERS];
        for (int i = 0; i < LAYERS; i++)
            add_weights(m, i, &w[i], &u[i]);
        for (int i = 0; i < LAYERS; i++)
            add_layer(m, i, w[i], u[i]);
        folded *f = fold_and_check(
            m, &(qf_fold_options){ .max_growth = 1 << 20, .contiguous = contiguous > 0 });
        assert_int_equal(f->fold.edits.n_new_payload, LAYERS);
        folded_free(f);
        model_free(m);
    }
}

/* As many programs as shapes, each of them twice, far apart. */
static void test_shapes(void **state)
{
    (void)state;
    model *m = model_new(8 * LAYERS);
    qfi_id w[LAYERS];
    for (int i = 0; i < LAYERS; i++)
        w[i] = add_stored(m, QF_VALUE_PARAM, name_of(i, 0), TYPE(f32, 1 + i % (LAYERS / 2), 2));
    for (int i = 0; i < LAYERS; i++)
        add_output(m, add_call(m, "z", "t.add.d", IN(w[i], w[i]), NO_ARGS));
    folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = 1 << 20 });
    assert_int_equal(f->fold.edits.n_new_payload, LAYERS);
    folded_free(f);
    model_free(m);
}

/* A program that is too long to be remembered. */
static void test_long(void **state)
{
    (void)state;
    model *m = model_new(400);
    qfi_id w[3];
    for (int i = 0; i < 3; i++)
        w[i] = add_stored(m, QF_VALUE_PARAM, name_of(i, 0), TYPE(f32, 5));
    for (int i = 0; i < 3; i++) {
        qfi_id x = w[i];
        for (int k = 0; k < 100; k++)
            x = add_call(m, "x", "t.add.d", IN(x, x), NO_ARGS);
        add_output(m, x);
    }
    folded *f = fold_and_check(m, &(qf_fold_options){ .max_growth = 1 << 20 });
    assert_int_equal(f->fold.edits.n_new_payload, 3);
    folded_free(f);
    model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alike),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
