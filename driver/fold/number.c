/* One store for what is equal. Equal calls are one definition already (prog.c); this pass finds
 * which definitions values are, and how a value is stored: as a view of stored bytes, as a view of
 * a definition that others view too, or alone. */
#include "work.h"

#include <string.h>

/* Views under views, as far as they are followed; what lies deeper is stored by itself. */
#define MAX_VIEWS 64u

typedef struct layout {
    int64_t stride[QF_MAX_RANK], offset;
} layout;

/* ---------------------------------------- dense orders */

/* The order of dims, slowest first, in which these strides are one dense block. Dims of size 1 say
 * nothing and go first. */
static bool dense_order(const qf_type *type, const int64_t *stride, uint8_t *order)
{
    int n = 0;
    for (int8_t i = 0; i < type->rank; i++)
        if (type->dim[i] == 1)
            order[n++] = (uint8_t)i;
    const int first = n;
    for (int8_t i = 0; i < type->rank; i++) {
        if (type->dim[i] == 1)
            continue;
        int at = n++;
        for (; at > first && stride[order[at - 1]] < stride[i]; at--)
            order[at] = order[at - 1];
        order[at] = (uint8_t)i;
    }
    int64_t expected = 1;
    for (int k = n; k-- > first; expected *= type->dim[order[k]])
        if (stride[order[k]] != expected || type->dim[order[k]] == 0)
            return false;
    return true;
}

static void row_major_order(uint8_t *order)
{
    for (uint8_t i = 0; i < QF_MAX_RANK; i++)
        order[i] = i;
}

static void order_strides(const qf_type *type, const uint8_t *order, int64_t *stride)
{
    int64_t step = 1;
    for (int k = type->rank; k-- > 0;) {
        stride[order[k]] = step;
        step *= type->dim[order[k]] > 0 ? type->dim[order[k]] : 1;
    }
}

/* Strides matter only where there is something to step over. */
static bool same_strides(const qf_type *type, const int64_t *a, const int64_t *b)
{
    for (int8_t i = 0; i < type->rank; i++)
        if (type->dim[i] == 0)
            return true;
    for (int8_t i = 0; i < type->rank; i++)
        if (type->dim[i] > 1 && a[i] != b[i])
            return false;
    return true;
}

/* ---------------------------------------- views as strides */

static bool view_permute(const qf_attrs *at, const qf_type *in, const qf_type *out, layout *l)
{
    (void)in;
    int64_t stride[QF_MAX_RANK];
    memcpy(stride, l->stride, sizeof stride);
    for (int8_t i = 0; i < out->rank; i++)
        l->stride[i] = stride[at->dims.dim[i]];
    return true;
}

static bool view_reshape(const qf_attrs *at, const qf_type *in, const qf_type *out, layout *l)
{
    (void)at;
    int64_t stride[QF_MAX_RANK] = { 0 };
    if (!qf_strides_reshape((uint8_t)in->rank, in->dim, l->stride, (uint8_t)out->rank, out->dim,
                            stride))
        return false;
    memcpy(l->stride, stride, sizeof stride);
    return true;
}

static bool view_expand(const qf_attrs *at, const qf_type *in, const qf_type *out, layout *l)
{
    (void)at;
    int64_t stride[QF_MAX_RANK] = { 0 };
    const int new_dims = out->rank - in->rank;
    for (int i = 0; i < in->rank; i++)
        if (in->dim[i] == out->dim[new_dims + i])
            stride[new_dims + i] = l->stride[i];
    memcpy(l->stride, stride, sizeof stride);
    return true;
}

static bool view_slice(const qf_attrs *at, const qf_type *in, const qf_type *out, layout *l)
{
    (void)in, (void)out;
    l->offset += at->slice.start * l->stride[at->slice.dim];
    l->stride[at->slice.dim] *= at->slice.step;
    return true;
}

static bool view_select(const qf_attrs *at, const qf_type *in, const qf_type *out, layout *l)
{
    (void)out;
    l->offset += at->slice.start * l->stride[at->slice.dim];
    for (int i = at->slice.dim; i + 1 < in->rank; i++)
        l->stride[i] = l->stride[i + 1];
    return true;
}

static bool view_squeeze(const qf_attrs *at, const qf_type *in, const qf_type *out, layout *l)
{
    (void)out;
    int n = 0;
    for (int i = 0; i < in->rank; i++)
        if (!(at->mask.dims >> i & 1))
            l->stride[n++] = l->stride[i];
    return true;
}

/* A new dim gets the stride that torch gives it: size times stride of the next one. */
static bool view_unsqueeze(const qf_attrs *at, const qf_type *in, const qf_type *out, layout *l)
{
    int from = in->rank;
    int64_t stride[QF_MAX_RANK] = { 0 };
    for (int i = out->rank; i-- > 0;) {
        if (!(at->mask.dims >> i & 1))
            stride[i] = l->stride[--from];
        else
            stride[i] = i + 1 < out->rank ? stride[i + 1] * out->dim[i + 1] : 1;
    }
    memcpy(l->stride, stride, sizeof stride);
    return true;
}

typedef bool view_fn(const qf_attrs *at, const qf_type *in, const qf_type *out, layout *l);

/* flip and diagonal are views too, but no format stores negative strides, and diagonals hardly
 * occur: they are computed. */
static view_fn *const views[QF_OP_COUNT] = {
    [QF_OP_permute] = view_permute,     [QF_OP_reshape] = view_reshape,
    [QF_OP_expand] = view_expand,       [QF_OP_slice] = view_slice,
    [QF_OP_select] = view_select,       [QF_OP_squeeze] = view_squeeze,
    [QF_OP_unsqueeze] = view_unsqueeze,
};

/* Fails rather than overflow: bounds of views are those of their base, which has at most 2^63
 * elements. */
static bool is_sane(const qf_type *type)
{
    uint64_t bytes;
    return qf_type_bytes(type, &bytes) && bytes <= INT64_MAX;
}

/* The layout of a definition that is stored as a whole: as its first name recorded it, if that is
 * one dense block. */
static void base_order(const qfi_fold *fold, qfi_ref ref, uint8_t *order)
{
    const qfi_run *run = &qfi_work_of(fold)->run;
    const qf_type *type = &fold->prog.def[ref].type;
    const qfi_id named = ref < run->n_def ? run->first_named[ref] : QFI_NONE;
    const qfi_value *value = named == QFI_NONE ? NULL : &fold->graph->value[named];
    row_major_order(order);
    if (value && value->strided && !fold->options->contiguous &&
        !dense_order(type, value->stride, order))
        row_major_order(order);
}

/* copied: stored bytes count as computed, since some result is a copy of them. */
static void base_layout(const qfi_fold *fold, bool copied, qfi_form *form, layout *l)
{
    const qfi_def *def = &fold->prog.def[form->base];
    *l = (layout){ 0 };
    form->stored = QFI_NONE;
    if (def->leaf == QFI_NONE || copied) {
        if (copied && def->leaf != QFI_NONE)
            row_major_order(form->order);
        else
            base_order(fold, form->base, form->order);
        order_strides(&def->type, form->order, l->stride);
        return;
    }
    const qf_tensor leaf = qfi_leaf_tensor(fold->graph, def->leaf);
    form->stored = fold->graph->value[def->leaf].payload;
    memcpy(l->stride, leaf.stride, sizeof l->stride);
    l->offset = leaf.offset;
}

/* Follows views down to what they view, then composes strides on the way up; where they cannot be
 * composed, the view there becomes the base. */
static void find_base(const qfi_fold *fold, qfi_ref ref, bool copied, qfi_form *form, layout *l)
{
    const qfi_def *def = fold->prog.def;
    qfi_ref path[MAX_VIEWS];
    uint32_t n = 0;
    for (; def[ref].leaf == QFI_NONE && views[def[ref].op] && n < MAX_VIEWS; ref = def[ref].in[0])
        path[n++] = ref;
    form->base = ref;
    base_layout(fold, copied, form, l);
    while (n-- > 0) {
        const qfi_def *view = &def[path[n]];
        if (views[view->op](view->attrs, &def[view->in[0]].type, &view->type, l))
            continue;
        form->base = path[n];
        base_layout(fold, copied, form, l);
    }
}

static void store_alone(const qfi_fold *fold, qfi_ref ref, const int64_t *want, qfi_form *form)
{
    const qf_type *type = &fold->prog.def[ref].type;
    form->base = ref;
    form->stored = QFI_NONE;
    form->offset = 0;
    memset(form->stride, 0, sizeof form->stride);
    if (!want || !dense_order(type, want, form->order))
        row_major_order(form->order);
    order_strides(type, form->order, form->stride);
}

/* Whether the base is stored for others in any case. */
static bool is_in_use(const qfi_fold *fold, const qfi_form *form)
{
    const uint32_t u = qfi_unit_find(fold, form);
    return u != QFI_NONE && qfi_work_of(fold)->run.unit[u].n > 0;
}

static uint64_t bytes_of(const qfi_fold *fold, qfi_ref ref)
{
    uint64_t bytes;
    return qf_type_bytes(&fold->prog.def[ref].type, &bytes) ? bytes : UINT64_MAX;
}

/* Whether a view of the base is what the consumer expects, and costs no more than storing it alone.
 */
static bool fits_view(const qfi_fold *fold, qfi_ref ref, const qfi_form *form, const layout *l,
                      const int64_t *want)
{
    const bool fits = !want || same_strides(&fold->prog.def[ref].type, want, l->stride);
    return fits && is_sane(&fold->prog.def[form->base].type) &&
           (form->stored != QFI_NONE || bytes_of(fold, form->base) <= bytes_of(fold, ref) ||
            is_in_use(fold, form));
}

qfi_form qfi_form_of(const qfi_fold *fold, qfi_ref ref, const int64_t *want)
{
    const qf_type *type = &fold->prog.def[ref].type;
    int64_t row_major[QF_MAX_RANK] = { 0 };
    qfi_form form = { 0 };
    layout l;
    if (fold->options->contiguous) {
        qf_strides_dense((uint8_t)type->rank, type->dim, row_major);
        want = row_major;
    }
    find_base(fold, ref, false, &form, &l);
    if (!fits_view(fold, ref, &form, &l, want))
        find_base(fold, ref, true, &form, &l);
    if (!fits_view(fold, ref, &form, &l, want)) {
        store_alone(fold, ref, want, &form);
    } else {
        memcpy(form.stride, want ? want : l.stride, sizeof form.stride);
        form.offset = l.offset;
    }
    form.bytes = form.stored == QFI_NONE ? bytes_of(fold, form.base) : 0;
    return form;
}

/* ---------------------------------------- the pass */

/* Bytes of the integers behind a definition: those it was dequantized from, as far as views left
 * them. Element by element the operands share them, everything else needs them all. */
static uint64_t integers_of(const qfi_fold *fold, const uint64_t *integers, const qfi_def *def)
{
    uint64_t most = 0, sum = 0, n_in, n_out;
    for (uint32_t k = 0; k < def->n_in; k++) {
        most = integers[def->in[k]] > most ? integers[def->in[k]] : most;
        sum = qfi_add_saturating(sum, integers[def->in[k]]);
    }
    if (def->op == QF_OP_dequantize)
        return qf_type_bytes(&fold->prog.def[def->in[0]].type, &most) ? most : 0;
    if (!sum || def->leaf != QFI_NONE)
        return 0;
    const qf_op_kind kind = qf_op_get(def->op)->kind;
    if (kind != QF_KIND_VIEW)
        return kind == QF_KIND_POINTWISE ? most : sum;
    if (!qf_type_elements(&fold->prog.def[def->in[0]].type, &n_in) ||
        !qf_type_elements(&def->type, &n_out) || n_out >= n_in)
        return most;
    return (uint64_t)((double)most * ((double)n_out / (double)n_in) + 0.5) + (n_out > 0);
}

/* A result that is no wider than its integers may be stored, and is a source then like any other;
 * so it is one before, or a second fold would go further than the first. */
static uint64_t until_narrow(const qfi_def *def, uint64_t integers)
{
    uint64_t bytes;
    return qf_type_bytes(&def->type, &bytes) && bytes <= integers ? 0 : integers;
}

qf_status qfi_number(qfi_fold *fold, qf_diag *diag)
{
    qfi_run *run = &qfi_work_of(fold)->run;
    const size_t n = fold->prog.n;
    run->n_def = n;
    run->first_named = qfi_pool_alloc(&run->pool, n, sizeof *run->first_named);
    run->integers = qfi_pool_alloc(&run->pool, n, sizeof *run->integers);
    if (!run->first_named || !run->integers)
        return QFI_NO_MEMORY(diag);
    for (size_t i = 0; i < n; i++)
        run->first_named[i] = QFI_NONE;
    for (qfi_id v = fold->graph->n_value; v-- > 0;)
        if (fold->ref[v] != QFI_NONE)
            run->first_named[fold->ref[v]] = v;
    for (size_t i = 0; i < n; i++)
        run->integers[i] =
            until_narrow(&fold->prog.def[i], integers_of(fold, run->integers, &fold->prog.def[i]));
    return QF_OK;
}
