/* What a fold changes in a graph, as an overlay: the graph itself is never edited. Made by the
 * fold, read by a format's layout(). Nodes and values are told by their numbers in the whole. */
#ifndef QFI_EDIT_H
#define QFI_EDIT_H

#include "prog.h"
#include "whole.h"

/* A payload to be written: the definition `ref`, dense, dims from slowest to fastest in `order`.
 * size: bytes. */
typedef struct qfi_new_payload {
    uint64_t size;
    qfi_ref ref;
    uint8_t order[QF_MAX_RANK];
} qfi_new_payload;

/* A stored tensor that the output gains. It replaces `value` under the same name; or value is
 * QFI_NONE and it is a new operand of a patched node, named after `like`. part: where it is read; a
 * body is handed it through every body around it. payload: <
 * graph->n_payload: a view of stored bytes; else new_payload[payload - n_payload]. stride, offset:
 * in elements of that payload. */
typedef struct qfi_constant {
    qfi_id value, like;
    uint32_t part;
    qf_type type;
    int64_t stride[QF_MAX_RANK], offset;
    uint32_t payload;
} qfi_constant;

/* A dequantize that now stands behind the moves of its operands: node takes the constants of
 * new_operand[k] (index in qfi_edits.constant, QFI_NONE: unchanged) for its operands data, scale,
 * zero point; `axis` is its new channel axis (-1: none), block[n_block] the new sizes of its blocks
 * (0: none); its result takes name and recorded type of `result`, the last moved view. Several
 * patches of one node follow each other: as many nodes stand in its place. */
typedef struct qfi_patch {
    qfi_id node, result;
    uint32_t new_operand[3];
    int8_t axis, n_block;
    int64_t block[QF_MAX_RANK];
} qfi_patch;

typedef struct qfi_edits {
    qfi_pool pool;
    const qfi_whole *whole;
    bool *drop_node;    /* per node: not written */
    bool *drop_value;   /* per value: stored or computed values that nobody names any more */
    bool *drop_payload; /* per payload: no value that stays views it */
    bool *is_literal;   /* per value: a SCALAR that becomes a number where it is used */
    qf_scalar *literal;
    qfi_constant *constant;
    qfi_new_payload *new_payload;
    qfi_patch *patch;
    uint32_t n_constant, n_new_payload, n_patch;
    uint64_t spent;  /* growth of this file so far, this fold included: stamped if not 0 */
    bool contiguous; /* results were stored row-major on request: stated in the output's metadata */
} qfi_edits;

#endif
