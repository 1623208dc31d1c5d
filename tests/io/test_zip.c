/* Reading archives: what a good one holds, every hostile one refused with its place, all
 * truncations and bit flips, storages. */
#include "io_support.h"

#include <libdeflate.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/zip.h"
#include "zip_hostile.h"

/* An archive in a scratch file. */
typedef struct opened {
    qfi_file file;
    qfi_pool pool;
    qfi_zip zip;
    qf_status st;
    qf_diag diag;
} opened;

static void reopen(const char *path, opened *o)
{
    *o = (opened){ 0 };
    assert_ok(qfi_file_open(path, &o->file, &o->diag), &o->diag);
    o->st = qfi_zip_open(&o->file, &o->pool, &o->zip, &o->diag);
}

static void open_bytes(const uint8_t *p, size_t n, opened *o)
{
    const char *path = scratch("zip");
    file_put(path, p, n);
    reopen(path, o);
}

static void close_opened(opened *o)
{
    qfi_pool_free(&o->pool);
    qfi_file_close(&o->file);
}

static qf_str str(const char *s)
{
    return (qf_str){ s, strlen(s) };
}

/* Reads all members whole, then all through storages in pieces of 4 bytes; the first error. same:
 * whether all was as built. */
static qf_status read_all(opened *o, bool *same)
{
    *same = o->zip.n_member == 3;
    for (uint32_t i = 0; i < o->zip.n_member; i++) {
        const qfi_zip_member *m = &o->zip.member[i];
        qf_storage *storage;
        qf_str text;
        uint8_t piece[4];
        QF_TRY(qfi_zip_read(&o->zip, m, 1 << 20, &o->pool, &text, &o->diag));
        assert_int_equal(text.p[text.n], 0);
        const member_spec *spec = &plain_members[i < 3 ? i : 0];
        *same = *same && qfi_str_is(m->name, spec->name) && text.n == spec->n &&
                !memcmp(text.p, spec->bytes, spec->n);
        assert_ok(qfi_zip_storage(&o->zip, m, &storage, &o->diag), &o->diag);
        qf_status st = QF_OK;
        for (size_t at = 0; at < text.n && st == QF_OK; at += 4) {
            const size_t n = text.n - at < 4 ? text.n - at : 4;
            st = storage->read(storage->ctx, at, piece, n, &o->diag);
            assert_true(st != QF_OK || !memcmp(piece, text.p + at, n));
        }
        qf_storage_unref(storage);
        QF_TRY(st);
    }
    return QF_OK;
}

static void test_good(void **state)
{
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        built_zip z = zip_plain(wide);
        opened o;
        bool same;
        open_bytes(z.p, z.n, &o);
        assert_ok(o.st, &o.diag);
        assert_ok(read_all(&o, &same), &o.diag);
        assert_true(same);
        for (int i = 0; i < 3; i++) {
            const qfi_zip_member *m = qfi_zip_find(&o.zip, str(plain_members[i].name));
            assert_ptr_equal(m, &o.zip.member[i]);
            assert_int_equal(m->data, z.data[i]);
            assert_int_equal(m->method, plain_members[i].method);
            assert_int_equal(m->crc, slow_crc(plain_members[i].bytes, plain_members[i].n));
        }
        assert_null(qfi_zip_find(&o.zip, str("a/")));
        assert_null(qfi_zip_find(&o.zip, str("a/xx")));
        assert_null(qfi_zip_find(&o.zip, str("")));
        close_opened(&o);
        free(z.p);
    }
}

/* An archive's comment may look like an end record. */
static void test_comment(void **state)
{
    (void)state;
    const char *const comments[] = { "x", "PK\5\6 not an end record, though it is as long as one",
                                     "PK\5\6" };
    for (size_t i = 0; i < sizeof comments / sizeof *comments; i++) {
        built_zip z = zip_build(plain_members, 3, i & 1, comments[i]);
        opened o;
        bool same;
        open_bytes(z.p, z.n, &o);
        assert_ok(o.st, &o.diag);
        assert_ok(read_all(&o, &same), &o.diag);
        assert_true(same);
        close_opened(&o);
        free(z.p);
    }
}

static void test_empty(void **state)
{
    (void)state;
    built_zip z = zip_build(NULL, 0, false, "");
    opened o;
    open_bytes(z.p, z.n, &o);
    assert_ok(o.st, &o.diag);
    assert_int_equal(o.zip.n_member, 0);
    assert_null(qfi_zip_find(&o.zip, str("a")));
    close_opened(&o);
    free(z.p);
    open_bytes((const uint8_t *)"", 0, &o);
    assert_fails(o.st, &o.diag, QF_ERR_ZIP, "no zip end record");
    close_opened(&o);
}

/* Folders, dots inside names, and names that only resemble unsafe ones are fine. */
static void test_names(void **state)
{
    (void)state;
    const member_spec m[] = { { .name = "a/" },       { .name = "a/..b" }, { .name = "a/..." },
                              { .name = "\xc3\xa9" }, { .name = "a//b" },  { .name = "." } };
    built_zip z = zip_build(m, 6, false, "");
    for (size_t i = 0; i < 6; i++)
        z.p[z.central[i] + 8] = z.p[z.local[i] + 6] =
            8; /* a descriptor that an empty member needs not have */
    opened o;
    open_bytes(z.p, z.n, &o);
    assert_ok(o.st, &o.diag);
    close_opened(&o);
    free(z.p);
}

/* Each case of the table, as bytes and as the file in malformed/, which the table must still
 * describe. */
static void test_hostile(void **state)
{
    (void)state;
    const char *folder = MALFORMED;
    for (size_t i = 0; i < n_hostiles; i++) {
        const hostile *h = &hostiles[i];
        built_zip z = zip_hostile(h);
        char path[512];
        bool same;
        opened o;
        snprintf(path, sizeof path, "%s/zip_%s.pt2", folder, h->name);
        if (getenv("QFOLD_WRITE_MALFORMED"))
            file_put(path, z.p, z.n);
        size_t n;
        uint8_t *bytes = file_get(path, &n);
        if (n != z.n || memcmp(bytes, z.p, n))
            fail_msg("%s is not what the table says", path);
        reopen(path, &o);
        const qf_status st = o.st == QF_OK ? read_all(&o, &same) : o.st;
        if (st != h->status || !strstr(o.diag.text, h->part) || !strstr(o.diag.text, h->name))
            fail_msg("%s: expected %s, '%s'; got %s: %s", h->name, qf_status_name(h->status),
                     h->part, qf_status_name(st), o.diag.text);
        close_opened(&o);
        free(bytes);
        free(z.p);
    }
}

static bool is_clean_error(qf_status st, const qf_diag *diag)
{
    return diag->code == st && strstr(diag->text, "zip") && qf_status_exit_code(st) == 3;
}

static void test_truncations(void **state)
{
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        built_zip z = zip_plain(wide);
        for (size_t n = 0; n < z.n; n++) {
            opened o;
            open_bytes(z.p, n, &o);
            assert_true(o.st != QF_OK && is_clean_error(o.st, &o.diag));
            close_opened(&o);
        }
        free(z.p);
    }
}

/* A flipped bit is an error, or it changes nothing that we read. */
static void test_bit_flips(void **state)
{
    (void)state;
    size_t refused = 0, harmless = 0;
    for (int wide = 0; wide < 2; wide++) {
        built_zip z = zip_plain(wide);
        for (size_t bit = 0; bit < z.n * 8; bit++) {
            opened o;
            bool same = true;
            z.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
            open_bytes(z.p, z.n, &o);
            const qf_status st = o.st == QF_OK ? read_all(&o, &same) : o.st;
            if (st != QF_OK ? !is_clean_error(st, &o.diag) : !same)
                fail_msg("wide %d, bit %zu of byte %zu: %s: %s", wide, bit % 8, bit / 8,
                         qf_status_name(st), o.diag.text);
            refused += st != QF_OK;
            harmless += st == QF_OK;
            close_opened(&o);
            z.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        free(z.p);
    }
    assert_true(refused > 1000 && harmless > 100);
}

/* A megabyte of zeros in a kilobyte. */
static void test_limit(void **state)
{
    (void)state;
    const size_t n = 1 << 20;
    uint8_t *zeros = calloc(n, 1), packed[4096];
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(9);
    const size_t n_packed = libdeflate_deflate_compress(c, zeros, n, packed, sizeof packed);
    libdeflate_free_compressor(c);
    assert_true(n_packed);
    const member_spec m = { "bomb", packed, n_packed, zeros, n, 8, false };
    built_zip z = zip_build(&m, 1, false, "");
    opened o;
    qf_str text;
    open_bytes(z.p, z.n, &o);
    assert_ok(o.st, &o.diag);
    assert_ok(qfi_zip_read(&o.zip, o.zip.member, n, &o.pool, &text, &o.diag), &o.diag);
    assert_int_equal(text.n, n);
    assert_memory_equal(text.p, zeros, n);
    assert_fails(qfi_zip_read(&o.zip, o.zip.member, n - 1, &o.pool, &text, &o.diag), &o.diag,
                 QF_ERR_LIMIT, "'bomb' has 1048576 bytes");
    close_opened(&o);
    free(z.p);
    free(zeros);
}

#define LONG_SIZE 100000

/* A stored member of LONG_SIZE bytes, of which byte 50000 is wrong if `damaged`. */
static void open_long(bool damaged, uint8_t **bytes, opened *o)
{
    *bytes = malloc(LONG_SIZE);
    uint64_t rng = 9;
    for (size_t i = 0; i < LONG_SIZE; i++)
        (*bytes)[i] = (uint8_t)random_next(&rng);
    const member_spec m = { "long", *bytes, LONG_SIZE, *bytes, LONG_SIZE, 0, false };
    built_zip z = zip_build(&m, 1, false, "");
    z.p[z.data[0] + 50000] ^= damaged;
    open_bytes(z.p, z.n, o);
    assert_ok(o->st, &o->diag);
    free(z.p);
}

static qf_status read_range(qf_storage *s, size_t begin, size_t end, qf_diag *diag)
{
    static uint8_t piece[LONG_SIZE];
    return s->read(s->ctx, begin, piece, end - begin, diag);
}

static void test_storage_order(void **state)
{
    (void)state;
    uint8_t *bytes;
    opened o;
    qf_storage *s;
    open_long(true, &bytes, &o);
    assert_ok(qfi_zip_storage(&o.zip, o.zip.member, &s, &o.diag), &o.diag);
    assert_int_equal(s->size, LONG_SIZE);
    assert_null(s->data);
    /* Reads that leave gaps cannot check anything. */
    assert_ok(read_range(s, 60000, LONG_SIZE, &o.diag), &o.diag);
    assert_ok(read_range(s, 0, 30000, &o.diag), &o.diag);
    assert_ok(read_range(s, 10000, 40000, &o.diag), &o.diag);
    assert_ok(read_range(s, 40001, LONG_SIZE, &o.diag), &o.diag);
    assert_ok(read_range(s, 30000, 99999, &o.diag), &o.diag);
    /* This one completes the member, and from then on nothing of it is trusted. */
    assert_fails(read_range(s, 99990, LONG_SIZE, &o.diag), &o.diag, QF_ERR_CRC,
                 "'long' is damaged");
    o.diag = (qf_diag){ 0 };
    assert_fails(read_range(s, 0, 1, &o.diag), &o.diag, QF_ERR_CRC, "'long' is damaged");
    o.diag = (qf_diag){ 0 };
    assert_fails(read_range(s, LONG_SIZE, LONG_SIZE + 1, &o.diag), &o.diag, QF_ERR_RANGE,
                 "'long' are beyond its end");
    qf_storage_unref(s);
    close_opened(&o);
    free(bytes);
}

static void test_storage_good(void **state)
{
    (void)state;
    uint8_t *bytes, piece[777];
    opened o;
    qf_storage *s;
    open_long(false, &bytes, &o);
    assert_ok(qfi_zip_storage(&o.zip, o.zip.member, &s, &o.diag), &o.diag);
    for (int turn = 0; turn < 2; turn++)
        for (size_t at = 0; at < LONG_SIZE; at += sizeof piece) {
            const size_t n = LONG_SIZE - at < sizeof piece ? LONG_SIZE - at : sizeof piece;
            assert_ok(s->read(s->ctx, at, piece, n, &o.diag), &o.diag);
            assert_memory_equal(piece, bytes + at, n);
        }
    qf_storage_unref(s);
    close_opened(&o);
    free(bytes);
}

static void *read_in_thread(void *arg)
{
    qf_storage *s = arg;
    uint8_t piece[1000];
    qf_diag diag = { 0 };
    for (size_t at = 0; at + sizeof piece <= s->size; at += sizeof piece)
        if (s->read(s->ctx, at, piece, sizeof piece, &diag) != QF_OK)
            return "failed";
    return NULL;
}

static void test_storage_threads(void **state)
{
    (void)state;
    uint8_t *bytes;
    opened o;
    qf_storage *s;
    open_long(false, &bytes, &o);
    assert_ok(qfi_zip_storage(&o.zip, o.zip.member, &s, &o.diag), &o.diag);
    pthread_t thread[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, read_in_thread, s), 0);
    for (int i = 0; i < 4; i++) {
        void *result;
        assert_int_equal(pthread_join(thread[i], &result), 0);
        assert_null(result);
    }
    assert_int_equal(__atomic_load_n(&o.file.read_bytes, __ATOMIC_RELAXED) / LONG_SIZE, 4);
    qf_storage_unref(s);
    close_opened(&o);
    free(bytes);
}

static void test_no_memory(void **state)
{
    (void)state;
    built_zip z = zip_plain(true);
    qf_status st = QF_ERR_NOMEM;
    for (size_t k = 1; st != QF_OK; k++) {
        opened o;
        bool same = false;
        file_put(scratch("zip"), z.p, z.n);
        o = (opened){ 0 };
        assert_ok(qfi_file_open(scratch("zip"), &o.file, &o.diag), &o.diag);
        pool_fail_at(k);
        st = qfi_zip_open(&o.file, &o.pool, &o.zip, &o.diag);
        qf_storage *s = NULL;
        for (uint32_t i = 0; i < o.zip.n_member && st == QF_OK; i++) {
            qf_str text;
            uint8_t byte;
            st = qfi_zip_read(&o.zip, &o.zip.member[i], 100, &o.pool, &text, &o.diag);
            if (st == QF_OK)
                st = qfi_zip_storage(&o.zip, &o.zip.member[i], &s, &o.diag);
            if (st == QF_OK && text.n)
                st = s->read(s->ctx, 0, &byte, 1, &o.diag);
            qf_storage_unref(s);
            s = NULL;
        }
        same = pool_failed() == (st != QF_OK);
        assert_true(same);
        if (st != QF_OK)
            assert_fails(st, &o.diag, QF_ERR_NOMEM, "out of memory");
        qfi_pool_free(&o.pool);
        assert_int_equal(pool_live(), 0);
        pool_fail_at(0);
        qfi_file_close(&o.file);
        assert_true(k < 100);
    }
    free(z.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_comment),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_truncations),
        cmocka_unit_test(test_bit_flips),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_storage_order),
        cmocka_unit_test(test_storage_good),
        cmocka_unit_test(test_storage_threads),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, scratch_remove);
}
