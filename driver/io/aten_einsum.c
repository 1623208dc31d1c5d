/* Builder of einsum with one or two operands, as torch computes it: labels that only one operand
 * has and the result lacks are summed first, then one batched matrix product, its dims the labels
 * of four kinds.
 *
 *                      in a   in b   in the result
 *   batch               x      x      x
 *   rows                x             x
 *   columns                    x      x
 *   contracted          x      x
 */
#include "aten_build.h"

#include <string.h>

#define MAX_LABEL 52

/* An operand and the label of each of its dims. */
typedef struct term {
    qfi_ref x;
    uint32_t n;
    char label[QF_MAX_RANK];
} term;

static bool is_label(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int find_label(const term *t, char label)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (t->label[i] == label)
            return (int)i;
    return -1;
}

/* Labels up to `stop`, spaces left out. Ellipses, and labels that stand twice, are refused. */
static const char *read_term(qfi_lowering *l, const char *p, const char *end, term *t)
{
    for (; p < end && *p != ',' && *p != '-'; p++) {
        if (*p == ' ')
            continue;
        if (!is_label(*p) || find_label(t, *p) >= 0 || t->n == QF_MAX_RANK) {
            qfi_refuse(l, QF_REASON_unsupported_argument, "the equation");
            return end;
        }
        t->label[t->n++] = *p;
    }
    return p;
}

/* Without "->" the result has the labels that stand once, in alphabetical order. */
static void implied_result(const term *in, uint32_t n, term *out)
{
    static const char all[MAX_LABEL + 1] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

    for (int i = 0; i < MAX_LABEL && out->n < QF_MAX_RANK; i++) {
        uint32_t seen = 0;
        for (uint32_t k = 0; k < n; k++)
            seen += find_label(&in[k], all[i]) >= 0;
        if (seen == 1)
            out->label[out->n++] = all[i];
    }
}

/* The equation of n terms; t[n] is the result. */
static void read_equation(qfi_lowering *l, qf_str text, term *t, uint32_t n)
{
    const char *p = text.p, *const end = text.p + text.n;

    for (uint32_t i = 0; i < n; i++) {
        p = read_term(l, p, end, &t[i]);
        if (i + 1 < n && (p == end || *p++ != ','))
            qfi_refuse(l, QF_REASON_undefined, "an equation of fewer operands");
    }
    if (p == end)
        implied_result(t, n, &t[n]);
    else if (end - p < 2 || p[0] != '-' || p[1] != '>' || read_term(l, p + 2, end, &t[n]) != end)
        qfi_refuse(l, QF_REASON_undefined, "the equation");
    for (uint32_t i = 0; i < t[n].n; i++)
        if (find_label(&t[0], t[n].label[i]) < 0 && (n < 2 || find_label(&t[1], t[n].label[i]) < 0))
            qfi_refuse(l, QF_REASON_undefined, "label %c of the result", t[n].label[i]);
}

/* Sums over the labels that neither `other` (may be NULL) nor the result has. */
static void sum_out(qfi_lowering *l, term *t, const term *other, const term *out)
{
    qf_attrs attrs = { .reduce = { 0, false } };
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->n; i++) {
        const bool needed =
            find_label(out, t->label[i]) >= 0 || (other && find_label(other, t->label[i]) >= 0);
        if (needed)
            t->label[n++] = t->label[i];
        else
            attrs.reduce.dims |= 1u << i;
    }
    t->n = n;
    if (attrs.reduce.dims) {
        const qf_dtype dtype = qfi_type_of(l, t->x).dtype;
        t->x = qfi_cast(l, qfi_append1(l, QF_OP_sum, &attrs, t->x), dtype);
    }
}

/* Dims in the order of `label`, of which there are as many. */
static qfi_ref in_order(qfi_lowering *l, const term *t, const char *label)
{
    uint8_t order[QF_MAX_RANK] = { 0 };

    for (uint32_t i = 0; i < t->n; i++)
        order[i] = (uint8_t)find_label(t, label[i]);
    return qfi_permute(l, t->x, order);
}

/* Product of the sizes of n labels. */
static int64_t size_of(qfi_lowering *l, const term *t, const char *label, uint32_t n)
{
    const qf_type type = qfi_type_of(l, t->x);
    int64_t size = 1;

    for (uint32_t i = 0; i < n && qfi_lowering_ok(l); i++)
        size *= type.dim[find_label(t, label[i])];
    return size;
}

static void check_sizes(qfi_lowering *l, const term *a, const term *b)
{
    const qf_type x = qfi_type_of(l, a->x), y = qfi_type_of(l, b->x);

    for (uint32_t i = 0; i < a->n; i++) {
        const int k = find_label(b, a->label[i]);
        if (k >= 0 && qfi_lowering_ok(l) && x.dim[i] != y.dim[k])
            qfi_refuse(l, QF_REASON_unsupported_argument, "label %c has two sizes", a->label[i]);
    }
}

/* One operand: what the result lacks is summed, the rest reordered. */
static qfi_ref einsum_one(qfi_lowering *l, term *a, const term *out)
{
    sum_out(l, a, NULL, out);
    return a->n == out->n ? in_order(l, a, out->label) : QFI_NONE;
}

/* Labels of the four kinds, in groups. */
typedef struct groups {
    char batch[QF_MAX_RANK], row[QF_MAX_RANK], column[QF_MAX_RANK], inner[QF_MAX_RANK];
    uint32_t n_batch, n_row, n_column, n_inner;
} groups;

static void sort_labels(const term *a, const term *b, const term *out, groups *g)
{
    *g = (groups){ .n_batch = 0 };
    for (uint32_t i = 0; i < a->n; i++) {
        const bool shared = find_label(b, a->label[i]) >= 0;
        if (shared && find_label(out, a->label[i]) >= 0)
            g->batch[g->n_batch++] = a->label[i];
        else if (shared)
            g->inner[g->n_inner++] = a->label[i];
        else
            g->row[g->n_row++] = a->label[i];
    }
    for (uint32_t i = 0; i < b->n; i++)
        if (find_label(a, b->label[i]) < 0)
            g->column[g->n_column++] = b->label[i];
}

/* The operand as [first, second, third], each all dims of a group. */
static qfi_ref grouped(qfi_lowering *l, const term *t, const char *group[3], const uint32_t n[3])
{
    char order[3 * QF_MAX_RANK];
    int64_t dim[3];
    uint32_t at = 0;

    for (int i = 0; i < 3; i++) {
        memcpy(order + at, group[i], n[i]);
        at += n[i];
        dim[i] = size_of(l, t, group[i], n[i]);
    }
    return qfi_reshape(l, in_order(l, t, order), 3, dim);
}

/* Nothing contracted: a product of elements, without a sum that would lose the sign of a zero. */
static qfi_ref einsum_two(qfi_lowering *l, term *a, term *b, const term *out)
{
    groups g;
    term result = { .n = 0 };
    int64_t dim[3 * QF_MAX_RANK];

    sum_out(l, a, b, out);
    sum_out(l, b, a, out);
    check_sizes(l, a, b);
    sort_labels(a, b, out, &g);
    const qfi_ref x = grouped(l, a, (const char *[]){ g.batch, g.row, g.inner },
                              (const uint32_t[]){ g.n_batch, g.n_row, g.n_inner });
    const qfi_ref y = grouped(l, b, (const char *[]){ g.batch, g.inner, g.column },
                              (const uint32_t[]){ g.n_batch, g.n_inner, g.n_column });
    const qfi_ref product = qfi_append2(l, g.n_inner ? QF_OP_matmul : QF_OP_mul, x, y);
    const struct {
        const term *from;
        const char *label;
        uint32_t n;
    } part[] = { { a, g.batch, g.n_batch }, { a, g.row, g.n_row }, { b, g.column, g.n_column } };
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        for (uint32_t k = 0; k < part[i].n && result.n < out->n; k++) {
            result.label[result.n] = part[i].label[k];
            dim[result.n++] = size_of(l, part[i].from, part[i].label + k, 1);
        }
    result.x = qfi_reshape(l, product, result.n, dim);
    return in_order(l, &result, out->label);
}

void qfi_build_einsum(qfi_lowering *l)
{
    const qfi_arg *list = qfi_arg_get(l, "tensors"), *equation = qfi_arg_get(l, "equation");
    term t[3] = { { .n = 0 } };

    if (list->kind != QFI_ARG_TENSORS || list->n < 1 || list->n > 2 ||
        equation->kind != QFI_ARG_TEXT) {
        qfi_refuse(l, QF_REASON_unsupported_argument, "%u operands", (unsigned)list->n);
        return;
    }
    read_equation(l, equation->text, t, list->n);
    for (uint32_t i = 0; i < list->n; i++) {
        t[i].x = qfi_value_ref(l, list->values[i]);
        const qf_type type = qfi_type_of(l, t[i].x), first = qfi_type_of(l, t[0].x);
        if (type.rank != (int)t[i].n)
            qfi_refuse(l, QF_REASON_undefined, "a tensor of rank %d", type.rank);
        if (type.dtype != first.dtype || type.dtype == QF_DT_b8)
            qfi_refuse(l, QF_REASON_unsupported_dtype, "%s", qf_dtype_get(type.dtype)->name);
    }
    if (!qfi_lowering_ok(l))
        return;
    qfi_result(l, list->n == 1 ? einsum_one(l, &t[0], &t[1]) : einsum_two(l, &t[0], &t[1], &t[2]));
}
