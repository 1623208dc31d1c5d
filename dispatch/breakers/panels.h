/* Walking an operand whose dims are ordered rows, then columns, when every row must be met from its
 * start to its end: groups of rows, panels of their columns, blocks of rows within a panel. */
#ifndef QFOLD_DISPATCH_PANELS_H
#define QFOLD_DISPATCH_PANELS_H

#include "dispatch/breakers/breaker.h"

#define QFI_BLOCK 2048 /* elements of the operand that a block takes at a time */
#define QFI_BLOCK_ROWS 64

/* Set by the caller: the run, the operand, and the box of it that is needed: n_row dims of rows,
 * the others, columns, from 0; carry: bytes that a row hands from panel to panel. An operand that
 * has to be read is read a panel of a group at a time, as it lies in its storage. */
typedef struct qfi_panels {
    qfi_run *run;
    const qfi_segment *segment;
    int n_row;
    int64_t lo[QFI_DIMS], n[QFI_DIMS];
    uint64_t carry;

    qfi_walk groups, panels;
    int64_t block_rows, block_columns;
    bool reads;
    uint64_t each, fetch; /* bytes of a task's memory, and of what its reads get of it */
    char *work, *state;
} qfi_panels;

/* A block of rows, of which a panel's columns are there. lo, n: the part of the operand.  rows:
 * their number.  column: number of the first one.  carried: what the rows hand on; NULL where a
 * panel holds all columns. */
typedef struct qfi_panel_block {
    int64_t lo[QFI_DIMS], n[QFI_DIMS], rows, column;
    char *carried;
    bool last;
} qfi_panel_block;

/* Takes one block; `mine` is memory of the task. */
typedef qf_status qfi_panel_visit(const void *user, qfi_run *run, const qfi_panel_block *block,
                                  char *mine);

/* Of breakers with attributes of reductions: the order of the operand's dims, kept, then reduced;
 * and the panels of the box [lo, lo + n) of the result, and its strides of the kept dims alone.
 * Returns the number of columns. */
void qfi_panels_order(const qfi_breaker *x, uint8_t *order);
int64_t qfi_panels_reduced(qfi_panels *p, const qfi_breaker *x, const int64_t *lo, const int64_t *n,
                           const int64_t *stride, int64_t *kept_stride);

/* Visit all blocks, the panels of a group in order, the blocks of a panel in parallel. each: bytes
 * that a task needs. */
qf_status qfi_panels_run(qfi_panels *p, uint64_t each, qfi_panel_visit *visit, const void *user);

/* The columns of a block in chunks of at most QFI_BLOCK elements, in order; *lo and *n: the part of
 * the operand. Returns the number of columns. */
qfi_walk qfi_panel_chunks(const qfi_panels *p, const qfi_panel_block *block);
int64_t qfi_panel_chunk(const qfi_panels *p, const qfi_panel_block *block, const qfi_walk *chunks,
                        int64_t i, int64_t *lo, int64_t *n);

#endif
