/* Zip archives: reading the central directory (zip64 included), member bytes, and the pieces of a
 * written archive. */
#ifndef QFI_ZIP_H
#define QFI_ZIP_H

#include <qfold/tensor.h>

#include "../graph/pool.h"
#include "file.h"
#include "layout.h"

/* One member. data: file offset of its bytes, `packed` of them; `size` when inflated.
 * method: 0 stored, 8 deflated; others are refused. */
typedef struct qfi_zip_member {
    qf_str name;
    uint64_t data, packed, size;
    uint32_t crc;
    uint16_t method;
} qfi_zip_member;

/* Members in the order of the directory; by_name: sorted, for qfi_zip_find. */
typedef struct qfi_zip {
    qfi_file *file;
    qfi_zip_member *member;
    const qfi_zip_member **by_name;
    uint32_t n_member;
} qfi_zip;

/* Reads and checks the directory: offsets and sizes inside the file, local headers present and of
 * the same name, no overlaps, no duplicate or unsafe names. ERR_ZIP (naming the member or byte),
 * ERR_TRUNCATED. */
QF_NODISCARD qf_status qfi_zip_open(qfi_file *file, qfi_pool *pool, qfi_zip *out, qf_diag *diag);

/* Member by name, whole or as "folder/path"; NULL if there is none. */
const qfi_zip_member *qfi_zip_find(const qfi_zip *zip, qf_str name);
const qfi_zip_member *qfi_zip_find_in(const qfi_zip *zip, qf_str folder, qf_str path);

/* The whole member, inflated, its CRC checked (ERR_CRC, ERR_INFLATE); *out is in the pool,
 * zero-terminated. limit: largest size (ERR_LIMIT). */
QF_NODISCARD qf_status qfi_zip_read(const qfi_zip *zip, const qfi_zip_member *member,
                                    uint64_t limit, qfi_pool *pool, qf_str *out, qf_diag *diag);

/* Storage over a member's bytes: stored ones are read in place; deflated ones are inflated whole at
 * the first read (CRC checked) and kept. Reading a stored member to its end in order also checks
 * its CRC. One reference; the archive's file must outlive it. */
QF_NODISCARD qf_status qfi_zip_storage(const qfi_zip *zip, const qfi_zip_member *member,
                                       qf_storage **out, qf_diag *diag);

/* Writing, as torch does: stored members, 64-byte aligned by an extra field "FB", CRC and sizes in
 * a data descriptor and the directory. Each call appends extents to the layout; member names are
 * given whole. qfi_zip_finish appends directory and zip64 end records. */
typedef struct qfi_zip_writer qfi_zip_writer;
/* In the layout's pool; NULL when out of memory. Names and texts must live as long as the
 * layout. */
qfi_zip_writer *qfi_zip_writer_new(qfi_layout *layout);
QF_NODISCARD qf_status qfi_zip_put_text(qfi_zip_writer *w, qf_str name, qf_str text, qf_diag *diag);
/* A member that is one text behind the other. */
typedef struct qfi_parts {
    qf_str *part;
    size_t n;
} qfi_parts;
QF_NODISCARD qf_status qfi_zip_put_parts(qfi_zip_writer *w, qf_str name, const qfi_parts *parts,
                                         qf_diag *diag);
QF_NODISCARD qf_status qfi_zip_put_value(qfi_zip_writer *w, qf_str name, uint32_t new_payload,
                                         uint64_t size, qf_diag *diag);
/* A member of the input, bytes, method and CRC kept, under the same or another name. */
QF_NODISCARD qf_status qfi_zip_put_member(qfi_zip_writer *w, qf_str name,
                                          const qfi_zip_member *member, qf_diag *diag);
QF_NODISCARD qf_status qfi_zip_finish(qfi_zip_writer *w, qf_diag *diag);

#endif
