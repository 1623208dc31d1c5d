/* Hostile archives: small valid ones with a few bytes patched, each with the error it must give. */
#ifndef ZIP_HOSTILE_H
#define ZIP_HOSTILE_H

#include <qfold/status.h>

#include "zip_builder.h"

typedef enum record { AT_LOCAL, AT_DATA, AT_CENTRAL, AT_END64, AT_LOCATOR, AT_END } record;

/* `n` bytes at `offset` of a record; member: which, for the first three. */
typedef struct patch {
    record record;
    unsigned member, offset;
    const char *bytes;
    size_t n;
} patch;

/* name: of the file in malformed/.  wide: of the archive with zip64 records.  part: of the message.
 */
typedef struct hostile {
    const char *name;
    bool wide;
    patch patch[3];
    qf_status status;
    const char *part;
} hostile;

extern const hostile hostiles[];
extern const size_t n_hostiles;

/* The archive that is patched: a/x stored "hello", a/y deflated, a/z without bytes. */
extern const member_spec plain_members[3];
built_zip zip_plain(bool wide);
built_zip zip_hostile(const hostile *h);

#endif
