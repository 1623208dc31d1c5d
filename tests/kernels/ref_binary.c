/* What the operators of the binary family mean. */
#include "ref.h"

static uint64_t add(const ref_el *e)
{
    if (!check_key_is_float(e->key))
        return e->in[0] + e->in[1];
    return check_from_f64(e->key, check_to_f64(e->key, e->in[0]) + check_to_f64(e->key, e->in[1]));
}

const ref_op ref_binary[] = {
    { .op = "add", .element = add },
    { 0 },
};
