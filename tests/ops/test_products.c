/* Products and what follows them, fused, against one operator at a time: the same bits, for few and
 * many steps, types, layouts of the other operand, batches, memories and threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <qfold/eval.h>

/* How the product is scaled: by a number that rounds, by a power of two, within a fused
 * multiply-add, not at all. */
typedef enum manner { ROUNDS, POWER, FUSED, BARE, MANNERS } manner;

/* W + s * (A @ B): batch x m x n, k steps. broadcast: B has no batch.  turn: W is stored column by
 * column.  in_place: the result replaces W. */
typedef struct update {
    qf_dtype dtype;
    int64_t batch, m, n, k;
    bool broadcast, turn, in_place;
    manner manner;
} update;

static qf_tensor tensor(qf_dtype dtype, int rank, const int64_t *shape)
{
    qf_tensor t = { .dtype = dtype, .rank = (uint8_t)rank };
    uint64_t size = qf_dtype_get(dtype)->bits / 8;

    for (int d = rank - 1; d >= 0; d--) {
        t.shape[d] = shape[d];
        t.stride[d] = (int64_t)(size / (qf_dtype_get(dtype)->bits / 8));
        size *= (uint64_t)shape[d];
    }
    t.storage = qf_storage_new(size);
    assert_non_null(t.storage);
    return t;
}

/* Numbers whose sums round: converted from f32, which every type here can hold. */
static void fill(qf_tensor *t, uint32_t seed)
{
    qf_tensor from = tensor(QF_DT_f32, t->rank, t->shape);
    const qf_attrs to = { .cast = { .dtype = t->dtype } };
    float *p = from.storage->data;

    for (uint64_t i = 0; i < from.storage->size / 4; i++) {
        seed = seed * 1664525u + 1013904223u;
        p[i] = (float)(seed >> 8) * 0x1p-20f - 8;
    }
    assert_int_equal(qf_eval(NULL, QF_OP_cast, &to, &from, 1, t, NULL), QF_OK);
    qf_storage_unref(from.storage);
}

static qf_attrs scale_of(const update *u)
{
    const double scale = u->manner == POWER ? 0.125 : 0.7;
    return (qf_attrs){ .full = { .type = { .dtype = u->dtype }, .value = { .f = scale, .i = 3 } } };
}

/* in: W, A, B. */
static void step_by_step(const update *u, const qf_tensor *in, qf_tensor *out)
{
    const qf_attrs scale = scale_of(u);
    qf_tensor product = tensor(u->dtype, 3, out->shape), s = tensor(u->dtype, 0, NULL);

    assert_int_equal(qf_eval(NULL, QF_OP_full, &scale, NULL, 0, &s, NULL), QF_OK);
    assert_int_equal(qf_eval(NULL, QF_OP_matmul, NULL, in + 1, 2, &product, NULL), QF_OK);
    const qf_tensor factor[] = { product, s, in[0] };
    if (u->manner == ROUNDS || u->manner == POWER)
        assert_int_equal(qf_eval(NULL, QF_OP_mul, NULL, factor, 2, &product, NULL), QF_OK);
    const qf_tensor term[] = { in[0], product };
    if (u->manner == FUSED)
        assert_int_equal(qf_eval(NULL, QF_OP_fma, NULL, factor, 3, out, NULL), QF_OK);
    else
        assert_int_equal(qf_eval(NULL, QF_OP_add, NULL, term, 2, out, NULL), QF_OK);
    qf_storage_unref(product.storage);
    qf_storage_unref(s.storage);
}

typedef struct collected {
    char *p;
    size_t n;
} collected;

static qf_status collect(void *user, const void *data, size_t n, const qf_digest *note,
                         qf_diag *diag)
{
    collected *c = user;
    (void)note, (void)diag;
    memcpy(c->p + c->n, data, n);
    c->n += n;
    return QF_OK;
}

static qf_pipe *fuse(const qf_ctx *ctx, const update *u, const qf_tensor *in)
{
    static const uint32_t ids[][3] = { { 1, 2 }, { 0 }, { 3, 4 }, { 0, 5 }, { 3, 4, 0 }, { 0, 3 } };
    const qf_step fused = { .op = QF_OP_fma, .n_in = 3, .in = ids[4] },
                  bare = { .op = QF_OP_add, .n_in = 2, .in = ids[5] },
                  scaled = { .op = QF_OP_mul, .n_in = 2, .in = ids[2] };
    const qf_step step[] = { { .op = QF_OP_matmul, .n_in = 2, .in = ids[0] },
                             { .op = QF_OP_full, .attrs = scale_of(u), .in = ids[1] },
                             u->manner == FUSED  ? fused
                             : u->manner == BARE ? bare
                                                 : scaled,
                             { .op = QF_OP_add, .n_in = 2, .in = ids[3] } };
    const uint32_t n = u->manner == FUSED || u->manner == BARE ? 3 : 4;
    qf_pipe *pipe = NULL;

    assert_int_equal(qf_pipe_build(ctx, &(qf_program){ in, 3, step, n }, 2 + n, NULL, &pipe, NULL),
                     QF_OK);
    return pipe;
}

static void run_fused(const qf_ctx *ctx, const update *u, const qf_tensor *in,
                      const qf_tensor *want)
{
    qf_pipe *pipe = fuse(ctx, u, in);
    char *p = malloc(want->storage->size);
    collected c = { .p = p };

    assert_non_null(p);
    assert_int_equal(
        qf_pipe_stream(ctx, pipe, NULL, &(qf_sink){ .take = collect, .user = &c }, NULL), QF_OK);
    assert_int_equal(c.n, want->storage->size);
    assert_memory_equal(p, want->storage->data, c.n);
    memset(p, 0, c.n);
    if (u->in_place) {
        void *w = in[0].storage->data;
        memcpy(p, w, c.n);
        assert_int_equal(qf_pipe_run(ctx, pipe, NULL, w, NULL), QF_OK);
        assert_memory_equal(w, want->storage->data, c.n);
        memcpy(w, p, c.n);
    } else {
        assert_int_equal(qf_pipe_run(ctx, pipe, NULL, p, NULL), QF_OK);
        assert_memory_equal(p, want->storage->data, c.n);
    }
    free(p);
    qf_pipe_free(pipe);
}

static void check(const update *u)
{
    static const uint64_t memories[] = { 64u << 20, 512u << 10 };
    const int64_t a[] = { u->batch, u->m, u->k }, b[] = { u->batch, u->k, u->n },
                  x[] = { u->batch, u->m, u->n }, turned[] = { u->batch, u->n, u->m };
    qf_tensor in[] = { tensor(u->dtype, 3, u->turn ? turned : x), tensor(u->dtype, 3, a),
                       tensor(u->dtype, u->broadcast ? 2 : 3, u->broadcast ? b + 1 : b) };
    qf_tensor want = tensor(u->dtype, 3, x);
    qf_ctx ctx = { .struct_size = sizeof ctx };

    for (uint32_t i = 0; i < 3; i++)
        fill(&in[i], 77 + i);
    if (u->turn) {
        memcpy(in[0].shape, x, sizeof x);
        in[0].stride[1] = 1;
        in[0].stride[2] = u->m;
    }
    step_by_step(u, in, &want);
    for (uint32_t threads = 1; threads <= 3; threads += 2) {
        if (threads > 1)
            assert_int_equal(qf_threads_open(&ctx, threads, NULL), QF_OK);
        for (size_t i = 0; i < sizeof memories / sizeof *memories; i++) {
            ctx.memory = memories[i];
            run_fused(&ctx, u, in, &want);
        }
        if (threads > 1)
            qf_threads_close(&ctx);
    }
    for (int i = 0; i < 3; i++)
        qf_storage_unref(in[i].storage);
    qf_storage_unref(want.storage);
}

static void few_steps(void **state)
{
    static const int64_t sizes[][3] = {
        { 4, 16, 1 }, { 7, 17, 3 }, { 61, 333, 16 }, { 130, 70, 64 }, { 13, 40, 256 }
    };
    static const qf_dtype dtypes[] = { QF_DT_f32, QF_DT_bf16, QF_DT_f16, QF_DT_f64, QF_DT_i32 };

    (void)state;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (int kind = 0; kind < 4; kind++)
                check(&(update){ .dtype = dtypes[d],
                                 .manner = (manner)((i + (size_t)kind) % MANNERS),
                                 .batch = kind == 1 ? 3 : 1,
                                 .m = sizes[i][0],
                                 .n = sizes[i][1],
                                 .k = sizes[i][2],
                                 .broadcast = kind == 1,
                                 .turn = kind == 2,
                                 .in_place = kind == 3 });
}

static void more_than_a_window(void **state)
{
    (void)state;
    check(&(update){ .dtype = QF_DT_f32, .batch = 1, .m = 1100, .n = 1200, .k = 8 });
    check(&(update){ .dtype = QF_DT_bf16, .batch = 2, .m = 700, .n = 1900, .k = 5, .in_place = 1 });
    check(
        &(update){ .dtype = QF_DT_bf16, .batch = 1, .m = 900, .n = 1900, .k = 5, .manner = POWER });
}

static void many_steps(void **state)
{
    (void)state;
    check(&(update){ .dtype = QF_DT_f32, .batch = 1, .m = 50, .n = 130, .k = 800 });
    check(&(update){ .dtype = QF_DT_bf16, .batch = 2, .m = 33, .n = 90, .k = 700, .broadcast = 1 });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_steps),
        cmocka_unit_test(more_than_a_window),
        cmocka_unit_test(many_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
