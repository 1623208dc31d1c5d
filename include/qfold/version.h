/* Version of the library and of its ABI. */
#ifndef QFOLD_VERSION_H
#define QFOLD_VERSION_H

#include <qfold/status.h>

#define QF_VERSION_MAJOR 0
#define QF_VERSION_MINOR 1
#define QF_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

/* "major.minor.patch" of the library that is linked, which may differ from the headers. */
QF_API const char *qf_version(void);

#ifdef __cplusplus
}
#endif
#endif
