/* Tiles: what planning them and walking them share. */
#ifndef QFOLD_DISPATCH_TILES_H
#define QFOLD_DISPATCH_TILES_H

#include "dispatch/run.h"

#define QFI_ROW_PAD 64 /* after each row of a slot: rows do not fall into one cache set */

/* Bytes of a row of the destination below which it is not worth streaming. */
#define QFI_LEAST_RUN 256

/* How an operand reaches the stages. */
typedef enum qfi_load {
    QFI_LOAD_NONE,
    QFI_LOAD_COPY,
    QFI_LOAD_TRANSPOSE,
    QFI_LOAD_UNPACK,
    QFI_LOAD_MADE,
    QFI_LOAD_UPDATE, /* the kernel of the update makes it */
} qfi_load;

/* Elements that a lane goes on in a step of a loop; 0 for loop -1, which there is not. */
static inline int64_t qfi_step_of(const qfi_form *lane, int loop)
{
    return loop < 0 ? 0 : lane->step[loop];
}

/* Stores that pass the caches are not ordered with those that tell other threads of them. */
static inline void qfi_store_fence(void)
{
#if defined(__x86_64__)
    __builtin_ia32_sfence();
#endif
}

/* Fill in what a box in order needs to run: loads, stores, sizes of tiles and tasks. */
void qfi_tiles_plan(qfi_tiles *t);

#endif
