/* Rows of an operand that become columns of the result, of every width, stored past the caches and
 * not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <qfold/eval.h>

static const qf_dtype dtypes[] = { QF_DT_i8, QF_DT_i16, QF_DT_i32, QF_DT_i64 };

static int64_t number(int64_t i)
{
    return (i * 37 + i / 100) % 251 - 125;
}

static qf_tensor view(qf_storage *s, qf_dtype dtype, int64_t m, int64_t n)
{
    return (qf_tensor){
        .storage = s, .dtype = dtype, .rank = 2, .shape = { m, n }, .stride = { n, 1 }
    };
}

/* The least significant bytes come first. */
static void put(qf_storage *s, size_t size, int64_t at, int64_t value)
{
    memcpy((char *)s->data + (size_t)at * size, &value, size);
}

static void check(qf_dtype dtype, qf_op op, int64_t m, int64_t n, uint64_t cache)
{
    const size_t size = qf_dtype_get(dtype)->bits / 8, bytes = (size_t)(m * n) * size;
    const qf_attrs swap = { .dims = { { 1, 0 } } };
    qf_storage *from = qf_storage_new(bytes), *to = qf_storage_new(bytes),
               *want = qf_storage_new(bytes);
    qf_tensor in = view(from, dtype, n, m), out = view(to, dtype, m, n);
    const qf_ctx ctx = { .struct_size = sizeof ctx, .cache = cache };

    assert_true(from && to && want);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            put(from, size, j * m + i, number(j * m + i));
            put(want, size, i * n + j, number(j * m + i) * (op == QF_OP_neg ? -1 : 1));
        }
    if (op == QF_OP_neg)
        in = (qf_tensor){
            .storage = from, .dtype = dtype, .rank = 2, .shape = { m, n }, .stride = { 1, m }
        };
    assert_int_equal(qf_eval(&ctx, op, &swap, &in, 1, &out, NULL), QF_OK);
    assert_memory_equal(to->data, want->data, bytes);
    qf_storage_unref(from);
    qf_storage_unref(to);
    qf_storage_unref(want);
}

static void widths(void **state)
{
    static const int64_t rows[] = { 1, 7, 16, 40, 65, 300 },
                         columns[] = { 1, 3, 16, 31, 63, 64, 65, 74, 100, 127, 128, 200, 255, 300 };

    (void)state;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            for (size_t j = 0; j < sizeof columns / sizeof *columns; j++)
                for (uint64_t cache = 0; cache < 2; cache++) {
                    check(dtypes[d], QF_OP_permute, rows[i], columns[j], cache);
                    check(dtypes[d], QF_OP_neg, rows[i], columns[j], cache);
                }
}

/* Long rows, which need no staging where they are few. */
static void few(void **state)
{
    static const int64_t count[] = { 2, 3, 4, 9 }, length[] = { 4096, 12345, 50000 };

    (void)state;
    for (size_t i = 0; i < sizeof count / sizeof *count; i++)
        for (size_t j = 0; j < sizeof length / sizeof *length; j++)
            for (uint64_t cache = 0; cache < 2; cache++) {
                check(QF_DT_i32, QF_OP_permute, count[i], length[j], cache);
                check(QF_DT_i32, QF_OP_permute, length[j], count[i], cache);
            }
}

static qf_tensor made(qf_dtype dtype, int64_t m, int64_t n)
{
    qf_storage *s = qf_storage_new((size_t)(m * n) * (qf_dtype_get(dtype)->bits / 8u));
    assert_non_null(s);
    return view(s, dtype, m, n);
}

/* Powers of two, and small integers, which differ from row to row or column to column. */
static qf_tensor grid(int axis, int64_t m, int64_t n, bool powers)
{
    qf_tensor t = made(QF_DT_f32, axis == 0 ? m : 1, axis == 1 ? n : 1);
    const int64_t count = t.shape[0] * t.shape[1];
    for (int64_t i = 0; i < count; i++) {
        const float value = powers ? 1.0f / (float)(1 << i % 7) : (float)(i % 5 - 2);
        memcpy((float *)t.storage->data + i, &value, sizeof value);
    }
    return t;
}

/* Columns of bytes become rows of floats: the same as from bytes that lie in rows. */
static void check_dequantize(qf_dtype q, qf_dtype to, int axis, int64_t m, int64_t n,
                             uint64_t cache)
{
    const qf_attrs attrs = { .quant = { .dtype = to,
                                        .block = { axis == 0 ? 1 : m, axis == 1 ? 1 : n } } };
    const qf_ctx ctx = { .struct_size = sizeof ctx, .cache = cache };
    qf_tensor down = made(q, m, n), across = made(q, m, n), got = made(to, m, n),
              want = made(to, m, n), scale = grid(axis, m, n, true), zero = grid(axis, m, n, false);

    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            put(down.storage, 1, j * m + i, number(i * n + j));
            put(across.storage, 1, i * n + j, number(i * n + j));
        }
    down.stride[0] = 1;
    down.stride[1] = m;
    const qf_tensor turned[] = { down, scale, zero }, plain[] = { across, scale, zero };
    assert_int_equal(qf_eval(&ctx, QF_OP_dequantize, &attrs, turned, 3, &got, NULL), QF_OK);
    assert_int_equal(qf_eval(&ctx, QF_OP_dequantize, &attrs, plain, 3, &want, NULL), QF_OK);
    assert_memory_equal(got.storage->data, want.storage->data, got.storage->size);
    qf_storage *all[] = { down.storage, across.storage, got.storage,
                          want.storage, scale.storage,  zero.storage };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        qf_storage_unref(all[i]);
}

static void dequantized(void **state)
{
    static const int64_t shapes[][2] = { { 300, 128 }, { 257, 320 }, { 1100, 576 }, { 700, 100 } };
    static const qf_dtype to[] = { QF_DT_f32, QF_DT_f16, QF_DT_bf16 };

    (void)state;
    for (size_t d = 0; d < sizeof to / sizeof *to; d++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            for (int axis = -1; axis < 2; axis++)
                for (uint64_t cache = 0; cache < 2; cache++) {
                    check_dequantize(QF_DT_i8, to[d], axis, shapes[s][0], shapes[s][1], cache);
                    check_dequantize(QF_DT_u8, to[d], axis, shapes[s][0], shapes[s][1], cache);
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths),
        cmocka_unit_test(few),
        cmocka_unit_test(dequantized),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
