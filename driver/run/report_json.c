/* A report as JSON, schema "qfold.report.v1": keys in fixed order, one node or constant a line,
 * `run` last. Only `run` may differ between two runs; it is null for a plan, which runs nothing. */
#include <inttypes.h>
#include <string.h>

#include <qfold/fold.h>
#include <qfold/version.h>

#include "report_text.h"

/* `"key": ` behind what separates it from the member before. */
static void put_key(qfi_text *t, const char *separator, const char *key)
{
    qfi_text_format(t, "%s\"%s\": ", separator, key);
}

static void put_string(qfi_text *t, const char *separator, const char *key, const char *value)
{
    put_key(t, separator, key);
    qfi_text_quote(t, value ? value : "", value ? strlen(value) : 0);
}

static void put_int(qfi_text *t, const char *separator, const char *key, uint64_t value)
{
    qfi_text_format(t, "%s\"%s\": %" PRIu64, separator, key, value);
}

static void put_bool(qfi_text *t, const char *separator, const char *key, bool value)
{
    qfi_text_format(t, "%s\"%s\": %s", separator, key, value ? "true" : "false");
}

static void put_names(qfi_text *t, const char *separator, const char *key, const char *const *name,
                      uint32_t n)
{
    put_key(t, separator, key);
    qfi_text_str(t, "[");
    for (uint32_t i = 0; i < n; i++) {
        qfi_text_str(t, i ? ", " : "");
        qfi_text_quote(t, name[i], strlen(name[i]));
    }
    qfi_text_str(t, "]");
}

static void put_globs(qfi_text *t, const char *key, const char *const *list)
{
    uint32_t n = 0;
    while (list && list[n])
        n++;
    put_names(t, ", ", key, list, n);
}

static void put_files(qfi_text *t, const qf_report *r)
{
    put_string(t, "{\n\"schema\": \"qfold.report.v1\",\n\"tool\": {", "version", qf_version());
    put_string(t, ", ", "caps", r->caps);
    put_string(t, "},\n\"input\": {", "path", r->input);
    put_string(t, ", ", "format", r->format);
    put_int(t, ", ", "bytes", r->input_bytes);
    if (!r->output) {
        qfi_text_str(t, "},\n\"output\": null");
        return;
    }
    put_string(t, "},\n\"output\": {", "path", r->output);
    put_int(t, ", ", "bytes", r->output_bytes);
    qfi_text_str(t, "}");
}

/* Options that change the result; how it is reached (threads, force, sync) does not. */
static void put_options(qfi_text *t, const qf_fold_options *o)
{
    if (o->max_growth == QF_GROWTH_NONE)
        qfi_text_str(t, ",\n\"options\": {\"max_growth\": null");
    else
        put_int(t, ",\n\"options\": {", "max_growth", o->max_growth);
    put_int(t, ", ", "memory", o->memory ? o->memory : QF_MEMORY_DEFAULT);
    put_globs(t, "keep", o->keep);
    put_globs(t, "keep_op", o->keep_op);
    put_globs(t, "only", o->only);
    put_bool(t, ", ", "fold_dequant", o->fold_dequant);
    put_bool(t, ", ", "contiguous", o->contiguous);
    put_bool(t, ", ", "fast_gemm", o->fast_gemm);
    put_bool(t, ", ", "exact", o->exact);
    put_bool(t, ", ", "strict", o->strict);
    qfi_text_str(t, "}");
}

static void put_summary(qfi_text *t, const qf_report *r)
{
    put_int(t, ",\n\"summary\": {", "nodes", r->n_nodes);
    put_int(t, ", ", "folded", r->n_folded);
    put_int(t, ", ", "kept", r->n_kept);
    put_int(t, ", ", "dead", r->n_dead);
    put_int(t, ", ", "carried", r->n_carried);
    put_int(t, ", ", "bytes_before", r->bytes_before);
    put_int(t, ", ", "bytes_after", r->bytes_after);
    qfi_text_str(t, "}");
}

static void put_reason(qfi_text *t, const qf_report *r, uint32_t i)
{
    const qf_report_reason *reason = &r->reason[i];
    put_string(t, "{", "code", qf_reason_name(reason->reason));
    put_string(t, ", ", "class", qf_reason_class_name(qf_reason_class_of(reason->reason)));
    put_string(t, ", ", "text", qf_reason_text(reason->reason));
    put_int(t, ", ", "count", reason->count);
    put_int(t, ", ", "bytes", reason->bytes);
    qfi_text_str(t, "}");
}

static void put_node(qfi_text *t, const qf_report *r, uint32_t i)
{
    const qf_report_node *node = &r->node[i];
    put_string(t, "{", "graph", node->graph);
    put_string(t, ", ", "name", node->name);
    put_string(t, ", ", "op", node->op);
    put_string(t, ", ", "verdict", qf_verdict_name(node->verdict));
    put_string(t, ", ", "reason", node->verdict == QF_KEPT ? qf_reason_name(node->reason) : "");
    put_string(t, ", ", "detail", node->detail);
    put_int(t, ", ", "bytes", node->bytes);
    put_int(t, ", ", "bytes_before", node->bytes_before);
    put_int(t, ", ", "bytes_after", node->bytes_after);
    put_names(t, ", ", "sources", node->sources, node->n_sources);
    put_names(t, ", ", "inputs", node->inputs, node->n_inputs);
    qfi_text_str(t, "}");
}

static void put_constant(qfi_text *t, const qf_report *r, uint32_t i)
{
    const qf_report_constant *constant = &r->constant[i];
    put_string(t, "{", "name", constant->name);
    put_string(t, ", ", "dtype", qf_dtype_get(constant->type.dtype)->name);
    put_key(t, ", ", "shape");
    qfi_text_str(t, "[");
    for (int k = 0; k < constant->type.rank; k++)
        qfi_text_format(t, "%s%" PRId64, k ? ", " : "", constant->type.dim[k]);
    put_int(t, "], ", "bytes", constant->bytes);
    put_int(t, ", ", "nonfinite", constant->nonfinite);
    put_names(t, ", ", "nodes", constant->nodes, constant->n_nodes);
    qfi_text_str(t, "}");
}

static void put_note(qfi_text *t, const qf_report *r, uint32_t i)
{
    const qf_report_note *note = &r->note[i];
    put_string(t, "{", "severity", note->severity);
    put_string(t, ", ", "code", note->code);
    put_string(t, ", ", "where", note->where);
    put_string(t, ", ", "text", note->text);
    qfi_text_str(t, "}");
}

/* An array with one element a line. */
static void put_rows(qfi_text *t, const char *key, const qf_report *r, uint32_t n,
                     void (*put)(qfi_text *, const qf_report *, uint32_t))
{
    put_key(t, ",\n", key);
    qfi_text_str(t, "[");
    for (uint32_t i = 0; i < n; i++) {
        qfi_text_str(t, i ? ",\n" : "\n");
        put(t, r, i);
    }
    qfi_text_str(t, n ? "\n]" : "]");
}

static void put_run(qfi_text *t, const qf_report *r)
{
    if (!r->output) {
        qfi_text_str(t, ",\n\"run\": null\n}\n");
        return;
    }
    put_key(t, ",\n\"run\": {", "seconds");
    qfi_text_double(t, r->seconds);
    put_int(t, ", ", "read_bytes", r->read_bytes);
    put_int(t, ", ", "written_bytes", r->written_bytes);
    put_int(t, ", ", "peak_bytes", r->peak_bytes);
    put_int(t, ", ", "threads", r->threads);
    qfi_text_str(t, "}\n}\n");
}

void qfi_report_text(const qf_report *report, qfi_text *t)
{
    put_files(t, report);
    put_options(t, &report->options);
    put_summary(t, report);
    put_rows(t, "reasons", report, report->n_reasons, put_reason);
    put_rows(t, "nodes", report, report->n_nodes, put_node);
    put_rows(t, "constants", report, report->n_constants, put_constant);
    put_rows(t, "diagnostics", report, report->n_notes, put_note);
    put_run(t, report);
}

qf_status qf_report_json(const qf_report *report,
                         bool (*write)(void *user, const char *text, size_t n), void *user,
                         qf_diag *diag)
{
    qfi_pool pool = { 0 };
    qfi_text t = { .pool = &pool };
    qf_status st = QF_OK;

    qfi_report_text(report, &t);
    if (t.failed)
        st = qf_fail(diag, QF_ERR_NOMEM, "no memory for the report");
    else if (!write(user, t.p, t.n))
        st = qf_fail(diag, QF_ERR_WRITE, "the report cannot be written");
    qfi_pool_free(&pool);
    return st;
}
