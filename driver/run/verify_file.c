/* Comparing two model files value by value. Both are read and classified as for a fold; a value
 * that both name, with constant contents on both sides and stored on one, must be the same bits. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <qfold/io.h>

#include "../fold/passes.h"
#include "plan_file.h"
#include "reference.h"

/* One file. options: nothing that could keep a node which is computable. */
typedef struct side {
    const char *path;
    qf_graph *graph;
    qfi_fold fold;
    qf_fold_options options;
} side;

static qf_status open_side(side *s, const char *path, const qf_ctx *ctx, qf_diag *diag)
{
    s->path = path;
    s->options = (qf_fold_options){ .struct_size = sizeof s->options,
                                    .max_growth = QF_GROWTH_NONE,
                                    .fold_dequant = true };
    QF_TRY(qf_open(path, &s->graph, diag));
    s->fold = (qfi_fold){ .top = s->graph, .options = &s->options, .ctx = ctx };
    return qfi_plan_file(&s->fold, path, diag);
}

static void close_side(side *s)
{
    qfi_fold_free(&s->fold);
    qf_close(s->graph);
}

static bool is_stored(const side *s, qfi_id value)
{
    return s->fold.graph->value[value].payload != QFI_NONE;
}

/* The definition of a value's contents; state counts with what is stored for it. A stored tensor
 * whose sizes do not fit in 64 bits has a zero among them, so no contents. */
static qf_status find_ref(side *s, qfi_id value, qfi_ref *out, qf_diag *diag)
{
    uint64_t bytes;
    *out = s->fold.ref[value];
    if (!is_stored(s, value))
        return QF_OK;
    QF_TRY(qfi_prog_leaf(&s->fold.prog, value, out, diag));
    if (*out != QFI_NONE && !qf_type_bytes(&s->fold.prog.def[*out].type, &bytes))
        *out = QFI_NONE;
    return QF_OK;
}

static void format_element(char *out, size_t size, const qf_type *type, const unsigned char *p)
{
    const uint32_t bytes = qf_dtype_get(type->dtype)->bits / 8u;
    float f;
    double d;
    if (type->dtype == QF_DT_f32) {
        memcpy(&f, p, sizeof f);
        snprintf(out, size, "%.9g", (double)f);
    } else if (type->dtype == QF_DT_f64) {
        memcpy(&d, p, sizeof d);
        snprintf(out, size, "%.17g", d);
    } else {
        uint64_t bits = 0;
        memcpy(&bits, p, bytes <= 8 ? (bytes ? bytes : 1) : 8);
        snprintf(out, size, "0x%" PRIx64, bits);
    }
}

static qf_status report_difference(const side *s, qf_str name, const qf_type *type,
                                   const qf_storage *a, const qf_storage *b, qf_diag *diag)
{
    const unsigned char *pa = a->data, *pb = b->data;
    size_t at = 0;
    while (pa[at] == pb[at])
        at++;
    const uint32_t bits = qf_dtype_get(type->dtype)->bits;
    const size_t size = bits >= 8 ? bits / 8 : 1;
    char was[40], is[40];
    format_element(was, sizeof was, type, pa + at / size * size);
    format_element(is, sizeof is, type, pb + at / size * size);
    QF_FAIL(diag, QF_ERR_DIFFERS, "%s: value %.*s differs at element %zu: %s became %s", s->path,
            QFI_STR(name), at * 8 / bits, was, is);
}

static bool same_bytes(const qf_storage *a, const qf_storage *b)
{
    return a->size == b->size && (!a->size || !memcmp(a->data, b->data, a->size));
}

/* A value that constant writes change in between may be stored as any of its readers find it. */
static qf_status find_version(const qfi_reference *reference, const side *before, qfi_id was,
                              const qf_type *type, const qf_storage *want, bool *found,
                              qf_diag *diag)
{
    qfi_ref ref, last = before->fold.ref[was];
    for (size_t at = 0; (ref = qfi_fold_next_read(&before->fold, was, &at)) != QFI_NONE;) {
        qf_storage *bytes;
        if (ref == last || !qf_type_equal(&before->fold.prog.def[ref].type, type))
            continue;
        last = ref;
        QF_TRY(qfi_reference_eval(reference, &before->fold.prog, ref, &bytes, diag));
        *found = same_bytes(bytes, want);
        qf_storage_unref(bytes);
        if (*found)
            break;
    }
    return QF_OK;
}

static qf_status compare(const qfi_reference *reference, side *before, side *after, qfi_id was,
                         qfi_id is, qf_str name, qf_verified *done, qf_diag *diag)
{
    qfi_ref ref[2];
    qf_storage *bytes[2] = { NULL, NULL };
    qf_status st;
    QF_TRY(find_ref(before, was, &ref[0], diag));
    QF_TRY(find_ref(after, is, &ref[1], diag));
    if (ref[0] == QFI_NONE || ref[1] == QFI_NONE)
        return QF_OK;
    const qf_type *type = &after->fold.prog.def[ref[1]].type;
    if (!qf_type_equal(&before->fold.prog.def[ref[0]].type, type))
        QF_FAIL(diag, QF_ERR_DIFFERS, "%s: value %.*s changed its dtype or shape", after->path,
                QFI_STR(name));
    QF_TRY_OUT(qfi_reference_eval(reference, &before->fold.prog, ref[0], &bytes[0], diag));
    QF_TRY_OUT(qfi_reference_eval(reference, &after->fold.prog, ref[1], &bytes[1], diag));
    bool same = same_bytes(bytes[0], bytes[1]);
    if (!same)
        QF_TRY_OUT(find_version(reference, before, was, type, bytes[1], &same, diag));
    if (!same)
        QF_TRY_OUT(report_difference(after, name, type, bytes[0], bytes[1], diag));
    done->values++;
    done->bytes += bytes[0]->size;
out:
    qf_storage_unref(bytes[0]);
    qf_storage_unref(bytes[1]);
    return st;
}

/* A value under the name that it has in one body, behind the path of that body. Captures have one
 * in every body that takes them. */
typedef struct named {
    qf_str name;
    qfi_id value;
} named;

typedef struct names {
    named *item;
    size_t n;
} names;

static int by_name(const void *a, const void *b)
{
    const named *x = a, *y = b;
    const size_t n = x->name.n < y->name.n ? x->name.n : y->name.n;
    const int order = n ? memcmp(x->name.p, y->name.p, n) : 0;
    return order ? order : (x->name.n > y->name.n) - (x->name.n < y->name.n);
}

static qf_status name_values(const side *s, qfi_pool *pool, names *out, qf_diag *diag)
{
    const qfi_whole *whole = &s->fold.whole;
    size_t n = 0;
    for (uint32_t i = 0; i < whole->n_part; i++)
        n += whole->part[i].graph->n_value;
    out->item = qfi_pool_alloc(pool, n, sizeof *out->item);
    for (uint32_t i = 0; out->item && i < whole->n_part; i++) {
        const qf_graph *g = whole->part[i].graph;
        for (qfi_id v = 0; v < g->n_value; v++) {
            named *item = &out->item[out->n++];
            item->value = qfi_part_value(&whole->part[i], v);
            item->name = g->value[v].name;
            if (g->path.n)
                item->name = qfi_pool_join(pool, 2, (qf_str[]){ g->path, g->value[v].name });
            if (g->path.n && !item->name.p)
                QF_FAIL(diag, QF_ERR_NOMEM, "out of memory");
        }
    }
    if (!out->item)
        QF_FAIL(diag, QF_ERR_NOMEM, "out of memory");
    return QF_OK;
}

static qf_status compare_all(const qfi_reference *reference, side *before, side *after,
                             qf_verified *done, qf_diag *diag)
{
    qfi_pool pool = { 0 };
    names was = { 0 }, is = { 0 };
    qf_status st;
    QF_TRY_OUT(name_values(before, &pool, &was, diag));
    QF_TRY_OUT(name_values(after, &pool, &is, diag));
    if (was.n)
        qsort(was.item, was.n, sizeof *was.item, by_name);
    for (size_t i = 0; i < is.n; i++) {
        const named *found =
            was.n ? bsearch(&is.item[i], was.item, was.n, sizeof *was.item, by_name) : NULL;
        if (found && (is_stored(after, is.item[i].value) || is_stored(before, found->value)))
            QF_TRY_OUT(compare(reference, before, after, found->value, is.item[i].value,
                               is.item[i].name, done, diag));
    }
out:
    qfi_pool_free(&pool);
    return st;
}

qf_status qf_verify_files(const char *before, const char *after, qf_verified *out, qf_diag *diag)
{
    side was = { 0 }, is = { 0 };
    qfi_reference reference = { 0 };
    qf_verified done = { 0 };
    qf_status st;
    QF_TRY_OUT(qfi_reference_open(&reference, diag));
    QF_TRY_OUT(open_side(&was, before, &reference.ctx, diag));
    QF_TRY_OUT(open_side(&is, after, &reference.ctx, diag));
    QF_TRY_OUT(compare_all(&reference, &was, &is, &done, diag));
    if (out)
        *out = done;
out:
    close_side(&is);
    close_side(&was);
    qfi_reference_close(&reference);
    return st;
}
