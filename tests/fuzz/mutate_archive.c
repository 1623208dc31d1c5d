/* Mutations for libFuzzer that keep an archive an archive: one member is changed, most often a
 * text, and the archive written anew around it. What is no archive is changed as any bytes are. */
#include <stdlib.h>
#include <string.h>

#include "fuzz_file.h"
#include "io/zip.h"

#define LARGEST_MEMBER ((size_t)64 << 10)

size_t LLVMFuzzerMutate(uint8_t *data, size_t n, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t most, unsigned seed);

static bool is_text(const qfi_zip_member *m)
{
    return m->name.n > 5 && !memcmp(m->name.p + m->name.n - 5, ".json", 5);
}

/* Seven of eight times a text, if there is one. */
static const qfi_zip_member *choose(const qfi_zip *zip, unsigned seed)
{
    const qfi_zip_member *chosen = NULL;
    unsigned n = 0;
    for (uint32_t i = 0; i < zip->n_member; i++)
        if (seed % 8 == 0 || is_text(&zip->member[i])) {
            n++;
            if (seed / 8 % n == 0)
                chosen = &zip->member[i];
        }
    return chosen;
}

/* Bytes of a layout that only copies and writes texts; 0 if there is no room for them. */
static size_t flatten(const qfi_layout *layout, const uint8_t *from, uint8_t *to, size_t most)
{
    size_t at = 0;
    if (layout->size > most)
        return 0;
    for (size_t i = 0; i < layout->n; i++) {
        const qfi_extent *e = &layout->extent[i];
        const size_t n = (size_t)e->size;
        if (e->kind == QFI_PAD)
            memset(to + at, (int)(e->source & 0xff), n);
        else if (n)
            memcpy(to + at, e->kind == QFI_COPY ? (const void *)(from + e->source) : e->text, n);
        at += n;
    }
    return at;
}

static qf_status write_changed(const qfi_zip *zip, const qfi_zip_member *chosen, qf_str text,
                               qfi_layout *layout, qf_diag *diag)
{
    qfi_zip_writer *w = qfi_zip_writer_new(layout);
    if (!w)
        QF_FAIL(diag, QF_ERR_NOMEM, "out of memory");
    for (uint32_t i = 0; i < zip->n_member; i++) {
        const qfi_zip_member *m = &zip->member[i];
        QF_TRY(m == chosen ? qfi_zip_put_text(w, m->name, text, diag)
                           : qfi_zip_put_member(w, m->name, m, diag));
    }
    return qfi_zip_finish(w, diag);
}

/* The new size; 0: nothing was changed. from: a copy of the archive. */
static size_t mutate_member(qfi_file *file, const uint8_t *from, uint8_t *data, size_t most,
                            unsigned seed)
{
    static uint8_t member[LARGEST_MEMBER];
    qfi_pool pool = { 0 };
    qfi_layout layout = { 0 };
    qf_diag diag = { 0 };
    qfi_zip zip;
    qf_str text;
    size_t n = 0;
    if (qfi_zip_open(file, &pool, &zip, &diag) == QF_OK) {
        const qfi_zip_member *m = choose(&zip, seed);
        if (m && qfi_zip_read(&zip, m, LARGEST_MEMBER, &pool, &text, &diag) == QF_OK) {
            if (text.n)
                memcpy(member, text.p, text.n);
            text =
                (qf_str){ (const char *)member, LLVMFuzzerMutate(member, text.n, LARGEST_MEMBER) };
            if (write_changed(&zip, m, text, &layout, &diag) == QF_OK)
                n = flatten(&layout, from, data, most);
        }
    }
    qfi_layout_free(&layout);
    qfi_pool_free(&pool);
    return n;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t most, unsigned seed)
{
    char path[32];
    qfi_file file;
    qf_diag diag = { 0 };
    size_t changed = 0;
    uint8_t *copy = seed % 16 && n ? malloc(n) : NULL;
    if (copy) {
        memcpy(copy, data, n);
        const int fd = fuzz_file(copy, n, path);
        if (qfi_file_open(path, &file, &diag) == QF_OK) {
            changed = mutate_member(&file, copy, data, most, seed / 16);
            qfi_file_close(&file);
        }
        close(fd);
        free(copy);
    }
    return changed ? changed : LLVMFuzzerMutate(data, n, most);
}
