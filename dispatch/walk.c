/* Blocks of a shape, in order. */
#include "dispatch/loops.h"

#include <string.h>

qfi_walk qfi_walk_make(int n_dim, const int64_t *dim, int64_t most)
{
    qfi_walk w = { .n_dim = n_dim, .split = n_dim - 1, .count = 1, .total = 1 };
    int64_t inner = 1;

    memcpy(w.dim, dim, sizeof *dim * (size_t)n_dim);
    for (int d = 0; d < n_dim; d++)
        if (dim[d] == 0)
            w.total = 0;
    if (n_dim == 0 || w.total == 0)
        return w;
    while (w.split > 0 && inner <= most / dim[w.split])
        inner *= dim[w.split--];
    w.count = most / inner;
    w.count = w.count < 1 ? 1 : w.count > dim[w.split] ? dim[w.split] : w.count;
    for (int d = 0; d < w.split; d++)
        w.total *= dim[d];
    w.total *= (dim[w.split] + w.count - 1) / w.count;
    return w;
}

int64_t qfi_walk_at(const qfi_walk *walk, int64_t i, int64_t *lo, int64_t *n)
{
    int64_t elements = 1;

    for (int d = walk->n_dim - 1; d >= 0; d--) {
        const int64_t blocks = d > walk->split   ? 1
                               : d < walk->split ? walk->dim[d]
                                                 : (walk->dim[d] + walk->count - 1) / walk->count;
        const int64_t size = d > walk->split ? walk->dim[d] : d < walk->split ? 1 : walk->count;
        lo[d] = i % blocks * size;
        i /= blocks;
        n[d] = size < walk->dim[d] - lo[d] ? size : walk->dim[d] - lo[d];
        elements *= n[d];
    }
    return elements;
}

void qfi_box_strides(int n_dim, const int64_t *n, int64_t *stride)
{
    int64_t step = 1;
    for (int d = n_dim - 1; d >= 0; d--) {
        stride[d] = step;
        step *= n[d];
    }
}

bool qfi_box_even(int n_dim, const int64_t *n, const int64_t *stride, int64_t *each)
{
    int64_t next = 0; /* the stride of the next dim */
    bool one = true;

    *each = 0;
    for (int d = n_dim - 1; d >= 0; d--) {
        if (n[d] == 1)
            continue;
        if (!one && stride[d] != next)
            return false;
        *each = one ? stride[d] : *each;
        next = stride[d] * n[d];
        one = false;
    }
    return true;
}
