/* Memory through the context's allocator, and the context with its defaults filled in. */
#ifndef QFOLD_DISPATCH_MEMORY_H
#define QFOLD_DISPATCH_MEMORY_H

#include <qfold/eval.h>

/* *out = *user with defaults for what it does not set; user NULL: all defaults. ERR_ARG for an
 * unknown struct_size. */
qf_status qfi_ctx_make(const qf_ctx *user, qf_ctx *out, qf_diag *diag);

/* Whether a result of `bytes`, with what is read for it, outgrows the last cache level, so that
 * storing it past the caches is faster. (Copies of rows on a Zen 3 with 32 MiB: plain 0.37 ms, past
 * the caches 0.44 for 8 MiB; 1.4 and 1.2 for 16 MiB; 5.4 and 4.0 for 48 MiB.) */
bool qfi_past_caches(const qf_ctx *ctx, uint64_t bytes);

/* Blocks that are freed together. Zero-initialise and set `from`. */
typedef struct qfi_bump {
    qf_allocator from;
    struct qfi_chunk *chunk;
} qfi_bump;

/* `n` objects of `size` bytes, zeroed, 16-byte aligned; NULL when out of memory. n = 0 gives a
 * valid pointer. */
void *qfi_bump_get(qfi_bump *pool, size_t n, size_t size);

/* The same, `bytes` that hold anything. */
void *qfi_bump_take(qfi_bump *pool, size_t bytes);

void qfi_bump_free(qfi_bump *pool);

/* A piece of working memory that is handed out from the front; NULL when it is used up. 64-byte
 * aligned. */
typedef struct qfi_area {
    char *p;
    size_t size, used;
} qfi_area;

void *qfi_area_get(qfi_area *area, uint64_t size);

/* The arena's block, grown to `size` bytes (its contents are lost); NULL when out of memory. */
char *qfi_arena_block(qf_arena *arena, uint64_t size);

#endif
