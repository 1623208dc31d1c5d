/* Signals, held while a case has files. */
#include "interrupt.h"

#include <signal.h>
#include <stddef.h>

static const int held[] = { SIGINT, SIGTERM, SIGHUP };
#define N_HELD (sizeof held / sizeof *held)

static volatile sig_atomic_t came;
static struct sigaction before[N_HELD];

static void remember(int number)
{
    came = number;
}

void qfb_interrupt_hold(void)
{
    struct sigaction action = { .sa_handler = remember };
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < N_HELD; i++)
        sigaction(held[i], &action, &before[i]);
}

bool qfb_interrupted(void)
{
    return came != 0;
}

void qfb_interrupt_release(void)
{
    for (size_t i = 0; i < N_HELD; i++)
        sigaction(held[i], &before[i], NULL);
    if (came)
        raise(came);
}

bool qfb_interrupt_progress(void *user, uint64_t done, uint64_t total)
{
    (void)user, (void)done, (void)total;
    return !came;
}
