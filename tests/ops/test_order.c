/* Sorting and writing by index in little memory: results against plain loops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "placement.h"

static ref_tensor numbers(qf_dtype dtype, int64_t n, int64_t by, int64_t mod)
{
    const qf_type type = { .dtype = dtype, .rank = 1, .dim = { n } };
    ref_tensor t;

    ref_make(&t, &type);
    for (int64_t i = 0; i < n; i++)
        t.e[i][0] = ref_from_int(dtype, i * by % mod);
    return t;
}

/* op over readers, through windows, into `to`. */
static qf_status stream(qf_op op, const qf_attrs *attrs, const ref_tensor *in, uint16_t n_in,
                        uint64_t memory, layout_bytes *to)
{
    const uint32_t ids[] = { 0, 1, 2 };
    const qf_ctx ctx = { .struct_size = sizeof ctx, .memory = memory };
    const qf_step step = { .op = op, .attrs = *attrs, .n_in = n_in, .in = ids };
    qf_tensor view[3] = { 0 };
    const qf_program program = { view, n_in, &step, 1 };
    const qf_sink sink = { .take = layout_collect, .user = to };
    qf_pipe *pipe = NULL;

    for (uint16_t i = 0; i < n_in; i++)
        view[i] = layout_make(&in[i], DENSE, true);
    qf_status st = qf_pipe_build(&ctx, &program, n_in, NULL, &pipe, NULL);
    if (st == QF_OK)
        st = qf_pipe_stream(&ctx, pipe, NULL, &sink, NULL);
    qf_pipe_free(pipe);
    for (uint16_t i = 0; i < n_in; i++)
        layout_free(&view[i]);
    return st;
}

/* A result larger than the memory is made window by window, each with what falls into it. */
static void put_in_windows(void **state)
{
    enum { N = 600000, M = 5000 };
    (void)state;
    for (uint8_t mode = QF_PUT_SET; mode <= QF_PUT_ADD; mode++) {
        const qf_attrs attrs = { .put = { mode } };
        ref_tensor in[3] = { numbers(QF_DT_i32, N, 7, 1000), numbers(QF_DT_i64, M, 99991, N),
                             numbers(QF_DT_i32, M, 3, 100000) };
        layout_bytes to = { .p = malloc(N * sizeof(int32_t)), .size = N * sizeof(int32_t) };
        int32_t *want = malloc(to.size);
        assert_true(to.p && want);
        for (int64_t i = 0; i < N; i++)
            want[i] = (int32_t)in[0].e[i][0];
        for (int64_t i = 0; i < M; i++)
            want[in[1].e[i][0]] =
                (int32_t)in[2].e[i][0] + (mode == QF_PUT_ADD ? want[in[1].e[i][0]] : 0);
        assert_int_equal(stream(QF_OP_put, &attrs, in, 3, 1u << 20, &to), QF_OK);
        assert_int_equal(to.n, to.size);
        assert_memory_equal(to.p, want, to.size);
        for (int i = 0; i < 3; i++)
            ref_free(&in[i]);
        free(to.p);
        free(want);
    }
}

/* Two different elements for one place have no order; equal ones need none. */
static void put_twice(void **state)
{
    const qf_attrs attrs = { .put = { QF_PUT_SET } };
    uint8_t room[10];
    (void)state;
    for (int64_t differ = 0; differ < 2; differ++) {
        ref_tensor in[3] = { numbers(QF_DT_u8, 10, 1, 100), numbers(QF_DT_i64, 6, 1, 3),
                             numbers(QF_DT_u8, 6, 1, differ ? 4 : 3) };
        layout_bytes to = { .p = room, .size = sizeof room };
        assert_int_equal(stream(QF_OP_put, &attrs, in, 3, 0, &to), differ ? QF_ERR_VALUE : QF_OK);
        for (int i = 0; i < 3; i++)
            ref_free(&in[i]);
    }
}

/* A row that cannot be sorted in the memory is refused before anything is read. */
static void sort_needs_memory(void **state)
{
    enum { N = 50000 };
    const qf_attrs attrs = { .sort = { .dim = 0, .descending = true, .n = N } };
    ref_tensor in = numbers(QF_DT_f32, N, 7919, 1000);
    layout_bytes to = { .p = malloc(N * 8), .size = N * 8 };
    int64_t at, last = 0;

    (void)state;
    assert_non_null(to.p);
    assert_int_equal(stream(QF_OP_argsort, &attrs, &in, 1, 1u << 20, &to), QF_ERR_LIMIT);
    assert_int_equal(to.n, 0);
    assert_int_equal(stream(QF_OP_argsort, &attrs, &in, 1, 4u << 20, &to), QF_OK);
    assert_int_equal(to.n, to.size);
    for (int64_t i = 0; i < N; i++, last = at) {
        memcpy(&at, to.p + i * 8, 8);
        const double v = ref_real(QF_DT_f32, in.e[at][0]),
                     before = i ? ref_real(QF_DT_f32, in.e[last][0]) : v;
        assert_true(before > v || i == 0 || (before == v && last < at));
    }
    free(to.p);
    ref_free(&in);
}

static void wrong_count(void **state)
{
    ref_tensor in = numbers(QF_DT_b8, 100, 1, 2);
    uint8_t room[60 * 8];

    (void)state;
    for (int64_t n = 49; n <= 51; n++) {
        const qf_attrs attrs = { .count = { n } };
        layout_bytes to = { .p = room, .size = sizeof room };
        assert_int_equal(stream(QF_OP_nonzero, &attrs, &in, 1, 0, &to),
                         n == 50 ? QF_OK : QF_ERR_VALUE);
    }
    ref_free(&in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(put_in_windows),
        cmocka_unit_test(put_twice),
        cmocka_unit_test(sort_needs_memory),
        cmocka_unit_test(wrong_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
