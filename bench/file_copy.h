/* Copies of files as `cp` makes them. */
#ifndef QFB_FILE_COPY_H
#define QFB_FILE_COPY_H

#include <stdbool.h>
#include <stdint.h>

/* A new file `to` of n bytes: those of `from`, again from its start where n is more. Inside the
 * kernel where that can, as `cp` does, else by a buffer. sync: on the disk before it returns. */
bool qfb_copy_file(const char *from, const char *to, uint64_t n, bool sync);

#endif
