/* The parts of the contract that no case covers: views, types from hostile calls, aliases, failing
 * allocators and readers, cancelling, costs, threads and the floating-point mode. */
#include "placement.h"

#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <qfold/version.h>

static void views(void **state)
{
    int64_t stride[8];

    (void)state;
    qf_strides_dense(3, (int64_t[]){ 2, 0, 4 }, stride);
    assert_int_equal(stride[0], 4);
    assert_int_equal(stride[1], 4);
    /* [3, 4] with repeated rows, seen as (3, 2, 2): torch gives (1, 0, 0). */
    assert_true(qf_strides_reshape(2, (int64_t[]){ 3, 4 }, (int64_t[]){ 1, 0 }, 3,
                                   (int64_t[]){ 3, 2, 2 }, stride));
    assert_int_equal(stride[0], 1);
    assert_int_equal(stride[1], 0);
    assert_int_equal(stride[2], 0);
    assert_false(qf_strides_reshape(2, (int64_t[]){ 2, 3 }, (int64_t[]){ 1, 2 }, 1,
                                    (int64_t[]){ 6 }, stride));
    assert_true(qf_strides_reshape(2, (int64_t[]){ 2, 3 }, (int64_t[]){ 1, 2 }, 3,
                                   (int64_t[]){ 2, 1, 3 }, stride));
    assert_false(
        qf_strides_reshape(1, (int64_t[]){ 4 }, (int64_t[]){ 1 }, 1, (int64_t[]){ 5 }, stride));
    assert_true(qf_strides_reshape(0, NULL, NULL, 2, (int64_t[]){ 1, 1 }, stride));
}

static void bounds(void **state)
{
    qf_storage *s = qf_storage_new(16);
    qf_tensor t = { .storage = s, .shape = { 4 }, .stride = { 1 }, .rank = 1, .dtype = QF_DT_f32 };

    (void)state;
    assert_int_equal(qf_tensor_check(&t, NULL), QF_OK);
    t.offset = 1;
    assert_int_equal(qf_tensor_check(&t, NULL), QF_ERR_RANGE);
    t.stride[0] = -1;
    assert_int_equal(qf_tensor_check(&t, NULL), QF_ERR_RANGE);
    t.offset = 3;
    assert_int_equal(qf_tensor_check(&t, NULL), QF_OK);
    t.stride[0] = INT64_MAX;
    assert_int_equal(qf_tensor_check(&t, NULL), QF_ERR_RANGE);
    t.shape[0] = -1;
    assert_int_equal(qf_tensor_check(&t, NULL), QF_ERR_SHAPE);
    t.shape[0] = 0;
    assert_int_equal(qf_tensor_check(&t, NULL), QF_OK);
    t.rank = 9;
    assert_int_equal(qf_tensor_check(&t, NULL), QF_ERR_RANK);
    t = (qf_tensor){ .storage = s, .shape = { 32 }, .stride = { 1 }, .rank = 1, .dtype = QF_DT_i4 };
    assert_int_equal(qf_tensor_check(&t, NULL), QF_OK);
    t.shape[0] = 33;
    assert_int_equal(qf_tensor_check(&t, NULL), QF_ERR_RANGE);
    qf_storage_unref(s);
}

static void hostile_types(void **state)
{
    static const int64_t sizes[] = { -1, 0, 1, 2, 3, 1 << 20, INT64_MAX, INT64_MIN };
    static const size_t booleans[] = { offsetof(qf_attrs, reduce.keep),
                                       offsetof(qf_attrs, full.value.is_int),
                                       offsetof(qf_attrs, arange.start.is_int),
                                       offsetof(qf_attrs, arange.step.is_int) };
    check_rng rng = { 7 };

    (void)state;
    for (int i = 0; i < 200000; i++) {
        qf_type in[3], out;
        qf_attrs a;
        for (size_t k = 0; k < sizeof a; k++)
            ((unsigned char *)&a)[k] =
                check_chance(&rng, 60) ? 0 : (unsigned char)check_random(&rng);
        for (size_t k = 0; k < sizeof booleans / sizeof *booleans; k++)
            ((unsigned char *)&a)[booleans[k]] &= 1; /* C has no other booleans */
        for (int k = 0; k < 3; k++) {
            in[k].dtype = (qf_dtype)check_below(&rng, QF_DT_COUNT + 2);
            in[k].rank = (int8_t)((int)check_below(&rng, 11) - 1);
            for (int d = 0; d < 8; d++)
                in[k].dim[d] = sizes[check_below(&rng, check_chance(&rng, 70) ? 5 : 8)];
            if (k && check_chance(&rng, 80))
                in[k] = in[0];
        }
        const qf_call call = { .op = (qf_op)check_below(&rng, QF_OP_COUNT + 2),
                               .n_in = (uint16_t)check_below(&rng, 4),
                               .in = in,
                               .attrs = check_chance(&rng, 95) ? &a : NULL };
        uint64_t bytes;
        if (qf_infer(&call, &out, NULL) != QF_OK)
            continue;
        assert_true(out.rank >= 0 && out.rank <= 8);
        assert_true(qf_type_bytes(&out, &bytes));
    }
}

static qf_tensor dense(qf_storage *s, qf_dtype dtype, int64_t rows, int64_t cols)
{
    return (qf_tensor){
        .storage = s, .shape = { rows, cols }, .stride = { cols, 1 }, .rank = 2, .dtype = dtype
    };
}

static void aliases(void **state)
{
    qf_storage *s = qf_storage_new(4 * 64);
    qf_tensor a = dense(s, QF_DT_f32, 4, 4), b = a, wide = a;
    float *f = s->data;
    const qf_attrs permute = { .dims = { { 1, 0 } } };

    (void)state;
    for (int i = 0; i < 64; i++)
        f[i] = (float)i;
    assert_int_equal(qf_eval(NULL, QF_OP_add, NULL, (qf_tensor[]){ a, a }, 2, &a, NULL), QF_OK);
    assert_true(f[5] == 10);
    b.offset = 1;
    assert_int_equal(qf_eval(NULL, QF_OP_neg, NULL, &a, 1, &b, NULL), QF_ERR_ALIAS);
    b.offset = 16;
    assert_int_equal(qf_eval(NULL, QF_OP_neg, NULL, &a, 1, &b, NULL), QF_OK);
    assert_true(f[16 + 5] == -10);
    assert_int_equal(qf_eval(NULL, QF_OP_permute, &permute, &a, 1, &a, NULL), QF_ERR_ALIAS);
    wide.stride[0] = 1;
    assert_int_equal(qf_eval(NULL, QF_OP_neg, NULL, &b, 1, &wide, NULL), QF_ERR_STRIDE);
    s->writable = false;
    assert_int_equal(qf_eval(NULL, QF_OP_neg, NULL, &a, 1, &b, NULL), QF_ERR_ARG);
    assert_int_equal(qf_eval(NULL, QF_OP_permute, NULL, &a, 1, &b, NULL), QF_ERR_ATTR);
    qf_storage_unref(s);
}

/* An allocator that fails at one call, and counts what is alive. */
typedef struct failing {
    long calls, fail_at, alive;
} failing;

static void *failing_alloc(void *user, size_t size, size_t align)
{
    failing *f = user;
    if (f->calls++ == f->fail_at)
        return NULL;
    f->alive++;
    return aligned_alloc(align, (size + align - 1) / align * align);
}

static void failing_free(void *user, void *p, size_t size)
{
    (void)size;
    ((failing *)user)->alive--;
    free(p);
}

static qf_status swallow(void *user, const void *data, size_t n, const qf_digest *note,
                         qf_diag *diag)
{
    (void)data, (void)note, (void)diag;
    *(size_t *)user += n;
    return QF_OK;
}

/* y = (x @ x) * norm(x) + cat(x, x)[2:6] */
typedef struct model {
    qf_storage *storage;
    qf_tensor x;
    qf_step step[6];
    qf_program program;
} model;

static void make_model(model *m)
{
    static const uint32_t in[][2] = { { 0, 0 }, { 0 }, { 1, 2 }, { 0, 0 }, { 4 }, { 3, 5 } };

    *m = (model){ .storage = qf_storage_new(4 * 16) };
    memset(m->storage->data, 0, 64);
    m->x = dense(m->storage, QF_DT_f32, 4, 4);
    m->step[0] = (qf_step){ .op = QF_OP_matmul, .n_in = 2, .in = in[0] };
    m->step[1] =
        (qf_step){ .op = QF_OP_norm2, .attrs.reduce = { 2, true }, .n_in = 1, .in = in[1] };
    m->step[2] = (qf_step){ .op = QF_OP_mul, .n_in = 2, .in = in[2] };
    m->step[3] = (qf_step){ .op = QF_OP_cat, .n_in = 2, .in = in[3] };
    m->step[4] =
        (qf_step){ .op = QF_OP_slice, .attrs.slice = { 0, 2, 1, 4 }, .n_in = 1, .in = in[4] };
    m->step[5] = (qf_step){ .op = QF_OP_add, .n_in = 2, .in = in[5] };
    m->program = (qf_program){ &m->x, 1, m->step, 6 };
}

static qf_status stream_model(const qf_ctx *ctx, const model *m, size_t *n)
{
    qf_pipe *pipe = NULL;
    *n = 0;
    qf_status st = qf_pipe_build(ctx, &m->program, 6, NULL, &pipe, NULL);
    if (st == QF_OK)
        st = qf_pipe_stream(ctx, pipe, NULL, &(qf_sink){ .take = swallow, .user = n }, NULL);
    qf_pipe_free(pipe);
    return st;
}

static void allocation_failure(void **state)
{
    failing f = { .fail_at = -1 };
    qf_ctx ctx = { .struct_size = sizeof ctx, .allocator = { failing_alloc, failing_free, &f } };
    model m;
    size_t n;

    (void)state;
    make_model(&m);
    assert_int_equal(stream_model(&ctx, &m, &n), QF_OK);
    assert_int_equal(n, 64);
    assert_int_equal(f.alive, 0);
    const long calls = f.calls;
    assert_true(calls >= 3);
    for (long k = 0; k < calls; k++) {
        f = (failing){ .fail_at = k };
        assert_int_equal(stream_model(&ctx, &m, &n), QF_ERR_NOMEM);
        assert_int_equal(f.alive, 0);
    }
    assert_int_equal(m.storage->refs, 1);
    qf_storage_unref(m.storage);
}

static void too_little_memory(void **state)
{
    qf_ctx ctx = { .struct_size = sizeof ctx, .memory = 1000 };
    model m;
    size_t n;

    (void)state;
    make_model(&m);
    assert_int_equal(stream_model(&ctx, &m, &n), QF_ERR_LIMIT);
    qf_storage_unref(m.storage);
}

static qf_status broken_read(void *ctx, uint64_t at, void *dst, size_t n, qf_diag *diag)
{
    (void)ctx, (void)dst, (void)n;
    return qf_fail_at(diag, QF_ERR_TRUNCATED, (int64_t)at, "x.bin ends too early");
}

static void failing_reader(void **state)
{
    qf_diag diag = { 0 };
    qf_pipe *pipe;
    size_t n = 0;
    model m;

    (void)state;
    make_model(&m);
    qf_storage_unref(m.storage);
    m.x.storage = qf_storage_from_reader(64, broken_read, NULL, NULL);
    assert_int_equal(qf_pipe_build(NULL, &m.program, 6, NULL, &pipe, &diag), QF_OK);
    assert_int_equal(
        qf_pipe_stream(NULL, pipe, NULL, &(qf_sink){ .take = swallow, .user = &n }, &diag),
        QF_ERR_TRUNCATED);
    assert_string_equal(diag.text, "x.bin ends too early");
    assert_int_equal(diag.at, 0);
    qf_pipe_free(pipe);
    assert_int_equal(m.x.storage->refs, 1);
    qf_storage_unref(m.x.storage);
}

static bool stop_early(void *user, uint64_t done)
{
    *(uint64_t *)user = done;
    return done < 3 << 20;
}

static qf_status full_pipe(const qf_ctx *ctx, int64_t n, qf_pipe **pipe)
{
    const qf_step step = { .op = QF_OP_full,
                           .attrs.full = { { QF_DT_f32, 1, { n } }, { .f = 2.5 } } };
    const qf_program program = { NULL, 0, &step, 1 };
    return qf_pipe_build(ctx, &program, 0, NULL, pipe, NULL);
}

static void cancelling(void **state)
{
    uint64_t done = 0;
    size_t n = 0;
    qf_ctx ctx = {
        .struct_size = sizeof ctx, .progress = stop_early, .progress_user = &done, .memory = 2 << 20
    };
    qf_pipe *pipe;

    (void)state;
    assert_int_equal(full_pipe(&ctx, 4 << 20, &pipe), QF_OK);
    assert_int_equal(qf_pipe_cost(pipe).written, 16 << 20);
    assert_int_equal(qf_pipe_cost(pipe).read, 0);
    qf_arena *arena = qf_arena_new(&ctx);
    assert_int_equal(
        qf_pipe_stream(&ctx, pipe, arena, &(qf_sink){ .take = swallow, .user = &n }, NULL),
        QF_ERR_CANCELLED);
    assert_true(done >= 3 << 20 && done < 16 << 20 && n == done);
    assert_true(qf_arena_peak(arena) <= 2 << 20);
    qf_arena_free(arena);
    qf_pipe_free(pipe);
}

static void constants(void **state)
{
    static const struct {
        qf_dtype dtype;
        qf_scalar value;
        uint64_t bits;
        qf_status st;
    } rows[] = {
        { QF_DT_f16, { .f = 70000 }, 0x7c00, QF_OK },
        { QF_DT_bf16, { .f = -3.4028234663852886e38 }, 0xff80, QF_OK },
        { QF_DT_u8, { .is_int = true, .i = -1 }, 255, QF_OK },
        { QF_DT_u8, { .is_int = true, .i = 256 }, 0, QF_ERR_VALUE },
        { QF_DT_i8, { .f = 3.7 }, 3, QF_OK },
        { QF_DT_i8, { .is_int = true, .i = 128 }, 0, QF_ERR_VALUE },
        { QF_DT_b8, { .is_int = true, .i = 2 }, 1, QF_OK },
        { QF_DT_i64, { .f = (double)INFINITY }, 0, QF_ERR_VALUE },
        { QF_DT_f32, { .is_int = true, .i = 16777217 }, 0x4b800000, QF_OK },
        { QF_DT_f8e4m3, { .f = 500 }, 0x7e, QF_OK },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const qf_step step = { .op = QF_OP_full,
                               .attrs.full = { { rows[i].dtype, 0, { 0 } }, rows[i].value } };
        const qf_program program = { NULL, 0, &step, 1 };
        qf_pipe *pipe;
        uint64_t bits = 0;
        assert_int_equal(qf_pipe_build(NULL, &program, 0, NULL, &pipe, NULL), rows[i].st);
        if (rows[i].st == QF_OK)
            assert_int_equal(qf_pipe_run(NULL, pipe, NULL, &bits, NULL), QF_OK);
        assert_int_equal(bits, rows[i].bits);
        qf_pipe_free(pipe);
    }
}

static void ranges(void **state)
{
    const qf_step step[] = {
        { .op = QF_OP_arange,
          .attrs.arange = { { QF_DT_i8, 1, { 300 } },
                            { .is_int = true, .i = -5 },
                            { .is_int = true, .i = 3 } } },
        { .op = QF_OP_arange,
          .attrs.arange = { { QF_DT_f32, 1, { 300 } }, { .f = 0.5 }, { .f = 0.003 } } },
    };
    qf_program program = { NULL, 0, step, 2 };
    qf_pipe *pipe;
    int8_t i8[300];
    float f32[300];

    (void)state;
    assert_int_equal(qf_pipe_build(NULL, &program, 0, NULL, &pipe, NULL), QF_OK);
    assert_int_equal(qf_pipe_run(NULL, pipe, NULL, i8, NULL), QF_OK);
    qf_pipe_free(pipe);
    assert_int_equal(qf_pipe_build(NULL, &program, 1, NULL, &pipe, NULL), QF_OK);
    assert_int_equal(qf_pipe_run(NULL, pipe, NULL, f32, NULL), QF_OK);
    qf_pipe_free(pipe);
    for (int i = 0; i < 300; i++) {
        assert_int_equal((uint8_t)i8[i], (uint8_t)(-5 + 3 * i));
        const double exact = 0.5 + i * 0.003;
        assert_true(f32[i] == (float)exact);
    }
}

/* cast, sub, mul become the kernel of dequantize, with the bits that they have one by one. */
static void peephole(void **state)
{
    qf_storage *qs = qf_storage_new(32), *fs = qf_storage_new(64 * 4);
    qf_tensor in[] = { dense(qs, QF_DT_i8, 4, 8), dense(fs, QF_DT_f32, 4, 1),
                       dense(fs, QF_DT_f32, 4, 1) };
    static const uint32_t ids[][2] = { { 0 }, { 3, 1 }, { 4, 2 } };
    const qf_step step[] = {
        { .op = QF_OP_cast, .attrs.cast.dtype = QF_DT_f32, .n_in = 1, .in = ids[0] },
        { .op = QF_OP_sub, .n_in = 2, .in = ids[1] },
        { .op = QF_OP_mul, .n_in = 2, .in = ids[2] }
    };
    const qf_program program = { in, 3, step, 3 };
    qf_pipe *pipe;
    float got[32];

    (void)state;
    in[2].offset = 4;
    for (int i = 0; i < 32; i++)
        ((int8_t *)qs->data)[i] = (int8_t)(i * 37);
    for (int i = 0; i < 8; i++)
        ((float *)fs->data)[i] = (float)i * 0.37f;
    assert_int_equal(qf_pipe_build(NULL, &program, 5, NULL, &pipe, NULL), QF_OK);
    assert_int_equal(qf_pipe_run(NULL, pipe, NULL, got, NULL), QF_OK);
    for (int i = 0; i < 32; i++) {
        const float shifted = (float)(int8_t)(i * 37) - (float)(i / 8) * 0.37f;
        assert_true(got[i] == shifted * ((float)(4 + i / 8) * 0.37f));
    }
    qf_pipe_free(pipe);
    qf_storage_unref(qs);
    qf_storage_unref(fs);
}

typedef struct nested {
    const qf_ctx *ctx;
    uint32_t count[64], modes;
} nested;

static void inner_task(void *arg, uint32_t i, uint32_t worker)
{
    nested *n = arg;
    (void)worker;
    __atomic_fetch_add(&n->count[i], 1, __ATOMIC_RELAXED);
}

static void outer_task(void *arg, uint32_t i, uint32_t worker)
{
    nested *n = arg;
    (void)i;
    assert_true(worker < n->ctx->workers);
    n->ctx->parallel_for(n->ctx->pool, 64, inner_task, n);
}

static void threads(void **state)
{
    qf_ctx ctx = { .struct_size = sizeof ctx };
    nested n = { .ctx = &ctx };

    (void)state;
    assert_int_equal(qf_threads_open(&ctx, 3, NULL), QF_OK);
    ctx.parallel_for(ctx.pool, 64, inner_task, &n);
    ctx.parallel_for(ctx.pool, 10, outer_task, &n);
    ctx.parallel_for(ctx.pool, 0, inner_task, &n);
    for (int i = 0; i < 64; i++)
        assert_int_equal(n.count[i], 11);
    qf_threads_close(&ctx);
    assert_null(ctx.pool);
}

/* The host may round upwards; results do not, and the host's mode is back afterwards. */
static void rounding_mode(void **state)
{
    qf_storage *s = qf_storage_new(64);
    qf_tensor a = dense(s, QF_DT_f32, 1, 4), x = a;
    float *f = s->data;

    (void)state;
    x.offset = 8;
    for (int i = 0; i < 4; i++)
        f[i] = 3;
    fesetround(FE_UPWARD);
    assert_int_equal(qf_eval(NULL, QF_OP_reciprocal, NULL, &a, 1, &x, NULL), QF_OK);
    assert_int_equal(fegetround(), FE_UPWARD);
    fesetround(FE_TONEAREST);
    assert_true(f[8] == 1.0f / 3.0f);
    qf_storage_unref(s);
}

static void names(void **state)
{
    (void)state;
    assert_int_equal(qf_op_find("dequantize"), QF_OP_dequantize);
    assert_int_equal(qf_op_find("nothing"), QF_OP_COUNT);
    assert_null(qf_op_get(QF_OP_COUNT));
    assert_string_equal(qf_status_name(QF_ERR_JSON), "ERR_JSON");
    assert_string_equal(qf_status_name((qf_status)999), "UNKNOWN");
    assert_int_equal(qf_status_exit_code(QF_ERR_OPEN), 4);
    assert_string_equal(qf_dtype_get((qf_dtype)999)->name, "none");
    assert_int_equal(qf_dtype_from_torch(13), QF_DT_bf16);
    assert_int_equal(qf_dtype_from_onnx(0), QF_DT_none);
    assert_string_equal(qf_version(), "0.1.0");
    assert_string_equal(qf_caps_name(0), "scalar");
    assert_in_range(qf_cache_detect(), 64 << 10, 4ull << 30);
    assert_int_equal(qf_cache_detect() % 64, 0);
    qf_diag diag = { 0 };
    assert_int_equal(qf_fail(&diag, QF_ERR_NAME, "a\nb"), QF_ERR_NAME);
    assert_int_equal(qf_fail(&diag, QF_ERR_JSON, "later"), QF_ERR_JSON);
    assert_string_equal(diag.text, "a b");
    assert_int_equal(diag.code, QF_ERR_NAME);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views),
        cmocka_unit_test(bounds),
        cmocka_unit_test(hostile_types),
        cmocka_unit_test(aliases),
        cmocka_unit_test(constants),
        cmocka_unit_test(ranges),
        cmocka_unit_test(failing_reader),
        cmocka_unit_test(cancelling),
        cmocka_unit_test(allocation_failure),
        cmocka_unit_test(threads),
        cmocka_unit_test(names),
        cmocka_unit_test(too_little_memory),
        cmocka_unit_test(rounding_mode),
        cmocka_unit_test(peephole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
