/* Elements as unsigned numbers in the same order. */
#include "dispatch/breakers/order_key.h"

#include <string.h>

#define SIGN (UINT64_C(1) << 63)

qf_dtype qfi_order_dtype(qf_dtype dtype)
{
    if (qf_dtype_get(dtype)->kind == QF_CLASS_FLOAT)
        return QF_DT_f64;
    return dtype == QF_DT_u64 ? QF_DT_u64 : QF_DT_i64;
}

/* The bits of positive floats are in order as they are, those of negative ones the other way. */
static uint64_t float_key(double v, uint64_t nan)
{
    uint64_t bits;

    if (v != v)
        return nan;
    v = v == 0 ? 0 : v;
    memcpy(&bits, &v, sizeof bits);
    return bits & SIGN ? ~bits : bits | SIGN;
}

void qfi_order_keys(qf_dtype dtype, int64_t n, void *elements, uint64_t nan, uint64_t flip)
{
    const uint64_t sign = dtype == QF_DT_i64 ? SIGN : 0;
    char *p = elements;

    for (int64_t i = 0; i < n; i++, p += 8) {
        uint64_t key;
        double v;
        if (dtype == QF_DT_f64) {
            memcpy(&v, p, sizeof v);
            key = float_key(v, nan);
        } else {
            memcpy(&key, p, sizeof key);
            key ^= sign;
        }
        key ^= flip;
        memcpy(p, &key, sizeof key);
    }
}
