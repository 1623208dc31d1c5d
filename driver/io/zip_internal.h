/* Numbers of the zip format that reader and writer share. */
#ifndef QFI_ZIP_INTERNAL_H
#define QFI_ZIP_INTERNAL_H

/* Signatures. */
#define ZIP_LOCAL 0x04034b50u
#define ZIP_CENTRAL 0x02014b50u
#define ZIP_DESCRIPTOR 0x08074b50u
#define ZIP_END64 0x06064b50u
#define ZIP_LOCATOR 0x07064b50u
#define ZIP_END 0x06054b50u

/* Sizes without the variable parts. */
#define ZIP_LOCAL_SIZE 30
#define ZIP_CENTRAL_SIZE 46
#define ZIP_END64_SIZE 56
#define ZIP_LOCATOR_SIZE 20
#define ZIP_END_SIZE 22

/* Flags of a member. MASKED: anything about encryption. */
#define ZIP_DESCRIBED 0x0008u
#define ZIP_UTF8 0x0800u
#define ZIP_MASKED (0x0001u | 0x0040u | 0x2000u)

#define ZIP_STORED 0
#define ZIP_DEFLATED 8
#define ZIP_EXTRA64 1  /* id of the extra field with 64-bit sizes */
#define ZIP_NEEDS64 45 /* "version needed" of such a member */

#endif
