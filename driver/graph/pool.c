/* Pools: a list of blocks, each twice the size of the one before it, up to a limit. */
#include "pool.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Thousands of pools hold one small thing. */
#define FIRST_BLOCK ((size_t)512)
#define LAST_BLOCK ((size_t)8 << 20)
/* Blocks of this size are pages of their own, huge ones where the system has them: the first touch
 * of 60 MB for 20,000 nodes by small pages takes as long as all that is done with them. */
#define HUGE_PAGE ((size_t)2 << 20)
/* A pool that needs more than this is on its way to a huge page: clearing one takes 0.1 ms, the
 * first touches of as many small pages 0.3 to 1.5 ms. */
#define MOST_SMALL ((size_t)256 << 10)

/* mapping, mapped: the pages around a block, NULL for one that the hook gave. */
struct qfi_pool_block {
    qfi_pool_block *next;
    size_t size;
    void *mapping;
    size_t mapped;
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

/* A block that begins at a huge page. */
static qfi_pool_block *map_block(size_t room)
{
    if (room > SIZE_MAX / 2)
        return NULL;
    const size_t size = sizeof(qfi_pool_block) + room, mapped = size + HUGE_PAGE;
    char *mapping = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED)
        return NULL;
    char *p = mapping + (HUGE_PAGE - (uintptr_t)mapping % HUGE_PAGE) % HUGE_PAGE;
#ifdef MADV_HUGEPAGE
    (void)madvise(p, size, MADV_HUGEPAGE); /* advice: without it the block is only slower */
#endif
    qfi_pool_block *block = (qfi_pool_block *)(void *)p;
    *block = (qfi_pool_block){ .size = room, .mapping = mapping, .mapped = mapped };
    return block;
}

static qfi_pool_block *hooked_block(size_t room)
{
    if (room > SIZE_MAX - sizeof(qfi_pool_block))
        return NULL;
    qfi_pool_block *block = alloc_hook(sizeof *block + room);
    if (block)
        block->size = room;
    return block;
}

/* A block of its own for what is large: the one in use goes on. */
static void *add_large(qfi_pool *pool, size_t size)
{
    qfi_pool_block *block = alloc_hook == default_alloc ? map_block(size) : hooked_block(size);
    if (!block)
        return NULL;
    block->next = pool->block->next;
    pool->block->next = block;
    return block->bytes;
}

static void *add_block(qfi_pool *pool, size_t size)
{
    size_t room = pool->block ? pool->block->size * 2 : FIRST_BLOCK;
    if (room > MOST_SMALL && room < HUGE_PAGE)
        room = HUGE_PAGE;
    if (room > LAST_BLOCK)
        room = LAST_BLOCK;
    if (pool->block && size > room / 2 && size >= HUGE_PAGE)
        return add_large(pool, size);
    if (room < size)
        room = size;
    qfi_pool_block *block =
        room >= HUGE_PAGE && alloc_hook == default_alloc ? map_block(room) : hooked_block(room);
    if (!block)
        return NULL;
    block->next = pool->block;
    pool->block = block;
    pool->used = size;
    return block->bytes;
}

static size_t aligned(size_t bytes)
{
    return (bytes + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
}

void *qfi_pool_alloc(qfi_pool *pool, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX - alignof(max_align_t))
        return NULL;
    bytes = aligned(bytes);
    if (!pool->block || pool->block->size - pool->used < bytes)
        return add_block(pool, bytes);
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

qf_str qfi_pool_join(qfi_pool *pool, size_t n, const qf_str *part)
{
    size_t size = 1;
    for (size_t i = 0; i < n; i++)
        if (__builtin_add_overflow(size, part[i].n, &size))
            return (qf_str){ NULL, 0 };
    char *text = qfi_pool_alloc(pool, size, 1);
    size = 0;
    for (size_t i = 0; text && i < n; size += part[i++].n)
        if (part[i].n)
            memcpy(text + size, part[i].p, part[i].n);
    return (qf_str){ text, text ? size : 0 };
}

char *qfi_pool_format(qfi_pool *pool, const char *format, ...)
{
    char small[128];
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(small, sizeof small, format, arguments);
    va_end(arguments);
    if (n >= 0 && (size_t)n < sizeof small)
        return qfi_pool_text(pool, small, (size_t)n);
    char *text = n < 0 ? NULL : qfi_pool_alloc(pool, (size_t)n + 1, 1);
    if (text) {
        va_start(arguments, format);
        vsnprintf(text, (size_t)n + 1, format, arguments);
        va_end(arguments);
    }
    return text;
}

/* The last array of the block in use becomes longer where it stands, if there is room. */
static bool extend(qfi_pool *pool, const void *array, size_t cap, size_t want, size_t size)
{
    size_t bytes;
    if (!array || __builtin_mul_overflow(want, size, &bytes))
        return false;
    const char *end = (const char *)array + aligned(cap * size);
    if (end != pool->block->bytes + pool->used || bytes > SIZE_MAX - alignof(max_align_t) ||
        aligned(bytes) - aligned(cap * size) > pool->block->size - pool->used)
        return false;
    pool->used += aligned(bytes) - aligned(cap * size);
    return true;
}

void *qfi_pool_reserve(qfi_pool *pool, void *array, size_t n, size_t *cap, size_t want, size_t size)
{
    if (want <= *cap)
        return want < n ? NULL : array; /* twice the length may be no number */
    if (extend(pool, array, *cap, want, size)) {
        *cap = want;
        return array;
    }
    void *larger = qfi_pool_alloc(pool, want, size);
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
        if (block->mapping)
            munmap(block->mapping, block->mapped);
        else
            release_hook(block);
    }
    *pool = (qfi_pool){ 0 };
}
