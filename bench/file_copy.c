/* The rival of a fold: moving as many bytes from file to file. */
#include "file_copy.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interrupt.h"

#define BUFFER ((size_t)256 << 10) /* what cp reads and writes at a time */

static size_t least(uint64_t a, uint64_t b)
{
    return (size_t)(a < b ? a : b);
}

/* At most n bytes from the start of `from`, appended to `to`; 0 if the kernel will not. */
static int64_t move_in_kernel(int from, int64_t at, int to, uint64_t n)
{
#ifdef __linux__
    off_t source = (off_t)at;
    return copy_file_range(from, &source, to, NULL, least(n, (uint64_t)1 << 30), 0);
#else
    (void)from, (void)at, (void)to, (void)n;
    return 0;
#endif
}

static int64_t move_by_buffer(int from, int64_t at, int to, uint64_t n)
{
    static char buffer[BUFFER];
    const ssize_t got = pread(from, buffer, least(n, sizeof buffer), (off_t)at);
    return got > 0 ? write(to, buffer, (size_t)got) : got;
}

static bool move_all(int from, uint64_t size, int to, uint64_t n)
{
    for (uint64_t done = 0; done < n && !qfb_interrupted();) {
        const uint64_t at = done % size, want = least(n - done, size - at);
        int64_t moved = move_in_kernel(from, (int64_t)at, to, want);
        if (moved <= 0)
            moved = move_by_buffer(from, (int64_t)at, to, want);
        if (moved <= 0)
            return false;
        done += (uint64_t)moved;
    }
    return true;
}

bool qfb_copy_file(const char *from, const char *to, uint64_t n, bool sync)
{
    struct stat about;
    const int in = open(from, O_RDONLY | O_CLOEXEC);
    const int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool done = in >= 0 && out >= 0 && !fstat(in, &about) && about.st_size > 0 &&
                move_all(in, (uint64_t)about.st_size, out, n) && (!sync || !fsync(out));
    if (in >= 0)
        close(in);
    if (out >= 0)
        done = !close(out) && done;
    return done;
}
