/* Opening model files. */
#ifndef QFOLD_IO_H
#define QFOLD_IO_H

#include <qfold/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opens a model and reads its structure; close with qf_close. The format is found from the file's
 * bytes. The file must not change while it is open. *out is NULL on failure: ERR_OPEN, ERR_READ,
 * ERR_TRUNCATED, ERR_FORMAT (no known format), ERR_VERSION, or what is wrong with the file
 * (ERR_ZIP, ERR_JSON, ERR_SCHEMA, …). Thread-safe. qf_close takes NULL. */
QF_API QF_NODISCARD qf_status qf_open(const char *path, qf_graph **out, qf_diag *diag);
QF_API void qf_close(qf_graph *graph);

#ifdef __cplusplus
}
#endif
#endif
