/* Bytes of zip members: whole, inflated and checked; or as storages that the evaluator reads by
 * offset. */
#include <libdeflate.h>
#include <pthread.h>
#include <string.h>

#include "crc.h"
#include "zip.h"
#include "zip_internal.h"

/* What messages and reads need of an archive; the file outlives it. */
typedef struct source {
    qfi_file *file;
    qfi_zip_member member;
} source;

static qf_status no_memory(const source *s, qf_diag *diag)
{
    return qf_fail(diag, QF_ERR_NOMEM, "%s: out of memory for zip member '%.*s' (%llu bytes)",
                   s->file->path, QFI_STR(s->member.name), (unsigned long long)s->member.size);
}

static qf_status check_crc(const source *s, uint32_t crc, qf_diag *diag)
{
    if (crc == s->member.crc)
        return QF_OK;
    return qf_fail_at(diag, QF_ERR_CRC, (int64_t)s->member.data,
                      "%s: zip member '%.*s' is damaged: CRC-32 %08x, not %08x", s->file->path,
                      QFI_STR(s->member.name), (unsigned)crc, (unsigned)s->member.crc);
}

static qf_status inflate_into(const source *s, const uint8_t *packed, uint8_t *dst, qf_diag *diag)
{
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    if (!d)
        return no_memory(s, diag);
    size_t used = 0, made = 0;
    const enum libdeflate_result result = libdeflate_deflate_decompress_ex(
        d, packed, (size_t)s->member.packed, dst, (size_t)s->member.size, &used, &made);
    libdeflate_free_decompressor(d);
    if (result != LIBDEFLATE_SUCCESS || used != s->member.packed || made != s->member.size)
        return qf_fail_at(diag, QF_ERR_INFLATE, (int64_t)s->member.data,
                          "%s: zip member '%.*s' does not inflate to its %llu bytes", s->file->path,
                          QFI_STR(s->member.name), (unsigned long long)s->member.size);
    return QF_OK;
}

/* The whole member in memory of the pool, one zero byte behind it, CRC checked. */
static qf_status read_whole(const source *s, qfi_pool *pool, uint8_t **out, qf_diag *diag)
{
    const qfi_zip_member *m = &s->member;
    qfi_pool scratch = { 0 };
    qf_status st;
    uint8_t *packed = NULL,
            *bytes = m->size < SIZE_MAX ? qfi_pool_alloc(pool, (size_t)m->size + 1, 1) : NULL;
    if (bytes && m->method == ZIP_DEFLATED)
        packed = qfi_pool_alloc(&scratch, (size_t)m->packed, 1);
    if (!bytes || (m->method == ZIP_DEFLATED && !packed)) {
        st = no_memory(s, diag);
        goto out;
    }
    QF_TRY_OUT(qfi_file_read(s->file, m->data, packed ? packed : bytes, (size_t)m->packed, diag));
    if (packed)
        QF_TRY_OUT(inflate_into(s, packed, bytes, diag));
    QF_TRY_OUT(check_crc(s, qfi_crc_more(0, bytes, (size_t)m->size), diag));
    *out = bytes;
out:
    qfi_pool_free(&scratch);
    return st;
}

qf_status qfi_zip_read(const qfi_zip *zip, const qfi_zip_member *member, uint64_t limit,
                       qfi_pool *pool, qf_str *out, qf_diag *diag)
{
    const source s = { zip->file, *member };
    uint8_t *bytes = NULL;
    if (member->size > limit)
        QF_FAIL(diag, QF_ERR_LIMIT, "%s: zip member '%.*s' has %llu bytes, more than %llu",
                zip->file->path, QFI_STR(member->name), (unsigned long long)member->size,
                (unsigned long long)limit);
    QF_TRY(read_whole(&s, pool, &bytes, diag));
    *out = (qf_str){ (const char *)bytes, (size_t)member->size };
    return QF_OK;
}

/* Behind a storage; it lives in its own pool. lock guards what follows it.
 * whole: the bytes of a deflated member once they are needed.
 * next, crc: CRC of bytes 0 … next-1 of a stored one, whoever read them: any read that continues
 * there moves on. failed: the error of a check, given to every later read too. */
typedef struct reader {
    source source;
    qfi_pool pool;
    pthread_mutex_t lock;
    uint8_t *whole;
    uint64_t next;
    uint32_t crc;
    qf_status failed;
} reader;

/* A stored read at `at` has happened: extends the CRC and checks it at the end. */
static qf_status follow(reader *r, uint64_t at, const uint8_t *bytes, size_t n, qf_diag *diag)
{
    if (at > r->next || at + n <= r->next)
        return QF_OK;
    const size_t known = (size_t)(r->next - at);
    r->crc = qfi_crc_more(r->crc, bytes + known, n - known);
    r->next = at + n;
    return r->next < r->source.member.size ? QF_OK : check_crc(&r->source, r->crc, diag);
}

static qf_status read_member(void *ctx, uint64_t at, void *dst, size_t n, qf_diag *diag)
{
    reader *r = ctx;
    const qfi_zip_member *m = &r->source.member;
    const bool stored = m->method == ZIP_STORED;
    if (at > m->size || n > m->size - at)
        QF_FAIL(diag, QF_ERR_RANGE,
                "%s: %zu bytes at byte %llu of zip member '%.*s' are beyond its end",
                r->source.file->path, n, (unsigned long long)at, QFI_STR(m->name));
    if (stored)
        QF_TRY(qfi_file_read_along(r->source.file, m->data + at, dst, n, diag));
    pthread_mutex_lock(&r->lock);
    qf_status st = r->failed;
    if (st != QF_OK)
        st = qf_fail(diag, st, "%s: zip member '%.*s' is damaged", r->source.file->path,
                     QFI_STR(m->name));
    else if (stored)
        st = r->failed = follow(r, at, dst, n, diag);
    else if (!r->whole)
        st = r->failed = read_whole(&r->source, &r->pool, &r->whole, diag);
    pthread_mutex_unlock(&r->lock);
    if (st == QF_OK && !stored)
        memcpy(dst, r->whole + at, n);
    return st;
}

static void release_member(void *ctx)
{
    reader *r = ctx;
    pthread_mutex_destroy(&r->lock);
    qfi_pool pool = r->pool; /* holds *r itself */
    qfi_pool_free(&pool);
}

qf_status qfi_zip_storage(const qfi_zip *zip, const qfi_zip_member *member, qf_storage **out,
                          qf_diag *diag)
{
    const source s = { zip->file, *member };
    qfi_pool pool = { 0 };
    reader *r = qfi_pool_alloc(&pool, 1, sizeof *r);
    char *name = qfi_pool_text(&pool, member->name.p, member->name.n);
    if (!r || !name) {
        qfi_pool_free(&pool);
        return no_memory(&s, diag);
    }
    *r = (reader){ .source = s, .pool = pool };
    r->source.member.name.p = name;
    pthread_mutex_init(&r->lock, NULL);
    *out = qf_storage_from_reader(member->size, read_member, release_member, r);
    if (*out)
        return QF_OK;
    release_member(r);
    return no_memory(&s, diag);
}
