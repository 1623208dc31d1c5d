/* All cases of the program by name, in the order of their groups. */
#ifndef QFB_REGISTRY_H
#define QFB_REGISTRY_H

#include "gbench.h"

/* A case. */
typedef struct qfb_entry {
    char *name;
    bool wanted;
    qfb_case *run;
    const void *argument;
} qfb_entry;

/* A case by a formatted name, which must be new; `argument` must live as long as the program. */
void qfb_add(qfb_case *run, const void *argument, const char *name, ...)
    __attribute__((format(printf, 3, 4)));

/* Every case; n of them. */
qfb_entry *qfb_entries(size_t *n);

/* Marks as wanted every case whose name holds `regex` (extended syntax); NULL marks all but those
 * that are only for who asks, whose names hold "1GiB". False: not a regular expression. */
bool qfb_want_regex(const char *regex);

/* Marks every case whose name the glob matches; whether there is one. */
bool qfb_want_glob(const char *glob);

/* Hands what is wanted to the library that runs it. */
void qfb_register_wanted(void);

#endif
