/* The only POSIX I/O: reading by offset (file.c); writing a new file beside its target, which it
 * replaces at the end, copying inside the kernel (temp.c). */
#ifndef QFI_FILE_H
#define QFI_FILE_H

#include <qfold/types.h>

/* An open input. path: as given. Thread-safe after opening. read_bytes: what was read into memory;
 * updated atomically.  ahead: bytes that read_along has at hand. */
typedef struct qfi_file {
    char *path;
    int fd;
    uint64_t size, read_bytes;
    struct qfi_ahead *ahead;
} qfi_file;

QF_NODISCARD qf_status qfi_file_open(const char *path, qfi_file *out, qf_diag *diag);
void qfi_file_close(qfi_file *file);
/* Whether a path is taken, by whatever it may be. */
bool qfi_file_exists(const char *path);
/* Exactly n bytes from `at`; ERR_TRUNCATED past the end, ERR_READ else. */
QF_NODISCARD qf_status qfi_file_read(qfi_file *file, uint64_t at, void *dst, size_t n,
                                     qf_diag *diag);
/* The same for reads of which many are short and stand one behind the other: then what follows one
 * is read with it. */
QF_NODISCARD qf_status qfi_file_read_along(qfi_file *file, uint64_t at, void *dst, size_t n,
                                           qf_diag *diag);

/* A file being written in the target's folder. path: its name for the time being; NULL while it has
 * none. */
typedef struct qfi_temp {
    char *path, *target;
    int fd;
    bool replace;
    uint64_t at, written_bytes; /* where writing goes on; bytes written, updated atomically */
} qfi_temp;

/* replace: whether an existing target is allowed (ERR_EXISTS). Mode bits of `like` if not NULL,
 * less the umask. */
QF_NODISCARD qf_status qfi_temp_open(const char *target, bool replace, const qfi_file *like,
                                     qfi_temp *out, qf_diag *diag);
QF_NODISCARD qf_status qfi_temp_write(qfi_temp *temp, const void *data, size_t n, qf_diag *diag);
/* The same at `at`, wherever others write meanwhile. Thread-safe. */
QF_NODISCARD qf_status qfi_temp_put(qfi_temp *temp, uint64_t at, const void *data, size_t n,
                                    qf_diag *diag);
/* Takes room for n bytes at `at` where the file system can; ERR_WRITE if there is none.
 * Thread-safe. */
QF_NODISCARD qf_status qfi_temp_reserve(const qfi_temp *temp, uint64_t at, uint64_t n,
                                        qf_diag *diag);
/* Appends n bytes of `from` without passing them through user space where the system can
 * (copy_file_range), else by a buffer. A source that ends early is ERR_TRUNCATED. */
QF_NODISCARD qf_status qfi_temp_copy(qfi_temp *temp, qfi_file *from, uint64_t at, uint64_t n,
                                     qf_diag *diag);
/* Gives the file its name (flushing first if sync) or removes it. Both leave *temp closed; discard
 * after finish does nothing. finish discards when it fails. */
QF_NODISCARD qf_status qfi_temp_finish(qfi_temp *temp, bool sync, qf_diag *diag);
void qfi_temp_discard(qfi_temp *temp);

#endif
