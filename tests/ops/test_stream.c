/* Operands behind read(): what is computed, against plain loops, and how it is read: the number of
 * calls and of bytes, for large and small memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <qfold/eval.h>

#define MEMORIES 3
static const uint64_t memories[MEMORIES] = { 128u << 20, 1u << 20, 192u << 10 };

/* Elements are small integers, so that sums are exact in any order. */
typedef struct source {
    float *p;
    uint64_t size, calls, bytes;
} source;

static qf_status read_source(void *ctx, uint64_t at, void *dst, size_t n, qf_diag *diag)
{
    source *s = ctx;
    (void)diag;
    __atomic_fetch_add(&s->calls, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&s->bytes, n, __ATOMIC_RELAXED);
    memcpy(dst, (const char *)s->p + at, n);
    return QF_OK;
}

static source source_new(int64_t n)
{
    source s = { .p = malloc((size_t)n * 4), .size = (uint64_t)n * 4 };
    assert_non_null(s.p);
    for (int64_t i = 0; i < n; i++)
        s.p[i] = (float)((i * 7 + i / 5 * 3) % 13 - 6);
    return s;
}

typedef struct result {
    float *p;
    size_t n, size;
} result;

static uint64_t sum_of(const void *data, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum = sum * 31 + ((const unsigned char *)data)[i];
    return sum;
}

/* Any thread: fails no test here, where only the main thread may. */
static void digest(void *user, const void *data, size_t n, qf_digest *note)
{
    (void)user;
    *note = (qf_digest){ { n, sum_of(data, n) } };
}

static qf_status collect(void *user, const void *data, size_t n, const qf_digest *note,
                         qf_diag *diag)
{
    result *r = user;
    if (r->n + n > r->size || n % 4)
        return qf_fail(diag, QF_ERR_WRITE, "a window of %zu bytes at %zu of %zu", n, r->n, r->size);
    if (note->word[0] != n || note->word[1] != sum_of(data, n))
        return qf_fail(diag, QF_ERR_CRC, "the note of the window at %zu is another's", r->n);
    memcpy((char *)r->p + r->n, data, n);
    r->n += n;
    return QF_OK;
}

/* One operator over readers. calls, bytes: the most that may be read in the largest and the next
 * smaller memory; 0: no matter. */
typedef struct job {
    qf_step step;
    qf_tensor in[2];
    source source[2];
    int n_in;
    const uint8_t *order;
    const float *want;
    int64_t n_want;
    uint64_t calls[2], bytes[2];
} job;

static void add_input(job *j, int rank, const int64_t *shape)
{
    const qf_type type = { .dtype = QF_DT_f32, .rank = (int8_t)rank };
    qf_tensor *t = &j->in[j->n_in];
    int64_t n = 1;

    *t = (qf_tensor){ .dtype = type.dtype, .rank = (uint8_t)rank };
    for (int d = 0; d < rank; d++) {
        t->shape[d] = shape[d];
        n *= shape[d];
    }
    qf_strides_dense(t->rank, t->shape, t->stride);
    j->source[j->n_in++] = source_new(n);
}

static uint64_t total(const job *j, bool calls)
{
    uint64_t all = 0;
    for (int i = 0; i < j->n_in; i++)
        all += calls ? j->source[i].calls : j->source[i].bytes;
    return all;
}

static void run_once(job *j, const qf_ctx *ctx, int memory)
{
    static const uint32_t ids[] = { 0, 1 };
    const qf_program program = { j->in, (uint32_t)j->n_in, &j->step, 1 };
    result r = { .size = (size_t)j->n_want * 4 };
    qf_pipe *pipe = NULL;
    qf_diag diag = { 0 };

    j->step.in = ids;
    j->step.n_in = (uint16_t)j->n_in;
    for (int i = 0; i < j->n_in; i++) {
        j->source[i].calls = j->source[i].bytes = 0;
        j->in[i].storage =
            qf_storage_from_reader(j->source[i].size, read_source, NULL, &j->source[i]);
        assert_non_null(j->in[i].storage);
    }
    r.p = malloc(r.size);
    qf_arena *arena = qf_arena_new(ctx);
    assert_true(r.p && arena);
    assert_int_equal(qf_pipe_build(ctx, &program, (uint32_t)j->n_in, j->order, &pipe, &diag),
                     QF_OK);
    assert_int_equal(qf_pipe_stream(ctx, pipe, arena, &(qf_sink){ digest, collect, &r }, &diag),
                     QF_OK);
    assert_int_equal(r.n, r.size);
    assert_memory_equal(r.p, j->want, r.size);
    assert_true(qf_arena_peak(arena) <= ctx->memory);
    if (memory < 2 && j->calls[memory] && total(j, true) > j->calls[memory])
        fail_msg("%llu calls of read(), at most %llu expected", (unsigned long long)total(j, true),
                 (unsigned long long)j->calls[memory]);
    if (memory < 2 && j->bytes[memory] && total(j, false) > j->bytes[memory])
        fail_msg("%llu bytes read, at most %llu expected", (unsigned long long)total(j, false),
                 (unsigned long long)j->bytes[memory]);
    qf_arena_free(arena);
    qf_pipe_free(pipe);
    for (int i = 0; i < j->n_in; i++)
        qf_storage_unref(j->in[i].storage);
    free(r.p);
}

/* In every memory, on 1, 2 and 7 threads, by scalar rows and the best. */
static void run(job *j)
{
    static const uint32_t threads[] = { 1, 2, 7 };

    for (int t = 0; t < 3; t++) {
        qf_table *table = qf_table_make(t == 0 ? 0 : qf_caps_detect());
        qf_ctx ctx = { .struct_size = sizeof ctx, .table = table };
        assert_non_null(table);
        assert_int_equal(qf_threads_open(&ctx, threads[t], NULL), QF_OK);
        /* The last time, results go past the caches. */
        ctx.cache = t == 2 ? 1u << 16 : 0;
        for (int m = 0; m < MEMORIES; m++) {
            ctx.memory = memories[m];
            run_once(j, &ctx, m);
        }
        qf_threads_close(&ctx);
        qf_table_free(table);
    }
    for (int i = 0; i < j->n_in; i++)
        free(j->source[i].p);
}

enum { A = 96, B = 40, C = 200, ALL = A * B * C };

/* Each byte once, in runs of 16 KiB at least; in the smaller memory, where partial sums of 8000
 * rows take their share, of 4 KiB. */
static void expect_once(job *j)
{
    j->bytes[0] = j->bytes[1] = 4 * ALL;
    j->calls[0] = 4 * ALL / (16 << 10) + 1;
    j->calls[1] = 4 * ALL / (4 << 10) + 1;
}

static void check_sum(uint32_t dims)
{
    job j = { .step = { .op = QF_OP_sum, .attrs.reduce = { dims, true } } };
    const int64_t shape[3] = { A, B, C };
    int64_t kept[3], n = 1;

    add_input(&j, 3, shape);
    for (int d = 0; d < 3; d++) {
        kept[d] = dims >> d & 1 ? 1 : shape[d];
        n *= kept[d];
    }
    float *want = calloc((size_t)n, sizeof *want);
    assert_non_null(want);
    for (int64_t i = 0; i < ALL; i++) {
        const int64_t a = i / (B * C) % kept[0], b = i / C % B % kept[1], c = i % C % kept[2];
        want[(a * kept[1] + b) * kept[2] + c] += j.source[0].p[i];
    }
    j.want = want;
    j.n_want = n;
    expect_once(&j);
    run(&j);
    free(want);
}

static void sums(void **state)
{
    (void)state;
    for (uint32_t dims = 1; dims < 8; dims++)
        check_sum(dims);
}

static void prefix_sums(void **state)
{
    const int64_t shape[3] = { A, B, C }, step[3] = { B * C, C, 1 };

    (void)state;
    for (uint8_t d = 0; d < 3; d++) {
        job j = { .step = { .op = QF_OP_cumsum, .attrs.dim = { d } } };
        add_input(&j, 3, shape);
        float *want = malloc(sizeof *want * ALL);
        assert_non_null(want);
        for (int64_t i = 0; i < ALL; i++)
            want[i] = j.source[0].p[i] + (i / step[d] % shape[d] ? want[i - step[d]] : 0);
        j.want = want;
        j.n_want = ALL;
        /* The result is kept whole, which only the first memory can. */
        j.bytes[0] = 4 * ALL;
        j.calls[0] = 4 * ALL / (16 << 10) + 1;
        qf_ctx ctx = { .struct_size = sizeof ctx, .memory = memories[0] };
        run_once(&j, &ctx, 0);
        free(j.source[0].p);
        free(want);
    }
}

static void permutations(void **state)
{
    static const uint8_t orders[5][3] = {
        { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 }
    };
    const int64_t shape[3] = { A, B, C }, step[3] = { B * C, C, 1 };

    (void)state;
    for (int k = 0; k < 5; k++) {
        job j = { .step = { .op = QF_OP_neg }, .order = orders[k] };
        const uint8_t *o = orders[k];
        add_input(&j, 3, shape);
        float *want = malloc(sizeof *want * ALL), *to = want;
        assert_non_null(want);
        for (int64_t x = 0; x < shape[o[0]]; x++)
            for (int64_t y = 0; y < shape[o[1]]; y++)
                for (int64_t z = 0; z < shape[o[2]]; z++)
                    *to++ = -j.source[0].p[x * step[o[0]] + y * step[o[1]] + z * step[o[2]]];
        j.want = want;
        j.n_want = ALL;
        /* Small windows read over gaps that are shorter than what they read. */
        j.bytes[0] = 4 * ALL;
        j.bytes[1] = 8 * ALL;
        j.calls[0] = 4 * ALL / (16 << 10) + 1;
        run(&j);
        free(want);
    }
}

static void products(void **state)
{
    enum { M = 150, K = 700, N = 260 };
    job j = { .step = { .op = QF_OP_matmul } };
    static float want[M * N];

    (void)state;
    add_input(&j, 2, (const int64_t[]){ M, K });
    add_input(&j, 2, (const int64_t[]){ K, N });
    memset(want, 0, sizeof want);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int n = 0; n < N; n++)
                want[i * N + n] += j.source[0].p[i * K + k] * j.source[1].p[k * N + n];
    j.want = want;
    j.n_want = M * N;
    j.bytes[0] = 4 * (M * K + K * N);
    j.calls[0] = 4;
    run(&j);
}

static qf_status read_index(void *ctx, uint64_t at, void *dst, size_t n, qf_diag *diag)
{
    (void)diag;
    memcpy(dst, (const char *)ctx + at, n);
    return QF_OK;
}

/* n of the 3840 rows of 200. few: only those are read; else the table is read once. */
static void check_rows(int64_t n, bool few)
{
    job j = { .step = { .op = QF_OP_index_select } };
    int64_t *index = malloc((size_t)n * sizeof *index);
    float *want = malloc((size_t)n * C * sizeof *want);
    qf_ctx ctx = { .struct_size = sizeof ctx };

    assert_true(index && want);
    add_input(&j, 2, (const int64_t[]){ A * B, C });
    for (int64_t i = 0; i < n; i++) {
        index[i] = (i * 1009 + 5) % (A * B);
        memcpy(want + i * C, j.source[0].p + index[i] * C, C * sizeof *want);
    }
    qf_storage *table = qf_storage_from_reader(j.source[0].size, read_source, NULL, &j.source[0]);
    qf_storage *numbers = qf_storage_from_reader((uint64_t)n * 8, read_index, NULL, index);
    j.in[0].storage = table;
    j.in[1] = (qf_tensor){
        .storage = numbers, .dtype = QF_DT_i64, .rank = 1, .shape = { n }, .stride = { 1 }
    };
    const uint32_t ids[] = { 0, 1 };
    j.step.in = ids;
    j.step.n_in = 2;
    const qf_program program = { j.in, 2, &j.step, 1 };
    result r = { .p = malloc((size_t)n * C * 4), .size = (size_t)n * C * 4 };
    qf_pipe *pipe = NULL;
    assert_non_null(r.p);
    assert_int_equal(qf_pipe_build(&ctx, &program, 2, NULL, &pipe, NULL), QF_OK);
    assert_int_equal(qf_pipe_stream(&ctx, pipe, NULL, &(qf_sink){ digest, collect, &r }, NULL),
                     QF_OK);
    assert_memory_equal(r.p, want, r.size);
    assert_int_equal(j.source[0].bytes, few ? (uint64_t)n * C * 4 : j.source[0].size);
    assert_true(few || j.source[0].calls <= 4);
    qf_pipe_free(pipe);
    qf_storage_unref(table);
    qf_storage_unref(numbers);
    free(r.p);
    free(j.source[0].p);
    free(want);
    free(index);
}

static void rows_of_a_table(void **state)
{
    (void)state;
    check_rows(9, true);
    check_rows(3000, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums),
        cmocka_unit_test(prefix_sums),
        cmocka_unit_test(products),
        cmocka_unit_test(permutations),
        cmocka_unit_test(rows_of_a_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
