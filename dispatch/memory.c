/* Memory through the context's allocator, and the context with its defaults filled in. */
#include "dispatch/memory.h"

#include <stdlib.h>
#include <string.h>

/* A chunk is twice as large as the one before it: thousands of tiny pipelines are held at once. */
#define FIRST_CHUNK ((size_t)1 << 10)
#define LAST_CHUNK ((size_t)1 << 14)

struct qfi_chunk {
    struct qfi_chunk *next;
    size_t size, used; /* with this header */
};

_Static_assert(sizeof(struct qfi_chunk) % 8 == 0, "what follows the header is aligned");

static void *host_alloc(void *user, size_t size, size_t align)
{
    (void)user;
    return aligned_alloc(align, (size + align - 1) / align * align);
}

static void host_free(void *user, void *p, size_t size)
{
    (void)user, (void)size;
    free(p);
}

qf_status qfi_ctx_make(const qf_ctx *user, qf_ctx *out, qf_diag *diag)
{
    *out = (qf_ctx){ .struct_size = sizeof *out };
    if (user) {
        if (user->struct_size < sizeof user->struct_size || user->struct_size > sizeof *out)
            QF_FAIL(diag, QF_ERR_ARG, "a context of %zu bytes", user->struct_size);
        memcpy(out, user, user->struct_size);
    }
    if (!out->allocator.alloc || !out->allocator.free)
        out->allocator = (qf_allocator){ host_alloc, host_free, NULL };
    if (!out->table)
        out->table = qf_table_best();
    if (out->memory == 0)
        out->memory = QF_MEMORY_DEFAULT;
    return QF_OK;
}

bool qfi_past_caches(const qf_ctx *ctx, uint64_t bytes)
{
    return bytes >= (ctx->cache ? ctx->cache : qf_cache_detect()) / 2;
}

/* A chunk with room for `bytes`, and at least twice as large as the one before it. */
static struct qfi_chunk *add_chunk(qfi_bump *pool, size_t bytes)
{
    const size_t next = pool->chunk ? pool->chunk->size * 2 : FIRST_CHUNK;
    const size_t least = next < LAST_CHUNK ? next : LAST_CHUNK;
    const size_t used = (sizeof(struct qfi_chunk) + 15) & ~(size_t)15;
    const size_t size = used + bytes < least ? least : used + bytes;
    struct qfi_chunk *c = pool->from.alloc(pool->from.user, size, 64);

    if (c)
        *c = (struct qfi_chunk){ .next = pool->chunk, .size = size, .used = used };
    if (c)
        pool->chunk = c;
    return c;
}

void *qfi_bump_take(qfi_bump *pool, size_t bytes)
{
    struct qfi_chunk *c = pool->chunk;

    if (bytes > SIZE_MAX / 2)
        return NULL;
    bytes = (bytes + 15) & ~(size_t)15;
    if (!c || c->size - c->used < bytes)
        c = add_chunk(pool, bytes);
    if (!c)
        return NULL;
    void *p = (char *)c + c->used;
    c->used += bytes;
    return p;
}

void *qfi_bump_get(qfi_bump *pool, size_t n, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(n, size, &bytes))
        return NULL;
    void *p = qfi_bump_take(pool, bytes);
    return p ? memset(p, 0, bytes) : NULL;
}

void qfi_bump_free(qfi_bump *pool)
{
    while (pool->chunk) {
        struct qfi_chunk *c = pool->chunk;
        pool->chunk = c->next;
        pool->from.free(pool->from.user, c, c->size);
    }
}

void *qfi_area_get(qfi_area *area, uint64_t size)
{
    if (size > area->size || area->used > area->size - size)
        return NULL;
    void *p = area->p + area->used;
    area->used += ((size_t)size + 63) & ~(size_t)63;
    if (area->used > area->size)
        area->used = area->size;
    return p;
}
