/* Memory of measurements: what is measured and what it is measured against use the same kind. */
#ifndef QFB_BUFFERS_H
#define QFB_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>

/* p: 64-byte aligned. base, mapped: the pages under it. */
typedef struct qfb_buffer {
    void *p;
    size_t size, mapped;
    void *base;
} qfb_buffer;

/* REUSED: huge pages advised, every page touched (bytes 0x3c, a harmless number in every type).
 * FRESH: pages as the system hands them out, not touched yet. */
typedef enum qfb_pages { QFB_REUSED, QFB_FRESH } qfb_pages;

/* New pages. slot: which operand this is; operands of one case start at different distances from a
 * huge page's border, as blocks of any allocator do, so that their cache sets differ. False: no
 * memory. */
bool qfb_buffer_get(qfb_buffer *b, size_t size, unsigned slot, qfb_pages pages);

/* Gives the pages back; an empty buffer is allowed. */
void qfb_buffer_free(qfb_buffer *b);

#endif
