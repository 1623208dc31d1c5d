/* What every format's lower() uses: stating a reason, and appending calls whose type errors mean
 * "keep this node". */
#include "env.h"

#include <stdarg.h>
#include <stdio.h>

qf_status qfi_env_keep(qfi_env *env, qf_reason reason, const char *format, ...)
{
    if (env->reason != QF_REASON_none)
        return QF_OK;
    env->reason = reason;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(env->detail, sizeof env->detail, format, arguments);
    va_end(arguments);
    return QF_OK;
}

static const struct {
    qf_status status;
    qf_reason reason;
} type_errors[] = {
    { QF_ERR_DTYPE, QF_REASON_unsupported_dtype },
    { QF_ERR_RANK, QF_REASON_unsupported_rank },
    { QF_ERR_SHAPE, QF_REASON_unsupported_argument },
    { QF_ERR_ATTR, QF_REASON_unsupported_argument },
    { QF_ERR_OVERFLOW, QF_REASON_unsupported_argument },
    { QF_ERR_UNSUPPORTED, QF_REASON_unsupported_argument },
};

/* Same bits on every run, but not those of the source's runtime: fractional steps are summed in
 * ways that differ there. */
static bool is_inexact(qf_op op, const qf_attrs *attrs)
{
    return (qf_op_get(op)->flags & QF_OP_INEXACT) ||
           (op == QF_OP_arange && !(attrs->arange.start.is_int && attrs->arange.step.is_int));
}

qf_status qfi_env_call(qfi_env *env, qf_op op, const qf_attrs *attrs, const qfi_ref *in,
                       uint32_t n_in, qfi_ref *out, qf_diag *diag)
{
    *out = QFI_NONE;
    if (env->reason != QF_REASON_none)
        return QF_OK;
    qf_diag local = { 0 };
    const qf_status st = qfi_prog_call(env->prog, op, attrs, in, n_in, out, &local);
    for (size_t i = 0; st != QF_OK && i < sizeof type_errors / sizeof *type_errors; i++)
        if (type_errors[i].status == st)
            return qfi_env_keep(env, type_errors[i].reason, "%s", local.text);
    if (st != QF_OK)
        QF_FAIL(diag, st, "%s", local.text);
    if (env->prog->def[*out].undefined)
        return qfi_env_keep(env, QF_REASON_undefined, "%s", qf_op_get(op)->name);
    env->inexact |= is_inexact(op, attrs);
    return QF_OK;
}
