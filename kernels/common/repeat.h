/* Bytes filled with a vector of one repeated element. An includer has included a vector vocabulary.
 */
#ifndef QFK_REPEAT_H
#define QFK_REPEAT_H

#include "kernels/common/unroll.h"

/* n bytes at x, which is aligned to the element where whole lines go past the caches. */
QFK_INLINE void qfk_repeat(char *x, size_t n, qfk_vi v, bool past)
{
    const size_t lead = -(uintptr_t)x % 64, head = !past ? 0 : lead < n ? lead : n;

    QFK_REST(0, head, sizeof v, qfk_vi_store_bytes(x + j, v, left));
    x += head;
    n -= head;
    if (past)
        QFK_VECTORS(n, sizeof v, qfk_vi_store_bytes_past(x + j, v, left));
    else
        QFK_VECTORS(n, sizeof v, qfk_vi_store_bytes(x + j, v, left));
}

#endif
