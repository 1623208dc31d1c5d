/* A file format: how it is recognised, read into a graph, and written with edits. One row in
 * formats.def each. */
#ifndef QFI_FORMAT_H
#define QFI_FORMAT_H

#include "../graph/edit.h"
#include "layout.h"

/* head: the first bytes of the file, at most 64; tail and tail_size: the last ones, at most 64. */
typedef struct qfi_format {
    const char *name, *suffixes;
    bool (*sniff)(const uint8_t *head, size_t head_size, const uint8_t *tail, size_t tail_size);
    /* Structure only. Takes over *file on success (graph->close closes it): graph->file
     * is where it went. */
    qf_status (*load)(qfi_file *file, qf_graph **out, qf_diag *diag);
    /* The output file. NULL edits: the same model, byte for byte. layout == NULL in a row: a source
     * only. */
    qf_status (*layout)(const qf_graph *graph, const qfi_prog *prog, const qfi_edits *edits,
                        qfi_layout *out, qf_diag *diag);
} qfi_format;

/* Every format, in order of sniffing; NULL-terminated. */
extern const qfi_format *const qfi_formats[];

/* Format of an opened file. NULL if none knows it: diag then says what the file looks like
 * (ERR_FORMAT), or why it cannot be read. */
const qfi_format *qfi_format_find(qfi_file *file, qf_diag *diag);

/* The input file behind a graph, for COPY extents and counters. */
qfi_file *qfi_graph_file(const qf_graph *graph);

#define QFI_FORMAT(name) extern const qfi_format qfi_format_##name;
#include "formats.def"
#undef QFI_FORMAT

#endif
