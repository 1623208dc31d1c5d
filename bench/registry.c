/* The list of cases, and choosing from it. */
#include "registry.h"

#include <fnmatch.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGE "1GiB"

static qfb_entry *entries;
static size_t n_entries, cap_entries;

void qfb_add(qfb_case *run, const void *argument, const char *name, ...)
{
    char text[200];
    va_list args;
    va_start(args, name);
    vsnprintf(text, sizeof text, name, args);
    va_end(args);
    if (n_entries == cap_entries) {
        cap_entries = cap_entries ? 2 * cap_entries : 512;
        entries = realloc(entries, cap_entries * sizeof *entries);
    }
    char *kept = strdup(text);
    if (!entries || !kept)
        abort();
    entries[n_entries++] = (qfb_entry){ .name = kept, .run = run, .argument = argument };
}

qfb_entry *qfb_entries(size_t *n)
{
    *n = n_entries;
    return entries;
}

bool qfb_want_regex(const char *regex)
{
    regex_t compiled;
    if (regex && regcomp(&compiled, regex, REG_EXTENDED | REG_NOSUB) != 0)
        return false;
    for (size_t i = 0; i < n_entries; i++) {
        const char *name = entries[i].name;
        if (regex ? regexec(&compiled, name, 0, NULL, 0) == 0 : !strstr(name, LARGE))
            entries[i].wanted = true;
    }
    if (regex)
        regfree(&compiled);
    return true;
}

bool qfb_want_glob(const char *glob)
{
    bool any = false;
    for (size_t i = 0; i < n_entries; i++) {
        if (fnmatch(glob, entries[i].name, 0) == 0)
            any = entries[i].wanted = true;
    }
    return any;
}

void qfb_register_wanted(void)
{
    for (size_t i = 0; i < n_entries; i++) {
        const qfb_entry *e = &entries[i];
        if (e->wanted)
            qfb_register(e->name, e->run, e->argument);
    }
}
