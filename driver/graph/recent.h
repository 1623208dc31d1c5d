/* Pipelines of programs that were built before, by the steps of the program. Models say the same of
 * many small weights; binding a pipeline takes a tenth of the time of building one. */
#ifndef QFI_RECENT_H
#define QFI_RECENT_H

#include <qfold/eval.h>

/* How many are known; of two that meet in one place, the later one. */
#define QFI_RECENT 64
/* Steps and operands of the largest program that is remembered. Longer ones are built for each of
 * their inputs: that takes longer, but is seldom. */
#define QFI_RECENT_SIZE 256

/* A program, the value of it that is wanted, and the order of its `rank` dims as in
 * qf_pipe_build. */
typedef struct qfi_recent_key {
    const qf_program *program;
    const uint8_t *order;
    size_t rank;
    uint32_t result;
    uint64_t hash;
} qfi_recent_key;

typedef struct qfi_recent {
    struct qfi_recent_entry *entry[QFI_RECENT];
} qfi_recent;

qfi_recent_key qfi_recent_key_of(const qf_program *program, uint32_t result, size_t rank,
                                 const uint8_t *order);

/* A pipeline of the same steps and order, to be bound to the inputs if they are like its own; NULL:
 * none is known. */
qf_pipe *qfi_recent_find(const qfi_recent *recent, const qfi_recent_key *key);

/* Remembers the pipeline, which lives as long as *recent is used. Without memory for that, nothing
 * is remembered. */
void qfi_recent_keep(qfi_recent *recent, const qfi_recent_key *key, qf_pipe *pipe);

void qfi_recent_free(qfi_recent *recent);

#endif
