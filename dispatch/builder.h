/* Building pipelines: what the lowering of an operator may use.
 *
 * A value is lowered for one box of a segment: `row` gives its coordinates, one form per dim over
 * the loops of the box, and the answer is a reference to its elements. A view asks for its operand
 * with other rows; a pointwise operator lowers its operands and emits stages. If the box does not
 * suit, lowering stops with QFI_AGAIN, and the builder cuts or splits the box, or keeps a value
 * whole, and starts the box again. */
#ifndef QFOLD_DISPATCH_BUILDER_H
#define QFOLD_DISPATCH_BUILDER_H

#include "dispatch/pipeline.h"

#define QFI_AGAIN ((qf_status)0x7fff)

typedef enum qfi_again { QFI_AGAIN_CUT, QFI_AGAIN_SPLIT, QFI_AGAIN_KEEP } qfi_again;

typedef struct qfi_value {
    qf_type type;
    uint64_t elements, bytes;
    uint32_t users;   /* steps that need it */
    uint32_t kept;    /* 1 + number, 0 if it is not */
    uint32_t breaker; /* likewise */
    bool keep;
} qfi_value;

typedef struct qfi_memo {
    uint32_t id;
    uint8_t ref, cost;
    const qfi_form *row;
} qfi_memo;

typedef struct qfi_builder {
    const qf_ctx *ctx;
    const qf_table *table;
    qf_diag *diag;
    qf_pipe *pipe;
    const qf_program *program;
    qfi_value *value;
    qfi_breaker **breaker;
    uint32_t n_value, n_breaker;
    uint64_t budget;
    qfi_bump temp; /* freed when the pipeline is built */
    bool halves;   /* the last dim of the segment is the two halves of a 128-bit element */

    /* of the segment at hand */
    uint32_t root;   /* the value at hand */
    uint32_t making; /* the value that is made; UINT32_MAX for an operand of a breaker */
    uint32_t n_piece;
    bool nested; /* an operand of a breaker: breakers below it are kept */

    /* of the box at hand */
    qfi_box box;
    uint8_t n_operand, n_stage, n_index, n_memo, depth;
    qfi_again again;
    qfi_change change;
    uint32_t again_id;
    /* As many as counted above; the rest is not even zero: clearing all would take as long as
     * building a small pipeline. */
    qfi_operand operand[QFI_OPERANDS];
    qfi_stage stage[QFI_STAGES];
    qfi_form index[QFI_STAGES];
    qfi_memo memo[QFI_STAGES];
} qfi_builder;

/* How an operator is lowered. kernel: of its row in ops.def. */
typedef qf_status qfi_lower(qfi_builder *b, uint32_t id, uint16_t kernel, const qfi_form *row,
                            uint8_t *ref);

/* Step of a value that is one; its call's types. */
const qf_step *qfi_step(const qfi_builder *b, uint32_t id);
const qf_type *qfi_in_type(const qfi_builder *b, uint32_t id, int i);

/* Lower a value, or operand i of a step. */
qf_status qfi_lower_value(qfi_builder *b, uint32_t id, const qfi_form *row, uint8_t *ref);
qf_status qfi_lower_in(qfi_builder *b, uint32_t id, int i, const qfi_form *row, uint8_t *ref);

/* Lower operand i with the rows of the result, broadcast as numpy does. */
qf_status qfi_lower_broadcast(qfi_builder *b, uint32_t id, int i, const qfi_form *row,
                              uint8_t *ref);

/* An operand in memory seen through other strides, if `id` is in memory as it stands. */
bool qfi_view_of(const qfi_builder *b, uint32_t id, qf_tensor *view);
qf_status qfi_lower_memory(qfi_builder *b, uint32_t id, const qf_tensor *view, const qfi_form *row,
                           uint8_t *ref);

/* The operand of a breaker's result; picks the kernels that load it. */
qf_status qfi_lower_panel(qfi_builder *b, qfi_operand *o, qf_dtype dtype, uint8_t *ref);

/* QFI_AGAIN: change the box as `change` says; if that cannot help, keep value `id`. QF_OK if the
 * change is none. */
qf_status qfi_change_box(qfi_builder *b, qfi_change change, uint32_t id);
qf_status qfi_keep(qfi_builder *b, uint32_t id);

/* One kernel call. The kernel is the row of (op, key), `in` as many operands as it takes; bits: of
 * the result, 0 for a guard. p and index may be NULL. */
qf_status qfi_emit_stage(qfi_builder *b, uint16_t op, qfk_key key, const uint8_t *in, unsigned bits,
                         const qfk_param *p, const qfi_form *index, uint8_t *ref);

/* As qfi_emit_stage, keyed on the dtype, or on its size where there is no such row. */
qf_status qfi_emit_dtype(qfi_builder *b, uint16_t op, qf_dtype dtype, const uint8_t *in,
                         unsigned bits, const qfk_param *p, uint8_t *ref);

/* One element for all; low `bits` bits of `value`. */
qf_status qfi_splat(qfi_builder *b, unsigned bits, uint64_t value, uint8_t *ref);

/* Convert elements. Values of 4-bit types are held in 8 bits. guard: fail on what the destination
 * cannot hold. */
qf_status qfi_convert(qfi_builder *b, uint8_t in, qf_dtype from, qf_dtype to, bool guard,
                      uint8_t *ref);

/* A scalar as the bits of one element; false if the dtype cannot hold it. */
bool qfi_scalar_bits(const qfi_builder *b, const qf_scalar *value, qf_dtype dtype, uint64_t *bits);

/* Key of an element size; bits of a dtype's elements in a tile (4-bit ones are held in 8, 128-bit
 * ones in halves). */
qfk_key qfi_bits_key(unsigned bits);
unsigned qfi_tile_bits(qf_dtype dtype);

/* Pick a kernel: by dtype, then by size. NULL if there is none. */
const qfk_row *qfi_pick(const qfi_builder *b, uint16_t op, qf_dtype dtype);

/* Compile a value that is made. order: NULL for the natural one. QFI_AGAIN: keep again_id, then try
 * again. */
qf_status qfi_value_segment(qfi_builder *b, uint32_t id, const uint8_t *order,
                            const qfi_segment **out);

/* Compile `id`, its dims in the order `order` and its elements converted to `as`, as an operand of
 * a breaker. */
qf_status qfi_operand_segment(qfi_builder *b, uint32_t id, const uint8_t *order, qf_dtype as,
                              const qfi_segment **out);

/* Use one kernel for sequences of stages that it does. */
void qfi_peephole(qfi_builder *b, uint8_t *root);

/* A low-rank update among the stages, NULL if there is none. */
qf_status qfi_update_find(qfi_builder *b, uint8_t root, const qfi_update **out);

/* Finish a piece: slots for the results of stages. */
qf_status qfi_piece_finish(qfi_builder *b, uint8_t root, uint8_t *n_slot, qfi_piece **out);

#endif
