/* The block that holds scratch values, windows and working memory of a run, kept from run to run:
 * first touches of fresh pages cost more than the arithmetic done on them. */
#include "dispatch/memory.h"

#include <sys/mman.h>

#define HUGE ((size_t)2 << 20)

struct qf_arena {
    qf_allocator from;
    char *block;
    size_t size;
    uint64_t peak;
};

qf_arena *qf_arena_new(const qf_ctx *ctx)
{
    qf_ctx full;

    if (qfi_ctx_make(ctx, &full, NULL) != QF_OK)
        return NULL;
    qf_arena *arena = full.allocator.alloc(full.allocator.user, sizeof *arena, 64);
    if (arena)
        *arena = (qf_arena){ .from = full.allocator };
    return arena;
}

static void drop_block(qf_arena *arena)
{
    if (arena->block)
        arena->from.free(arena->from.user, arena->block, arena->size);
    arena->block = NULL;
    arena->size = 0;
}

void qf_arena_free(qf_arena *arena)
{
    if (!arena)
        return;
    drop_block(arena);
    arena->from.free(arena->from.user, arena, sizeof *arena);
}

uint64_t qf_arena_peak(const qf_arena *arena)
{
    return arena->peak;
}

char *qfi_arena_block(qf_arena *arena, uint64_t size)
{
    const size_t align = size >= HUGE ? HUGE : 64;

    if (size > SIZE_MAX / 2)
        return NULL;
    if (size > arena->size || !arena->block) {
        drop_block(arena);
        const size_t want = ((size_t)size + align) & ~(align - 1);
        arena->block = arena->from.alloc(arena->from.user, want, align);
        if (!arena->block)
            return NULL;
        arena->size = want;
        /* Advice only: without huge pages the block is slower to touch, not wrong. */
        if (align == HUGE)
            (void)madvise(arena->block, want, MADV_HUGEPAGE);
    }
    if (size > arena->peak)
        arena->peak = size;
    return arena->block;
}
