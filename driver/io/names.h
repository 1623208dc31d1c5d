/* A map from names to numbers: value names, tensor names, members. Names are spans; nothing is
 * copied. */
#ifndef QFI_NAMES_H
#define QFI_NAMES_H

#include "../graph/pool.h"

/* Open addressing; starts as { .pool = … }. */
typedef struct qfi_names {
    qfi_pool *pool;
    struct qfi_names_slot *slot;
    size_t n, n_slot;
} qfi_names;

/* Room for n names at once. False when out of memory. */
bool qfi_names_reserve(qfi_names *names, size_t n);

/* The number of a name; UINT32_MAX if it has none. */
uint32_t qfi_names_get(const qfi_names *names, qf_str name);

/* Gives `name` the number unless it has one. *was: the one that it had, UINT32_MAX for none. False
 * when out of memory. */
bool qfi_names_put(qfi_names *names, qf_str name, uint32_t number, uint32_t *was);

#endif
