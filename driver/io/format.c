/* Recognising a file by its first and last bytes, and saying what an unknown one looks like. */
#include "format.h"

#include <ctype.h>
#include <string.h>

#define EDGE 64

const qfi_format *const qfi_formats[] = {
#define QFI_FORMAT(name) &qfi_format_##name,
#include "formats.def"
#undef QFI_FORMAT
    NULL,
};

/* What people mistake for a model, and what to do then. */
static const struct {
    uint8_t at, n;
    const char *bytes, *what;
} looks[] = {
    { 0, 4, "PK\3\4", "a zip archive, but not a model" },
    { 0, 4, "PK\5\6", "an empty zip archive" },
    { 0, 2, "\x1f\x8b", "gzip data: unpack it first" },
    { 0, 4, "\x28\xb5\x2f\xfd", "zstd data: unpack it first" },
    { 0, 3, "BZh", "bzip2 data: unpack it first" },
    { 0, 6,
      "\xfd"
      "7zXZ\0",
      "xz data: unpack it first" },
    { 0, 2, "\x80\2", "a Python pickle, not an exported program" },
    { 0, 2, "\x80\3", "a Python pickle, not an exported program" },
    { 0, 2, "\x80\4", "a Python pickle, not an exported program" },
    { 0, 2, "\x80\5", "a Python pickle, not an exported program" },
    { 0, 23, "version https://git-lfs", "a Git LFS pointer: the model itself is not here" },
    { 0, 4, "GGUF", "a GGUF file" },
    { 8, 2, "{\"", "a safetensors file" },
    { 0, 8, "\x89HDF\r\n\x1a\n", "an HDF5 file" },
    { 0, 4,
      "\x7f"
      "ELF",
      "a program" },
    { 0, 1, "\x08", "an ONNX file, perhaps" },
};

static const char *look(const uint8_t *head, size_t n)
{
    if (!n)
        return "an empty file";
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++)
        if (n >= (size_t)looks[i].at + looks[i].n &&
            !memcmp(head + looks[i].at, looks[i].bytes, looks[i].n))
            return looks[i].what;
    for (size_t i = 0; i < n; i++)
        if (head[i] < 0x80 && !isprint(head[i]) && !isspace(head[i]))
            return "other binary data";
    return "text";
}

const qfi_format *qfi_format_find(qfi_file *file, qf_diag *diag)
{
    uint8_t head[EDGE], tail[EDGE];
    const size_t n = file->size < EDGE ? (size_t)file->size : EDGE;
    if (qfi_file_read(file, 0, head, n, diag) != QF_OK ||
        qfi_file_read(file, file->size - n, tail, n, diag) != QF_OK)
        return NULL;
    for (const qfi_format *const *f = qfi_formats; *f; f++)
        if ((*f)->sniff(head, n, tail, n))
            return *f;
    (void)qf_fail(diag, QF_ERR_FORMAT, "%s: not a known format: it looks like %s", file->path,
                  look(head, n));
    return NULL;
}

qfi_file *qfi_graph_file(const qf_graph *graph)
{
    return graph->file;
}
