/* Guarded pages, crash traps and unaligned elements. */
#include "check.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>

/* At least the largest page size of the platforms. */
#define GUARD ((size_t)65536)

bool check_pages_make(check_pages *pages, size_t size)
{
    unsigned char *p = mmap(NULL, size + 2 * GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    *pages = (check_pages){ 0 };
    if (p == MAP_FAILED)
        return false;
    if (mprotect(p + GUARD, size, PROT_READ | PROT_WRITE)) {
        munmap(p, size + 2 * GUARD);
        return false;
    }
    *pages = (check_pages){ p + GUARD, size };
    return true;
}

void check_pages_free(check_pages *pages)
{
    if (pages->p)
        munmap(pages->p - GUARD, pages->size + 2 * GUARD);
    *pages = (check_pages){ 0 };
}

static sigjmp_buf trap_exit;

static void on_signal(int number)
{
    siglongjmp(trap_exit, number);
}

int check_trap(void (*fn)(void *), void *arg)
{
    static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP };
    enum { N = sizeof signals / sizeof *signals };
    struct sigaction old[N], trap = { .sa_handler = on_signal };

    for (int i = 0; i < N; i++)
        sigaction(signals[i], &trap, &old[i]);
    const int number = sigsetjmp(trap_exit, 1);
    if (!number)
        fn(arg);
    for (int i = 0; i < N; i++)
        sigaction(signals[i], &old[i], NULL);
    return number;
}

uint64_t check_load(const void *at, size_t size)
{
    uint64_t bits = 0;

    memcpy(&bits, at, size);
    return bits;
}

void check_store(void *at, size_t size, uint64_t bits)
{
    memcpy(at, &bits, size);
}
