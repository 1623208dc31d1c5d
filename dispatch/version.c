/* The version of the linked library. */
#include <qfold/version.h>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

const char *qf_version(void)
{
    return TEXT(QF_VERSION_MAJOR) "." TEXT(QF_VERSION_MINOR) "." TEXT(QF_VERSION_PATCH);
}
