/* Values of options: flags, texts, lists, sizes, growth, counts. */
#include "parse.h"

#include <stdlib.h>
#include <string.h>

#define MAX_THREADS 1024

const char qfi_no_memory[] = "out of memory";

const char *qfi_parse_flag(void *field, const char *text)
{
    (void)text;
    *(bool *)field = true;
    return NULL;
}

const char *qfi_parse_text(void *field, const char *text)
{
    if (!*text)
        return "is empty";
    *(const char **)field = text;
    return NULL;
}

const char *qfi_parse_list(void *field, const char *text)
{
    qfi_list *list = field;
    const char **item = realloc(list->item, (list->n + 2) * sizeof *item);
    if (!item)
        return qfi_no_memory;
    item[list->n++] = text;
    item[list->n] = NULL;
    list->item = item;
    return NULL;
}

/* Decimal digits; *end is what follows. */
static const char *read_digits(const char *text, uint64_t *out, const char **end)
{
    uint64_t value = 0;
    const char *p = text;
    for (; *p >= '0' && *p <= '9'; p++)
        if (!qf_mul(value, 10, &value) || !qf_add(value, (uint64_t)(*p - '0'), &value))
            return "is too large";
    if (p == text)
        return "is not a number";
    *out = value;
    *end = p;
    return NULL;
}

const char *qfi_parse_size(void *field, const char *text)
{
    static const char units[] = "KMGT";
    const char *end;
    uint64_t value;
    const char *wrong = read_digits(text, &value, &end);
    if (wrong)
        return wrong;
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (*end && (!unit || end[1]))
        return "is not a size: digits, then K, M or G";
    if (unit && !qf_mul(value, (uint64_t)1 << (10 * (unit - units + 1)), &value))
        return "is too large";
    *(uint64_t *)field = value;
    return NULL;
}

/* A percentage: digits with at most one point between them. The locale is C throughout. */
static const char *parse_percent(qfi_growth *growth, const char *text, size_t n)
{
    if (!n || n > 12 || strspn(text, "0123456789.") != n)
        return "is not a percentage";
    char *end;
    growth->percent = strtod(text, &end);
    growth->is_percent = true;
    return end == text + n ? NULL : "is not a percentage";
}

const char *qfi_parse_growth(void *field, const char *text)
{
    qfi_growth *growth = field;
    const size_t n = strlen(text);
    *growth = (qfi_growth){ .bytes = QF_GROWTH_NONE };
    if (!strcmp(text, "none"))
        return NULL;
    if (n && text[n - 1] == '%')
        return parse_percent(growth, text, n - 1);
    const char *wrong = qfi_parse_size(&growth->bytes, text);
    if (!wrong && growth->bytes >= QF_GROWTH_DEFAULT)
        return "is too large";
    return wrong ? "is not a size (digits, then K, M or G), a percentage, or none" : NULL;
}

const char *qfi_parse_count(void *field, const char *text)
{
    const char *end;
    uint64_t value;
    const char *wrong = read_digits(text, &value, &end);
    if (wrong || *end)
        return wrong ? wrong : "is not a number";
    if (value > MAX_THREADS)
        return "is too large";
    *(uint32_t *)field = (uint32_t)value;
    return NULL;
}
