/* Values that are made side by side: the bytes of one after the other, failures, progress. */
#include "io_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/layout.h"

/* size: of each value, by number.  fail: the value that fails.  in_lane: calls by lanes, of which
 * `most` ran at once. */
typedef struct producer {
    const uint64_t *size;
    uint32_t fail, n_lane, calls, in_lane, running, most;
    uint64_t told;
} producer;

static uint8_t value_byte(uint32_t payload, uint64_t i)
{
    return (uint8_t)(payload * 31 + i * 7 + (i >> 8));
}

static void note_running(producer *p)
{
    const uint32_t now = __atomic_add_fetch(&p->running, 1, __ATOMIC_SEQ_CST);
    uint32_t most = __atomic_load_n(&p->most, __ATOMIC_SEQ_CST);
    while (now > most && !__atomic_compare_exchange_n(&p->most, &most, now, false, __ATOMIC_SEQ_CST,
                                                      __ATOMIC_SEQ_CST))
        ;
}

static qf_status make(const producer *p, uint32_t payload, const qf_sink *sink, qf_diag *diag)
{
    uint8_t window[10000];
    for (uint64_t at = 0; at < p->size[payload]; at += sizeof window) {
        const uint64_t left = p->size[payload] - at,
                       n = left < sizeof window ? left : sizeof window;
        for (uint64_t i = 0; i < n; i++)
            window[i] = value_byte(payload, at + i);
        QF_TRY(qf_sink_write(sink, window, (size_t)n, diag));
    }
    return payload == p->fail ? qf_fail(diag, QF_ERR_VALUE, "value %u failed", payload) : QF_OK;
}

static qf_status produce(void *user, uint32_t new_payload, uint32_t lane, const qf_sink *sink,
                         qf_diag *diag)
{
    producer *p = user;
    assert_true(lane == QFI_NO_LANE || lane < p->n_lane);
    __atomic_add_fetch(&p->calls, 1, __ATOMIC_SEQ_CST);
    if (lane == QFI_NO_LANE)
        assert_int_equal(__atomic_load_n(&p->running, __ATOMIC_SEQ_CST), 0);
    else
        __atomic_add_fetch(&p->in_lane, 1, __ATOMIC_SEQ_CST);
    note_running(p);
    const qf_status st = make(p, new_payload, sink, diag);
    __atomic_sub_fetch(&p->running, 1, __ATOMIC_SEQ_CST);
    return st;
}

/* Value 2 does not fit. */
static bool fits(void *user, uint32_t new_payload, uint32_t n_lane)
{
    const producer *p = user;
    return n_lane == p->n_lane && new_payload != 2;
}

static bool on_progress(void *user, uint64_t done, uint64_t total)
{
    producer *p = user;
    assert_true(done >= p->told && done <= total);
    p->told = done;
    return true;
}

#define VALUES 9
static const uint64_t sizes[VALUES] = { 70000,  300000, 500000, 65536, 1000,
                                        123457, 65535,  300000, 200000 };

static void add(qfi_layout *layout, qfi_extent extent)
{
    qf_diag diag = { 0 };
    assert_ok(qfi_layout_add(layout, extent, &diag), &diag);
}

/* Text, value, its checksum, for each value. */
static void add_values(qfi_layout *layout)
{
    for (uint32_t i = 0; i < VALUES; i++) {
        add(layout, (qfi_extent){ .kind = QFI_TEXT, .size = 5, .text = "value" });
        add(layout, (qfi_extent){ .kind = QFI_VALUE, .size = sizes[i], .source = i });
        add(layout, (qfi_extent){ .kind = QFI_CRC, .size = 4, .source = 3 * i + 1 });
    }
}

/* Writes the values on so many threads. */
static qf_status write_values(producer *p, uint32_t threads, const char *path, qf_diag *diag)
{
    qf_ctx ctx = { .struct_size = sizeof ctx };
    qfi_layout layout = { 0 };
    uint64_t written = 0;

    p->size = sizes;
    p->n_lane = threads;
    add_values(&layout);
    assert_ok(qf_threads_open(&ctx, threads, diag), diag);
    const qfi_write_options options = { .produce = produce,
                                        .fits = fits,
                                        .threads = &ctx,
                                        .user = p,
                                        .progress = on_progress,
                                        .progress_user = p };
    const qf_status st = qfi_write(&layout, NULL, path, &options, &written, diag);
    if (st == QF_OK) {
        assert_int_equal(written, layout.size);
        assert_int_equal(p->told, layout.size);
    }
    qf_threads_close(&ctx);
    qfi_layout_free(&layout);
    return st;
}

/* Of the nine values six suit lanes: two are too small, one does not fit. Four threads take four of
 * the six. */
static void test_same_bytes(void **state)
{
    static const uint32_t threads[] = { 1, 2, 3, 4 }, in_lane[] = { 0, 6, 6, 4 };
    size_t n_want = 0;
    uint8_t *want = NULL;

    (void)state;
    for (int t = 0; t < 4; t++) {
        producer p = { .fail = VALUES };
        qf_diag diag = { 0 };
        size_t n;
        assert_ok(write_values(&p, threads[t], scratch("lanes"), &diag), &diag);
        uint8_t *bytes = file_get(scratch("lanes"), &n);
        assert_int_equal(p.calls, VALUES);
        assert_int_equal(p.in_lane, in_lane[t]);
        assert_true(p.most >= 1 && p.most <= threads[t]);
        if (!want) {
            want = bytes;
            n_want = n;
        } else {
            assert_int_equal(n, n_want);
            assert_memory_equal(bytes, want, n);
            free(bytes);
        }
        assert_int_equal(remove(scratch("lanes")), 0);
    }
    for (uint32_t i = 0, at = 5; i < VALUES; at += (uint32_t)sizes[i++] + 9)
        for (uint64_t k = 0; k < sizes[i]; k++)
            assert_int_equal(want[at + k], value_byte(i, k));
    free(want);
}

static void test_failure(void **state)
{
    (void)state;
    for (uint32_t fail = 0; fail < VALUES; fail++) {
        producer p = { .fail = fail };
        qf_diag diag = { 0 };
        char part[32];
        const size_t before = scratch_count();
        snprintf(part, sizeof part, "value %u failed", fail);
        assert_fails(write_values(&p, 2, scratch("none"), &diag), &diag, QF_ERR_VALUE, part);
        assert_int_equal(scratch_count(), before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_same_bytes),
                                        cmocka_unit_test(test_failure) };
    return cmocka_run_group_tests(tests, NULL, scratch_remove);
}
