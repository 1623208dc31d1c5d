/* What a test leaves out. */
#include "check.h"

#include <stdio.h>

#define SKIPPED 77 /* what ctest counts as skipped, where a test has it as SKIP_RETURN_CODE */

static int skipped;

void check_skipped(const char *why)
{
    printf("skipped: %s\n", why);
    skipped++;
}

int check_exit(int failed)
{
    return failed || !skipped ? failed : SKIPPED;
}
