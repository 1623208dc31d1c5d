/* Writes .pt2 files for the fold benchmarks: layers of one weight each, with or without a chain in
 * front of its use. */
#ifndef QFB_MAKE_PT2_H
#define QFB_MAKE_PT2_H

#include <stdbool.h>
#include <stddef.h>

#include <qfold/status.h>

/* What stands between a weight and the node that uses it.
 *   NONE   nothing: nothing folds
 *   TURN   one transpose, a view of stored bytes
 *   QK     the permutation of rotary heads, view [heads, 2, half, columns] -> transpose 1, 2 ->
 *          reshape, which moves bytes
 *   LORA   weight + 1/64 (B A), rank 16
 *   INT8   i8 with a scale and a zero point per row -> dequantize to f32 -> transpose
 *   TINY   weights of 4 elements, ten operations on each
 *   TEXT   ten operations on x before each weight, and one that folds: a file that is all text */
typedef enum qfb_chain {
    QFB_CHAIN_NONE,
    QFB_CHAIN_TURN,
    QFB_CHAIN_QK,
    QFB_CHAIN_LORA,
    QFB_CHAIN_INT8,
    QFB_CHAIN_TINY,
    QFB_CHAIN_TEXT,
    QFB_CHAINS
} qfb_chain;

/* layers: of weights [n, n], n a multiple of 128 (TINY, TEXT: weights [4], n is not read).
 * bf16: weights in bf16 instead of f32. */
typedef struct qfb_model {
    qfb_chain chain;
    bool bf16;
    int layers, n;
} qfb_model;

/* Nodes of a layer that fold. */
unsigned qfb_model_folds(const qfb_model *model);

/* text_bytes, if not NULL: size of model.json. */
QF_NODISCARD qf_status qfb_make_pt2(const char *path, const qfb_model *model, size_t *text_bytes,
                                    qf_diag *diag);

#endif
