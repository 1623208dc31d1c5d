/* Pools: a list of blocks, each twice the size of the one before it, up to a limit. */
#include "pool.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BLOCK ((size_t)4 << 10)
#define LAST_BLOCK ((size_t)4 << 20)

struct qfi_pool_block {
    qfi_pool_block *next;
    size_t size;
    alignas(max_align_t) char bytes[];
};

static void *default_alloc(size_t size)
{
    return calloc(1, size);
}

static void *(*alloc_hook)(size_t size) = default_alloc;
static void (*release_hook)(void *p) = free;

void qfi_pool_hook(void *(*alloc)(size_t size), void (*release)(void *p))
{
    alloc_hook = alloc ? alloc : default_alloc;
    release_hook = release ? release : free;
}

static qfi_pool_block *add_block(qfi_pool *pool, size_t size)
{
    size_t room = pool->block ? pool->block->size * 2 : FIRST_BLOCK;
    if (room > LAST_BLOCK)
        room = LAST_BLOCK;
    if (room < size)
        room = size;
    if (room > SIZE_MAX - sizeof(qfi_pool_block))
        return NULL;
    qfi_pool_block *block = alloc_hook(sizeof *block + room);
    if (!block)
        return NULL;
    *block = (qfi_pool_block){ .next = pool->block, .size = room };
    pool->block = block;
    pool->used = 0;
    return block;
}

void *qfi_pool_alloc(qfi_pool *pool, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX - alignof(max_align_t))
        return NULL;
    bytes = (bytes + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
    if ((!pool->block || pool->block->size - pool->used < bytes) && !add_block(pool, bytes))
        return NULL;
    void *p = pool->block->bytes + pool->used;
    pool->used += bytes;
    return p;
}

char *qfi_pool_text(qfi_pool *pool, const char *p, size_t n)
{
    char *text = n == SIZE_MAX ? NULL : qfi_pool_alloc(pool, n + 1, 1);
    if (text && n)
        memcpy(text, p, n);
    return text;
}

char *qfi_pool_format(qfi_pool *pool, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = n < 0 ? NULL : qfi_pool_alloc(pool, (size_t)n + 1, 1);
    if (text) {
        va_start(arguments, format);
        vsnprintf(text, (size_t)n + 1, format, arguments);
        va_end(arguments);
    }
    return text;
}

void *qfi_pool_grow(qfi_pool *pool, void *array, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return array;
    const size_t want = *cap ? *cap * 2 : 16;
    void *larger = want < *cap ? NULL : qfi_pool_alloc(pool, want, size);
    if (!larger)
        return NULL;
    if (n)
        memcpy(larger, array, n * size);
    *cap = want;
    return larger;
}

void qfi_pool_free(qfi_pool *pool)
{
    for (qfi_pool_block *block = pool->block, *next; block; block = next) {
        next = block->next;
        release_hook(block);
    }
    *pool = (qfi_pool){ 0 };
}
