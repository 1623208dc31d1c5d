/* What the two forms of qfold inspect share. */
#ifndef QFI_INSPECT_H
#define QFI_INSPECT_H

#include <qfold/graph.h>
#include <stdio.h>

typedef struct qfi_inspected {
    const char *path;
    const qf_graph *graph;
} qfi_inspected;

extern const char *const qfi_value_kinds[];

/* Whether a value is an input or stored; what nodes compute is not listed. */
bool qfi_value_is_listed(const qf_value_view *value);

/* Bytes of all payloads that values view, each counted once. */
uint64_t qfi_stored_bytes(const qf_graph *graph);

/* The model as JSON ("qfold.inspect.v1"). what: a qfi_inspected. */
QF_NODISCARD qf_status qfi_inspect_json(const void *what, FILE *out, qf_diag *diag);

#endif
