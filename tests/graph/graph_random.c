/* Random programs: views, in-place calls on whatever comes up, unknown operators, draws, quantised
 * weights. Whatever the fold decides, results over three runs agree bit for bit, and folding the
 * output again changes nothing. */
#include "suite.h"

#define CALLS 24
#ifndef PROGRAMS
#define PROGRAMS 1500
#endif

typedef struct maker {
    model *m;
    uint32_t state;
    qfi_id q, scale, zero;
} maker;

static uint32_t draw(maker *k, uint32_t n)
{
    k->state ^= k->state << 13;
    k->state ^= k->state >> 17;
    k->state ^= k->state << 5;
    return k->state % n;
}

static bool is_f32(const maker *k, qfi_id v)
{
    return k->m->graph.value[v].type.dtype == QF_DT_f32;
}

static qfi_id any(maker *k)
{
    for (;;) {
        const qfi_id v = draw(k, k->m->graph.n_value);
        if (is_f32(k, v))
            return v;
    }
}

/* A value of the same shape: half of the time one that exists, if there is one. */
static qfi_id partner(maker *k, qfi_id a)
{
    const qf_type *type = &k->m->graph.value[a].type;
    for (int i = 0; i < 8; i++) {
        const qfi_id b = any(k);
        if (qf_type_equal(type, &k->m->graph.value[b].type))
            return b;
    }
    args arg = { .n = 1u + (uint32_t)type->rank, .v = { draw(k, 17) } };
    memcpy(arg.v + 1, type->dim, (size_t)type->rank * sizeof *type->dim);
    return add_call(k->m, "full", "t.full.d", NO_IN, arg);
}

/* torch refuses to write where an element stands for several. */
static bool is_writable(const maker *k, qfi_id v)
{
    const qfi_value *value = &k->m->graph.value[v];
    for (int i = 0; i < value->type.rank; i++)
        if (value->type.dim[i] > 1 && value->stride[i] == 0)
            return false;
    return true;
}

static void make_view(maker *k, qfi_id a)
{
    const qf_type type = k->m->graph.value[a].type;
    if (type.rank != 2) {
        const int64_t n = (int64_t)count_of(&type);
        const args shape = n % 2 ? ARGS(1, n) : ARGS(n / 2, 2);
        add_call(k->m, "reshape", "t.reshape.d", IN(a), shape);
        return;
    }
    const int64_t dim = draw(k, 2), n = type.dim[dim];
    const int64_t start = draw(k, (uint32_t)n), step = 1 + draw(k, 2);
    const int64_t count = (n - start + step - 1) / step;
    switch (draw(k, 5)) {
    case 0:
        add_call(k->m, "permute", "t.permute.d", IN(a), ARGS(1, 0));
        break;
    case 1:
        add_call(k->m, "slice", "t.slice.d", IN(a), ARGS(dim, start, step, count));
        break;
    case 2:
        add_call(k->m, "select", "t.select.d", IN(a), ARGS(dim, start));
        break;
    case 3:
        add_call(k->m, "expand", "t.expand.d", IN(a), ARGS(2, type.dim[0], type.dim[1]));
        break;
    default:
        add_call(k->m, "flat", "t.reshape.d", IN(a), ARGS((int64_t)count_of(&type)));
    }
}

static void make_write(maker *k, qfi_id a)
{
    if (!is_writable(k, a))
        return;
    switch (draw(k, 4)) {
    case 0:
        add_call(k->m, "custom_", "t.custom_.d", IN(a), NO_ARGS);
        break;
    case 1:
        add_call(k->m, "add_", "t.add_.d", IN(a, partner(k, a)), NO_ARGS);
        break;
    default:
        add_call(k->m, "fill_", "t.fill_.d", IN(a), ARGS(draw(k, 33)));
    }
}

static void make_call(maker *k)
{
    const qfi_id a = any(k);
    switch (draw(k, 12)) {
    case 0:
    case 1:
        add_call(k->m, "add", "t.add.d", IN(a, partner(k, a)), NO_ARGS);
        break;
    case 2:
        add_call(k->m, "mul", "t.mul.d", IN(a, partner(k, a)), NO_ARGS);
        break;
    case 3:
        add_call(k->m, "clone", draw(k, 2) ? "t.clone.d" : "t.detach_.d", IN(a), NO_ARGS);
        break;
    case 4:
        make_write(k, a);
        break;
    case 5:
        add_call(k->m, "full", "t.full.d", NO_IN, ARGS(draw(k, 9), 3, 4));
        break;
    case 6:
        if (draw(k, 4) == 0)
            add_call(k->m, "custom", "t.custom.d", IN(a), NO_ARGS);
        else
            add_call(k->m, "rand", "t.rand.d", NO_IN, ARGS(0, 3, 4));
        break;
    case 7:
        add_call(k->m, "dequantize", "t.dequantize.d", IN(k->q, k->scale, k->zero), ARGS(0));
        break;
    default:
        make_view(k, a);
    }
}

static model *make_program(uint32_t seed)
{
    maker k = { .m = model_new(256), .state = seed * 2654435761u + 1 };
    static const char *const names[] = { "p", "c", "b" };
    add_input(k.m, "x", TYPE(f32, 3, 4));
    for (int i = 0; i < 3; i++)
        add_stored(k.m, QF_VALUE_PARAM, names[i], TYPE(f32, 3, 4));
    const view part = { .type = TYPE(f32, 4, 2), .stride = { 1, 4 }, .offset = 3 };
    add_tied(k.m, QF_VALUE_BUFFER, "tied", 1, part);
    k.q = add_stored(k.m, QF_VALUE_CONST, "q", TYPE(i8, 3, 4));
    k.scale = add_stored(k.m, QF_VALUE_CONST, "scale", TYPE(f32, 3));
    k.zero = add_stored(k.m, QF_VALUE_CONST, "zero", TYPE(i64, 3));
    const uint32_t calls = 4 + draw(&k, CALLS);
    while (k.m->graph.n_node < calls)
        make_call(&k);
    for (int i = 0; i < 4; i++)
        add_output(k.m, any(&k));
    add_output(k.m, k.m->graph.n_value - 1);
    return k.m;
}

static uint32_t current; /* program at hand, 0 when all have passed */

static int tell_program(void **state)
{
    (void)state;
    if (current)
        print_error("program %u\n", current);
    return 0;
}

static void test_programs(void **state)
{
    (void)state;
    static const char *const keep_op[] = { "t.permute.d", "t.mul.d", NULL };
    static const char *const only[] = { "add", "slice", "full", NULL };
    const qf_fold_options options[] = {
        { .max_growth = 1 << 20 },
        { .max_growth = 0 },
        { .max_growth = 100 },
        { .max_growth = 1 << 20, .fold_dequant = true },
        { .max_growth = 1 << 20, .contiguous = true },
        { .max_growth = 1 << 20, .keep_op = keep_op },
        { .max_growth = 1 << 20, .only = only },
    };
    uint32_t changed = 0;
    for (uint32_t seed = 1; seed <= PROGRAMS; seed++) {
        current = seed;
        model *m = make_program(seed);
        folded *f = fold_and_check(m, &options[seed % (sizeof options / sizeof *options)]);
        changed += f->out != NULL;
        folded_free(f);
        model_free(m);
    }
    current = 0;
    assert_true(changed > PROGRAMS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test_teardown(test_programs, tell_program) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
