/* Output files. They are written without a name, or where the file system has no such files under
 * one that nobody can guess, in the folder of the target, and get their name at the end: whoever
 * looks sees the old file or the whole new one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"

#define COPY_BUFFER ((size_t)256 << 10)
#define LARGEST_COPY ((size_t)1 << 30)
/* Writes of this size come from the second cache level and make a page cache of large folios: 1 GiB
 * of reserved ext4 in 0.23 s, 0.25 s by 64 KiB, 0.3 s by 32 KiB. Of 1 MiB and more, folios may come
 * from memory that a virtual machine has not been given yet: 0.3 to 2 s. */
#define LARGEST_WRITE ((size_t)256 << 10)

static qf_status fail(const char *path, qf_status code, qf_diag *diag)
{
    return qf_fail(diag, errno == ENOMEM ? QF_ERR_NOMEM : code, "%s: %s", path, strerror(errno));
}

static qf_status fail_exists(const char *target, qf_diag *diag)
{
    return qf_fail(diag, QF_ERR_EXISTS, "%s: exists already", target);
}

/* A link counts as what it names, and as existing even if that is missing. Devices and pipes must
 * never be renamed over. */
static qf_status check_target(const char *target, bool replace, qf_diag *diag)
{
    struct stat about;
    if (!*target)
        QF_FAIL(diag, QF_ERR_ARG, "the output has no name");
    if (lstat(target, &about))
        return errno == ENOENT ? QF_OK : fail(target, QF_ERR_OPEN, diag);
    if (!stat(target, &about) && !S_ISREG(about.st_mode))
        QF_FAIL(diag, QF_ERR_WRITE, "%s: is %s, not a file", target,
                S_ISDIR(about.st_mode) ? "a directory" : "a device or pipe");
    return replace ? QF_OK : fail_exists(target, diag);
}

/* Bytes of the folder part of a path, with its slash. */
static size_t folder_size(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

static char *folder_of(const char *target)
{
    const size_t n = folder_size(target);
    return n ? strndup(target, n) : strdup(".");
}

static char *temp_path(const char *target)
{
    uint64_t random[2];
    char *path = NULL;
    if (getentropy(random, sizeof random))
        return NULL;
    const int n = asprintf(&path, "%.*s.qfold-%016llx%016llx.tmp", (int)folder_size(target), target,
                           (unsigned long long)random[0], (unsigned long long)random[1]);
    return n < 0 ? NULL : path;
}

#ifdef O_TMPFILE
/* The system's name for what this process has open. */
static void listed_path(int fd, char path[32])
{
    snprintf(path, 32, "/proc/self/fd/%d", fd);
}

/* -1 where there are no files without a name, or no way to give them one later. */
static int open_unnamed(const char *target, mode_t mode)
{
    char listed[32];
    char *folder = folder_of(target);
    int fd = folder ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode) : -1;
    free(folder);
    if (fd < 0)
        return -1;
    listed_path(fd, listed);
    if (access(listed, F_OK)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static int link_unnamed(const qfi_temp *temp, const char *path)
{
    char listed[32];
    listed_path(temp->fd, listed);
    return linkat(AT_FDCWD, listed, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}
#else
static int open_unnamed(const char *target, mode_t mode)
{
    (void)target, (void)mode;
    return -1;
}

static int link_unnamed(const qfi_temp *temp, const char *path)
{
    (void)temp, (void)path;
    errno = ENOSYS;
    return -1;
}
#endif

/* O_EXCL follows no link. The creator may write whatever the input's mode says: the mode counts for
 * later openings. */
static qf_status open_named(qfi_temp *temp, mode_t mode, qf_diag *diag)
{
    temp->path = temp_path(temp->target);
    if (!temp->path)
        return fail(temp->target, QF_ERR_WRITE, diag);
    temp->fd = open(temp->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (temp->fd >= 0)
        return QF_OK;
    const qf_status st =
        fail(temp->target, errno == ENOSPC || errno == EDQUOT ? QF_ERR_WRITE : QF_ERR_OPEN, diag);
    free(temp->path);
    temp->path = NULL;
    return st;
}

qf_status qfi_temp_open(const char *target, bool replace, const qfi_file *like, qfi_temp *out,
                        qf_diag *diag)
{
    struct stat about = { .st_mode = 0666 };
    qfi_temp t = { .replace = replace };

    QF_TRY(check_target(target, replace, diag));
    if (like && fstat(like->fd, &about))
        return fail(like->path, QF_ERR_READ, diag);
    t.target = strdup(target);
    if (!t.target)
        return fail(target, QF_ERR_WRITE, diag);
    t.fd = open_unnamed(target, about.st_mode & 0777);
    const qf_status st = t.fd < 0 ? open_named(&t, about.st_mode & 0777, diag) : QF_OK;
    if (st == QF_OK)
        *out = t;
    else
        free(t.target);
    return st;
}

qf_status qfi_temp_put(qfi_temp *temp, uint64_t at, const void *data, size_t n, qf_diag *diag)
{
    for (size_t done = 0; done < n;) {
        const size_t want = n - done < LARGEST_WRITE ? n - done : LARGEST_WRITE;
        const ssize_t put = pwrite(temp->fd, (const char *)data + done, want, (off_t)(at + done));
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return fail(temp->target, QF_ERR_WRITE, diag);
        done += (size_t)put;
        __atomic_fetch_add(&temp->written_bytes, (uint64_t)put, __ATOMIC_RELAXED);
    }
    return QF_OK;
}

qf_status qfi_temp_write(qfi_temp *temp, const void *data, size_t n, qf_diag *diag)
{
    QF_TRY(qfi_temp_put(temp, temp->at, data, n, diag));
    temp->at += n;
    return QF_OK;
}

qf_status qfi_temp_reserve(const qfi_temp *temp, uint64_t at, uint64_t n, qf_diag *diag)
{
#ifdef __linux__
    int failed;
    do
        failed = fallocate(temp->fd, FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)n);
    while (failed && errno == EINTR);
    if (failed && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG))
        return fail(temp->target, QF_ERR_WRITE, diag);
#else
    (void)temp, (void)at, (void)n, (void)diag;
#endif
    return QF_OK;
}

static qf_status copy_by_buffer(qfi_temp *temp, qfi_file *from, uint64_t at, uint64_t n,
                                qf_diag *diag)
{
    const size_t room = n < COPY_BUFFER ? (size_t)n : COPY_BUFFER;
    qf_status st = QF_OK;
    void *buffer = n ? malloc(room) : NULL;
    if (n && !buffer)
        QF_FAIL(diag, QF_ERR_NOMEM, "%s: out of memory", temp->target);
    for (uint64_t done = 0; done < n;) {
        const size_t part = n - done < room ? (size_t)(n - done) : room;
        QF_TRY_OUT(qfi_file_read(from, at + done, buffer, part, diag));
        QF_TRY_OUT(qfi_temp_write(temp, buffer, part, diag));
        done += part;
    }
out:
    free(buffer);
    return st;
}

/* Copies inside the kernel what it will; *done: bytes. An error that a plain copy would not have is
 * none. */
static qf_status copy_in_kernel(qfi_temp *temp, const qfi_file *from, uint64_t at, uint64_t n,
                                uint64_t *done, qf_diag *diag)
{
#ifdef __linux__
    while (*done < n) {
        off_t source = (off_t)(at + *done), destination = (off_t)temp->at;
        const size_t want = n - *done < LARGEST_COPY ? (size_t)(n - *done) : LARGEST_COPY;
        const ssize_t moved = copy_file_range(from->fd, &source, temp->fd, &destination, want, 0);
        if (moved < 0 && errno == EINTR)
            continue;
        if (moved < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG))
            return fail(temp->target, QF_ERR_WRITE, diag);
        /* 0 is the end of the source, or a file system that cannot: the buffer finds out which. */
        if (moved <= 0)
            break;
        *done += (uint64_t)moved;
        temp->at += (uint64_t)moved;
        temp->written_bytes += (uint64_t)moved;
    }
#else
    (void)temp, (void)from, (void)at, (void)n, (void)done, (void)diag;
#endif
    return QF_OK;
}

qf_status qfi_temp_copy(qfi_temp *temp, qfi_file *from, uint64_t at, uint64_t n, qf_diag *diag)
{
    uint64_t done = 0;
    if (at > from->size || n > from->size - at)
        QF_FAIL(diag, QF_ERR_TRUNCATED, "%s: a copy of %llu bytes at byte %llu passes its end",
                from->path, (unsigned long long)n, (unsigned long long)at);
    QF_TRY(copy_in_kernel(temp, from, at, n, &done, diag));
    return copy_by_buffer(temp, from, at + done, n - done, diag);
}

/* Gives the file its name unless that is taken; errno is EEXIST then. */
static int rename_new(const char *path, const char *target)
{
#ifdef RENAME_NOREPLACE
    if (!renameat2(AT_FDCWD, path, AT_FDCWD, target, RENAME_NOREPLACE))
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
#endif
    /* A second name fails if it exists; the first one then goes. */
    if (!link(path, target))
        return unlink(path);
    if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS && errno != EMLINK)
        return -1;
    /* A file system with neither (FAT): look, then rename. */
    struct stat about;
    if (!lstat(target, &about)) {
        errno = EEXIST;
        return -1;
    }
    return rename(path, target);
}

/* No file without a name can replace another: it gets a hidden one first, for a moment. */
static int give_name(qfi_temp *temp)
{
    if (!temp->path && !temp->replace)
        return link_unnamed(temp, temp->target);
    if (!temp->path) {
        temp->path = temp_path(temp->target);
        if (!temp->path || link_unnamed(temp, temp->path))
            return -1;
    }
    return temp->replace ? rename(temp->path, temp->target) : rename_new(temp->path, temp->target);
}

/* Network file systems report a full disk only when a file is closed, and every closing counts: so
 * that is known before the file gets its name. */
static int settle(const qfi_temp *temp, bool sync)
{
    if (sync && fsync(temp->fd))
        return -1;
    const int again = fcntl(temp->fd, F_DUPFD_CLOEXEC, 0);
    return again < 0 || (close(again) && errno != EINTR) ? -1 : 0;
}

/* Makes the new name itself durable. */
static qf_status sync_folder(const char *target, qf_diag *diag)
{
    char *folder = folder_of(target);
    if (!folder)
        QF_FAIL(diag, QF_ERR_NOMEM, "%s: out of memory", target);
    const int fd = open(folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    free(folder);
    /* Folders that cannot be opened or flushed (EINVAL) exist; the file itself is safe by now. */
    const bool failed = fd >= 0 && fsync(fd) && errno != EINVAL && errno != EROFS;
    const qf_status st = failed ? fail(target, QF_ERR_WRITE, diag) : QF_OK;
    if (fd >= 0)
        close(fd);
    return st;
}

static void forget(qfi_temp *temp)
{
    if (temp->fd >= 0)
        close(temp->fd);
    free(temp->path);
    free(temp->target);
    *temp = (qfi_temp){ .fd = -1, .at = temp->at, .written_bytes = temp->written_bytes };
}

qf_status qfi_temp_finish(qfi_temp *temp, bool sync, qf_diag *diag)
{
    qf_status st = QF_OK;
    if (settle(temp, sync))
        st = fail(temp->target, QF_ERR_WRITE, diag);
    else if (give_name(temp))
        st = errno == EEXIST ? fail_exists(temp->target, diag)
                             : fail(temp->target, QF_ERR_WRITE, diag);
    if (st != QF_OK) {
        qfi_temp_discard(temp);
        return st;
    }
    if (sync)
        st = sync_folder(temp->target, diag);
    forget(temp);
    return st;
}

void qfi_temp_discard(qfi_temp *temp)
{
    if (!temp->target)
        return;
    if (temp->path)
        unlink(temp->path);
    forget(temp);
}
