/* Names of verdicts; names, texts and classes of reasons, from reasons.def. */
#include <qfold/fold.h>

static const struct {
    qf_reason reason;
    qf_reason_class kind;
    const char *name, *text;
} rows[] = {
    { QF_REASON_none, QF_REASONS_NONE, "none", "no reason" },
#define QF_REASON(name, number, kind, text) { QF_REASON_##name, QF_REASONS_##kind, #name, text },
#include <qfold/reasons.def>
#undef QF_REASON
};

/* Row of a reason; the first one for a number that is none. */
static size_t row_of(qf_reason reason)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].reason == reason)
            return i;
    return 0;
}

static const char *const class_names[] = { "none", "nature", "policy", "missing", "failed" };

const char *qf_reason_name(qf_reason reason)
{
    return rows[row_of(reason)].name;
}
const char *qf_reason_text(qf_reason reason)
{
    return rows[row_of(reason)].text;
}
qf_reason_class qf_reason_class_of(qf_reason reason)
{
    return rows[row_of(reason)].kind;
}

const char *qf_reason_class_name(qf_reason_class kind)
{
    return (size_t)kind < sizeof class_names / sizeof *class_names ? class_names[kind]
                                                                   : class_names[0];
}

const char *qf_verdict_name(qf_verdict verdict)
{
    static const char *const names[] = {
        [QF_FOLDED] = "folded", [QF_KEPT] = "kept", [QF_DEAD] = "dead"
    };
    return (size_t)verdict < sizeof names / sizeof *names ? names[verdict] : "unknown";
}
