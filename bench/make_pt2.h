/* Writes .pt2 files for the fold benchmarks: layers of one f32 weight each, with or without a chain
 * in front of its use. */
#ifndef QFB_MAKE_PT2_H
#define QFB_MAKE_PT2_H

#include <qfold/status.h>

/* What stands between a weight and the node that uses it. NONE: nothing folds. TURN: one transpose,
 * a view of stored bytes. QK: the permutation of rotary heads, view [heads, 2, half, columns] ->
 * transpose 1, 2 -> reshape, which moves bytes. */
typedef enum qfb_chain { QFB_CHAIN_NONE, QFB_CHAIN_TURN, QFB_CHAIN_QK } qfb_chain;

/* `layers` weights of [n, n], n a multiple of 128. */
QF_NODISCARD qf_status qfb_make_pt2(const char *path, qfb_chain chain, int layers, int n,
                                    qf_diag *diag);

#endif
