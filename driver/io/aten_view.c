/* Builders of operators that only move elements by strides: permutations, reshapes, slices, splits.
 */
#include "aten_build.h"

#include <string.h>

void qfi_build_copy_of(qfi_lowering *l)
{
    qfi_result(l, qfi_arg_tensor(l, "self"));
}

/* ---- order of dims ---- */

void qfi_build_permute(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const int rank = qfi_type_of(l, x).rank;
    int64_t dims[QF_MAX_RANK];
    uint8_t order[QF_MAX_RANK] = { 0 };
    const uint32_t n = qfi_arg_ints(l, "dims", dims, QF_MAX_RANK);

    qfi_dim_set(l, dims, n, rank);
    if ((int)n != rank)
        qfi_refuse(l, QF_REASON_undefined, "%u dimensions for a tensor of rank %d", (unsigned)n,
                   rank);
    for (uint32_t i = 0; i < n; i++)
        order[i] = qfi_dim(l, dims[i], rank);
    qfi_result(l, qfi_permute(l, x, order));
}

void qfi_build_transpose(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const bool axes = qfi_arg_get(l, "axis0")->kind != QFI_ARG_ABSENT;
    const int rank = qfi_type_of(l, x).rank;
    const uint8_t a = qfi_dim(l, qfi_arg_int(l, axes ? "axis0" : "dim0"), rank);
    const uint8_t b = qfi_dim(l, qfi_arg_int(l, axes ? "axis1" : "dim1"), rank);

    qfi_result(l, qfi_transpose(l, x, a, b));
}

void qfi_build_t(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const int rank = qfi_type_of(l, x).rank;

    if (rank > 2)
        qfi_refuse(l, QF_REASON_undefined, "a tensor of rank %d", rank);
    qfi_result(l, rank == 2 ? qfi_transpose(l, x, 0, 1) : x);
}

void qfi_build_numpy_t(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const int rank = qfi_type_of(l, x).rank;
    uint8_t order[QF_MAX_RANK] = { 0 };

    for (int i = 0; i < rank; i++)
        order[i] = (uint8_t)(rank - 1 - i);
    qfi_result(l, qfi_permute(l, x, order));
}

void qfi_build_mt(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const int rank = qfi_type_of(l, x).rank;

    if (rank < 2) {
        qfi_refuse(l, QF_REASON_undefined, "a tensor of rank %d", rank);
        return;
    }
    qfi_result(l, qfi_transpose(l, x, (uint8_t)(rank - 2), (uint8_t)(rank - 1)));
}

void qfi_build_movedim(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const int rank = qfi_type_of(l, x).rank;
    int64_t source[QF_MAX_RANK], target[QF_MAX_RANK];
    uint8_t order[QF_MAX_RANK] = { 0 };
    const uint32_t n = qfi_arg_ints(l, "source", source, QF_MAX_RANK);
    const uint32_t m = qfi_arg_ints(l, "destination", target, QF_MAX_RANK);
    const uint32_t from = qfi_dim_set(l, source, n, rank), to = qfi_dim_set(l, target, m, rank);

    if (n != m || !qfi_lowering_ok(l)) {
        qfi_refuse(l, QF_REASON_undefined, "%u dimensions move to %u", (unsigned)n, (unsigned)m);
        return;
    }
    for (uint8_t x_dim = 0, x_to = 0; x_to < rank; x_to++) {
        if (to & 1u << x_to)
            continue;
        while (from & 1u << x_dim)
            x_dim++;
        order[x_to] = x_dim++;
    }
    for (uint32_t i = 0; i < n; i++)
        order[qfi_dim(l, target[i], rank)] = qfi_dim(l, source[i], rank);
    qfi_result(l, qfi_permute(l, x, order));
}

void qfi_build_flip(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    int64_t dims[QF_MAX_RANK];
    const uint32_t n = qfi_arg_ints(l, "dims", dims, QF_MAX_RANK);
    const int rank = qfi_type_of(l, x).rank;
    const qf_attrs attrs = { .mask = { qfi_dim_set(l, dims, n, rank) } };

    qfi_result(l, rank && attrs.mask.dims ? qfi_append1(l, QF_OP_flip, &attrs, x) : x);
}

static void flip_dim(qfi_lowering *l, uint8_t dim)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_attrs attrs = { .mask = { 1u << dim } };

    if (qfi_type_of(l, x).rank <= dim)
        qfi_refuse(l, QF_REASON_undefined, "a tensor of rank %d", qfi_type_of(l, x).rank);
    qfi_result(l, qfi_append1(l, QF_OP_flip, &attrs, x));
}

void qfi_build_flipud(qfi_lowering *l)
{
    flip_dim(l, 0);
}
void qfi_build_fliplr(qfi_lowering *l)
{
    flip_dim(l, 1);
}

/* A quarter turn is a transposition and a flip. */
void qfi_build_rot90(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const int rank = qfi_type_of(l, x).rank;
    int64_t dims[2] = { 0, 1 };
    const bool given = qfi_arg_get(l, "dims")->kind != QFI_ARG_TEXT; /* the default, [0, 1] */
    const uint32_t n = given ? qfi_arg_ints(l, "dims", dims, 2) : 2,
                   set = qfi_dim_set(l, dims, n, rank);
    const int64_t turns = (qfi_arg_int(l, "k") % 4 + 4) % 4;

    if (n != 2 || !qfi_lowering_ok(l)) {
        qfi_refuse(l, QF_REASON_undefined, "a turn of %u dimensions", (unsigned)n);
        return;
    }
    const uint8_t a = qfi_dim(l, dims[0], rank), b = qfi_dim(l, dims[1], rank);
    const qf_attrs flip = { .mask = { turns == 2 ? set : 1u << (turns == 1 ? b : a) } };
    const qfi_ref flipped = turns ? qfi_append1(l, QF_OP_flip, &flip, x) : x;
    qfi_result(l, turns % 2 ? qfi_transpose(l, flipped, a, b) : flipped);
}

/* ---- shapes ---- */

/* Replaces the one -1 among `dim` so that the product is `elements`. */
static void infer_size(qfi_lowering *l, int64_t *dim, uint32_t n, int64_t elements)
{
    uint64_t known = 1;
    int64_t *open = NULL;

    for (uint32_t i = 0; i < n; i++) {
        if (dim[i] == -1 && !open)
            open = &dim[i];
        else if (dim[i] < 0 || !qf_mul(known, (uint64_t)dim[i], &known))
            qfi_refuse(l, QF_REASON_undefined, "size %lld", (long long)dim[i]);
    }
    if (!open)
        return; /* a wrong product is found with the call's type */
    if (!known || (uint64_t)elements % known) {
        qfi_refuse(l, QF_REASON_undefined, "%lld elements in rows of %llu", (long long)elements,
                   (unsigned long long)known);
        return;
    }
    *open = (int64_t)((uint64_t)elements / known);
}

void qfi_build_view(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const bool shape = qfi_arg_get(l, "shape")->kind != QFI_ARG_ABSENT;
    int64_t dim[QFI_ATEN_MAX_LIST];
    const uint32_t n = qfi_arg_ints(l, shape ? "shape" : "size", dim, QFI_ATEN_MAX_LIST);

    infer_size(l, dim, n, qfi_elements_of(l, x));
    qfi_result(l, qfi_reshape(l, x, n, dim));
}

void qfi_build_view_as(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_type other = qfi_type_of(l, qfi_arg_tensor(l, "other"));

    qfi_result(l, qfi_reshape(l, x, (uint32_t)other.rank, other.dim));
}

void qfi_build_flatten(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, x);
    const uint8_t first = qfi_dim(l, qfi_arg_int(l, "start_dim"), type.rank);
    const uint8_t last = qfi_dim(l, qfi_arg_int(l, "end_dim"), type.rank);
    int64_t dim[QF_MAX_RANK] = { 0 };
    uint32_t n = 0;

    if (first > last)
        qfi_refuse(l, QF_REASON_undefined, "dimensions %u to %u", first, last);
    for (int i = 0; i < type.rank; i++) {
        if (i > first && i <= last)
            dim[n - 1] *= type.dim[i];
        else
            dim[n++] = type.dim[i];
    }
    qfi_result(l, type.rank ? qfi_reshape(l, x, n, dim) : qfi_flatten(l, x));
}

void qfi_build_ravel(qfi_lowering *l)
{
    qfi_result(l, qfi_flatten(l, qfi_arg_tensor(l, "self")));
}

void qfi_build_unflatten(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, x);
    const uint8_t at = qfi_dim(l, qfi_arg_int(l, "dim"), type.rank);
    int64_t size[QF_MAX_RANK], dim[2 * QF_MAX_RANK];
    const uint32_t n = qfi_arg_ints(l, "sizes", size, QF_MAX_RANK);
    const uint32_t rest = type.rank ? (uint32_t)type.rank - at - 1u : 0;

    infer_size(l, size, n, type.rank ? type.dim[at] : 1);
    memcpy(dim, type.dim, at * sizeof *dim);
    memcpy(dim + at, size, n * sizeof *dim);
    memcpy(dim + at + n, type.dim + at + 1, rest * sizeof *dim);
    qfi_result(l, qfi_reshape(l, x, at + n + rest, dim));
}

void qfi_build_unsqueeze(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const uint8_t dim = qfi_dim(l, qfi_arg_int(l, "dim"), qfi_type_of(l, x).rank + 1);

    qfi_result(l, qfi_unsqueeze(l, x, dim));
}

void qfi_build_squeeze(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, x);
    int64_t dims[QF_MAX_RANK];
    uint32_t set = UINT32_MAX;
    qf_attrs attrs = { .mask = { 0 } };

    if (qfi_arg_has(l, "dim")) {
        const uint32_t n = qfi_arg_ints(l, "dim", dims, QF_MAX_RANK);
        set = qfi_dim_set(l, dims, n, type.rank);
    }
    for (int i = 0; i < type.rank; i++)
        if (set & 1u << i && type.dim[i] == 1)
            attrs.mask.dims |= 1u << i;
    qfi_result(l, attrs.mask.dims ? qfi_append1(l, QF_OP_squeeze, &attrs, x) : x);
}

void qfi_build_expand(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    int64_t dim[QFI_ATEN_MAX_LIST];
    const uint32_t n = qfi_arg_ints(l, "size", dim, QFI_ATEN_MAX_LIST);

    qfi_result(l, qfi_expand(l, x, n, dim));
}

void qfi_build_expand_as(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    qfi_result(l, qfi_expand_like(l, x, qfi_type_of(l, qfi_arg_tensor(l, "other"))));
}

/* ---- parts ---- */

void qfi_build_slice(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    qf_attrs attrs;

    if (qfi_slice_attrs(l, qfi_type_of(l, x), &attrs))
        qfi_result(l, qfi_append1(l, QF_OP_slice, &attrs, x));
    else
        qfi_result(l, x);
}

void qfi_build_select(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_attrs attrs = qfi_select_attrs(l, qfi_type_of(l, x));

    qfi_result(l, qfi_append1(l, QF_OP_select, &attrs, x));
}

void qfi_build_narrow(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, x);
    const uint8_t dim = qfi_dim(l, qfi_arg_int(l, "dim"), type.rank);
    const int64_t start = qfi_arg_int(l, "start"), n = qfi_arg_int(l, "length");

    qfi_result(l, qfi_slice(l, x, dim, start < 0 && type.rank ? start + type.dim[dim] : start, n));
}

/* Results of at most `size` elements along dim. */
static void split_evenly(qfi_lowering *l, qfi_ref x, uint8_t dim, int64_t size)
{
    const qf_type type = qfi_type_of(l, x);
    const uint32_t n_out = l->graph->node[l->node].n_out;
    const int64_t whole = type.rank ? type.dim[dim] : 0;

    if (size < 0 || (!size && whole))
        qfi_refuse(l, QF_REASON_undefined, "parts of %lld elements", (long long)size);
    for (uint32_t i = 0; i < n_out && qfi_lowering_ok(l); i++) {
        const int64_t start = (int64_t)i * size, left = whole - start;
        qfi_give(l, i, qfi_slice(l, x, dim, start, left < size ? left : size));
    }
}

void qfi_build_split(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const uint8_t dim = qfi_dim(l, qfi_arg_int(l, "dim"), qfi_type_of(l, x).rank);

    split_evenly(l, x, dim, qfi_arg_int(l, "split_size"));
}

void qfi_build_chunk(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, x);
    const uint8_t dim = qfi_dim(l, qfi_arg_int(l, "dim"), type.rank);
    const int64_t chunks = qfi_arg_int(l, "chunks");

    if (chunks < 1 || !type.rank) {
        qfi_refuse(l, QF_REASON_undefined, "%lld chunks", (long long)chunks);
        return;
    }
    split_evenly(l, x, dim, type.dim[dim] / chunks + (type.dim[dim] % chunks != 0));
}

/* So many parts, the first of them one larger where they are not even. */
void qfi_build_tensor_split(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, x);
    const uint8_t dim = qfi_dim(l, qfi_arg_int(l, "dim"), type.rank);
    const int64_t n = qfi_arg_int(l, "sections"), whole = type.rank ? type.dim[dim] : 0;

    if (n < 1 || !type.rank)
        qfi_refuse(l, QF_REASON_undefined, "%lld sections", (long long)n);
    for (int64_t i = 0, start = 0; i < n && qfi_lowering_ok(l); i++) {
        const int64_t size = whole / n + (i < whole % n);
        qfi_give(l, (uint32_t)i, qfi_slice(l, x, dim, start, size));
        start += size;
    }
}

/* Parts between borders, which count from the end when negative. */
void qfi_build_tensor_split_at(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, x);
    const uint8_t dim = qfi_dim(l, qfi_arg_int(l, "dim"), type.rank);
    const int64_t whole = type.rank ? type.dim[dim] : 0;
    int64_t border[QFI_ATEN_MAX_LIST], start = 0;
    const uint32_t n = qfi_arg_ints(l, "indices", border, QFI_ATEN_MAX_LIST);

    for (uint32_t i = 0; i <= n && qfi_lowering_ok(l); i++) {
        const int64_t at = i == n ? whole : border[i] < 0 ? border[i] + whole : border[i];
        const int64_t end = at < 0 ? 0 : at > whole ? whole : at;
        const int64_t from = start > whole ? whole : start;
        qfi_give(l, i, qfi_slice(l, x, dim, from, end > from ? end - from : 0));
        start = end;
    }
}

void qfi_build_split_sizes(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const bool plural = qfi_arg_get(l, "split_sizes")->kind != QFI_ARG_ABSENT;
    const uint8_t dim = qfi_dim(l, qfi_arg_int(l, "dim"), qfi_type_of(l, x).rank);
    int64_t size[QFI_ATEN_MAX_LIST], start = 0;
    const uint32_t n =
        qfi_arg_ints(l, plural ? "split_sizes" : "split_size", size, QFI_ATEN_MAX_LIST);

    for (uint32_t i = 0; i < n && qfi_lowering_ok(l); start += size[i++])
        qfi_give(l, i, qfi_slice(l, x, dim, start, size[i]));
}

void qfi_build_unbind(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, x);
    qf_attrs attrs = {
        .slice = { .dim = qfi_dim(l, qfi_arg_int(l, "dim"), type.rank), .step = 1, .n = 1 }
    };

    if (!type.rank)
        qfi_refuse(l, QF_REASON_undefined, "a tensor of rank 0");
    for (; attrs.slice.start < type.dim[attrs.slice.dim] && qfi_lowering_ok(l); attrs.slice.start++)
        qfi_give(l, (uint32_t)attrs.slice.start, qfi_append1(l, QF_OP_select, &attrs, x));
}

void qfi_build_diagonal(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const int rank = qfi_type_of(l, x).rank;
    const qf_attrs attrs = { .diagonal = { .dim0 = qfi_dim(l, qfi_arg_int(l, "dim1"), rank),
                                           .dim1 = qfi_dim(l, qfi_arg_int(l, "dim2"), rank),
                                           .offset = qfi_arg_int(l, "offset") } };

    qfi_result(l, qfi_append1(l, QF_OP_diagonal, &attrs, x));
}

/* The bits of another dtype of the same size. */
void qfi_build_view_dtype(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_attrs attrs = { .cast = { qfi_arg_dtype(l, "dtype", QF_DT_none) } };

    qfi_result(l, qfi_type_of(l, x).dtype == attrs.cast.dtype
                      ? x
                      : qfi_append1(l, QF_OP_bitcast, &attrs, x));
}
