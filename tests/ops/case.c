/* The cases of cases.def, read. */
#include "case.h"

#include <stdlib.h>
#include <string.h>

static const test_case all[] = {
#define CASE(op, dtypes, in, out, ...) { QF_OP_##op, dtypes, in, out, { __VA_ARGS__ } },
#include "cases.def"
#undef CASE
};

const test_case *cases(size_t *n)
{
    *n = sizeof all / sizeof *all;
    return all;
}

static qf_dtype find_dtype(const char *name, size_t n)
{
    for (int d = 1; d < QF_DT_COUNT; d++)
        if (strlen(qf_dtype_get((qf_dtype)d)->name) == n &&
            memcmp(qf_dtype_get((qf_dtype)d)->name, name, n) == 0)
            return (qf_dtype)d;
    abort();
}

bool case_dtype(const test_case *c, int k, qf_dtype *dtype)
{
    const char *p = c->dtypes;

    for (; *p && k > 0; k--) {
        p += strcspn(p, " ");
        p += strspn(p, " ");
    }
    if (!*p)
        return false;
    *dtype = find_dtype(p, strcspn(p, " "));
    return true;
}

static const char *read_shape(const char *p, qf_dtype dtype, qf_type *type)
{
    const size_t n = strcspn(p, ":,");

    *type = (qf_type){ .dtype = dtype };
    if (p[n] == ':') {
        type->dtype = find_dtype(p, n);
        p += n + 1;
    }
    if (*p == '.')
        return p + 1;
    do {
        char *end;
        type->dim[type->rank++] = strtoll(p, &end, 10);
        p = end;
    } while (*p++ == 'x');
    return p - 1;
}

/* Operators whose operands must be kept in a range to be defined, or exact. */
static bool wants_small(qf_op op)
{
    switch (op) {
    case QF_OP_matmul:
    case QF_OP_sum:
    case QF_OP_mean:
    case QF_OP_norm2:
    case QF_OP_cumsum:
    case QF_OP_cumprod:
    case QF_OP_pow:
        return true;
    default:
        return false;
    }
}

/* Replace what the operator does not define: zero divisors, large shifts, indices outside, floats
 * that fit no integer. */
static void tame(const test_case *c, int i, const ref_tensor *data, ref_tensor *t, check_rng *rng)
{
    const qf_dtype dtype = t->type.dtype;
    const unsigned flags = qf_op_get(c->op)->flags;
    const bool divisor =
        c->op >= QF_OP_idiv_trunc && c->op <= QF_OP_remainder && i == 1 && !ref_is_float(dtype);
    const bool shift = (c->op == QF_OP_shl || c->op == QF_OP_shr) && i == 1;
    const bool index = i > 0 && (flags & QF_OP_CHECKED) &&
                       qf_op_get(c->op)->kind == QF_KIND_BREAKER && !(c->op == QF_OP_put && i == 2);
    const bool scale =
        i > 0 && (c->op == QF_OP_quantize || c->op == QF_OP_dequantize) && ref_is_float(dtype);
    int dim = c->op == QF_OP_put ? 0 : c->attrs.dim.dim;
    const bool apart = index && c->op == QF_OP_put && 2 * t->n <= data->n;

    for (int k = 0, d = 0; c->op == QF_OP_index && d < data->type.rank; d++)
        if (c->attrs.index.dims >> d & 1 && ++k == i)
            dim = d;
    for (int64_t e = 0; e < t->n; e++) {
        if (divisor)
            t->e[e][0] = ref_from_int(dtype, 1 + (int64_t)check_below(rng, 7));
        else if (shift)
            t->e[e][0] = check_below(rng, qf_dtype_get(dtype)->bits);
        else if (apart)
            t->e[e][0] = ref_from_int(dtype, check_chance(rng, 50) ? 2 * e : 2 * e - data->n);
        else if (index)
            t->e[e][0] =
                ref_from_int(dtype, (int64_t)check_below(rng, 2 * (size_t)data->type.dim[dim]) -
                                        data->type.dim[dim]);
        else if (scale)
            t->e[e][0] =
                ref_from_real(dtype, (double)check_below(rng, 40) / 4 + (i == 1 ? 0.25 : -3));
        else if (c->op == QF_OP_cast && ref_is_float(dtype))
            t->e[e][0] = ref_from_real(dtype, (double)check_below(rng, 1000) / 64);
        else if (c->op == QF_OP_quantize && i == 0)
            t->e[e][0] = ref_from_real(dtype, (double)check_below(rng, 2000) / 8 - 100);
    }
}

/* nonzero is told how many true elements there are, unless the case says another number. */
static void count_true(const ref_tensor *mask, qf_attrs *attrs)
{
    if (attrs->count.n >= 0)
        return;
    attrs->count.n = 0;
    for (int64_t e = 0; e < mask->n; e++)
        attrs->count.n += mask->e[e][0] != 0;
}

size_t case_inputs(const test_case *c, qf_dtype dtype, bool repeat, check_rng *rng, ref_tensor *in,
                   qf_type *out, qf_attrs *attrs)
{
    const char *p = c->in;
    size_t n = 0;
    qf_call call = { .op = c->op, .attrs = attrs };
    qf_type types[CASE_INPUTS], inferred;

    *attrs = c->attrs;
    if (c->op == QF_OP_cast && attrs->cast.dtype == QF_DT_none)
        attrs->cast.dtype = dtype;
    do {
        p = read_shape(p, dtype, &types[n]);
        ref_make(&in[n], &types[n]);
        const bool ranged =
            c->op == QF_OP_cast && qf_dtype_get(attrs->cast.dtype)->kind != QF_CLASS_FLOAT;
        ref_fill(&in[n], wants_small(c->op), rng);
        if (c->op != QF_OP_cast || ranged)
            tame(c, (int)n, &in[0], &in[n], rng);
        if (repeat)
            layout_repeat(&in[n]);
        n++;
    } while (*p++ == ',');
    call.in = types;
    call.n_in = (uint16_t)n;
    read_shape(c->out, dtype, out);
    if (c->op == QF_OP_nonzero)
        count_true(&in[0], attrs);
    if (qf_infer(&call, &inferred, NULL) == QF_OK)
        out->dtype = inferred.dtype;
    if (c->op == QF_OP_nonzero)
        *out = inferred;
    return n;
}
