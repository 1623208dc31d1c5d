/* Archives: members that can be read stay the same when the archive is written again. */
#include <string.h>

#include "fuzz_file.h"
#include "io/zip.h"

#define LIMIT (1 << 20)

static void check_member(const qfi_zip *zip, const qfi_zip_member *m)
{
    qfi_pool pool = { 0 };
    qf_diag diag = { 0 };
    qf_storage *storage = NULL;
    qf_str text;
    uint8_t byte;
    FUZZ_CHECK(qfi_zip_find(zip, m->name) == m);
    FUZZ_CHECK(m->data <= zip->file->size && m->packed <= zip->file->size - m->data);
    if (qfi_zip_read(zip, m, LIMIT, &pool, &text, &diag) == QF_OK && text.n) {
        FUZZ_CHECK(qfi_zip_storage(zip, m, &storage, &diag) == QF_OK);
        FUZZ_CHECK(storage->read(storage->ctx, text.n - 1, &byte, 1, &diag) == QF_OK);
        FUZZ_CHECK(byte == (uint8_t)text.p[text.n - 1]);
        qf_storage_unref(storage);
    }
    qfi_pool_free(&pool);
}

static void check_rewrite(const qfi_zip *zip)
{
    qfi_layout layout = { 0 };
    qf_diag diag = { 0 };
    qfi_zip_writer *w = qfi_zip_writer_new(&layout);
    for (uint32_t i = 0; i < zip->n_member; i++)
        FUZZ_CHECK(qfi_zip_put_member(w, zip->member[i].name, &zip->member[i], &diag) == QF_OK);
    FUZZ_CHECK(qfi_zip_finish(w, &diag) == QF_OK);
    qfi_layout_free(&layout);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char path[32];
    const int fd = fuzz_file(data, n, path);
    qfi_pool pool = { 0 };
    qf_diag diag = { 0 };
    qfi_file file;
    qfi_zip zip;
    FUZZ_CHECK(qfi_file_open(path, &file, &diag) == QF_OK);
    const qf_status st = qfi_zip_open(&file, &pool, &zip, &diag);
    FUZZ_CHECK(st == diag.code);
    if (st == QF_OK) {
        for (uint32_t i = 0; i < zip.n_member; i++)
            check_member(&zip, &zip.member[i]);
        check_rewrite(&zip);
    } else {
        FUZZ_CHECK(strstr(diag.text, path));
    }
    qfi_pool_free(&pool);
    qfi_file_close(&file);
    close(fd);
    return 0;
}
