/* One operator at a time over whole values. */
#include "reference.h"

#include <stdlib.h>

/* need: readers of a definition that are still to come; value: its tensor while it has any. */
typedef struct evaluation {
    const qfi_reference *reference;
    const qfi_prog *prog;
    uint32_t *need;
    qf_tensor *value;
} evaluation;

qf_status qfi_reference_open(qfi_reference *out, qf_diag *diag)
{
    *out = (qfi_reference){ .ctx = { .struct_size = sizeof out->ctx }, .table = qf_table_make(0) };
    if (!out->table)
        QF_FAIL(diag, QF_ERR_NOMEM, "no memory for the table of kernels");
    out->ctx.table = out->table;
    return QF_OK;
}

void qfi_reference_close(qfi_reference *reference)
{
    qf_table_free(reference->table);
    reference->table = NULL;
}

/* Definitions precede their users, so one walk downwards counts every reader that `ref` needs. */
static void count_needs(evaluation *e, qfi_ref ref)
{
    e->need[ref] = 1;
    for (size_t i = (size_t)ref + 1; i-- > 0;) {
        const qfi_def *def = &e->prog->def[i];
        for (uint32_t k = 0; e->need[i] && k < def->n_in; k++)
            e->need[def->in[k]]++;
    }
}

static void drop_reader(evaluation *e, qfi_ref ref)
{
    if (--e->need[ref] || e->prog->def[ref].leaf != QFI_NONE)
        return;
    qf_storage_unref(e->value[ref].storage);
    e->value[ref].storage = NULL;
}

static qf_status apply(evaluation *e, const qfi_def *def, qf_tensor *x, qf_diag *diag)
{
    qf_tensor *in = calloc(def->n_in + 1u, sizeof *in);
    if (!in)
        QF_FAIL(diag, QF_ERR_NOMEM, "out of memory");
    for (uint32_t k = 0; k < def->n_in; k++)
        in[k] = e->value[def->in[k]];
    const qf_status st = qf_eval(&e->reference->ctx, def->op, def->attrs, in, def->n_in, x, diag);
    free(in);
    return st;
}

static qf_status eval_one(evaluation *e, qfi_ref ref, qf_diag *diag)
{
    const qfi_def *def = &e->prog->def[ref];
    uint64_t bytes;
    if (def->leaf != QFI_NONE) {
        e->value[ref] = qfi_leaf_tensor(e->prog->graph, def->leaf);
        return QF_OK;
    }
    if (!qf_type_bytes(&def->type, &bytes))
        QF_FAIL(diag, QF_ERR_OVERFLOW, "%s: its size does not fit in 64 bits",
                qf_op_get(def->op)->name);
    qf_storage *storage = qf_storage_new(bytes);
    if (!storage)
        QF_FAIL(diag, QF_ERR_NOMEM, "no memory for a value of %llu bytes",
                (unsigned long long)bytes);
    e->value[ref].storage = storage;
    QF_TRY(qf_tensor_dense(storage, &def->type, &e->value[ref], diag));
    QF_TRY(apply(e, def, &e->value[ref], diag));
    for (uint32_t k = 0; k < def->n_in; k++)
        drop_reader(e, def->in[k]);
    return QF_OK;
}

/* A leaf may be strided: the result is a dense copy of it. */
static qf_status take_result(evaluation *e, qfi_ref ref, qf_storage **out, qf_diag *diag)
{
    const qfi_def *def = &e->prog->def[ref];
    if (def->leaf == QFI_NONE) {
        *out = qf_storage_ref(e->value[ref].storage);
        return QF_OK;
    }
    uint64_t bytes;
    if (!qf_type_bytes(&def->type, &bytes))
        QF_FAIL(diag, QF_ERR_OVERFLOW, "a stored value's size does not fit in 64 bits");
    qf_storage *copy = qf_storage_new(bytes);
    if (!copy)
        QF_FAIL(diag, QF_ERR_NOMEM, "no memory for a value of %llu bytes",
                (unsigned long long)bytes);
    qf_tensor x;
    qf_status st = qf_tensor_dense(copy, &def->type, &x, diag);
    if (st == QF_OK)
        st = qf_eval(&e->reference->ctx, QF_OP_identity, NULL, &e->value[ref], 1, &x, diag);
    if (st == QF_OK)
        *out = copy;
    else
        qf_storage_unref(copy);
    return st;
}

qf_status qfi_reference_eval(const qfi_reference *reference, const qfi_prog *prog, qfi_ref ref,
                             qf_storage **out, qf_diag *diag)
{
    const size_t n = (size_t)ref + 1;
    evaluation e = { .reference = reference,
                     .prog = prog,
                     .need = calloc(n, sizeof *e.need),
                     .value = calloc(n, sizeof *e.value) };
    qf_status st;
    if (!e.need || !e.value) {
        st = qf_fail(diag, QF_ERR_NOMEM, "out of memory");
        goto out;
    }
    count_needs(&e, ref);
    for (size_t i = 0; i < n; i++) {
        if (e.need[i])
            QF_TRY_OUT(eval_one(&e, (qfi_ref)i, diag));
    }
    QF_TRY_OUT(take_result(&e, ref, out, diag));
out:
    for (size_t i = 0; e.value && i < n; i++) {
        if (prog->def[i].leaf == QFI_NONE)
            qf_storage_unref(e.value[i].storage);
    }
    free(e.value);
    free(e.need);
    return st;
}
