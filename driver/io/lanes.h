/* Values of a layout that are made at once, each by one thread and written where it belongs: no
 * thread waits for another, however small they are. */
#ifndef QFI_LANES_H
#define QFI_LANES_H

#include "layout.h"

/* What is written to. crc, done: as in write.c, set here for what was written. */
typedef struct qfi_lanes {
    const qfi_layout *layout;
    const qfi_write_options *options;
    qfi_temp *temp;
    uint32_t *crc;
    bool *done;
} qfi_lanes;

/* Makes and writes the values that lanes suit, and leaves the others. */
QF_NODISCARD qf_status qfi_lanes_write(const qfi_lanes *lanes, qf_diag *diag);

#endif
