/* What the tests of files share: a scratch folder, whole files, random numbers, failing allocation.
 */
#ifndef IO_SUPPORT_H
#define IO_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <qfold/types.h>

/* Path of a name in a folder of this process; valid until the 16th call after it. */
const char *scratch(const char *name);
/* A group teardown: removes the folder with all that is in it. */
int scratch_remove(void **state);
/* Names in the scratch folder. */
size_t scratch_count(void);

void file_put(const char *path, const void *bytes, size_t n);
/* The whole file, to be freed. */
uint8_t *file_get(const char *path, size_t *n);

/* xorshift64*: the same numbers everywhere. */
uint64_t random_next(uint64_t *state);

/* Pools fail at their k-th allocation from now on and at no other; k = 0 restores them.
 * pool_failed: whether that happened. pool_live: blocks not yet freed. */
void pool_fail_at(size_t k);
bool pool_failed(void);
size_t pool_live(void);

/* Fails the test unless st is OK, showing the message. */
void assert_ok(qf_status st, const qf_diag *diag);
/* Fails the test unless st and diag hold `code` and the message holds `part`. */
void assert_fails(qf_status st, const qf_diag *diag, qf_status code, const char *part);

#endif
