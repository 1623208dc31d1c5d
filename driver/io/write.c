/* Layouts, and the one function that turns them into a file: text and padding through one buffer,
 * copies inside the kernel, values straight from their producer. Values that lanes suit come first,
 * each where it belongs; then all the rest, in order. */
#include <string.h>

#include "bytes.h"
#include "crc.h"
#include "lanes.h"

#define BUFFER ((size_t)256 << 10)
/* Between two reports of progress at most. */
#define COPY_STEP ((uint64_t)64 << 20)
/* Bytes of a value from which on room is taken for it; smaller ones are a write or a few. */
#define LEAST_RESERVED ((uint64_t)1 << 20)

qf_status qfi_layout_add(qfi_layout *layout, qfi_extent extent, qf_diag *diag)
{
    uint64_t size;
    if (!qf_add(layout->size, extent.size, &size))
        QF_FAIL(diag, QF_ERR_OVERFLOW, "the output has no size that fits in 64 bits");
    qfi_extent *grown =
        qfi_pool_grow(&layout->pool, layout->extent, layout->n, &layout->cap, sizeof *grown);
    if (!grown)
        QF_FAIL(diag, QF_ERR_NOMEM, "out of memory for the layout of the output");
    layout->extent = grown;
    layout->extent[layout->n++] = extent;
    layout->size = size;
    return QF_OK;
}

void qfi_layout_free(qfi_layout *layout)
{
    qfi_pool_free(&layout->pool);
    *layout = (qfi_layout){ 0 };
}

/* crc: of every VALUE extent once it is written, by number of the extent; done: which. */
typedef struct writer {
    const qfi_layout *layout;
    qfi_file *input;
    const qfi_write_options *options;
    qfi_temp temp;
    uint8_t *buffer;
    size_t n_buffer;
    uint32_t *crc;
    bool *done;
} writer;

/* A VALUE extent on its way. left: bytes that the producer still owes. */
typedef struct value {
    writer *w;
    uint64_t left;
    qfi_crc crc;
} value;

qf_status qfi_layout_told(const qfi_layout *layout, const qfi_write_options *options,
                          const qfi_temp *temp, qf_diag *diag)
{
    const uint64_t written = __atomic_load_n(&temp->written_bytes, __ATOMIC_RELAXED);
    if (!options->progress || options->progress(options->progress_user, written, layout->size))
        return QF_OK;
    return qf_fail(diag, QF_ERR_CANCELLED, "%s: cancelled", temp->target);
}

static qf_status report(const writer *w, qf_diag *diag)
{
    return qfi_layout_told(w->layout, w->options, &w->temp, diag);
}

static qf_status flush(writer *w, qf_diag *diag)
{
    const size_t n = w->n_buffer;
    w->n_buffer = 0;
    if (!n)
        return QF_OK;
    QF_TRY(qfi_temp_write(&w->temp, w->buffer, n, diag));
    return report(w, diag);
}

static qf_status put(writer *w, const void *data, size_t n, qf_diag *diag)
{
    if (n > BUFFER - w->n_buffer)
        QF_TRY(flush(w, diag));
    if (n >= BUFFER) {
        QF_TRY(qfi_temp_write(&w->temp, data, n, diag));
        return report(w, diag);
    }
    if (n)
        memcpy(w->buffer + w->n_buffer, data, n);
    w->n_buffer += n;
    return QF_OK;
}

static qf_status take_window(void *user, const void *data, size_t n, const qf_digest *note,
                             qf_diag *diag)
{
    value *v = user;
    if (n > v->left)
        QF_FAIL(diag, QF_ERR_INTERNAL, "a value has more bytes than its layout says");
    v->left -= n;
    qfi_crc_append(&v->crc, (uint32_t)note->word[0], n);
    return put(v->w, data, n, diag);
}

static qf_status put_copy(writer *w, const qfi_extent *e, size_t i, qf_diag *diag)
{
    (void)i;
    if (!w->input)
        QF_FAIL(diag, QF_ERR_INTERNAL, "a layout copies from an input that there is not");
    QF_TRY(flush(w, diag));
    for (uint64_t done = 0; done < e->size;) {
        const uint64_t n = e->size - done < COPY_STEP ? e->size - done : COPY_STEP;
        QF_TRY(qfi_temp_copy(&w->temp, w->input, e->source + done, n, diag));
        QF_TRY(report(w, diag));
        done += n;
    }
    return QF_OK;
}

static qf_status put_text(writer *w, const qfi_extent *e, size_t i, qf_diag *diag)
{
    (void)i;
    return put(w, e->text, (size_t)e->size, diag);
}

static qf_status put_pad(writer *w, const qfi_extent *e, size_t i, qf_diag *diag)
{
    (void)i;
    uint8_t pad[256];
    memset(pad, (int)(e->source & 0xff), sizeof pad);
    for (uint64_t left = e->size; left;) {
        const size_t n = left < sizeof pad ? (size_t)left : sizeof pad;
        QF_TRY(put(w, pad, n, diag));
        left -= n;
    }
    return QF_OK;
}

/* Room for a large value is taken at once: its pages then need no accounting of their own, and a
 * disk that is too small is found before the work. What is buffered comes first. */
static qf_status reserve(writer *w, uint64_t n, qf_diag *diag)
{
    return n < LEAST_RESERVED ? QF_OK
                              : qfi_temp_reserve(&w->temp, w->temp.at, w->n_buffer + n, diag);
}

static qf_status put_value(writer *w, const qfi_extent *e, size_t i, qf_diag *diag)
{
    value v = { .w = w, .left = e->size };
    const qf_sink sink = { .digest = qfi_crc_digest, .take = take_window, .user = &v };
    if (w->done[i]) {
        QF_TRY(flush(w, diag));
        w->temp.at += e->size;
        return QF_OK;
    }
    QF_TRY(reserve(w, e->size, diag));
    if (e->size)
        QF_TRY(
            w->options->produce(w->options->user, (uint32_t)e->source, QFI_NO_LANE, &sink, diag));
    if (v.left)
        QF_FAIL(diag, QF_ERR_INTERNAL, "a value lacks %llu of its %llu bytes",
                (unsigned long long)v.left, (unsigned long long)e->size);
    w->crc[i] = v.crc.sum;
    w->done[i] = true;
    return QF_OK;
}

static qf_status put_crc(writer *w, const qfi_extent *e, size_t i, qf_diag *diag)
{
    uint8_t bytes[4];
    (void)i;
    if (e->size != sizeof bytes || e->source >= w->layout->n || !w->done[e->source])
        QF_FAIL(diag, QF_ERR_INTERNAL, "a layout names the checksum of what is not written yet");
    qfi_put32(bytes, w->crc[e->source]);
    return put(w, bytes, sizeof bytes, diag);
}

static qf_status (*const put_extent[])(writer *w, const qfi_extent *e, size_t i, qf_diag *diag) = {
    [QFI_COPY] = put_copy,   [QFI_TEXT] = put_text, [QFI_PAD] = put_pad,
    [QFI_VALUE] = put_value, [QFI_CRC] = put_crc,
};

qf_status qfi_write(const qfi_layout *layout, qfi_file *input, const char *target,
                    const qfi_write_options *options, uint64_t *written, qf_diag *diag)
{
    writer w = { .layout = layout, .input = input, .options = options, .temp = { .fd = -1 } };
    qfi_pool pool = { 0 };
    qf_status st;

    w.buffer = qfi_pool_alloc(&pool, BUFFER, 1);
    w.crc = qfi_pool_alloc(&pool, layout->n, sizeof *w.crc);
    w.done = qfi_pool_alloc(&pool, layout->n, sizeof *w.done);
    if (!w.buffer || !w.crc || !w.done) {
        st = qf_fail(diag, QF_ERR_NOMEM, "%s: out of memory for writing", target);
        goto out;
    }
    QF_TRY_OUT(qfi_temp_open(target, options->replace, input, &w.temp, diag));
    QF_TRY_OUT(qfi_lanes_write(&(qfi_lanes){ layout, options, &w.temp, w.crc, w.done }, diag));
    for (size_t i = 0; i < layout->n; i++)
        QF_TRY_OUT(put_extent[layout->extent[i].kind](&w, &layout->extent[i], i, diag));
    QF_TRY_OUT(flush(&w, diag));
    QF_TRY_OUT(qfi_temp_finish(&w.temp, options->sync, diag));
    if (written)
        *written = w.temp.written_bytes;
out:
    qfi_temp_discard(&w.temp);
    qfi_pool_free(&pool);
    return st;
}
