/* Numbers of the elements that are true: all of them are looked at, in order and in blocks. */
#include "dispatch/arith.h"
#include "dispatch/breakers/breaker.h"

#include <string.h>

#define BLOCK ((int64_t)1 << 14)

qf_status qfi_nonzero_make(qfi_builder *b, qfi_breaker *x)
{
    x->run = qfi_nonzero_run;
    return qfi_operand_segment(b, qfi_step(b, x->value)->in[0], NULL, QF_DT_b8, &x->in[0]);
}

qf_status qfi_nonzero_run(qfi_run *run, const qfi_breaker *x, const int64_t *lo, const int64_t *n,
                          char *dst, const int64_t *stride)
{
    const int64_t size = x->in_type[0].dim[0];
    uint8_t *mask = qfi_area_get(&run->work, (uint64_t)qfi_min64(BLOCK, size));
    int64_t count = 0;

    if (!mask)
        return QFI_TOO_LARGE;
    for (int64_t first = 0; first < size; first += BLOCK) {
        const int64_t width = qfi_min64(BLOCK, size - first);
        QF_TRY(qfi_run_dense(run, x->in[0], &first, &width, (char *)mask));
        for (int64_t i = 0; i < width; i++) {
            const int64_t number = first + i, to = count - *lo;
            if (!mask[i])
                continue;
            if (to >= 0 && to < *n)
                memcpy(dst + to * *stride * 8, &number, sizeof number);
            count++;
        }
    }
    if (count != x->attrs.count.n)
        __atomic_store_n(&run->fault->bad, 1, __ATOMIC_RELAXED);
    return QF_OK;
}
