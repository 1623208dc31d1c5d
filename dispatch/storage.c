/* Reference-counted bytes, in memory or behind a reader. */
#include <stdlib.h>

#include <qfold/tensor.h>

/* The header stands in front of the bytes that it owns, so that one release frees both. */
#define HEADER 64
_Static_assert(sizeof(qf_storage) <= HEADER,
               "the bytes of a storage start one cache line behind it");

static qf_storage *make(qf_storage value)
{
    qf_storage *s = malloc(sizeof *s);
    if (s)
        *s = value;
    return s;
}

qf_storage *qf_storage_new(uint64_t size)
{
    uint64_t all;
    if (!qf_add(size, HEADER + 63, &all) || all > SIZE_MAX)
        return NULL;
    qf_storage *s = aligned_alloc(64, (size_t)(all & ~(uint64_t)63));
    if (s)
        *s = (qf_storage){ .data = (char *)s + HEADER, .size = size, .refs = 1, .writable = true };
    return s;
}

qf_storage *qf_storage_wrap(void *data, uint64_t size, bool writable)
{
    return make((qf_storage){ .data = data, .size = size, .refs = 1, .writable = writable });
}

qf_storage *qf_storage_from_reader(uint64_t size,
                                   qf_status (*read)(void *ctx, uint64_t at, void *dst, size_t n,
                                                     qf_diag *diag),
                                   void (*release)(void *ctx), void *ctx)
{
    return make(
        (qf_storage){ .size = size, .refs = 1, .read = read, .release = release, .ctx = ctx });
}

qf_storage *qf_storage_ref(qf_storage *storage)
{
    if (storage)
        __atomic_add_fetch(&storage->refs, 1, __ATOMIC_RELAXED);
    return storage;
}

void qf_storage_unref(qf_storage *storage)
{
    if (!storage || __atomic_sub_fetch(&storage->refs, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    if (storage->release)
        storage->release(storage->ctx);
    free(storage);
}
