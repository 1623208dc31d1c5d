/* Writing archives as torch does. All sizes are known before the first byte, but CRCs are not: they
 * stand in a data descriptor behind the data and in the directory at the end, so nothing is patched
 * backwards. */
#include <string.h>

#include "bytes.h"
#include "crc.h"
#include "zip.h"
#include "zip_internal.h"

/* Payloads start at multiples of this, so that a reader can map them as tensors. */
#define ALIGNMENT 64
#define PADDING_ID 0x4246 /* "FB" */
#define PADDING_BYTE 'Z'

#define NO_EXTENT SIZE_MAX

/* value: VALUE extent that `crc` comes from, or NO_EXTENT. */
typedef struct entry {
    qf_str name;
    uint64_t header, packed, size;
    size_t value;
    uint32_t crc;
    uint16_t method;
} entry;

struct qfi_zip_writer {
    qfi_layout *layout;
    entry *entry;
    size_t n, cap;
};

qfi_zip_writer *qfi_zip_writer_new(qfi_layout *layout)
{
    qfi_zip_writer *w = qfi_pool_alloc(&layout->pool, 1, sizeof *w);
    if (w)
        w->layout = layout;
    return w;
}

static qf_status no_memory(qf_diag *diag)
{
    return qf_fail(diag, QF_ERR_NOMEM, "out of memory for the layout of the output");
}

/* A member without bytes has no descriptor either. */
static bool is_empty(const entry *e)
{
    return !e->packed && !e->size;
}

static bool is_large(const entry *e)
{
    return e->packed >= UINT32_MAX || e->size >= UINT32_MAX;
}

static uint16_t flags_of(const entry *e)
{
    return is_empty(e) ? ZIP_UTF8 : ZIP_UTF8 | ZIP_DESCRIBED;
}

static qf_status add_text(qfi_layout *layout, const void *p, size_t n, qf_diag *diag)
{
    return n ? qfi_layout_add(layout, (qfi_extent){ .kind = QFI_TEXT, .size = n, .text = p }, diag)
             : QF_OK;
}

static qf_status add_crc(qfi_layout *layout, size_t value, qf_diag *diag)
{
    return qfi_layout_add(layout, (qfi_extent){ .kind = QFI_CRC, .size = 4, .source = value },
                          diag);
}

/* Header, name, and an extra field that ends at a multiple of ALIGNMENT. The header holds no CRC
 * and no sizes; only a large member says in advance that its descriptor is a wide one. */
static qf_status put_header(qfi_zip_writer *w, const entry *e, qf_diag *diag)
{
    const size_t wide = is_large(e) ? 20 : 0, fixed = ZIP_LOCAL_SIZE + e->name.n + wide + 4;
    uint64_t unaligned;
    if (!qf_add(w->layout->size, fixed + ALIGNMENT, &unaligned))
        QF_FAIL(diag, QF_ERR_OVERFLOW, "the output has no size that fits in 64 bits");
    const size_t pad = (ALIGNMENT - (w->layout->size + fixed) % ALIGNMENT) % ALIGNMENT;
    uint8_t *header = qfi_pool_alloc(&w->layout->pool, fixed + pad, 1), *p = header;
    if (!header)
        return no_memory(diag);
    p = qfi_put32(p, ZIP_LOCAL);
    p = qfi_put16(p, wide ? ZIP_NEEDS64 : 0);
    p = qfi_put16(p, flags_of(e));
    p = qfi_put16(p, e->method);
    p = qfi_put32(p, 0); /* time and date */
    p = qfi_put32(p, 0); /* CRC */
    p = qfi_put32(p, wide ? UINT32_MAX : 0);
    p = qfi_put32(p, wide ? UINT32_MAX : 0);
    p = qfi_put16(p, (uint16_t)e->name.n);
    p = qfi_put16(p, (uint16_t)(wide + 4 + pad));
    memcpy(p, e->name.p, e->name.n);
    p += e->name.n;
    if (wide) {
        p = qfi_put16(p, ZIP_EXTRA64);
        p = qfi_put16(p, 16);
        p = qfi_put64(p, e->size);
        p = qfi_put64(p, e->packed);
    }
    p = qfi_put16(p, PADDING_ID);
    p = qfi_put16(p, (uint16_t)pad);
    memset(p, PADDING_BYTE, pad);
    return add_text(w->layout, header, fixed + pad, diag);
}

static qf_status put_descriptor(qfi_zip_writer *w, const entry *e, qf_diag *diag)
{
    if (is_empty(e))
        return QF_OK;
    uint8_t *text = qfi_pool_alloc(&w->layout->pool, 24, 1);
    if (!text)
        return no_memory(diag);
    qfi_put32(text, ZIP_DESCRIPTOR);
    uint8_t *const sizes = qfi_put32(text + 4, e->crc);
    uint8_t *p = is_large(e) ? qfi_put64(sizes, e->packed) : qfi_put32(sizes, (uint32_t)e->packed);
    p = is_large(e) ? qfi_put64(p, e->size) : qfi_put32(p, (uint32_t)e->size);
    if (e->value == NO_EXTENT)
        return add_text(w->layout, text, (size_t)(p - text), diag);
    QF_TRY(add_text(w->layout, text, 4, diag));
    QF_TRY(add_crc(w->layout, e->value, diag));
    return add_text(w->layout, sizes, (size_t)(p - sizes), diag);
}

/* Opens a member, whose bytes come next, with its header. */
static qf_status begin_entry(qfi_zip_writer *w, entry *e, qf_diag *diag)
{
    if (!e->name.n || e->name.n > UINT16_MAX)
        QF_FAIL(diag, QF_ERR_ZIP, "a zip member cannot have a name of %zu bytes", e->name.n);
    entry *grown = qfi_pool_grow(&w->layout->pool, w->entry, w->n, &w->cap, sizeof *grown);
    if (!grown)
        return no_memory(diag);
    w->entry = grown;
    e->header = w->layout->size;
    e->value = NO_EXTENT;
    return put_header(w, e, diag);
}

static qf_status end_entry(qfi_zip_writer *w, const entry *e, qf_diag *diag)
{
    w->entry[w->n++] = *e;
    return put_descriptor(w, e, diag);
}

qf_status qfi_zip_put_parts(qfi_zip_writer *w, qf_str name, const qfi_parts *parts, qf_diag *diag)
{
    entry e = { .name = name };
    for (size_t i = 0; i < parts->n; i++) {
        e.crc = qfi_crc_more(e.crc, parts->part[i].p, parts->part[i].n);
        e.size += parts->part[i].n;
    }
    e.packed = e.size;
    QF_TRY(begin_entry(w, &e, diag));
    for (size_t i = 0; i < parts->n; i++)
        QF_TRY(add_text(w->layout, parts->part[i].p, parts->part[i].n, diag));
    return end_entry(w, &e, diag);
}

qf_status qfi_zip_put_text(qfi_zip_writer *w, qf_str name, qf_str text, qf_diag *diag)
{
    return qfi_zip_put_parts(w, name, &(qfi_parts){ .part = &text, .n = 1 }, diag);
}

qf_status qfi_zip_put_value(qfi_zip_writer *w, qf_str name, uint32_t new_payload, uint64_t size,
                            qf_diag *diag)
{
    entry e = { .name = name, .packed = size, .size = size };
    QF_TRY(begin_entry(w, &e, diag));
    if (size) {
        e.value = w->layout->n;
        QF_TRY(qfi_layout_add(
            w->layout, (qfi_extent){ .kind = QFI_VALUE, .size = size, .source = new_payload },
            diag));
    }
    return end_entry(w, &e, diag);
}

qf_status qfi_zip_put_member(qfi_zip_writer *w, qf_str name, const qfi_zip_member *member,
                             qf_diag *diag)
{
    entry e = { .name = name,
                .packed = member->packed,
                .size = member->size,
                .crc = member->crc,
                .method = member->method };
    QF_TRY(begin_entry(w, &e, diag));
    if (member->packed)
        QF_TRY(qfi_layout_add(
            w->layout,
            (qfi_extent){ .kind = QFI_COPY, .size = member->packed, .source = member->data },
            diag));
    return end_entry(w, &e, diag);
}

/* Extra field of a directory entry: those of size, packed size and offset that need 64 bits. Bytes
 * written. */
static size_t wide_field(const entry *e, uint8_t *p)
{
    uint8_t *const begin = p;
    p = qfi_put16(p, ZIP_EXTRA64) + 2;
    if (is_large(e)) {
        p = qfi_put64(p, e->size);
        p = qfi_put64(p, e->packed);
    }
    if (e->header >= UINT32_MAX)
        p = qfi_put64(p, e->header);
    const size_t n = (size_t)(p - begin) - 4;
    qfi_put16(begin + 2, (uint16_t)n);
    return n ? n + 4 : 0;
}

static uint32_t narrow(uint64_t v)
{
    return v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
}

static qf_status put_central(qfi_zip_writer *w, const entry *e, qf_diag *diag)
{
    uint8_t wide[28];
    const size_t n_wide = wide_field(e, wide), crc_at = 16;
    const size_t size = ZIP_CENTRAL_SIZE + e->name.n + n_wide;
    uint8_t *text = qfi_pool_alloc(&w->layout->pool, size, 1), *p = text;
    if (!text)
        return no_memory(diag);
    p = qfi_put32(p, ZIP_CENTRAL);
    p = qfi_put16(p, 0); /* made by */
    p = qfi_put16(p, n_wide ? ZIP_NEEDS64 : 0);
    p = qfi_put16(p, flags_of(e));
    p = qfi_put16(p, e->method);
    p = qfi_put32(p, 0); /* time and date */
    p = qfi_put32(p, e->crc);
    p = qfi_put32(p, is_large(e) ? UINT32_MAX : (uint32_t)e->packed);
    p = qfi_put32(p, is_large(e) ? UINT32_MAX : (uint32_t)e->size);
    p = qfi_put16(p, (uint16_t)e->name.n);
    p = qfi_put16(p, (uint16_t)n_wide);
    p += 10; /* comment, disk and attributes are 0 */
    p = qfi_put32(p, narrow(e->header));
    memcpy(p, e->name.p, e->name.n);
    memcpy(p + e->name.n, wide, n_wide);
    if (e->value == NO_EXTENT)
        return add_text(w->layout, text, size, diag);
    QF_TRY(add_text(w->layout, text, crc_at, diag));
    QF_TRY(add_crc(w->layout, e->value, diag));
    return add_text(w->layout, text + crc_at + 4, size - crc_at - 4, diag);
}

/* torch writes the zip64 records even where nothing needs them. */
static qf_status put_end(qfi_zip_writer *w, uint64_t directory, qf_diag *diag)
{
    const size_t size = ZIP_END64_SIZE + ZIP_LOCATOR_SIZE + ZIP_END_SIZE;
    const uint64_t end = w->layout->size, directory_size = end - directory, n = w->n;
    const uint16_t narrow_n = n < UINT16_MAX ? (uint16_t)n : UINT16_MAX;
    uint8_t *text = qfi_pool_alloc(&w->layout->pool, size, 1), *p = text;
    if (!text)
        return no_memory(diag);
    p = qfi_put32(p, ZIP_END64);
    p = qfi_put64(p, ZIP_END64_SIZE - 12);
    p = qfi_put16(p, 0x31e); /* made by: Unix, 3.0, as torch says */
    p = qfi_put16(p, ZIP_NEEDS64);
    p = qfi_put64(p, 0); /* disks */
    p = qfi_put64(p, n);
    p = qfi_put64(p, n);
    p = qfi_put64(p, directory_size);
    p = qfi_put64(p, directory);
    p = qfi_put32(p, ZIP_LOCATOR);
    p = qfi_put32(p, 0);
    p = qfi_put64(p, end);
    p = qfi_put32(p, 1);
    p = qfi_put32(p, ZIP_END);
    p = qfi_put32(p, 0); /* disks */
    p = qfi_put16(p, narrow_n);
    p = qfi_put16(p, narrow_n);
    p = qfi_put32(p, narrow(directory_size));
    p = qfi_put32(p, narrow(directory));
    return add_text(w->layout, text, size, diag);
}

qf_status qfi_zip_finish(qfi_zip_writer *w, qf_diag *diag)
{
    const uint64_t directory = w->layout->size;
    for (size_t i = 0; i < w->n; i++)
        QF_TRY(put_central(w, &w->entry[i], diag));
    return put_end(w, directory, diag);
}
