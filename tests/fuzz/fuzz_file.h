/* The bytes of a fuzz target as a file in memory with a path, so that the code under test opens it
 * as any other. */
#ifndef FUZZ_FILE_H
#define FUZZ_FILE_H

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

/* path: of at least 32 bytes. The descriptor, to be closed. */
static inline int fuzz_file(const uint8_t *data, size_t n, char path[32])
{
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    FUZZ_CHECK(fd >= 0 && write(fd, data, n) == (ssize_t)n);
    snprintf(path, 32, "/proc/self/fd/%d", fd);
    return fd;
}

#endif
