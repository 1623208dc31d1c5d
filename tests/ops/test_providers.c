/* Providers against the own rows: products within the error of their sums, the same on any number
 * of threads; everything else bit for bit, on operands that end at a guard page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#include <cmocka.h>
#include <math.h>
#include <qfold/eval.h>

/* Leaves the test out, saying why, where the provider cannot be had. */
static void need(uint32_t provider)
{
    char text[96];

    if (qf_provider_ready(provider, text, sizeof text))
        return;
    check_skipped(text);
    skip();
}

/* A dense tensor whose last byte is the last one before a guard page. */
typedef struct guarded {
    check_pages pages;
    qf_storage storage;
    qf_tensor tensor;
} guarded;

static void make(guarded *g, qf_dtype dtype, int rank, const int64_t *shape)
{
    const size_t size = qf_dtype_get(dtype)->bits / 8;
    size_t n = 1;

    *g = (guarded){ .tensor = { .dtype = dtype, .rank = (uint8_t)rank } };
    for (int d = rank - 1; d >= 0; d--) {
        g->tensor.shape[d] = shape[d];
        g->tensor.stride[d] = (int64_t)n;
        n *= (size_t)shape[d];
    }
    assert_true(check_pages_make(&g->pages, n * size));
    g->storage = (qf_storage){
        .data = g->pages.p + g->pages.size - n * size, .size = n * size, .refs = 1, .writable = true
    };
    g->tensor.storage = &g->storage;
}

static void drop(guarded *g)
{
    check_pages_free(&g->pages);
}

static void fill(guarded *g, check_rng *rng, bool special)
{
    const size_t size = qf_dtype_get(g->tensor.dtype)->bits / 8;

    for (size_t i = 0; i < g->storage.size / size; i++) {
        const double v = (double)(check_random(rng) >> 11) * 0x1p-52 - 1;
        check_store((unsigned char *)g->storage.data + i * size, size,
                    special ? check_value(g->tensor.dtype, rng)
                            : check_from_f64(g->tensor.dtype, v));
    }
}

static double element(const guarded *g, int64_t at)
{
    const size_t size = qf_dtype_get(g->tensor.dtype)->bits / 8;
    return check_to_f64(
        g->tensor.dtype,
        check_load((const unsigned char *)g->storage.data + at * (int64_t)size, size));
}

typedef struct product {
    int64_t batch, m, n, k;
    bool turn_a, turn_b, shared_b;
} product;

/* Dims 1 and 2 exchange places; the memory stays. */
static qf_tensor turned(const qf_tensor *t)
{
    qf_tensor x = *t;
    const int a = t->rank - 2, b = t->rank - 1;

    x.shape[a] = t->shape[b];
    x.shape[b] = t->shape[a];
    x.stride[a] = t->stride[b];
    x.stride[b] = t->stride[a];
    return x;
}

static void eval(const qf_ctx *ctx, qf_op op, const qf_attrs *attrs, const qf_tensor *in, size_t n,
                 guarded *out)
{
    qf_diag diag = { 0 };
    assert_int_equal(qf_eval(ctx, op, attrs, in, n, &out->tensor, &diag), QF_OK);
}

static void check_product(const product *s, qf_dtype dtype)
{
    const double unit = dtype == QF_DT_f32 ? 0x1p-24 : 0x1p-53;
    const int64_t a_shape[] = { s->batch, s->turn_a ? s->k : s->m, s->turn_a ? s->m : s->k },
                  b_shape[] = { s->batch, s->turn_b ? s->n : s->k, s->turn_b ? s->k : s->n },
                  x_shape[] = { s->batch, s->m, s->n };
    qf_ctx ctx = { .struct_size = sizeof ctx };
    check_rng rng = { 5 };
    guarded a, b, own, once, many;

    make(&a, dtype, 3, a_shape);
    make(&b, dtype, s->shared_b ? 2 : 3, s->shared_b ? b_shape + 1 : b_shape);
    make(&own, dtype, 3, x_shape);
    make(&once, dtype, 3, x_shape);
    make(&many, dtype, 3, x_shape);
    fill(&a, &rng, false);
    fill(&b, &rng, false);
    const qf_tensor in[] = { s->turn_a ? turned(&a.tensor) : a.tensor,
                             s->turn_b ? turned(&b.tensor) : b.tensor };
    eval(&ctx, QF_OP_matmul, NULL, in, 2, &own);
    ctx.providers = QF_PROVIDER_BLAS;
    eval(&ctx, QF_OP_matmul, NULL, in, 2, &once);
    assert_int_equal(qf_threads_open(&ctx, 3, NULL), QF_OK);
    eval(&ctx, QF_OP_matmul, NULL, in, 2, &many);
    qf_threads_close(&ctx);
    assert_memory_equal(once.storage.data, many.storage.data, once.storage.size);
    /* Factors are below 1, so the k terms and all partial sums are below k. */
    const double most = 2 * (double)s->k * (double)s->k * unit;
    for (int64_t i = 0; i < s->batch * s->m * s->n; i++)
        assert_true(fabs(element(&own, i) - element(&once, i)) <= most);
    drop(&a), drop(&b), drop(&own), drop(&once), drop(&many);
}

static void products(void **state)
{
    static const product shapes[] = {
        { 1, 1, 1, 1, false, false, false },      { 1, 1, 40, 7, false, false, false },
        { 1, 33, 1, 20, false, false, false },    { 1, 50, 70, 300, false, false, false },
        { 1, 50, 70, 30, true, false, false },    { 1, 50, 70, 30, false, true, false },
        { 3, 17, 19, 23, true, true, false },     { 4, 20, 33, 9, false, false, true },
        { 1, 1100, 2100, 3, false, false, false }
    };

    (void)state;
    need(QF_PROVIDER_BLAS);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        check_product(&shapes[i], QF_DT_f32);
        check_product(&shapes[i], QF_DT_f64);
    }
}

/* in: all of one shape but for scales. */
static void check_bits(qf_op op, const qf_attrs *attrs, const qf_tensor *in, size_t n_in,
                       qf_dtype to)
{
    qf_ctx ctx = { .struct_size = sizeof ctx };
    guarded own, other;
    const size_t size = qf_dtype_get(to)->bits / 8;

    make(&own, to, in[0].rank, in[0].shape);
    make(&other, to, in[0].rank, in[0].shape);
    eval(&ctx, op, attrs, in, n_in, &own);
    ctx.providers = QF_PROVIDER_XNN;
    eval(&ctx, op, attrs, in, n_in, &other);
    for (size_t i = 0; i < own.storage.size / size; i++) {
        const uint64_t x = check_load((unsigned char *)own.storage.data + i * size, size),
                       y = check_load((unsigned char *)other.storage.data + i * size, size);
        if (x != y)
            print_message("%s, element %zu: %#llx, own %#llx\n", qf_op_get(op)->name, i,
                          (unsigned long long)y, (unsigned long long)x);
        assert_true(x == y || (check_is_nan(to, x) && check_is_nan(to, y)));
    }
    drop(&own), drop(&other);
}

static void halves(void **state)
{
    static const int64_t shapes[][2] = { { 3, 100 }, { 1, 128 }, { 61, 97 } };
    const qf_attrs half = { .cast = { .dtype = QF_DT_f16 } },
                   single = { .cast = { .dtype = QF_DT_f32 } };
    check_rng rng = { 11 };

    (void)state;
    need(QF_PROVIDER_XNN);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        guarded a, h;
        make(&a, QF_DT_f32, 2, shapes[i]);
        make(&h, QF_DT_f16, 2, shapes[i]);
        fill(&a, &rng, true);
        fill(&h, &rng, true);
        check_bits(QF_OP_cast, &half, &a.tensor, 1, QF_DT_f16);
        check_bits(QF_OP_cast, &single, &h.tensor, 1, QF_DT_f32);
        drop(&a), drop(&h);
    }
}

static void dequantized(void **state)
{
    static const qf_dtype types[] = { QF_DT_i8, QF_DT_u8 };
    const int64_t shape[] = { 61, 97 }, grid[] = { 1, 1 };
    const qf_attrs attrs = { .quant = { .dtype = QF_DT_f32, .block = { 61, 97 } } };
    check_rng rng = { 12 };

    (void)state;
    need(QF_PROVIDER_XNN);
    for (size_t i = 0; i < 2; i++) {
        guarded q, scale, zero;
        make(&q, types[i], 2, shape);
        make(&scale, QF_DT_f32, 2, grid);
        make(&zero, QF_DT_i32, 2, grid);
        fill(&q, &rng, true);
        *(int32_t *)zero.storage.data = types[i] == QF_DT_i8 ? -7 : 131;
        *(float *)scale.storage.data = 0.0371f;
        const qf_tensor in[] = { q.tensor, scale.tensor, zero.tensor };
        check_bits(QF_OP_dequantize, &attrs, in, 3, QF_DT_f32);
        drop(&q), drop(&scale), drop(&zero);
    }
}

static void rows(void **state)
{
    char text[96];
    size_t n, mine = 0;
    const qf_provided *row = qf_provided_rows(&n);

    (void)state;
    assert_false(qf_provider_ready(1u << 31, text, sizeof text));
    for (size_t i = 0; qf_provider_at(i); i++)
        for (size_t k = 0; k < n; k++)
            mine += strcmp(row[k].provider, qf_provider_at(i)->name) == 0;
    assert_int_equal(mine, n);
    for (size_t i = 0; qf_provider_at(i); i++) {
        text[0] = 0;
        qf_provider_ready(qf_provider_at(i)->bit, text, sizeof text);
        assert_true(text[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products),
        cmocka_unit_test(halves),
        cmocka_unit_test(dequantized),
        cmocka_unit_test(rows),
    };
    return check_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
