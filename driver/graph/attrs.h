/* Attributes of internal calls in one normal form: equal attributes have equal bytes. */
#ifndef QFI_ATTRS_H
#define QFI_ATTRS_H

#include <qfold/ops.h>

/* Copies what `op` reads of `from` into a zeroed *to: padding, other members and dims from `rank`
 * on stay zero. rank: of operand 0, QF_MAX_RANK if there is none. */
void qfi_attrs_copy(qf_op op, int rank, const qf_attrs *from, qf_attrs *to);

/* Whether the operator has attributes at all. */
bool qfi_attrs_any(qf_op op);

#endif
