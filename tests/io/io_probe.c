/* A filter that the Python oracles drive:  json: hex of a document a line -> 1 or 0.
 * double: a number a line -> its bits in hex, and the number as the writer spells it.
 * unzip FILE: each member -> method, size, CRC of what was read, name.  rezip FILE OUT: copies all
 * members and adds a text, a value of 70000 bytes and an empty member. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/json.h"
#include "io/zip.h"
#include "zip_builder.h"

static void strip(char *line)
{
    line[strcspn(line, "\n")] = 0;
}

static void probe_json(char *line)
{
    const size_t n = strlen(line) / 2;
    char *text = malloc(n + 1);
    for (size_t i = 0; i < n; i++) {
        const char digits[3] = { line[2 * i], line[2 * i + 1], 0 };
        text[i] = (char)strtoul(digits, NULL, 16);
    }
    qfi_json j = { .text = text, .n = n, .name = "stdin" };
    printf("%d\n", qfi_json_skip(&j, NULL) && qfi_json_done(&j));
    free(text);
}

static void probe_double(char *line)
{
    qfi_pool pool = { 0 };
    qfi_text t = { .pool = &pool };
    qfi_json j = { .text = line, .n = strlen(line), .name = "stdin" };
    double v;
    uint64_t bits;
    if (qfi_json_double(&j, &v)) {
        memcpy(&bits, &v, sizeof bits);
        qfi_text_double(&t, v);
        printf("%016llx %s\n", (unsigned long long)bits, t.p);
    } else {
        printf("error\n");
    }
    qfi_pool_free(&pool);
}

static qf_status list(const qfi_zip *zip, qfi_pool *pool, qf_diag *diag)
{
    for (uint32_t i = 0; i < zip->n_member; i++) {
        const qfi_zip_member *m = &zip->member[i];
        qf_str text;
        QF_TRY(qfi_zip_read(zip, m, UINT64_C(1) << 30, pool, &text, diag));
        printf("%u %zu %08x %.*s\n", m->method, text.n, (unsigned)slow_crc(text.p, text.n),
               QFI_STR(m->name));
    }
    return QF_OK;
}

static qf_status produce(void *user, uint32_t new_payload, uint32_t lane, const qf_sink *sink,
                         qf_diag *diag)
{
    (void)lane;
    (void)user;
    uint8_t window[7000];
    memset(window, (int)new_payload, sizeof window);
    for (int i = 0; i < 10; i++)
        QF_TRY(qf_sink_write(sink, window, sizeof window, diag));
    return QF_OK;
}

static qf_status rezip(const qfi_zip *zip, const char *target, qf_diag *diag)
{
    const qfi_write_options options = { .produce = produce, .replace = true };
    qfi_layout layout = { 0 };
    qf_status st;
    qfi_zip_writer *w = qfi_zip_writer_new(&layout);
    for (uint32_t i = 0; i < zip->n_member; i++)
        QF_TRY_OUT(qfi_zip_put_member(w, zip->member[i].name, &zip->member[i], diag));
    QF_TRY_OUT(qfi_zip_put_text(w, (qf_str){ "new/text", 8 }, (qf_str){ "hello", 5 }, diag));
    QF_TRY_OUT(qfi_zip_put_value(w, (qf_str){ "new/value", 9 }, 42, 70000, diag));
    QF_TRY_OUT(qfi_zip_put_value(w, (qf_str){ "new/empty", 9 }, 43, 0, diag));
    QF_TRY_OUT(qfi_zip_finish(w, diag));
    QF_TRY_OUT(qfi_write(&layout, zip->file, target, &options, NULL, diag));
out:
    qfi_layout_free(&layout);
    return st;
}

static int probe_zip(const char *path, const char *target)
{
    qf_diag diag = { 0 };
    qfi_file file = { .fd = -1 };
    qfi_pool pool = { 0 };
    qfi_zip zip;
    qf_status st;
    QF_TRY_OUT(qfi_file_open(path, &file, &diag));
    QF_TRY_OUT(qfi_zip_open(&file, &pool, &zip, &diag));
    QF_TRY_OUT(target ? rezip(&zip, target, &diag) : list(&zip, &pool, &diag));
out:
    if (st != QF_OK)
        printf("%s %s\n", qf_status_name(st), diag.text);
    qfi_pool_free(&pool);
    qfi_file_close(&file);
    return st != QF_OK;
}

/* Every extent at its place; values and their checksums stay zeros. */
static bool write_with_holes(const qfi_layout *layout, FILE *out)
{
    uint64_t at = 0;
    bool good = true;
    for (size_t i = 0; i < layout->n && good; i++) {
        const qfi_extent *e = &layout->extent[i];
        if (e->kind == QFI_TEXT)
            good = !fseeko(out, (off_t)at, SEEK_SET) &&
                   fwrite(e->text, 1, (size_t)e->size, out) == e->size;
        at += e->size;
    }
    return good && at == layout->size;
}

static int probe_large(const char *target)
{
    qfi_layout layout = { 0 };
    qf_diag diag = { 0 };
    FILE *out = fopen(target, "wb");
    bool good = false;
    qf_status st;
    qfi_zip_writer *w = qfi_zip_writer_new(&layout);
    QF_TRY_OUT(qfi_zip_put_text(w, (qf_str){ "a/first", 7 }, (qf_str){ "first", 5 }, &diag));
    QF_TRY_OUT(qfi_zip_put_value(w, (qf_str){ "a/large", 7 }, 0, UINT64_C(5) << 30, &diag));
    QF_TRY_OUT(qfi_zip_put_text(w, (qf_str){ "a/last", 6 }, (qf_str){ "last", 4 }, &diag));
    QF_TRY_OUT(qfi_zip_finish(w, &diag));
    good = out && write_with_holes(&layout, out);
out:
    qfi_layout_free(&layout);
    if (out)
        good = !fclose(out) && good;
    return st == QF_OK && good ? 0 : 1;
}

/* Directory only: the large member's checksum is not there. */
static int probe_list(const char *path)
{
    qf_diag diag = { 0 };
    qfi_file file = { .fd = -1 };
    qfi_pool pool = { 0 };
    qfi_zip zip;
    qf_status st;
    QF_TRY_OUT(qfi_file_open(path, &file, &diag));
    QF_TRY_OUT(qfi_zip_open(&file, &pool, &zip, &diag));
    for (uint32_t i = 0; i < zip.n_member; i++)
        printf("%llu %llu %.*s\n", (unsigned long long)zip.member[i].data,
               (unsigned long long)zip.member[i].size, QFI_STR(zip.member[i].name));
out:
    qfi_pool_free(&pool);
    qfi_file_close(&file);
    return st != QF_OK;
}

int main(int n, char **args)
{
    static char line[1 << 16];
    if (n > 2 && !strcmp(args[1], "large"))
        return probe_large(args[2]);
    if (n > 2 && !strcmp(args[1], "list"))
        return probe_list(args[2]);
    if (n > 2)
        return probe_zip(args[2], n > 3 ? args[3] : NULL);
    void (*const probe)(char *) = n > 1 && !strcmp(args[1], "double") ? probe_double : probe_json;
    while (fgets(line, sizeof line, stdin)) {
        strip(line);
        probe(line);
    }
    return 0;
}
