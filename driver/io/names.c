/* The map from names to numbers: linear probing, at most half full. */
#include "names.h"

#include "../graph/hash.h"

#define FIRST_SLOTS 64

struct qfi_names_slot {
    qf_str name; /* p == NULL: free */
    uint32_t hash, number;
};

static uint32_t hash_of(qf_str name)
{
    return (uint32_t)(qfi_hash_bytes(0, name.p, name.n) >> 32);
}

/* The slot that holds the name, or the free one where it belongs. */
static struct qfi_names_slot *slot_of(const qfi_names *names, qf_str name, uint32_t hash)
{
    const size_t mask = names->n_slot - 1;
    size_t i = hash & mask;
    while (names->slot[i].name.p &&
           (names->slot[i].hash != hash || !qfi_str_equal(names->slot[i].name, name)))
        i = (i + 1) & mask;
    return &names->slot[i];
}

/* Moves all names to a table of so many slots. */
static bool resize(qfi_names *names, size_t n_slot)
{
    const qfi_names old = *names;
    names->n_slot = n_slot;
    names->slot = qfi_pool_alloc(names->pool, names->n_slot, sizeof *names->slot);
    if (!names->slot) {
        *names = old;
        return false;
    }
    for (size_t i = 0; i < old.n_slot; i++)
        if (old.slot[i].name.p)
            *slot_of(names, old.slot[i].name, old.slot[i].hash) = old.slot[i];
    return true;
}

bool qfi_names_reserve(qfi_names *names, size_t n)
{
    size_t n_slot = names->n_slot ? names->n_slot : FIRST_SLOTS;
    while (n_slot / 2 < n)
        n_slot *= 2;
    return n_slot == names->n_slot || resize(names, n_slot);
}

uint32_t qfi_names_get(const qfi_names *names, qf_str name)
{
    if (!names->n_slot)
        return UINT32_MAX;
    const struct qfi_names_slot *slot = slot_of(names, name, hash_of(name));
    return slot->name.p ? slot->number : UINT32_MAX;
}

bool qfi_names_put(qfi_names *names, qf_str name, uint32_t number, uint32_t *was)
{
    if (names->n * 2 >= names->n_slot && !qfi_names_reserve(names, names->n + 1))
        return false;
    const uint32_t hash = hash_of(name);
    struct qfi_names_slot *slot = slot_of(names, name, hash);
    *was = slot->name.p ? slot->number : UINT32_MAX;
    if (slot->name.p)
        return true;
    *slot = (struct qfi_names_slot){ .name = { name.p ? name.p : "", name.n },
                                     .hash = hash,
                                     .number = number };
    names->n++;
    return true;
}
