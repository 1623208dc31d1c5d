/* Arguments of a node being lowered: the defaults of its row's schema, and their look-up by name.
 */
#include "aten_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool qfi_lowering_ok(const qfi_lowering *l)
{
    return l->status == QF_OK && l->env->reason == QF_REASON_none;
}

void qfi_refuse(qfi_lowering *l, qf_reason reason, const char *format, ...)
{
    char text[sizeof l->env->detail];
    va_list list;

    if (!qfi_lowering_ok(l))
        return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    l->status = qfi_env_keep(l->env, reason, "%s", text);
}

/* ---- the schema string ---- */

static bool number_from_text(qf_str text, qfi_number *out)
{
    char copy[40], *end;

    if (!text.n || text.n >= sizeof copy)
        return false;
    memcpy(copy, text.p, text.n);
    copy[text.n] = 0;
    *out = (qfi_number){ { .is_int = true, .i = strtoll(copy, &end, 10) }, QFI_NUMBER_INT };
    if (!*end)
        return true;
    *out = (qfi_number){ { .f = strtod(copy, &end) }, QFI_NUMBER_FLOAT };
    return !*end;
}

/* "1" of "[1, 1]"; what is no list of one number repeated, as it is. */
static qf_str repeated_number(qf_str text)
{
    if (text.n < 3 || *text.p != '[')
        return text;
    const char *comma = memchr(text.p, ',', text.n), *end = text.p + text.n - 1;
    const qf_str first = { text.p + 1, (size_t)((comma ? comma : end) - text.p) - 1 };
    for (const char *p = first.p + first.n; p < end; p += first.n + 2)
        if ((size_t)(end - p) < first.n + 2 || memcmp(p + 2, first.p, first.n) != 0)
            return text;
    return first;
}

/* None, True, False, [], numbers, texts; a list of one number repeated is that number. The rows
 * have no other defaults that a builder looks at. */
static void read_default(qfi_arg *arg, qf_str text)
{
    if (qfi_str_is(text, "None")) {
        arg->kind = QFI_ARG_NONE;
    } else if (qfi_str_is(text, "True") || qfi_str_is(text, "False")) {
        arg->kind = QFI_ARG_NUMBER;
        arg->number = (qfi_number){ { .is_int = true, .i = *text.p == 'T' }, QFI_NUMBER_BOOL };
    } else if (qfi_str_is(text, "[]")) {
        arg->kind = QFI_ARG_NUMBERS;
    } else if (number_from_text(repeated_number(text), &arg->number)) {
        arg->kind = QFI_ARG_NUMBER;
    } else {
        const bool quoted = text.n >= 2 && *text.p == '"';
        arg->kind = QFI_ARG_TEXT;
        arg->text = quoted ? (qf_str){ text.p + 1, text.n - 2 } : text;
    }
}

bool qfi_aten_defaults(qfi_aten_op *op, qfi_pool *pool)
{
    qfi_arg *args = qfi_pool_alloc(pool, QFI_ATEN_MAX_ARGS, sizeof *args);

    if (!args)
        return false;
    for (const char *p = op->row->schema; *p && op->n_arg < QFI_ATEN_MAX_ARGS;) {
        const char *end = p, *equals = NULL;
        for (int depth = 0; *end && (depth || *end != ','); end++) {
            depth += (*end == '[') - (*end == ']');
            if (*end == '=')
                equals = end;
        }
        if (*p != '*') {
            qfi_arg *arg = &args[op->n_arg++];
            arg->name = (qf_str){ p, (size_t)((equals ? equals : end) - p) };
            if (equals)
                read_default(arg, (qf_str){ equals + 1, (size_t)(end - equals - 1) });
        }
        p = *end ? end + 2 : end;
    }
    op->arg = args;
    return true;
}

/* ---- look-up by builders ---- */

const qfi_arg *qfi_arg_get(qfi_lowering *l, const char *name)
{
    static const qfi_arg absent = { .kind = QFI_ARG_ABSENT, .value = QFI_NONE };

    for (uint32_t i = 0; i < l->n_arg; i++)
        if (qfi_str_is(l->arg[i].name, name))
            return &l->arg[i];
    return &absent;
}

static const qfi_arg *expect(qfi_lowering *l, const char *name, qfi_arg_kind kind)
{
    const qfi_arg *arg = qfi_arg_get(l, name);

    if (arg->kind == kind)
        return arg;
    qfi_refuse(l, QF_REASON_unsupported_argument, "argument %s", name);
    return NULL;
}

bool qfi_arg_has(qfi_lowering *l, const char *name)
{
    const uint8_t kind = qfi_arg_get(l, name)->kind;
    return kind != QFI_ARG_ABSENT && kind != QFI_ARG_NONE;
}

qfi_ref qfi_value_ref(qfi_lowering *l, qfi_id value)
{
    if (value == QFI_NONE)
        qfi_refuse(l, QF_REASON_unsupported_argument, "a list with absent tensors");
    if (!qfi_lowering_ok(l))
        return QFI_NONE;
    const qfi_ref ref = l->env->ref(l->env, value);
    if (ref == QFI_NONE)
        qfi_refuse(l, QF_REASON_opaque, "%.*s", QFI_STR(l->graph->value[value].name));
    return ref;
}

qfi_ref qfi_arg_tensor(qfi_lowering *l, const char *name)
{
    const qfi_arg *arg = expect(l, name, QFI_ARG_TENSOR);
    return arg ? qfi_value_ref(l, arg->value) : QFI_NONE;
}

qfi_number qfi_arg_number(qfi_lowering *l, const char *name)
{
    const qfi_arg *arg = expect(l, name, QFI_ARG_NUMBER);
    return arg ? arg->number : (qfi_number){ { .is_int = true }, QFI_NUMBER_INT };
}

int64_t qfi_arg_int(qfi_lowering *l, const char *name)
{
    const qfi_number number = qfi_arg_number(l, name);

    if (!number.v.is_int)
        qfi_refuse(l, QF_REASON_unsupported_argument, "argument %s is no integer", name);
    return number.v.is_int ? number.v.i : 0;
}

bool qfi_arg_bool(qfi_lowering *l, const char *name)
{
    return qfi_arg_int(l, name) != 0;
}

uint32_t qfi_arg_ints(qfi_lowering *l, const char *name, int64_t *out, uint32_t max)
{
    const qfi_arg *arg = qfi_arg_get(l, name);
    const bool single = arg->kind == QFI_ARG_NUMBER;
    const uint32_t n = single ? 1 : arg->n;

    if (arg->kind == QFI_ARG_TENSORS && !arg->n)
        return 0; /* how an empty list of unknown element type is written */
    if ((!single && arg->kind != QFI_ARG_NUMBERS) || n > max) {
        qfi_refuse(l, QF_REASON_unsupported_argument, "argument %s", name);
        return 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        const qfi_number *number = single ? &arg->number : &arg->numbers[i];
        if (!number->v.is_int)
            qfi_refuse(l, QF_REASON_unsupported_argument, "argument %s holds no integers", name);
        out[i] = number->v.is_int ? number->v.i : 0;
    }
    return n;
}

qf_dtype qfi_arg_dtype(qfi_lowering *l, const char *name, qf_dtype fallback)
{
    if (!qfi_arg_has(l, name))
        return fallback;
    const qfi_arg *arg = expect(l, name, QFI_ARG_DTYPE);
    return arg ? arg->dtype : fallback;
}
