/* Appending calls to the program, and the moves that many builders share. */
#include "aten_build.h"

#include <string.h>

qf_type qfi_type_of(const qfi_lowering *l, qfi_ref ref)
{
    return ref == QFI_NONE ? (qf_type){ .dtype = QF_DT_f32 } : l->env->prog->def[ref].type;
}

int64_t qfi_elements_of(const qfi_lowering *l, qfi_ref ref)
{
    const qf_type type = qfi_type_of(l, ref);
    uint64_t n = 0;
    return qf_type_elements(&type, &n) && n <= INT64_MAX ? (int64_t)n : INT64_MAX;
}

qfi_ref qfi_append(qfi_lowering *l, qf_op op, const qf_attrs *attrs, const qfi_ref *in, uint32_t n)
{
    qfi_ref out = QFI_NONE;

    if (qfi_lowering_ok(l))
        l->status = qfi_env_call(l->env, op, attrs, in, n, &out, l->diag);
    return qfi_lowering_ok(l) ? out : QFI_NONE;
}

qfi_ref qfi_append1(qfi_lowering *l, qf_op op, const qf_attrs *attrs, qfi_ref x)
{
    return qfi_append(l, op, attrs, &x, 1);
}

qfi_ref qfi_append2(qfi_lowering *l, qf_op op, qfi_ref a, qfi_ref b)
{
    return qfi_append(l, op, NULL, (const qfi_ref[]){ a, b }, 2);
}

qfi_ref qfi_append3(qfi_lowering *l, qf_op op, qfi_ref a, qfi_ref b, qfi_ref c)
{
    return qfi_append(l, op, NULL, (const qfi_ref[]){ a, b, c }, 3);
}

void qfi_give(qfi_lowering *l, uint32_t slot, qfi_ref ref)
{
    if (slot < l->graph->node[l->node].n_out && qfi_lowering_ok(l))
        l->env->out[slot] = ref;
}

/* In-place operators convert their result to the dtype of the tensor that they write, but never to
 * a lower class. */
static void write_operand(qfi_lowering *l, qfi_ref ref)
{
    const qf_type self = qfi_type_of(l, qfi_arg_tensor(l, "self")), type = qfi_type_of(l, ref);

    if (qfi_class(type.dtype) == QF_CLASS_FLOAT && qfi_class(self.dtype) != QF_CLASS_FLOAT)
        qfi_refuse(l, QF_REASON_undefined, "a float result written to an integer tensor");
    if (type.dtype != QF_DT_b8 && self.dtype == QF_DT_b8)
        qfi_refuse(l, QF_REASON_undefined, "a number written to a boolean tensor");
    ref = qfi_expand_like(l, qfi_cast(l, ref, self.dtype), self);
    if (qfi_lowering_ok(l))
        l->env->written = ref;
}

/* Other dtypes of `out` make torch compute in them, other shapes resize it. */
static void write_out(qfi_lowering *l, qfi_ref ref)
{
    const qf_type out = qfi_type_of(l, qfi_arg_tensor(l, "out")), type = qfi_type_of(l, ref);

    if (qfi_lowering_ok(l) && !qf_type_equal(&type, &out))
        qfi_refuse(l, QF_REASON_unsupported_argument, "out is of another type");
    if (qfi_lowering_ok(l))
        l->env->written = ref;
}

void qfi_result(qfi_lowering *l, qfi_ref ref)
{
    if (l->row->alias == QFI_ALIAS_LAST)
        write_out(l, ref);
    else if (l->row->effect == QFI_WRITE)
        write_operand(l, ref);
    else
        qfi_give(l, 0, ref);
}

uint8_t qfi_dim(qfi_lowering *l, int64_t dim, int rank)
{
    const int64_t n = rank > 0 ? rank : 1;

    if (dim < -n || dim >= n) {
        qfi_refuse(l, QF_REASON_undefined, "dimension %lld of a tensor of rank %d", (long long)dim,
                   rank);
        return 0;
    }
    return (uint8_t)(dim < 0 ? dim + n : dim);
}

uint32_t qfi_dim_set(qfi_lowering *l, const int64_t *dim, uint32_t n, int rank)
{
    uint32_t set = 0;

    for (uint32_t i = 0; i < n; i++) {
        const uint32_t bit = 1u << qfi_dim(l, dim[i], rank);
        if (set & bit)
            qfi_refuse(l, QF_REASON_undefined, "dimension %lld appears twice", (long long)dim[i]);
        set |= bit;
    }
    return set;
}

static bool same_dims(qf_type type, uint32_t rank, const int64_t *dim)
{
    return type.rank == (int)rank && (rank == 0 || !memcmp(type.dim, dim, rank * sizeof *dim));
}

/* Shape attributes; refuses ranks that the library does not have. */
static bool shape_attrs(qfi_lowering *l, uint32_t rank, const int64_t *dim, qf_attrs *out)
{
    if (rank > QF_MAX_RANK) {
        qfi_refuse(l, QF_REASON_unsupported_rank, "rank %u", (unsigned)rank);
        return false;
    }
    *out = (qf_attrs){ .shape = { .rank = (uint8_t)rank } };
    if (rank > 0)
        memcpy(out->shape.dim, dim, rank * sizeof *dim);
    return true;
}

qfi_ref qfi_reshape(qfi_lowering *l, qfi_ref x, uint32_t rank, const int64_t *dim)
{
    qf_attrs attrs;

    if (same_dims(qfi_type_of(l, x), rank, dim))
        return x;
    return shape_attrs(l, rank, dim, &attrs) ? qfi_append1(l, QF_OP_reshape, &attrs, x) : QFI_NONE;
}

qfi_ref qfi_expand(qfi_lowering *l, qfi_ref x, uint32_t rank, const int64_t *dim)
{
    const qf_type type = qfi_type_of(l, x);
    qf_attrs attrs;

    if (!shape_attrs(l, rank, dim, &attrs))
        return QFI_NONE;
    for (uint32_t i = 0; i < rank; i++) {
        const int64_t from = (int64_t)i - ((int64_t)rank - type.rank);
        if (dim[i] != -1)
            continue;
        if (from < 0)
            qfi_refuse(l, QF_REASON_undefined, "size -1 for a new dimension");
        attrs.shape.dim[i] = from < 0 ? 1 : type.dim[from];
    }
    if (same_dims(type, rank, attrs.shape.dim))
        return x;
    return qfi_append1(l, QF_OP_expand, &attrs, x);
}

qfi_ref qfi_expand_like(qfi_lowering *l, qfi_ref x, qf_type type)
{
    return qfi_expand(l, x, (uint32_t)type.rank, type.dim);
}

qfi_ref qfi_flatten(qfi_lowering *l, qfi_ref x)
{
    return qfi_reshape(l, x, 1, (const int64_t[]){ qfi_elements_of(l, x) });
}

qfi_ref qfi_permute(qfi_lowering *l, qfi_ref x, const uint8_t *dim)
{
    const int rank = qfi_type_of(l, x).rank;
    qf_attrs attrs = { .dims = { { 0 } } };
    bool same = true;

    for (int i = 0; i < rank && i < QF_MAX_RANK; i++) {
        attrs.dims.dim[i] = (int8_t)dim[i];
        same = same && dim[i] == i;
    }
    return same ? x : qfi_append1(l, QF_OP_permute, &attrs, x);
}

qfi_ref qfi_transpose(qfi_lowering *l, qfi_ref x, uint8_t a, uint8_t b)
{
    uint8_t dim[QF_MAX_RANK];

    for (uint8_t i = 0; i < QF_MAX_RANK; i++)
        dim[i] = i == a ? b : i == b ? a : i;
    return qfi_permute(l, x, dim);
}

qfi_ref qfi_unsqueeze(qfi_lowering *l, qfi_ref x, uint8_t dim)
{
    const qf_attrs attrs = { .mask = { 1u << dim } };

    if (qfi_type_of(l, x).rank >= QF_MAX_RANK)
        qfi_refuse(l, QF_REASON_unsupported_rank, "rank %d", QF_MAX_RANK + 1);
    return qfi_append1(l, QF_OP_unsqueeze, &attrs, x);
}

qfi_ref qfi_squeeze(qfi_lowering *l, qfi_ref x, uint8_t dim)
{
    const qf_attrs attrs = { .mask = { 1u << dim } };
    return qfi_append1(l, QF_OP_squeeze, &attrs, x);
}

qfi_ref qfi_slice(qfi_lowering *l, qfi_ref x, uint8_t dim, int64_t start, int64_t n)
{
    const qf_type type = qfi_type_of(l, x);
    const qf_attrs attrs = { .slice = { .dim = dim, .start = start, .step = 1, .n = n } };

    if (dim >= type.rank || start < 0 || n < 0 || n > type.dim[dim] || start > type.dim[dim] - n) {
        qfi_refuse(l, QF_REASON_undefined, "%lld elements from %lld leave the tensor", (long long)n,
                   (long long)start);
        return QFI_NONE;
    }
    return n == type.dim[dim] ? x : qfi_append1(l, QF_OP_slice, &attrs, x);
}

qfi_ref qfi_cat(qfi_lowering *l, const qfi_ref *x, uint32_t n, uint8_t dim)
{
    const qf_attrs attrs = { .dim = { dim } };
    return n == 1 ? x[0] : qfi_append(l, QF_OP_cat, &attrs, x, n);
}

/* start and end count from the end when negative, and are clamped. */
static int64_t clamp_index(qfi_lowering *l, const char *name, int64_t size, int64_t fallback)
{
    if (!qfi_arg_has(l, name))
        return fallback;
    const int64_t v = qfi_arg_int(l, name);
    const int64_t at = v < 0 ? (v < -size ? 0 : v + size) : v;
    return at > size ? size : at;
}

bool qfi_slice_attrs(qfi_lowering *l, qf_type type, qf_attrs *out)
{
    const uint8_t dim = qfi_dim(l, qfi_arg_int(l, "dim"), type.rank);
    const int64_t size = type.rank ? type.dim[dim] : 0, step = qfi_arg_int(l, "step");
    const int64_t start = clamp_index(l, "start", size, 0), end = clamp_index(l, "end", size, size);
    const int64_t span = end > start ? end - start : 0;

    if (!type.rank || step < 1) {
        qfi_refuse(l, QF_REASON_undefined, "slice with step %lld of a tensor of rank %d",
                   (long long)step, type.rank);
        return false;
    }
    *out = (qf_attrs){
        .slice = { .dim = dim, .start = start, .step = step, .n = span / step + (span % step != 0) }
    };
    return out->slice.n != size;
}

qf_attrs qfi_select_attrs(qfi_lowering *l, qf_type type)
{
    const uint8_t dim = qfi_dim(l, qfi_arg_int(l, "dim"), type.rank);
    const int64_t index = qfi_arg_int(l, "index"), size = type.rank ? type.dim[dim] : 0;

    if (index < -size || index >= size)
        qfi_refuse(l, QF_REASON_undefined, "index %lld of %lld elements", (long long)index,
                   (long long)size);
    return (qf_attrs){
        .slice = { .dim = dim, .start = index < 0 ? index + size : index, .step = 1, .n = 1 }
    };
}
