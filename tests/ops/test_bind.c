/* Pipelines that are bound to other inputs: the bytes are those of a pipeline built for them, what
 * is not alike is refused, and everything is freed once. */
#include "placement.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SIDE = 8, COUNT = SIDE * SIDE, BYTES = COUNT * 4 };

static qf_tensor square(qf_storage *storage)
{
    return (qf_tensor){ .storage = storage,
                        .shape = { SIDE, SIDE },
                        .stride = { SIDE, 1 },
                        .rank = 2,
                        .dtype = QF_DT_f32 };
}

static qf_storage *numbers(int seed)
{
    qf_storage *s = qf_storage_new(BYTES);
    for (int i = 0; i < COUNT; i++)
        ((float *)s->data)[i] = (float)((i * 37 + seed * 11) % 64 - 32) * 0.125f;
    return s;
}

static qf_status read_numbers(void *ctx, uint64_t at, void *dst, size_t n, qf_diag *diag)
{
    (void)diag;
    memcpy(dst, (const char *)((qf_storage *)ctx)->data + at, n);
    return QF_OK;
}

static void release_numbers(void *ctx)
{
    qf_storage_unref(ctx);
}

static qf_storage *read_later(int seed)
{
    return qf_storage_from_reader(BYTES, read_numbers, release_numbers, numbers(seed));
}

/* transpose(a) @ b + a; input 2 is not needed. */
static qf_status build(const qf_tensor *in, qf_pipe **pipe)
{
    static const uint32_t id[][2] = { { 0 }, { 3, 1 }, { 4, 0 } };
    const qf_step step[] = {
        { .op = QF_OP_permute, .attrs.dims = { { 1, 0 } }, .n_in = 1, .in = id[0] },
        { .op = QF_OP_matmul, .n_in = 2, .in = id[1] },
        { .op = QF_OP_add, .n_in = 2, .in = id[2] },
    };
    return qf_pipe_build(NULL, &(qf_program){ in, 3, step, 3 }, 5, NULL, pipe, NULL);
}

static void assert_made(const qf_pipe *pipe, const qf_tensor *in)
{
    float got[COUNT], wanted[COUNT];
    qf_pipe *fresh;

    assert_int_equal(build(in, &fresh), QF_OK);
    assert_int_equal(qf_pipe_run(NULL, fresh, NULL, wanted, NULL), QF_OK);
    assert_int_equal(qf_pipe_run(NULL, pipe, NULL, got, NULL), QF_OK);
    assert_memory_equal(got, wanted, sizeof got);
    qf_pipe_free(fresh);
}

static void same_bytes(qf_storage *make(int seed))
{
    qf_storage *s[] = { make(1), make(2), make(3), make(4) };
    const qf_tensor first[] = { square(s[0]), square(s[1]), square(s[0]) },
                    second[] = { square(s[2]), square(s[3]), { .storage = NULL } },
                    third[] = { square(s[1]), square(s[1]), { .storage = NULL } };
    qf_pipe *pipe, *bound, *again;

    assert_int_equal(build(first, &pipe), QF_OK);
    assert_int_equal(qf_pipe_bind(pipe, second, &bound, NULL), QF_OK);
    assert_int_equal(qf_pipe_cost(bound).read, qf_pipe_cost(pipe).read);
    assert_made(bound, (const qf_tensor[]){ second[0], second[1], first[2] });
    assert_made(pipe, first);
    qf_pipe_free(pipe);
    assert_int_equal(s[0]->refs, 1);
    assert_int_equal(qf_pipe_bind(bound, third, &again, NULL), QF_OK);
    qf_pipe_free(bound);
    assert_made(again, (const qf_tensor[]){ third[0], third[1], first[2] });
    qf_pipe_free(again);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(s[i]->refs, 1);
        qf_storage_unref(s[i]);
    }
}

static void in_memory(void **state)
{
    (void)state;
    same_bytes(numbers);
}

static void behind_readers(void **state)
{
    (void)state;
    same_bytes(read_later);
}

static void refused(void **state)
{
    qf_storage *a = numbers(1), *b = numbers(2), *later = read_later(3),
               *small = qf_storage_new(BYTES - 4);
    const qf_tensor in[] = { square(a), square(b), square(a) };
    qf_tensor other[] = { square(b), square(a), square(a) };
    const struct {
        qf_tensor t;
        qf_status status;
    } rows[] = {
        { { .storage = NULL }, QF_ERR_ARG },
        { square(later), QF_ERR_ARG },
        { square(small), QF_ERR_RANGE },
        { { b, 0, { SIDE, SIDE }, { 1, SIDE }, 2, QF_DT_f32 }, QF_ERR_ARG },
        { { b, 0, { SIDE, SIDE / 2 }, { SIDE, 1 }, 2, QF_DT_f32 }, QF_ERR_ARG },
        { { b, 0, { COUNT }, { 1 }, 1, QF_DT_f32 }, QF_ERR_ARG },
        { { b, 1, { SIDE, SIDE }, { SIDE, 1 }, 2, QF_DT_f32 }, QF_ERR_ARG },
        { { b, 0, { SIDE, SIDE }, { SIDE, 1 }, 2, QF_DT_i32 }, QF_ERR_ARG },
    };
    qf_pipe *pipe, *bound;

    (void)state;
    assert_int_equal(build(in, &pipe), QF_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        qf_diag diag = { 0 };
        other[1] = rows[i].t;
        assert_int_equal(qf_pipe_bind(pipe, other, &bound, &diag), rows[i].status);
        assert_null(bound);
        assert_int_equal(diag.code, rows[i].status);
    }
    qf_pipe_free(pipe);
    assert_int_equal(b->refs, 1);
    qf_storage_unref(a);
    qf_storage_unref(b);
    qf_storage_unref(later);
    qf_storage_unref(small);
}

/* a + b where both are one tensor reads it once; two tensors cannot be bound to that. */
static void joined(void **state)
{
    static const uint32_t id[] = { 0, 1 };
    qf_storage *a = numbers(1), *b = numbers(2);
    const qf_tensor same[] = { square(a), square(a) }, also[] = { square(b), square(b) },
                    apart[] = { square(a), square(b) };
    const qf_step step = { .op = QF_OP_add, .n_in = 2, .in = id };
    qf_pipe *one, *two, *bound;
    float sum[COUNT];

    (void)state;
    assert_int_equal(qf_pipe_build(NULL, &(qf_program){ same, 2, &step, 1 }, 2, NULL, &one, NULL),
                     QF_OK);
    assert_int_equal(qf_pipe_build(NULL, &(qf_program){ apart, 2, &step, 1 }, 2, NULL, &two, NULL),
                     QF_OK);
    assert_int_equal(qf_pipe_bind(one, apart, &bound, NULL), QF_ERR_ARG);
    assert_int_equal(qf_pipe_bind(one, also, &bound, NULL), QF_OK);
    assert_int_equal(qf_pipe_run(NULL, bound, NULL, sum, NULL), QF_OK);
    assert_true(sum[5] == 2 * ((float *)b->data)[5]);
    qf_pipe_free(bound);
    assert_int_equal(qf_pipe_bind(two, same, &bound, NULL), QF_OK);
    assert_int_equal(qf_pipe_run(NULL, bound, NULL, sum, NULL), QF_OK);
    assert_true(sum[5] == 2 * ((float *)a->data)[5]);
    qf_pipe_free(two);
    qf_pipe_free(bound);
    qf_pipe_free(one);
    qf_storage_unref(a);
    qf_storage_unref(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_memory),
        cmocka_unit_test(behind_readers),
        cmocka_unit_test(refused),
        cmocka_unit_test(joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
