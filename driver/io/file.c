/* Input files: opened without blocking, read by offset. Nothing is mapped: a file that shrinks is
 * an error, not a signal. */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The most that one system call is asked for; the kernel's own limit is just below 2 GiB. */
#define LARGEST_READ ((size_t)1 << 30)

/* Weights of a few bytes stand 100 to 200 bytes apart: one read for 100 of them takes as long as
 * two of one each. What is read by more than MOST_SHORT at once, or MOST_GAP behind the last, is no
 * such weight. */
#define AHEAD ((size_t)16 << 10)
#define MOST_SHORT ((size_t)512)
#define MOST_GAP ((uint64_t)1 << 10)

/* bytes: n of the file from `at` on. next: where the last short read ended. */
struct qfi_ahead {
    pthread_mutex_t lock;
    uint64_t at, n, next;
    char bytes[AHEAD];
};

/* What opening a path gave, besides a plain file. */
static const char *kind_of(mode_t mode)
{
    return S_ISDIR(mode)    ? "a directory"
           : S_ISFIFO(mode) ? "a pipe"
           : S_ISSOCK(mode) ? "a socket"
                            : "a device";
}

static qf_status check_regular(const char *path, int fd, struct stat *about, qf_diag *diag)
{
    if (fstat(fd, about))
        QF_FAIL(diag, QF_ERR_OPEN, "%s: %s", path, strerror(errno));
    if (!S_ISREG(about->st_mode))
        QF_FAIL(diag, QF_ERR_OPEN, "%s: is %s, not a file", path, kind_of(about->st_mode));
    return QF_OK;
}

qf_status qfi_file_open(const char *path, qfi_file *out, qf_diag *diag)
{
    struct stat about;
    char *copy = NULL;
    struct qfi_ahead *ahead = NULL;
    qf_status st;

    /* Without O_NONBLOCK a pipe would wait for its writer. */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        QF_FAIL(diag, QF_ERR_OPEN, "%s: %s", path, strerror(errno));
    QF_TRY_OUT(check_regular(path, fd, &about, diag));
    copy = strdup(path);
    ahead = malloc(sizeof *ahead);
    if (!copy || !ahead) {
        st = qf_fail(diag, QF_ERR_NOMEM, "%s: out of memory", path);
        goto out;
    }
    ahead->at = ahead->n = ahead->next = 0;
    pthread_mutex_init(&ahead->lock, NULL);
    *out = (qfi_file){ .path = copy, .fd = fd, .size = (uint64_t)about.st_size, .ahead = ahead };
    return QF_OK;
out:
    free(copy);
    free(ahead);
    close(fd);
    return st;
}

void qfi_file_close(qfi_file *file)
{
    if (!file->path)
        return;
    close(file->fd);
    pthread_mutex_destroy(&file->ahead->lock);
    free(file->ahead);
    free(file->path);
    *file = (qfi_file){ .fd = -1 };
}

qf_status qfi_file_read(qfi_file *file, uint64_t at, void *dst, size_t n, qf_diag *diag)
{
    if (at > file->size || n > file->size - at)
        return qf_fail_at(diag, QF_ERR_TRUNCATED, (int64_t)(at < INT64_MAX ? at : INT64_MAX),
                          "%s: %zu bytes at byte %llu are beyond the end (byte %llu)", file->path,
                          n, (unsigned long long)at, (unsigned long long)file->size);
    for (size_t done = 0; done < n;) {
        const size_t want = n - done < LARGEST_READ ? n - done : LARGEST_READ;
        const ssize_t got = pread(file->fd, (char *)dst + done, want, (off_t)(at + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return qf_fail_at(diag, QF_ERR_READ, (int64_t)(at + done), "%s: byte %llu: %s",
                              file->path, (unsigned long long)(at + done), strerror(errno));
        if (!got)
            return qf_fail_at(diag, QF_ERR_TRUNCATED, (int64_t)(at + done),
                              "%s: became shorter: ends at byte %llu", file->path,
                              (unsigned long long)(at + done));
        done += (size_t)got;
        __atomic_fetch_add(&file->read_bytes, (uint64_t)got, __ATOMIC_RELAXED);
    }
    return QF_OK;
}

/* Reads from `at` on as much as may be at hand. A failure is no matter: whoever reads those bytes
 * by themselves is told. */
static void look_ahead(qfi_file *file, uint64_t at)
{
    struct qfi_ahead *a = file->ahead;
    const size_t n = file->size - at < AHEAD ? (size_t)(file->size - at) : AHEAD;
    const ssize_t got = pread(file->fd, a->bytes, n, (off_t)at);
    a->at = at;
    a->n = got > 0 ? (uint64_t)got : 0;
    __atomic_fetch_add(&file->read_bytes, a->n, __ATOMIC_RELAXED);
}

qf_status qfi_file_read_along(qfi_file *file, uint64_t at, void *dst, size_t n, qf_diag *diag)
{
    struct qfi_ahead *a = file->ahead;
    if (!n || n > MOST_SHORT || at > file->size || n > file->size - at)
        return qfi_file_read(file, at, dst, n, diag);
    pthread_mutex_lock(&a->lock);
    const bool held = at >= a->at && at + n <= a->at + a->n;
    if (!held && at >= a->next && at - a->next <= MOST_GAP)
        look_ahead(file, at);
    const bool found = held || (at == a->at && n <= a->n);
    if (found)
        memcpy(dst, a->bytes + (at - a->at), n);
    a->next = at + n;
    pthread_mutex_unlock(&a->lock);
    return found ? QF_OK : qfi_file_read(file, at, dst, n, diag);
}

bool qfi_file_exists(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0;
}
