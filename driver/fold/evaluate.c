/* Numbers: scalars and small vectors that other folds take as attributes, or that kept nodes take
 * as literals. */
#include "work.h"

#include <string.h>

#define MAX_SMALL 64u
/* A number may stand for a reduction over a weight; planning reads no more than this for one. */
#define MAX_READ ((uint64_t)1 << 20)

/* Every number is evaluated as one of the two types that qf_scalar holds. */
static qf_status as_number(qfi_fold *fold, qfi_ref ref, qfi_ref *out, qf_diag *diag)
{
    const qf_dtype dtype = fold->prog.def[ref].type.dtype;
    const bool real = qf_dtype_get(dtype)->kind == QF_CLASS_FLOAT;
    const qf_attrs attrs = { .cast = { .dtype = real ? QF_DT_f64 : QF_DT_i64 } };
    return qfi_prog_call(&fold->prog, QF_OP_cast, &attrs, &ref, 1, out, diag);
}

/* Statuses that say "not known" rather than "stop". */
static bool is_soft(qf_status st)
{
    return st == QF_ERR_VALUE || st == QF_ERR_LIMIT || st == QF_ERR_UNSUPPORTED ||
           st == QF_ERR_DTYPE || st == QF_ERR_RANK;
}

static qf_status run_small(qfi_fold *fold, qfi_ref ref, void *dst, bool *known, qf_diag *diag)
{
    qf_pipe *pipe = NULL;
    qf_diag local = { 0 };
    qf_status st;
    *known = false;
    QF_TRY_OUT(qfi_compile_one(&fold->prog, fold->ctx, ref, &pipe, &local));
    if (qf_pipe_cost(pipe).read > MAX_READ)
        goto out;
    QF_TRY_OUT(qf_pipe_run(fold->ctx, pipe, NULL, dst, &local));
    *known = true;
out:
    qf_pipe_free(pipe);
    if (st == QF_ERR_VALUE)
        fold->prog.def[ref].undefined = true;
    return st == QF_OK || is_soft(st) ? QF_OK : qf_fail(diag, st, "%s", local.text);
}

qf_status qfi_evaluate_small(qfi_fold *fold, qfi_ref ref, qf_scalar *out, uint32_t *n, bool *known,
                             qf_diag *diag)
{
    uint64_t elements;
    *known = false;
    if (!qf_type_elements(&fold->prog.def[ref].type, &elements) || elements > MAX_SMALL)
        return QF_OK;
    qf_diag local = { 0 };
    qf_status st = as_number(fold, ref, &ref, &local);
    if (st != QF_OK)
        return is_soft(st) ? QF_OK : qf_fail(diag, st, "%s", local.text);
    int64_t bits[MAX_SMALL];
    QF_TRY(run_small(fold, ref, bits, known, diag));
    if (!*known)
        return QF_OK;
    *n = (uint32_t)elements;
    for (uint32_t i = 0; i < *n; i++) {
        out[i] = (qf_scalar){ .is_int = fold->prog.def[ref].type.dtype == QF_DT_i64 };
        if (out[i].is_int)
            out[i].i = bits[i];
        else
            memcpy(&out[i].f, &bits[i], sizeof out[i].f);
    }
    return QF_OK;
}

/* The common case, without a pipeline: a literal of the type that it already has. */
static bool is_literal(const qfi_def *def, qf_scalar *out)
{
    if (def->op != QF_OP_full || def->type.rank != 0)
        return false;
    *out = def->attrs->full.value;
    if (def->type.dtype == QF_DT_b8 && out->is_int)
        *out = (qf_scalar){ .is_int = true, .i = out->i != 0 };
    return out->is_int ? def->type.dtype == QF_DT_i64 || def->type.dtype == QF_DT_b8
                       : def->type.dtype == QF_DT_f64;
}

qf_status qfi_evaluate_scalar(qfi_fold *fold, qfi_ref ref, qf_scalar *out, bool *known,
                              qf_diag *diag)
{
    const qfi_def *def = &fold->prog.def[ref];
    if (is_literal(def, out)) {
        *known = true;
        return QF_OK;
    }
    uint32_t n = 0;
    qf_scalar element[MAX_SMALL];
    QF_TRY(qfi_evaluate_small(fold, ref, element, &n, known, diag));
    if (*known && n != 1)
        *known = false;
    if (*known)
        *out = element[0];
    return QF_OK;
}
