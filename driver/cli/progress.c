/* A bar with rate and remaining time, one line of standard error. */
#include "progress.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "terminal.h"

#define BAR_WIDTH 24
#define QUIET_SECONDS 1.0
#define REDRAW_SECONDS 0.1

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
    (void)signal;
    stopped = 1;
}

static double now(void)
{
    struct timespec t = { 0 };
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void qfi_progress_start(qfi_progress *bar, const char *what, bool quiet)
{
    const struct sigaction action = { .sa_handler = stop,
                                      .sa_flags = (int)SA_RESETHAND | SA_RESTART };
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    /* Then a file beyond the limit is a write that fails, after which nothing is left. */
    signal(SIGXFSZ, SIG_IGN);
    *bar = (qfi_progress){ .what = what,
                           .started = now(),
                           .enabled = !quiet && isatty(STDERR_FILENO) };
}

static void draw(const qfi_progress *bar, uint64_t done, uint64_t total, double seconds)
{
    char text[24], cells[BAR_WIDTH + 1];
    const double share = total ? (double)done / (double)total : 1;
    const long left = share > 0 ? (long)(seconds * (1 - share) / share) : 0;
    for (int i = 0; i < BAR_WIDTH; i++)
        cells[i] = i < (int)(share * BAR_WIDTH) ? '#' : '.';
    cells[BAR_WIDTH] = 0;
    fprintf(stderr, "\r\033[K%s [%s] %3.0f %%  %s/s  %ld:%02ld left", bar->what, cells, share * 100,
            qfi_human((uint64_t)((double)done / seconds), text), left / 60, left % 60);
    fflush(stderr);
}

bool qfi_progress_update(void *user, uint64_t done, uint64_t total)
{
    qfi_progress *bar = user;
    if (stopped)
        return false;
    if (!bar->enabled)
        return true;
    const double t = now();
    if (t - bar->started >= QUIET_SECONDS && t - bar->shown >= REDRAW_SECONDS) {
        draw(bar, done, total, t - bar->started);
        bar->shown = t;
    }
    return true;
}

void qfi_progress_end(qfi_progress *bar)
{
    if (bar->enabled && bar->shown > 0)
        fputs("\r\033[K", stderr);
}
