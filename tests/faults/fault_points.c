/* Makes calls of the program fail. It is linked with --wrap for every name of fault_points.def, so
 * what is tested are the program's own objects, under sanitizers too. By the environment:
 *
 *   QFOLD_FAULTS=CLASS:ACTION:K[,…]   the K-th call of a class (from 1): does ACTION
 *       fail        it fails;  always: so do all that follow
 *       interrupt   it fails with EINTR, if it moves bytes
 *       short       it does half of what was asked for;  end: it says that there is no more
 *       stop        the process stops itself, and then the call is made
 *   QFOLD_FAULT_COUNTS=FILE           the counts of all classes are appended to FILE at the end */
#include <errno.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <pthread.h>
#include <pthreadpool.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph/pool.h"

/* POOL: a piece of a block that a pool has already, of which no allocation tells. UNNAMED: opening
 * a file that has no name. */
typedef enum class { ALLOC, POOL, OPEN, UNNAMED, READ, WRITE, SYNC, NAME, CLASSES } class;
typedef enum action { PASS, FAIL, ALWAYS, INTERRUPT, SHORT, END, STOP, ACTIONS } action;

static const char *const class_names[] = { "alloc", "pool",  "open", "unnamed",
                                           "read",  "write", "sync", "name" };
static const char *const action_names[] = { "pass",  "fail", "always", "interrupt",
                                            "short", "end",  "stop" };

static struct {
    action action;
    unsigned long at, calls;
} plan[CLASSES];

static int number_of(const char *text, size_t n, const char *const *name, int count)
{
    for (int i = 0; i < count; i++)
        if (strlen(name[i]) == n && !memcmp(name[i], text, n))
            return i;
    fprintf(stderr, "fault_points: unknown word: %.*s\n", (int)n, text);
    _exit(99);
}

__attribute__((constructor)) static void read_plan(void)
{
    const char *p = getenv("QFOLD_FAULTS");
    while (p && *p) {
        const size_t n = strcspn(p, ":"), m = strcspn(p + n + 1, ":");
        char *end;
        const int which = number_of(p, n, class_names, CLASSES);
        plan[which].action = (action)number_of(p + n + 1, m, action_names, ACTIONS);
        plan[which].at = strtoul(p + n + m + 2, &end, 10);
        p = *end ? end + 1 : end;
    }
}

/* Without memory of its own and without a call that is counted. */
__attribute__((destructor)) static void write_counts(void)
{
    const char *path = getenv("QFOLD_FAULT_COUNTS");
    if (!path)
        return;
    const int fd = creat(path, 0600);
    for (int i = 0; i < CLASSES; i++)
        dprintf(fd, "%s %lu\n", class_names[i], plan[i].calls);
    close(fd);
}

/* What is to become of this call. */
static action next(class which)
{
    const unsigned long call = __atomic_add_fetch(&plan[which].calls, 1, __ATOMIC_RELAXED);
    const action what = plan[which].action;
    if (call < plan[which].at || (call > plan[which].at && what != ALWAYS))
        return PASS;
    if (what == STOP)
        raise(SIGSTOP);
    return what == STOP ? PASS : what;
}

#define FAULT_POINT(name, class, type, parameters, arguments, failed, error)                       \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        const action what = next(class);                                                           \
        if (what != FAIL && what != ALWAYS)                                                        \
            return __real_##name arguments;                                                        \
        errno = error;                                                                             \
        return failed;                                                                             \
    }
#define FAULT_MOVE(name, class, parameters, arguments, error)                                      \
    ssize_t __real_##name parameters;                                                              \
    ssize_t __wrap_##name parameters;                                                              \
    ssize_t __wrap_##name parameters                                                               \
    {                                                                                              \
        const action what = next(class);                                                           \
        errno = what == INTERRUPT ? EINTR : error;                                                 \
        if (what == SHORT)                                                                         \
            n = (n + 1) / 2;                                                                       \
        if (what == END)                                                                           \
            return 0;                                                                              \
        return what == PASS || what == SHORT ? __real_##name arguments : -1;                       \
    }
#include "fault_points.def"

/* Those with any number of arguments. */
int __wrap_asprintf(char **out, const char *format, ...) __attribute__((format(printf, 2, 3)));
int __wrap_asprintf(char **out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = __wrap_vasprintf(out, format, args);
    va_end(args);
    return n;
}

char *__wrap_qfi_pool_format(qfi_pool *pool, const char *format, ...) QF_PRINTF(2, 3);
char *__wrap_qfi_pool_format(qfi_pool *pool, const char *format, ...)
{
    char *text, *kept;
    va_list args;
    va_start(args, format);
    const int n = __real_vasprintf(&text, format, args);
    va_end(args);
    if (n < 0)
        return NULL;
    kept = __wrap_qfi_pool_text(pool, text, (size_t)n);
    free(text);
    return kept;
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    if (flags & (O_CREAT | O_TMPFILE)) {
        va_list args;
        va_start(args, flags);
        mode = va_arg(args, mode_t);
        va_end(args);
    }
    if (next((flags & O_TMPFILE) == O_TMPFILE ? UNNAMED : OPEN) != PASS) {
        errno = EACCES;
        return -1;
    }
    return __real_open(path, flags, mode);
}

/* A file is closed even where closing it reports an error. */
int __real_fclose(FILE *file);
int __wrap_fclose(FILE *file);
int __wrap_fclose(FILE *file)
{
    const action what = next(WRITE);
    const int closed = __real_fclose(file);
    if (what != FAIL && what != ALWAYS)
        return closed;
    errno = ENOSPC;
    return EOF;
}
