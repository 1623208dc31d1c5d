/* A system that refuses threads: the work is done by those that there are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/resource.h>

#include <cmocka.h>
#include <qfold/eval.h>

#define THREADS 256 /* their stacks take 2 GiB of addresses */
#define ROOM ((rlim_t)64 << 20)
#define TASKS 1000

static void count(void *arg, uint32_t i, uint32_t worker)
{
    uint32_t *calls = arg;
    if (worker < THREADS)
        __atomic_fetch_add(&calls[i], 1, __ATOMIC_RELAXED);
}

static rlim_t address_space(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%lu", &pages), 1);
    fclose(f);
    return (rlim_t)pages * 4096;
}

static void refused(void **state)
{
    qf_ctx ctx = { .struct_size = sizeof ctx };
    uint32_t calls[TASKS] = { 0 };
    struct rlimit before;

    (void)state;
    assert_int_equal(qf_threads_open(&ctx, THREADS, NULL), QF_OK);
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    const struct rlimit tight = { address_space() + ROOM, before.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_AS, &tight), 0);
    ctx.parallel_for(ctx.pool, TASKS, count, calls);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    for (int i = 0; i < TASKS; i++)
        assert_int_equal(calls[i], 1);
    qf_threads_close(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(refused) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
