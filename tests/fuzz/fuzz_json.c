/* JSON: skipping a text and walking it agree, and what is unescaped can be quoted and read back. */
#include <string.h>

#include "fuzz.h"
#include "io/json.h"

static void check_string(qf_str raw)
{
    qfi_pool pool = { 0 };
    qfi_text text = { .pool = &pool };
    qf_str plain, back;
    if (qfi_json_unescape(&pool, raw, &plain)) {
        qfi_text_quote(&text, plain.p, plain.n);
        qfi_json j = { .text = text.p, .n = text.n, .name = "quoted" };
        FUZZ_CHECK(qfi_json_string(&j, &back) && qfi_json_done(&j));
        FUZZ_CHECK(qfi_json_unescape(&pool, back, &back) && qfi_str_equal(plain, back));
    }
    qfi_pool_free(&pool);
}

static void check_double(const qfi_json *at)
{
    qfi_pool pool = { 0 };
    qfi_text text = { .pool = &pool };
    qfi_json j = *at;
    double v, back;
    j.diag = NULL;
    if (qfi_json_double(&j, &v)) {
        qfi_text_double(&text, v);
        qfi_json again = { .text = text.p, .n = text.n, .name = "written" };
        FUZZ_CHECK(qfi_json_double(&again, &back) && qfi_json_done(&again));
        FUZZ_CHECK(!memcmp(&v, &back, sizeof v));
    }
    qfi_pool_free(&pool);
}

/* Walks a value by the typed calls. */
static void walk(qfi_json *j)
{
    qf_str s;
    int64_t i;
    bool b;
    switch (qfi_json_peek(j)) {
    case QFI_JSON_OBJECT:
        if (qfi_json_enter(j, QFI_JSON_OBJECT))
            while (qfi_json_key(j, &s))
                walk(j);
        break;
    case QFI_JSON_ARRAY:
        if (qfi_json_enter(j, QFI_JSON_ARRAY))
            while (qfi_json_next(j))
                walk(j);
        break;
    case QFI_JSON_STRING:
        if (qfi_json_string(j, &s))
            check_string(s);
        break;
    case QFI_JSON_NUMBER: {
        qfi_json probe = *j;
        check_double(j);
        if (!qfi_json_int(&probe, &i))
            (void)qfi_json_skip(j, &s);
        else
            *j = probe;
        break;
    }
    case QFI_JSON_NULL:
        (void)qfi_json_null(j);
        break;
    default:
        (void)qfi_json_bool(j, &b);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    qfi_json skipped = { .text = (const char *)data, .n = n, .name = "input" };
    qfi_json walked = skipped;
    const bool good = qfi_json_skip(&skipped, NULL) && qfi_json_done(&skipped);
    walk(&walked);
    FUZZ_CHECK((walked.status == QF_OK && qfi_json_done(&walked)) == good);
    FUZZ_CHECK(skipped.at <= n && walked.at <= n);
    return 0;
}
