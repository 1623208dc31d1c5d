/* What the passes hand to each other beside qfi_fold. Private to this folder.
 *
 *   classify   slots, roots, read[], member[]: what every value is, and which nodes may fold
 *   number     first_named[], integers[]: what definitions are called and come from
 *   frontier   kept_use[], boundary[], form[], units: which constants the nodes that stay need, and
 *              how each would be stored
 *   carry      moves: views that go under a dequantize
 *   policy     member[] again: what is too large stays
 *   apart      hold[] of the next run: bodies are handed no views of one another
 *   plan       new payloads and their pipelines
 *
 * A pass that finds the ground of an earlier one gone (a root that somebody writes after all, a
 * pipeline that needs too much memory) records that for good and asks for a restart: everything in
 * `run` is then made anew. */
#ifndef QFI_WORK_H
#define QFI_WORK_H

#include "../graph/compile.h"
#include "passes.h"

/* Memory that may be written: one per stored payload, per input, per result that is no view of
 * something else. contents: of the base value at `version`, QFI_NONE if not constant. payload,
 * value: what it is known by from one run to the next. link: a root that it might be a part of
 * (results of unknown operators), the first of a list of links. outside: it leaves bodies of that
 * depth and deeper ones through their outputs; 0: none.  written: constant writes happened.
 * unsure: a value may or may not be a view of it.  watched: a node that stays has a view. */
typedef struct qfi_root {
    qfi_ref contents;
    uint32_t version, link;
    qfi_id payload, value;
    uint32_t outside;
    uint16_t state; /* qf_reason */
    bool written, unsure, watched;
} qfi_root;

typedef struct qfi_link {
    uint32_t root, next;
} qfi_link;

/* One value of the graph; its slot has the value's number.
 * ref: its contents at `version` of its root, QFI_NONE if not constant.
 * parent: the value that it is a view of, QFI_NONE for the base of a root.  same: it is the parent
 * itself. */
typedef struct qfi_slot {
    qfi_ref ref;
    uint32_t root, version, parent;
    bool same;
} qfi_slot;

/* May the node fold? RUNTIME: its results are not known.  HELD: known, but the node stays if
 * anybody needs it. FOLD: goes away; values that others need become constants. */
typedef enum qfi_member { QFI_RUNTIME, QFI_HELD, QFI_FOLD } qfi_member;

/* How a constant would be stored.
 * stored: a view of that payload, no bytes; else QFI_NONE, and it is a view (stride, offset) of
 * `base` stored dense in `order`. */
typedef struct qfi_form {
    uint64_t bytes; /* of base */
    qfi_id stored;
    qfi_ref base;
    uint8_t order[QF_MAX_RANK];
    int64_t stride[QF_MAX_RANK], offset;
} qfi_form;

/* Sums of sizes that need not fit in 64 bits each. */
__extension__ typedef __int128 qfi_sum;

/* Bytes that would be stored: one definition, dense in one order, for the `n` values of the
 * boundary that view it. */
typedef struct qfi_unit {
    uint64_t bytes;
    qfi_ref base;
    uint8_t order[QF_MAX_RANK];
    uint32_t n, next; /* next: unit with the same base */
    qfi_id first;     /* value */
} qfi_unit;

/* A dequantize that takes moved operands: see qfi_patch. ref: of operand k after the move, QFI_NONE
 * if unchanged. */
typedef struct qfi_move {
    qfi_id node, result;
    qfi_ref ref[3];
    qfi_form form[3];
    int8_t axis, n_block;
    int64_t block[QF_MAX_RANK];
} qfi_move;

typedef struct qfi_stack {
    uint32_t *item;
    size_t n, cap;
} qfi_stack;

/* False when out of memory. */
static inline bool qfi_push(qfi_pool *pool, qfi_stack *stack, uint32_t item)
{
    uint32_t *items = qfi_pool_grow(pool, stack->item, stack->n, &stack->cap, sizeof *items);
    if (!items)
        return false;
    stack->item = items;
    items[stack->n++] = item;
    return true;
}

/* a + b, or the most that 64 bits hold. */
static inline uint64_t qfi_add_saturating(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return qf_add(a, b, &sum) ? sum : UINT64_MAX;
}

/* What one run of the passes makes. Indexed by numbers in the whole. */
typedef struct qfi_run {
    qfi_pool pool;
    qfi_slot *slot;
    qfi_root *root;
    qfi_link *link;
    size_t n_root, cap_root, n_link, cap_link;
    qfi_stack refreshing, giving_up; /* of alias.c */
    uint32_t *payload_root;          /* per payload */
    qfi_ref *read;   /* per operand: contents that it had for the node, QFI_NONE if not constant */
    qfi_ref *output; /* per output: the same, at the end of the program */
    uint8_t *member; /* per node */
    bool *fed;       /* per node: an input of the program reaches it */
    uint32_t *kept_use;  /* per value: by nodes that stay, and outputs */
    qfi_ref *boundary;   /* per value: contents for those uses */
    qfi_form *form;      /* per value of the boundary */
    qfi_id *first_named; /* per definition: the first value that it is, QFI_NONE if unnamed */
    size_t n_def;        /* definitions when these arrays were made */
    uint64_t *integers;  /* per definition: bytes of the integers that it was dequantized from, 0 if
                            it was not */
    uint32_t *payload_use; /* per payload: values of nodes that stay, views that are constants */
    qfi_unit *unit;
    size_t n_unit, cap_unit;
    uint32_t *unit_of;    /* per value of the boundary: its unit, QFI_NONE: none of its own */
    qfi_id *next_in_unit; /* per value: the next one of the same unit */
    uint32_t *first_unit; /* per definition: the first unit with that base */
    size_t n_first_unit;
    qfi_sum stored, saved; /* bytes of units in use; bytes of payloads that nobody reads any more */
    bool *live;            /* per node that stays: somebody needs it */
    qfi_stack queue;       /* nodes found to stay whose operands are not counted yet */
    qfi_stack released;    /* nodes that a trial lets go */
    qfi_stack joined;      /* units that came into use, for the policy */
    qfi_move *move;
    size_t n_move, cap_move;
    qfi_sum growth;       /* spent by this fold */
    uint32_t *payload_of; /* per unit: its new payload, QFI_NONE */
    qf_cost *cost;        /* per new payload */
    uint32_t *n_calls;
    uint32_t *unit_of_new; /* per new payload */
    char assertion[200];   /* one that does not hold, "" if all do */
} qfi_run;

/* Why a node that writes could not be evaluated, found before what it writes became state. */
typedef struct qfi_refusal {
    uint16_t reason; /* qf_reason, none if it was not refused */
    const char *detail;
} qfi_refusal;

typedef struct qfi_work {
    qfi_run run;
    uint16_t *payload_state, *value_state; /* reason why a root is state, found so far */
    uint16_t *hold;                        /* per node: reason to stay found by a later pass */
    qfi_refusal *refused;                  /* per node */
    uint32_t restarts;
    bool restart, idle;
} qfi_work;

static inline qfi_work *qfi_work_of(const qfi_fold *fold)
{
    return fold->private_data;
}

/* alias.c: memory that values share */

/* Makes the slot the base of a new root, not constant if `contents` is QFI_NONE or an earlier run
 * found it to be state. */
QF_NODISCARD qf_status qfi_root_add(qfi_fold *fold, uint32_t slot, qfi_ref contents, qf_diag *diag);
/* Makes the slot a view of (or the same as) another, with contents `ref` now. */
void qfi_slot_alias(qfi_run *run, uint32_t slot, uint32_t parent, bool same, qfi_ref ref);
/* Brings the contents of a slot up to the last write to its root. */
QF_NODISCARD qf_status qfi_slot_refresh(qfi_fold *fold, uint32_t slot, qf_diag *diag);
/* A constant write through the slot: its root gets a new version. */
QF_NODISCARD qf_status qfi_slot_write(qfi_fold *fold, uint32_t slot, qfi_ref written,
                                      qf_diag *diag);
/* Nothing that reads this root folds, now and in later runs. */
QF_NODISCARD qf_status qfi_root_give_up(qfi_fold *fold, uint32_t root, qf_reason reason,
                                        qf_diag *diag);
/* A node that stays: gives up the roots that it writes. */
QF_NODISCARD qf_status qfi_keep_writes(qfi_fold *fold, qfi_id node, qf_diag *diag);
/* The same, and what its results may share. */
QF_NODISCARD qf_status qfi_keep_effects(qfi_fold *fold, qfi_id node, qf_diag *diag);

/* classify.c */
QF_NODISCARD qf_status qfi_classify(qfi_fold *fold, qf_diag *diag);

/* lower.c: lower() with slots as operands. env->out: n_out references in the run's pool. */
QF_NODISCARD qf_status qfi_lower(qfi_fold *fold, qfi_id node, qfi_env *env, qf_diag *diag);

/* blame.c: takes over why the value of a slot is not constant into the reason of its reader, with
 * detail[n], and notes whether an input of the program reaches the reader. The first such operand
 * counts; those that stay though no input reaches them come last, and the first of them is named,
 * but in front of state: what a kept write makes state is so because of what it reads. */
void qfi_blame(const qfi_fold *fold, qfi_id reader, uint32_t slot, qf_reason *reason, char *detail,
               size_t n);

/* request.c: the reason why a node stays although nobody looked at its operands, QF_REASON_none. */
qf_reason qfi_reason_asked(qfi_fold *fold, qfi_id node);
/* Why a node stays if anybody needs it, although its results are known. */
qf_reason qfi_reason_held(qfi_fold *fold, qfi_id node);

/* evaluate.c: numbers */

/* The number that a rank-0 definition is. *known: false if that would read too much, or is
 * undefined. */
QF_NODISCARD qf_status qfi_evaluate_scalar(qfi_fold *fold, qfi_ref ref, qf_scalar *out, bool *known,
                                           qf_diag *diag);
/* The same for up to 64 elements. */
QF_NODISCARD qf_status qfi_evaluate_small(qfi_fold *fold, qfi_ref ref, qf_scalar *out, uint32_t *n,
                                          bool *known, qf_diag *diag);

/* number.c: one store for what is equal */
QF_NODISCARD qf_status qfi_number(qfi_fold *fold, qf_diag *diag);
/* How contents would be stored. want: strides that a consumer expects, NULL: any. */
qfi_form qfi_form_of(const qfi_fold *fold, qfi_ref ref, const int64_t *want);

/* frontier.c: what the nodes that stay need */
QF_NODISCARD qf_status qfi_frontier(qfi_fold *fold, qf_diag *diag);
/* A node that could fold stays after all; what it needs is counted by the next qfi_settle. */
QF_NODISCARD qf_status qfi_deny(qfi_fold *fold, qfi_id node, qf_reason reason, qf_diag *diag);
/* Counts the operands of all nodes found to stay. */
QF_NODISCARD qf_status qfi_settle(qfi_fold *fold, qf_diag *diag);
/* The opposite for a node that the growth kept, if that costs at most `left`; else nothing changes.
 * *steps grows by the operands that were looked at. */
QF_NODISCARD qf_status qfi_reopen(qfi_fold *fold, qfi_id node, qfi_sum left, uint64_t *steps,
                                  bool *reopened, qf_diag *diag);
/* One use less of a value that was a boundary value or a placeholder. */
void qfi_unuse(qfi_fold *fold, qfi_id value);
/* A stored tensor that is no value of the graph: its bytes are there for good. */
QF_NODISCARD qf_status qfi_unit_hold(qfi_fold *fold, const qfi_form *form, qf_diag *diag);
/* The unit in which a form is stored; QFI_NONE if there is none yet. */
uint32_t qfi_unit_find(const qfi_fold *fold, const qfi_form *form);

/* carry_view.c: moves under a dequantize */

/* A dequantized value: operands as the foreign operator takes them. axis: of the channels, -1 when
 * per tensor. group: columns that share a scale in rows of groups, scales [rows, groups]; else 0.
 * by_blocks: the operator states blocks of any shape; scale and zero stand in the grid of them. */
typedef struct qfi_quantised {
    qfi_ref data, scale, zero;
    int8_t axis;
    bool by_blocks;
    int64_t group, block[QF_MAX_RANK];
} qfi_quantised;

/* Whether a call is a view that can be moved at all. */
bool qfi_is_carried(qf_op op);
/* What is dequantized so that the view `ref` of it falls away; *carried: whether the operator can
 * say it. */
QF_NODISCARD qf_status qfi_carry_view(qfi_fold *fold, qfi_ref ref, qfi_quantised *q, bool *carried,
                                      qf_diag *diag);
/* The same for an operator that states its blocks (carry_blocks.c). */
QF_NODISCARD qf_status qfi_carry_blocks(qfi_fold *fold, const qfi_def *view, qfi_quantised *q,
                                        bool *carried, qf_diag *diag);
/* The same for the concatenation of n parts. */
QF_NODISCARD qf_status qfi_carry_cat(qfi_fold *fold, uint8_t dim, const qfi_quantised *part,
                                     uint32_t n, qfi_quantised *out, bool *carried, qf_diag *diag);

/* reject.c: needed[i]: whether result `ref` comes from definition i. NULL when out of memory. */
bool *qfi_mark_cone(qfi_pool *pool, const qfi_prog *prog, qfi_ref ref);

/* nonfinite.c: elements that are NaN or infinite; whether any of that dtype can be */
uint64_t qfi_count_nonfinite(qf_dtype dtype, const void *data, size_t bytes);
bool qfi_may_be_nonfinite(qf_dtype dtype);

/* carry.c, policy.c, apart.c, plan.c, rewrite.c */
QF_NODISCARD qf_status qfi_carry(qfi_fold *fold, qf_diag *diag);
QF_NODISCARD qf_status qfi_policy(qfi_fold *fold, qf_diag *diag);
/* Growth that may still be spent on this file. */
qfi_sum qfi_growth_left(const qfi_fold *fold);
QF_NODISCARD qf_status qfi_keep_apart(qfi_fold *fold, qf_diag *diag);
QF_NODISCARD qf_status qfi_make_plan(qfi_fold *fold, qf_diag *diag);
QF_NODISCARD qf_status qfi_rewrite(qfi_fold *fold, qf_diag *diag);

#define QFI_NO_MEMORY(diag) qf_fail(diag, QF_ERR_NOMEM, "out of memory")

#endif
