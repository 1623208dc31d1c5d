/* Ordering, counting, and writing by index, from the definitions. */
#include "ref.h"

#include <string.h>

/* Whether a comes before b in ascending order. A NaN is behind all others. */
static bool before(qf_dtype t, uint64_t a, uint64_t b)
{
    if (t == QF_DT_u64)
        return a < b;
    if (!ref_is_float(t))
        return ref_int(t, a) < ref_int(t, b);
    const double x = ref_real(t, a), y = ref_real(t, b);
    return x < y || (x == x && y != y);
}

/* Whether a is a better extreme than b. */
static bool beats(bool most, qf_dtype t, uint64_t a, uint64_t b)
{
    const bool nan_a = ref_is_float(t) && ref_real(t, a) != ref_real(t, a),
               nan_b = ref_is_float(t) && ref_real(t, b) != ref_real(t, b);

    if (nan_a || nan_b)
        return nan_a && !nan_b;
    return most ? before(t, b, a) : before(t, a, b);
}

static void extreme(bool most, const qf_attrs *a, const ref_tensor *in, ref_tensor *out)
{
    for (int64_t o = 0; o < out->n; o++) {
        int64_t best = -1, number = 0;
        for (int64_t i = 0; i < in->n; i++) {
            int64_t at[QF_MAX_RANK], to[QF_MAX_RANK] = { 0 };
            int k = 0;
            ref_coordinates(&in->type, i, at);
            for (int d = 0; d < in->type.rank; d++)
                if (!(a->reduce.dims >> d & 1) || a->reduce.keep)
                    to[k++] = a->reduce.dims >> d & 1 ? 0 : at[d];
            if (ref_number(&out->type, to) != o)
                continue;
            if (best < 0 || beats(most, in->type.dtype, in->e[i][0], in->e[best][0])) {
                best = i;
                out->e[o][0] = (uint64_t)number;
            }
            number++;
        }
    }
}

static uint64_t along(const ref_tensor *in, const int64_t *at, int dim, int64_t k)
{
    int64_t there[QF_MAX_RANK];

    memcpy(there, at, sizeof there);
    there[dim] = k;
    return in->e[ref_number(&in->type, there)][0];
}

/* An element's place is the number of those that come before it. */
static bool argsort(const qf_attrs *a, const ref_tensor *in, ref_tensor *out)
{
    const int dim = a->sort.dim;
    bool defined = true;

    for (int64_t i = 0; i < in->n; i++) {
        int64_t at[QF_MAX_RANK], place = 0, equals = 0;
        ref_coordinates(&in->type, i, at);
        const uint64_t mine = in->e[i][0];
        for (int64_t k = 0; k < in->type.dim[dim]; k++) {
            const uint64_t other = along(in, at, dim, k);
            const bool less = before(in->type.dtype, other, mine),
                       more = before(in->type.dtype, mine, other);
            place += (a->sort.descending ? more : less) || (!less && !more && k < at[dim]);
            equals += !less && !more && k != at[dim];
        }
        if (place >= a->sort.n)
            continue;
        defined = defined && !(a->sort.distinct && equals);
        const int64_t k = at[dim];
        at[dim] = place;
        out->e[ref_number(&out->type, at)][0] = (uint64_t)k;
    }
    return defined;
}

static uint64_t joined(unsigned mode, qf_dtype t, uint64_t a, uint64_t b)
{
    if (mode == QF_PUT_MIN || mode == QF_PUT_MAX)
        return beats(mode == QF_PUT_MAX, t, b, a) ? b : a;
    if (t == QF_DT_b8)
        return mode == QF_PUT_ADD ? a | b : a & b;
    if (ref_is_float(t)) {
        const double x = ref_real(t, a), y = ref_real(t, b);
        return ref_from_real(t, mode == QF_PUT_ADD ? x + y : x * y);
    }
    const uint64_t x = (uint64_t)ref_int(t, a), y = (uint64_t)ref_int(t, b);
    return ref_from_int(t, (int64_t)(mode == QF_PUT_ADD ? x + y : x * y));
}

static bool put(const qf_attrs *a, const ref_tensor *in, ref_tensor *out)
{
    const qf_dtype t = out->type.dtype;
    bool defined = true;

    memcpy(out->e, in[0].e, (size_t)out->n * sizeof *out->e);
    for (int64_t i = 0; i < in[1].n; i++) {
        int64_t at = ref_int(in[1].type.dtype, in[1].e[i][0]);
        at += at < 0 ? out->n : 0;
        if (at < 0 || at >= out->n)
            return false;
        if (a->put.mode != QF_PUT_SET) {
            out->e[at][0] = joined(a->put.mode, t, out->e[at][0], in[2].e[i][0]);
            continue;
        }
        for (int64_t k = 0; k < i; k++) {
            const int64_t other = ref_int(in[1].type.dtype, in[1].e[k][0]);
            if ((other < 0 ? other + out->n : other) == at)
                defined &= memcmp(in[2].e[k], in[2].e[i], sizeof *out->e) == 0;
        }
        memcpy(out->e[at], in[2].e[i], sizeof *out->e);
    }
    return defined;
}

static bool nonzero(const qf_attrs *a, const ref_tensor *in, ref_tensor *out)
{
    int64_t n = 0;

    for (int64_t i = 0; i < in->n; i++)
        if (in->e[i][0]) {
            if (n < out->n)
                out->e[n][0] = (uint64_t)i;
            n++;
        }
    return n == a->count.n;
}

bool ref_order(qf_op op, const qf_attrs *a, const ref_tensor *in, ref_tensor *out)
{
    if (op == QF_OP_argmax || op == QF_OP_argmin) {
        extreme(op == QF_OP_argmax, a, in, out);
        return true;
    }
    return op == QF_OP_argsort ? argsort(a, in, out)
           : op == QF_OP_put   ? put(a, in, out)
                               : nonzero(a, in, out);
}
