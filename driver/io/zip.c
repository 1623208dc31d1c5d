/* The directory of a zip archive. Sizes and offsets come from the central directory alone: torch
 * leaves them out of the local headers. All is checked against the file's size before it is
 * believed:
 *
 *   members, in any order, apart from each other | directory | zip64 end, locator | end, comment
 *   each: local header, name, extra, data
 */
#include "zip.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "zip_internal.h"

/* No directory of a model comes near these; they bound what a hostile one makes us allocate. */
#define MAX_MEMBERS (1u << 20)
#define MAX_DIRECTORY ((uint64_t)256 << 20)

/* Deflate cannot expand by more than this. */
#define MAX_RATIO 1032

#define FAIL_AT(at, diag, ...) return qf_fail_at(diag, QF_ERR_ZIP, (int64_t)(at), __VA_ARGS__)

/* Where the directory is, as the end records say. end: where the records start. */
typedef struct directory {
    uint64_t at, size, n, end;
} directory;

static qf_status no_memory(const qfi_file *file, qf_diag *diag)
{
    return qf_fail(diag, QF_ERR_NOMEM, "%s: out of memory for the zip directory", file->path);
}

/* The last record, behind which only its comment may follow, in the file's last bytes; NULL if
 * there is none. */
static const uint8_t *find_end(const uint8_t *tail, size_t n)
{
    for (size_t rest = ZIP_END_SIZE; rest <= n; rest++) {
        qfi_bytes b = { .p = tail + (n - rest), .n = rest };
        if (qfi_u32(&b) != ZIP_END)
            continue;
        qfi_skip(&b, 16);
        if (qfi_u16(&b) == rest - ZIP_END_SIZE)
            return b.p;
    }
    return NULL;
}

/* A field of the 32-bit record: what the 64-bit one says, or all ones. */
static bool agrees(uint64_t narrow, uint64_t ones, uint64_t wide)
{
    return narrow == wide || narrow == ones;
}

/* Replaces what the end record says by the zip64 record that the locator before it points at. */
static qf_status read_end64(qfi_file *file, qfi_bytes *locator, directory *d, qf_diag *diag)
{
    uint8_t record[ZIP_END64_SIZE];
    const uint64_t locator_at = d->end - ZIP_LOCATOR_SIZE;
    const uint32_t disk = qfi_u32(locator);
    const uint64_t at = qfi_u64(locator);
    if (disk || qfi_u32(locator) > 1)
        FAIL_AT(locator_at, diag, "%s: a zip archive of several disks", file->path);
    if (locator_at < ZIP_END64_SIZE || at > locator_at - ZIP_END64_SIZE)
        FAIL_AT(locator_at, diag, "%s: the zip64 locator points behind itself", file->path);
    QF_TRY(qfi_file_read(file, at, record, sizeof record, diag));
    qfi_bytes b = { .p = record, .n = sizeof record, .base = at };
    const uint32_t signature = qfi_u32(&b);
    const uint64_t size = qfi_u64(&b);
    if (signature != ZIP_END64 || size < ZIP_END64_SIZE - 12 || size > locator_at - at - 12)
        FAIL_AT(at, diag, "%s: no zip64 end record at byte %llu", file->path,
                (unsigned long long)at);
    qfi_skip(&b, 4);
    const uint32_t disks = qfi_u32(&b) | qfi_u32(&b);
    const uint64_t n_here = qfi_u64(&b);
    directory wide = { .end = at };
    wide.n = qfi_u64(&b);
    wide.size = qfi_u64(&b);
    wide.at = qfi_u64(&b);
    if (disks || n_here != wide.n)
        FAIL_AT(at, diag, "%s: a zip archive of several disks", file->path);
    if (!agrees(d->n, UINT16_MAX, wide.n) || !agrees(d->size, UINT32_MAX, wide.size) ||
        !agrees(d->at, UINT32_MAX, wide.at))
        FAIL_AT(at, diag, "%s: the two zip end records contradict each other", file->path);
    *d = wide;
    return QF_OK;
}

static qf_status check_directory(const qfi_file *file, const directory *d, qf_diag *diag)
{
    uint64_t end;
    if (!qf_add(d->at, d->size, &end) || end > d->end)
        FAIL_AT(d->end, diag,
                "%s: the zip directory (%llu bytes at byte %llu) passes its end record", file->path,
                (unsigned long long)d->size, (unsigned long long)d->at);
    if (d->n > d->size / ZIP_CENTRAL_SIZE || d->n > d->at / ZIP_LOCAL_SIZE)
        FAIL_AT(d->end, diag, "%s: %llu members do not fit in this zip archive", file->path,
                (unsigned long long)d->n);
    if (d->n > MAX_MEMBERS || d->size > MAX_DIRECTORY)
        QF_FAIL(diag, QF_ERR_LIMIT, "%s: a zip directory of %llu members, %llu bytes", file->path,
                (unsigned long long)d->n, (unsigned long long)d->size);
    return QF_OK;
}

static qf_status find_directory(qfi_file *file, directory *d, qf_diag *diag)
{
    const uint64_t longest = ZIP_LOCATOR_SIZE + ZIP_END_SIZE + UINT16_MAX;
    const size_t n = (size_t)(file->size < longest ? file->size : longest);
    qfi_pool pool = { 0 };
    qf_status st;
    uint8_t *tail = qfi_pool_alloc(&pool, n, 1);
    if (!tail)
        return no_memory(file, diag);
    QF_TRY_OUT(qfi_file_read(file, file->size - n, tail, n, diag));
    const uint8_t *found = find_end(tail, n);
    if (!found) {
        st = qf_fail_at(diag, QF_ERR_ZIP, (int64_t)file->size,
                        "%s: no zip end record: not a zip archive, or cut short", file->path);
        goto out;
    }
    const size_t at = (size_t)(found - tail);
    qfi_bytes b = { .p = found, .n = ZIP_END_SIZE, .at = 4 };
    const unsigned disks = (unsigned)qfi_u16(&b) | qfi_u16(&b);
    const uint16_t n_here = qfi_u16(&b);
    *d = (directory){ .end = file->size - n + at };
    d->n = qfi_u16(&b);
    d->size = qfi_u32(&b);
    d->at = qfi_u32(&b);
    if ((disks && disks != UINT16_MAX) || n_here != d->n) {
        st = qf_fail_at(diag, QF_ERR_ZIP, (int64_t)d->end, "%s: a zip archive of several disks",
                        file->path);
        goto out;
    }
    qfi_bytes locator = { .p = tail,
                          .n = at,
                          .at = at < ZIP_LOCATOR_SIZE ? at : at - ZIP_LOCATOR_SIZE };
    if (qfi_u32(&locator) == ZIP_LOCATOR)
        QF_TRY_OUT(read_end64(file, &locator, d, diag));
    QF_TRY_OUT(check_directory(file, d, diag));
out:
    qfi_pool_free(&pool);
    return st;
}

/* Why a member's name is refused, NULL if it is not. Whoever unpacks an archive must not be led
 * outside a folder. */
static const char *name_fault(qf_str name)
{
    if (!name.n)
        return "an empty name";
    for (size_t i = 0; i < name.n; i++)
        if ((unsigned char)name.p[i] < 0x20 || name.p[i] == 0x7f || name.p[i] == '\\')
            return "a control character or a backslash in its name";
    if (name.p[0] == '/')
        return "an absolute name";
    for (size_t begin = 0; begin < name.n;) {
        const char *slash = memchr(name.p + begin, '/', name.n - begin);
        const size_t end = slash ? (size_t)(slash - name.p) : name.n;
        if (end - begin == 2 && name.p[begin] == '.' && name.p[begin + 1] == '.')
            return "\"..\" in its name";
        begin = end + 1;
    }
    return NULL;
}

/* 64-bit numbers stand in the extra field in this order, each only if its 32-bit field is all ones.
 */
static bool widen(qfi_bytes extra, uint64_t *size, uint64_t *packed, uint64_t *header)
{
    uint64_t *const field[] = { size, packed, header };
    const bool any = *size == UINT32_MAX || *packed == UINT32_MAX || *header == UINT32_MAX;
    while (any && extra.n - extra.at >= 4) {
        const uint16_t id = qfi_u16(&extra);
        const uint16_t n = qfi_u16(&extra);
        const uint8_t *p = qfi_take(&extra, n);
        if (!p)
            return false;
        if (id != ZIP_EXTRA64)
            continue;
        qfi_bytes wide = { .p = p, .n = n };
        for (size_t i = 0; i < 3; i++)
            if (*field[i] == UINT32_MAX)
                *field[i] = qfi_u64(&wide);
        return !wide.failed;
    }
    return true;
}

/* What a member asks of its reader: NULL if we can. */
static const char *member_fault(const qfi_zip_member *m, unsigned flags)
{
    if (flags & ZIP_MASKED)
        return "is encrypted";
    if (m->method == ZIP_STORED)
        return m->packed == m->size ? NULL : "is stored, but its two sizes differ";
    if (m->method == ZIP_DEFLATED)
        return m->size / MAX_RATIO <= m->packed ? NULL : "claims to inflate more than deflate can";
    return "is compressed in a way that is neither stored (0) nor deflated (8)";
}

/* One entry of the directory; *header: offset of the local header. */
static qf_status read_entry(const qfi_file *file, qfi_bytes *b, qfi_zip_member *m, uint64_t *header,
                            qf_diag *diag)
{
    const uint64_t at = b->base + b->at;
    const uint32_t signature = qfi_u32(b);
    qfi_skip(b, 4);
    const unsigned flags = qfi_u16(b);
    m->method = qfi_u16(b);
    qfi_skip(b, 4);
    m->crc = qfi_u32(b);
    m->packed = qfi_u32(b);
    m->size = qfi_u32(b);
    m->name.n = qfi_u16(b);
    const size_t n_extra = qfi_u16(b), n_comment = qfi_u16(b), disk = qfi_u16(b);
    qfi_skip(b, 6);
    *header = qfi_u32(b);
    m->name.p = (const char *)qfi_take(b, m->name.n);
    const uint8_t *extra = qfi_take(b, n_extra);
    qfi_skip(b, n_comment);
    if (b->failed || signature != ZIP_CENTRAL)
        FAIL_AT(at, diag, "%s: no valid zip directory entry at byte %llu", file->path,
                (unsigned long long)at);
    const char *fault = name_fault(m->name);
    if (fault)
        FAIL_AT(at, diag, "%s: zip member '%.*s' has %s", file->path, QFI_STR(m->name), fault);
    if (!widen((qfi_bytes){ .p = extra, .n = n_extra }, &m->size, &m->packed, header))
        FAIL_AT(at, diag, "%s: zip member '%.*s' has a broken zip64 field", file->path,
                QFI_STR(m->name));
    if (disk && disk != UINT16_MAX)
        FAIL_AT(at, diag, "%s: zip member '%.*s' is on another disk", file->path, QFI_STR(m->name));
    fault = member_fault(m, flags);
    if (fault)
        FAIL_AT(at, diag, "%s: zip member '%.*s' %s; its method is %u", file->path,
                QFI_STR(m->name), fault, m->method);
    return QF_OK;
}

/* Finds a member's data behind its local header, of which only name and lengths are used. buffer:
 * header and longest name. */
static qf_status read_local(qfi_file *file, uint64_t header, uint64_t directory_at, uint8_t *buffer,
                            qfi_zip_member *m, qf_diag *diag)
{
    const size_t n = ZIP_LOCAL_SIZE + m->name.n;
    if (directory_at < n || header > directory_at - n)
        FAIL_AT(header, diag, "%s: zip member '%.*s' begins behind the last one", file->path,
                QFI_STR(m->name));
    QF_TRY(qfi_file_read(file, header, buffer, n, diag));
    qfi_bytes b = { .p = buffer, .n = n };
    const uint32_t signature = qfi_u32(&b);
    qfi_skip(&b, 2);
    const unsigned flags = qfi_u16(&b), method = qfi_u16(&b);
    qfi_skip(&b, 16);
    const size_t n_name = qfi_u16(&b), n_extra = qfi_u16(&b);
    if (signature != ZIP_LOCAL || n_name != m->name.n ||
        memcmp(buffer + ZIP_LOCAL_SIZE, m->name.p, n_name))
        FAIL_AT(header, diag, "%s: no local header of zip member '%.*s' at byte %llu", file->path,
                QFI_STR(m->name), (unsigned long long)header);
    if (method != m->method || flags & ZIP_MASKED)
        FAIL_AT(header, diag, "%s: the two headers of zip member '%.*s' contradict each other",
                file->path, QFI_STR(m->name));
    m->data = header + n + n_extra;
    if (m->data > directory_at || m->packed > directory_at - m->data)
        FAIL_AT(header, diag,
                "%s: zip member '%.*s' (%llu bytes at byte %llu) runs into the directory",
                file->path, QFI_STR(m->name), (unsigned long long)m->packed,
                (unsigned long long)m->data);
    return QF_OK;
}

typedef struct extent {
    uint64_t begin, end;
    const qfi_zip_member *member;
} extent;

static int by_begin(const void *a, const void *b)
{
    const extent *x = a, *y = b;
    return x->begin != y->begin ? (x->begin > y->begin) - (x->begin < y->begin)
                                : (x->end > y->end) - (x->end < y->end);
}

static int by_name(const void *a, const void *b)
{
    const qf_str x = (*(const qfi_zip_member *const *)a)->name,
                 y = (*(const qfi_zip_member *const *)b)->name;
    const int order = memcmp(x.p, y.p, x.n < y.n ? x.n : y.n);
    return order ? order : (x.n > y.n) - (x.n < y.n);
}

/* Members that share bytes, or a name, make readers disagree on what the archive holds. */
static qf_status check_members(const qfi_zip *zip, extent *all, qf_diag *diag)
{
    qsort(all, zip->n_member, sizeof *all, by_begin);
    qsort(zip->by_name, zip->n_member, sizeof *zip->by_name, by_name);
    for (uint32_t i = 1; i < zip->n_member; i++) {
        if (all[i].begin < all[i - 1].end)
            FAIL_AT(all[i].begin, diag, "%s: zip members '%.*s' and '%.*s' overlap",
                    zip->file->path, QFI_STR(all[i - 1].member->name),
                    QFI_STR(all[i].member->name));
        if (qfi_str_equal(zip->by_name[i - 1]->name, zip->by_name[i]->name))
            QF_FAIL(diag, QF_ERR_ZIP, "%s: two zip members are called '%.*s'", zip->file->path,
                    QFI_STR(zip->by_name[i]->name));
    }
    return QF_OK;
}

/* Fills out->member from the directory's bytes. */
static qf_status read_members(qfi_file *file, const directory *d, qfi_bytes *b, extent *all,
                              qfi_zip *out, qf_diag *diag)
{
    qfi_pool pool = { 0 };
    qf_status st = QF_OK;
    uint8_t *buffer = qfi_pool_alloc(&pool, 1, ZIP_LOCAL_SIZE + UINT16_MAX);
    if (!buffer)
        return no_memory(file, diag);
    for (uint32_t i = 0; i < out->n_member; i++) {
        qfi_zip_member *m = &out->member[i];
        uint64_t header;
        QF_TRY_OUT(read_entry(file, b, m, &header, diag));
        QF_TRY_OUT(read_local(file, header, d->at, buffer, m, diag));
        all[i] = (extent){ header, m->data + m->packed, m };
        out->by_name[i] = m;
    }
    if (b->at != b->n)
        st = qf_fail_at(diag, QF_ERR_ZIP, (int64_t)(b->base + b->at),
                        "%s: the zip directory holds more than its %llu members", file->path,
                        (unsigned long long)d->n);
out:
    qfi_pool_free(&pool);
    return st;
}

qf_status qfi_zip_open(qfi_file *file, qfi_pool *pool, qfi_zip *out, qf_diag *diag)
{
    directory d = { 0 };
    QF_TRY(find_directory(file, &d, diag));
    uint8_t *bytes = qfi_pool_alloc(pool, (size_t)d.size, 1); /* kept: names are spans of it */
    extent *all = qfi_pool_alloc(pool, (size_t)d.n, sizeof *all);
    *out = (qfi_zip){ .file = file, .n_member = (uint32_t)d.n };
    out->member = qfi_pool_alloc(pool, (size_t)d.n, sizeof *out->member);
    out->by_name = qfi_pool_alloc(pool, (size_t)d.n, sizeof *out->by_name);
    if (!bytes || !all || !out->member || !out->by_name)
        return no_memory(file, diag);
    QF_TRY(qfi_file_read(file, d.at, bytes, (size_t)d.size, diag));
    qfi_bytes b = { .p = bytes, .n = (size_t)d.size, .base = d.at };
    QF_TRY(read_members(file, &d, &b, all, out, diag));
    return check_members(out, all, diag);
}

/* A name in parts, for looking it up without putting it together. */
typedef struct parts {
    qf_str part[3];
} parts;

static int by_parts(const void *key, const void *element)
{
    const parts *wanted = key;
    qf_str rest = (*(const qfi_zip_member *const *)element)->name;
    for (size_t i = 0; i < sizeof wanted->part / sizeof *wanted->part; i++) {
        const qf_str part = wanted->part[i];
        const size_t n = part.n < rest.n ? part.n : rest.n;
        const int order = n ? memcmp(part.p, rest.p, n) : 0;
        if (order || part.n > rest.n)
            return order ? order : 1;
        rest = (qf_str){ rest.p + n, rest.n - n };
    }
    return rest.n ? -1 : 0;
}

static const qfi_zip_member *find(const qfi_zip *zip, const parts *name)
{
    const qfi_zip_member **found =
        zip->n_member ? bsearch(name, zip->by_name, zip->n_member, sizeof *zip->by_name, by_parts)
                      : NULL;
    return found ? *found : NULL;
}

const qfi_zip_member *qfi_zip_find(const qfi_zip *zip, qf_str name)
{
    return find(zip, &(parts){ { name } });
}

const qfi_zip_member *qfi_zip_find_in(const qfi_zip *zip, qf_str folder, qf_str path)
{
    return find(zip, &(parts){ { folder, { "/", 1 }, path } });
}
