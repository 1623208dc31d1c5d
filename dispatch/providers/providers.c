/* What other libraries offer, as a table. */
#include "dispatch/providers/providers.h"

#include <string.h>

#define SAME "same bits"
#define SUMS "sums in another order"

static const qf_provided rows[] = {
#define QF_PROVIDES(provider, op, type, numbers) { #provider, #op, type, numbers },
#include "dispatch/providers/providers.def"
};

static const struct {
    qf_provider info;
    qfi_provider_ready *ready;
} providers[] = {
#define QF_PROVIDER(name, bit, library) { { #name, library, bit }, qfi_##name##_ready },
#include "dispatch/providers/providers.def"
};
enum { N_PROVIDERS = sizeof providers / sizeof *providers };

const qf_provided *qf_provided_rows(size_t *n)
{
    *n = sizeof rows / sizeof *rows;
    return rows;
}

const qf_provider *qf_provider_at(size_t i)
{
    return i < N_PROVIDERS ? &providers[i].info : NULL;
}

bool qf_provider_ready(uint32_t bit, char *text, size_t size)
{
    for (size_t i = 0; i < N_PROVIDERS; i++)
        if (providers[i].info.bit == bit)
            return providers[i].ready(text, size);
    return false;
}
