/* Tiles: what planning them and walking them share. */
#ifndef QFOLD_DISPATCH_TILES_H
#define QFOLD_DISPATCH_TILES_H

#include "dispatch/run.h"

#define QFI_ROW_PAD 64 /* after each row of a slot: rows do not fall into one cache set */

/* How an operand reaches the stages. */
typedef enum qfi_load {
    LOAD_NONE,
    LOAD_COPY,
    LOAD_TRANSPOSE,
    LOAD_UNPACK,
    LOAD_MADE,
} qfi_load;

static inline int64_t qfi_step_of(const qfi_form *lane, int loop)
{
    return loop < 0 ? 0 : lane->step[loop];
}

/* Fill in what a box in order needs to run: loads, stores, sizes of tiles and tasks. */
void qfi_tiles_plan(qfi_tiles *t);

#endif
