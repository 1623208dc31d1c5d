/* The name that a misspelt one probably meant. */
#include <string.h>

#include "args.h"

enum { LONGEST = 24 };

/* Letters to insert, remove or change; by rows of the usual table. Texts longer than LONGEST are
 * far from all. */
static size_t distance(const char *a, const char *b)
{
    size_t row[LONGEST + 1];
    const size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST)
        return LONGEST;
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            const size_t above = row[j], changed = corner + (a[i - 1] != b[j - 1]);
            const size_t added = (above < row[j - 1] ? above : row[j - 1]) + 1;
            row[j] = changed < added ? changed : added;
            corner = above;
        }
    }
    return row[m];
}

const char *qfi_closest(const char *text, const char *const *name, size_t n)
{
    const char *best = NULL;
    size_t least = 3; /* more than two letters off is another word */
    for (size_t i = 0; i < n; i++) {
        const size_t d = distance(text, name[i]);
        if (d < least && d < strlen(name[i])) {
            least = d;
            best = name[i];
        }
    }
    return best;
}
