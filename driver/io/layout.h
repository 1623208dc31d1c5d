/* A file to be written, as a list of extents in order, each of known size; and the function that
 * writes it.
 *
 *   COPY   bytes of the input file, moved inside the kernel
 *   TEXT   bytes in memory
 *   PAD    bytes of one value
 *   VALUE  a new payload, produced in windows while it is written
 *   CRC    4 bytes: CRC-32 of the VALUE extent `source`, once it has been written */
#ifndef QFI_LAYOUT_H
#define QFI_LAYOUT_H

#include <qfold/eval.h>

#include "../graph/pool.h"
#include "file.h"

typedef enum qfi_extent_kind { QFI_COPY, QFI_TEXT, QFI_PAD, QFI_VALUE, QFI_CRC } qfi_extent_kind;

/* source: COPY: offset in the input; VALUE: index of the new payload; CRC: index of the VALUE
 * extent; PAD: the byte. */
typedef struct qfi_extent {
    qfi_extent_kind kind;
    uint64_t size, source;
    const void *text;
} qfi_extent;

typedef struct qfi_layout {
    qfi_pool pool;
    qfi_extent *extent;
    size_t n, cap;
    uint64_t size; /* sum of sizes: offset of the next extent */
} qfi_layout;

QF_NODISCARD qf_status qfi_layout_add(qfi_layout *layout, qfi_extent extent, qf_diag *diag);
void qfi_layout_free(qfi_layout *layout);

/* A value that all threads make together. */
#define QFI_NO_LANE UINT32_MAX

/* produce: must pass exactly the extent's size to the sink, whose digest has one word; not called
 * for size 0. lane: QFI_NO_LANE, or the number of one of several that run at once, in each of them
 * one call at a time.
 * threads: may be NULL; where lanes run: as many as there are workers.  fits: whether a value is
 * small enough to be made beside n_lane - 1 others like it; needed with threads.
 * progress: may be NULL; told by one thread at a time; false cancels. replace, sync: as in
 * qfi_temp_open and qfi_temp_finish. */
typedef struct qfi_write_options {
    qf_status (*produce)(void *user, uint32_t new_payload, uint32_t lane, const qf_sink *sink,
                         qf_diag *diag);
    bool (*fits)(void *user, uint32_t new_payload, uint32_t n_lane);
    const qf_ctx *threads;
    void *user;
    bool (*progress)(void *user, uint64_t done, uint64_t total);
    void *progress_user;
    bool replace, sync;
} qfi_write_options;

/* Reports what was written so far; ERR_CANCELLED if that is the answer. */
QF_NODISCARD qf_status qfi_layout_told(const qfi_layout *layout, const qfi_write_options *options,
                                       const qfi_temp *temp, qf_diag *diag);

/* Writes the layout to a temporary file beside `target` that gets its name at the end; on any
 * failure nothing is left. written (may be NULL): bytes written. */
QF_NODISCARD qf_status qfi_write(const qfi_layout *layout, qfi_file *input, const char *target,
                                 const qfi_write_options *options, uint64_t *written,
                                 qf_diag *diag);

#endif
