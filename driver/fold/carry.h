/* What the files of carrying share: chains of views from a dequantize on. */
#ifndef QFI_CARRY_H
#define QFI_CARRY_H

#include "work.h"

/* A dequantize and the views that it takes over so far: node yields `value`, its operands were
 * `before` and are `now`. first_part: the first of the chains that a concatenation put together,
 * next_part the next of them; QFI_NONE. first_piece: the first of the chains into which a split of
 * `value` takes it apart, each with a dequantize of its own, next_piece the next of them; QFI_NONE.
 * taken: part or piece of another chain. */
typedef struct qfi_chain {
    qfi_id node, value;
    qfi_quantised before, now;
    uint32_t first_part, next_part, first_piece, next_piece;
    bool taken;
} qfi_chain;

typedef struct qfi_carrier {
    qfi_fold *fold;
    qfi_run *run;
    qfi_id *user; /* per value: a node that stays and reads it, QFI_NONE */
    qfi_chain *chain;
    size_t n_chain, cap_chain;
    uint32_t *chain_of; /* per value: the chain that ends there, QFI_NONE */
} qfi_carrier;

/* Moves what a chain takes over, if the growth allows it: the dequantize once, or once for each
 * piece (carry_apply.c). */
QF_NODISCARD qf_status qfi_carry_apply(const qfi_carrier *c, qfi_chain *chain, qf_diag *diag);

#endif
